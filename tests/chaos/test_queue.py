"""A long queue: every run once, the highest priority first and then the oldest."""

from pathlib import Path

import pytest
from sqlalchemy import select

from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import Run
from tests.chaos import witness
from tests.chaos.queue_of_runs import overtaken, work_off
from tests.worker.floor import Floor

LONG = pytest.param(200, marks=pytest.mark.chaos)


def each_once(floor: Floor, folder: Path, *, count: int, workers: int) -> list[Run]:
    """The runs of a queue in the order in which they were started, each seen to run once."""
    trainer = witness.command(folder, "worker.process.fake_trainer --steps 2")
    given = {"PODIUM_TRAINER_COMMAND": trainer}
    runs = work_off(floor, count=count, workers=workers, **given)
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    assert sorted((point.run_id, point.step) for point in points) == sorted(
        (run.id, step) for run in runs for step in (1, 2)
    )
    for run in runs:
        assert (run.state, run.attempt) == ("succeeded", 1), run.error
        assert floor.states(run.id) == ["queued", "running", "succeeded"]
        assert witness.words_of(folder, run.id) == ["alone"]
    return runs


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, LONG])
def test_one_worker_takes_its_queue_in_order(
    sqlite_floor: Floor, tmp_path: Path, count: int
) -> None:
    runs = each_once(sqlite_floor, tmp_path, count=count, workers=1)

    assert overtaken(runs) == [0] * count


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, LONG])
def test_three_workers_share_a_queue_in_order(
    redis_floor: Floor, tmp_path: Path, count: int
) -> None:
    runs = each_once(redis_floor, tmp_path, count=count, workers=3)

    # Two that look at the same moment may start in either order.
    assert max(overtaken(runs)) <= 2
