"""A long queue of tiny runs, worked off by one or several workers, and what can be said of it."""

from collections.abc import Sequence
from contextlib import ExitStack
from random import Random

from sqlalchemy import func, select

from backend.store.tables.runs import Run, RunEvent
from tests import processes
from tests.worker.floor import Floor

# What an operator has who sets nothing.
DEFAULTS = {
    "PODIUM_BEAT_S": "5",
    "PODIUM_STALE_S": "45",
    "PODIUM_SWEEP_S": "15",
    "PODIUM_STOP_GRACE_S": "60",
    "PODIUM_CRASH_BACK_OFF_S": "[10, 60]",
}


def work_off(floor: Floor, *, count: int, workers: int, **settings: str) -> list[Run]:
    """Queue `count` runs of mixed priorities at once before workers of one slot each.

    Returns the runs in the order in which they were started.
    """
    chance = Random(count)
    with ExitStack() as stack:
        for _ in range(workers):
            stack.enter_context(floor.worker("--steps", "2", **DEFAULTS | settings))
        with floor.database.write() as session:
            priorities = [chance.randint(0, 2) for _ in range(count)]
            run_ids = [floor.add_run(session, priority=priority) for priority in priorities]
        for run_id in run_ids:
            floor.wake(run_id)
        ended = select(func.count()).select_from(Run).where(Run.finished_at.is_not(None))
        processes.wait_until(
            lambda: floor.rows(ended) == [count],
            f"all {count} runs have ended",
            timeout_s=120 + 3 * count,
            log=floor.newest_log(),
        )
    return floor.rows(select(Run).order_by(Run.started_at))


def overtaken(runs: Sequence[Run]) -> list[int]:
    """For every run in the order of their starts, how many that were due before started later."""
    due = [(-run.priority, run.number) for run in runs]
    return [sum(later < one for later in due[place:]) for place, one in enumerate(due)]


def gaps_s(floor: Floor, runs: Sequence[Run], *, workers: int) -> list[float]:
    """Seconds from a slot's becoming free to the first metric in the store of who got it.

    Each end but the last `workers` lets one more run start, in this order.
    """
    told = select(RunEvent.run_id, func.min(RunEvent.created_at)).where(RunEvent.type == "metric")
    with floor.database.read() as session:
        first_metric = dict(session.execute(told.group_by(RunEvent.run_id)).all())
    ends = sorted(run.finished_at for run in runs if run.finished_at is not None)
    followers = runs[workers:]
    return [
        (first_metric[run.id] - end).total_seconds()
        for run, end in zip(followers, ends, strict=False)
    ]
