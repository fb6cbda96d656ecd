"""A long queue: every run once, the highest priority first and then the oldest."""

from pathlib import Path

import pytest
from sqlalchemy import select

from backend.store.tables import MetricPoint, Run
from tests.chaos import witness
from tests.chaos.queue_of_runs import overtaken, work_off
from tests.worker.floor import Floor

LONG = pytest.param(200, marks=pytest.mark.chaos)


def assert_each_ran_once(floor: Floor, folder: Path, runs: list[Run]) -> None:
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    assert sorted((point.run_id, point.step) for point in points) == sorted(
        (run.id, step) for run in runs for step in (1, 2)
    )
    for run in runs:
        assert (run.state, run.attempt) == ("succeeded", 1), run.error
        assert floor.states(run.id) == ["queued", "running", "succeeded"]
        assert witness.words_of(folder, run.id) == ["alone"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, LONG])
def test_one_worker_takes_its_queue_in_order(
    sqlite_floor: Floor, tmp_path: Path, count: int
) -> None:
    trainer = witness.command(tmp_path, "worker.fake_trainer --steps 2")
    given = {"PODIUM_TRAINER_COMMAND": trainer}
    runs = work_off(sqlite_floor, count=count, workers=1, **given)

    assert_each_ran_once(sqlite_floor, tmp_path, runs)
    assert overtaken(runs) == [0] * count


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, LONG])
def test_three_workers_share_a_queue_in_order(
    redis_floor: Floor, tmp_path: Path, count: int
) -> None:
    trainer = witness.command(tmp_path, "worker.fake_trainer --steps 2")
    given = {"PODIUM_TRAINER_COMMAND": trainer}
    runs = work_off(redis_floor, count=count, workers=3, **given)

    assert_each_ran_once(redis_floor, tmp_path, runs)
    # Two that look at the same moment may start in either order.
    assert max(overtaken(runs)) <= 2
