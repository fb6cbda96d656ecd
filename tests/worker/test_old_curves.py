"""Curves that were stored before there were levels, and the worker that sums them up."""

from datetime import UTC, datetime

from sqlalchemy import select

from backend.schemas.run_directory.events import MetricLine
from backend.store.metrics import levels, points
from backend.store.tables.metrics import MetricCurve
from tests.backend.runs.scanned_levels import check_levels
from tests.worker.floor import Floor
from worker.sweeper import Sweeper
from worker.worker_process import WorkerProcess

N = 30_000


def test_a_sweep_sums_up_what_is_older_than_the_levels(floor: Floor) -> None:
    run_id = floor.new_run()
    for first in range(0, N, 5000):
        lines = [
            MetricLine(step=step, time=float(step), values={"loss": step / 7, "lr": 0.1})
            for step in range(first, first + 5000)
        ]
        with floor.database.write() as session:
            points.append(session, run_id, 1, lines, at=datetime.now(UTC))
    with floor.database.write() as session:
        levels.rewind(session, run_id, ["loss", "lr"], -1)
    worker = WorkerProcess(floor.settings)

    Sweeper(worker).turn()

    sealed = floor.rows(select(MetricCurve.sealed_step).where(MetricCurve.run_id == run_id))
    assert all(N - 256 < step <= N for step in sealed), sealed
    with floor.database.read() as session:
        assert check_levels(session, run_id) > 2 * N / 8
    worker.database.close()
