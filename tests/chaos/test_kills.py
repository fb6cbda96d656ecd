"""SIGKILL of each part at random moments with several runs at work: every law holds afterwards.

One death of each kind belongs to every run of the tests; `make chaos` has the twenty of each.
"""

import logging
import os
from collections.abc import Callable
from random import Random

import pytest

from tests.chaos.conftest import FakeSite
from tests.chaos.disturbance import disturb

log = logging.getLogger("podium.chaos")

VICTIMS = [
    *[("embedded", victim) for victim in ("api", "worker", "guard", "trainer")],
    *[("servers", v) for v in ("api", "worker", "guard", "trainer", "postgres", "redis")],
]
# Deaths of each kind; fewer where a machine is too slow for an hour to suffice.
ROUNDS = int(os.environ.get("PODIUM_CHAOS_ROUNDS", "20"))

OpenSite = Callable[[str], FakeSite]


def kill(open_site: OpenSite, backend: str, victim: str, round_: int) -> float:
    """One seeded disturbance; the seed is in the log, so that a failure can be had again."""
    site, work = open_site(backend)
    seed = f"{backend} {victim} {round_}"
    seconds = disturb(site, victim, Random(seed), work)
    log.info("%s: all runs ended %.1f s after recovery", seed, seconds)
    return seconds


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "victim"), VICTIMS)
def test_a_death_costs_nothing_but_time(fake_site: OpenSite, backend: str, victim: str) -> None:
    kill(fake_site, backend, victim, 0)


@pytest.mark.chaos
@pytest.mark.parametrize(("backend", "victim"), VICTIMS)
def test_twenty_deaths_cost_nothing_but_time(
    fake_site: OpenSite, backend: str, victim: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = [kill(fake_site, backend, victim, round_) for round_ in range(1, ROUNDS + 1)]

    with capsys.disabled():
        print(  # noqa: T201 - the number a reader of `make chaos` looks for
            f"\n{backend} {victim}: {ROUNDS} deaths, slowest recovery {max(seconds):.1f} s"
        )
