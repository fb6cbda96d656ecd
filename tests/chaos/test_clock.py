"""Clocks that jump by an hour while runs are at work: nobody is declared dead for it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import processes
from tests.chaos import laws
from tests.chaos.clock import Clock, offset_seen
from tests.chaos.conftest import site_of
from tests.chaos.disturbance import undisturbed
from tests.chaos.site import SFT, SHORT

HOUR = 3600
PARTS = ("api", "worker 0", "worker 1", "postgres")
TRAINER = "worker.process.fake_trainer --steps 60 --step-s 0.1 --checkpoint-every 20"


@pytest.fixture
def clocks() -> Iterator[dict[str, Clock]]:
    """A clock for each part, in a folder that PostgreSQL's account may read."""
    folder = Path(tempfile.mkdtemp(prefix="podium-clocks-", dir="/tmp"))
    folder.chmod(0o755)
    yield {name: Clock(folder / name.replace(" ", "-")) for name in PARTS}
    shutil.rmtree(folder)


def test_a_clock_moves_for_who_sees_it(clocks: dict[str, Clock]) -> None:
    clocks["api"].move(-HOUR)

    assert offset_seen(clocks["api"].environment()) == pytest.approx(-HOUR, abs=120)
    assert offset_seen(clocks["postgres"].environment()) == pytest.approx(0, abs=120)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "apart"),
    [
        # API and worker see the one clock of their machine; on servers everybody has his own.
        ("embedded", {"api": HOUR, "worker 0": HOUR}),
        ("servers", {"api": HOUR, "worker 0": HOUR, "worker 1": -HOUR, "postgres": -HOUR}),
    ],
)
def test_an_hour_back_or_forward_is_nobodys_death(
    clocks: dict[str, Clock],
    tmp_path: Path,
    sqlite_template: Path,
    backend: str,
    apart: dict[str, int],
) -> None:
    with site_of(backend, tmp_path, sqlite_template, TRAINER, SHORT, clocks) as site:
        work = undisturbed(site, SFT)
        run_ids = []
        for jumps in (apart, {part: -offset for part, offset in apart.items()}):
            made = [site.create_run(f"run {number}", SFT) for number in range(4)]
            for run_id in made[:2]:
                site.floor.wait_for_step(run_id, 5)
            for part, offset in jumps.items():
                clocks[part].move(offset)
            processes.wait_until(
                lambda ids=made: all(site.floor.run(r).state in laws.ENDED for r in ids),
                "all runs have ended",
                timeout_s=180,
            )
            run_ids += made

        for run_id in run_ids:
            run = site.floor.run(run_id)
            laws.assert_ended_well(run)
            assert (run.attempt, run.crashes) == (1, 0)
            assert site.floor.states(run_id) == ["queued", "running", "succeeded"]
            laws.assert_ran_alone(site, run_id)
            laws.assert_told_once(site, run_id, work.values, samples=work.samples)
        laws.assert_no_orphans(site)
