"""SIGKILL of each part at random moments with several runs at work: every law holds afterwards.

One death of each kind belongs to every run of the tests; `make chaos` has the twenty of each.
"""

import logging
import os
from random import Random

import pytest

from tests.chaos.conftest import OpenSite
from tests.chaos.disturbance import disturb
from tests.chaos.laws import RECOVERY_S

log = logging.getLogger("podium.chaos")

VICTIMS = [
    *[("embedded", victim) for victim in ("api", "worker", "guard", "trainer")],
    *[("servers", v) for v in ("api", "worker", "guard", "trainer", "postgres", "redis")],
]
# Deaths of each kind; fewer where a machine is too slow for an hour to suffice.
ROUNDS = int(os.environ.get("PODIUM_CHAOS_ROUNDS", "20"))
REAL_ROUNDS = min(ROUNDS, 3)


def kill(open_site: OpenSite, backend: str, victim: str, round_: int, *, runs: int = 3) -> float:
    """One seeded disturbance; the seed is in the log, so that a failure can be had again."""
    site, work = open_site(backend)
    seed = f"{backend} {victim} {round_}"
    seconds = disturb(site, victim, Random(seed), work, runs=runs)
    log.info("%s: all runs ended %.1f s after recovery", seed, seconds)
    return seconds


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "victim"), VICTIMS)
def test_a_death_costs_nothing_but_time(fake_site: OpenSite, backend: str, victim: str) -> None:
    kill(fake_site, backend, victim, 0)


@pytest.mark.slow
def test_a_killed_real_training_ends_with_the_same_weights_to_the_bit(warm_site: OpenSite) -> None:
    kill(warm_site, "embedded", "trainer", 0, runs=1)


@pytest.mark.chaos
@pytest.mark.parametrize(("backend", "victim"), VICTIMS)
def test_twenty_deaths_cost_nothing_but_time(
    fake_site: OpenSite, backend: str, victim: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = [kill(fake_site, backend, victim, round_) for round_ in range(1, ROUNDS + 1)]

    tell(capsys, f"fake, {backend}, {victim}", seconds)


@pytest.mark.chaos
@pytest.mark.parametrize(("backend", "victim"), VICTIMS)
def test_three_deaths_under_the_real_trainer_leave_the_same_weights_to_the_bit(
    real_site: OpenSite, backend: str, victim: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = range(1, REAL_ROUNDS + 1)
    seconds = [kill(real_site, backend, victim, round_, runs=2) for round_ in rounds]

    tell(capsys, f"real, {backend}, {victim}", seconds)


def tell(capsys: pytest.CaptureFixture[str], what: str, seconds: list[float]) -> None:
    """Print the numbers that a reader of `make chaos` looks for, and hold the promised one."""
    with capsys.disabled():
        print(  # noqa: T201
            f"\n{what}: {len(seconds)} deaths, all laws held, slowest recovery {max(seconds):.1f} s"
        )
    assert max(seconds) <= RECOVERY_S
