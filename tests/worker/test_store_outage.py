"""A store that is away only delays: the trainer goes on, and nothing is lost or doubled."""

import pytest
from redis import Redis
from sqlalchemy import create_engine, make_url, select, text

from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import LogLine
from tests import processes
from tests.worker.floor import Floor

pytestmark = pytest.mark.slow


def administrate(url: str, *statements: str) -> None:
    server = make_url(url).set(database="postgres")
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def test_a_database_that_goes_away_during_a_run_costs_nothing_but_time(
    redis_floor: Floor,
) -> None:
    floor = redis_floor
    run_id = floor.new_run()
    name = floor.database.engine.url.database
    events = floor.settings.runs_dir / run_id / "events.jsonl"

    with floor.worker("--steps", "400", "--step-s", "0.02"):
        floor.wake(run_id)
        floor.wait_for_step(run_id, 5)
        size = events.stat().st_size
        administrate(
            floor.settings.sqlalchemy_url,
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
        )
        processes.wait_until(lambda: events.stat().st_size > size + 6000, "the trainer goes on")
        administrate(floor.settings.sqlalchemy_url, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        floor.database.engine.dispose()
        run = floor.wait_for(run_id, "succeeded")

    assert (run.attempt, run.crashes) == (1, 0)
    points = floor.rows(select(MetricPoint).where(MetricPoint.name == "loss"))
    assert sorted(point.step for point in points) == list(range(1, 401))
    assert floor.told_steps(run_id) == list(range(1, 401))
    printed = floor.rows(select(LogLine).where(LogLine.stream == "stdout"))
    assert len(printed) == 400


def test_a_broker_that_was_flushed_changes_nothing(redis_floor: Floor, redis_url: str) -> None:
    run_ids = [redis_floor.new_run() for _ in range(3)]
    for run_id in run_ids:
        redis_floor.wake(run_id)
    Redis.from_url(redis_url).flushall()

    with redis_floor.worker():
        for run_id in run_ids:
            redis_floor.wait_for(run_id, "succeeded")

    assert {redis_floor.run(run_id).attempt for run_id in run_ids} == {1}
