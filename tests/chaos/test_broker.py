"""Messages that are lost, doubled and late: the store alone decides what runs, and once."""

from pathlib import Path

import pytest
from redis import Redis

from tests import processes
from tests.chaos import witness
from tests.chaos.queue_of_runs import DEFAULTS
from tests.worker.floor import Floor

pytestmark = pytest.mark.slow

# A person was promised: after the broker lost everything.
START_S = 60.0


def test_queued_runs_start_within_a_minute_after_the_broker_lost_every_message(
    redis_floor: Floor, redis_url: str
) -> None:
    floor = redis_floor

    with floor.worker(slots=2, **DEFAULTS):
        # The first sweep is over, and the worker idles: nobody but the next sweep helps.
        run_ids = [floor.new_run() for _ in range(8)]
        Redis.from_url(redis_url).flushall()
        processes.wait_until(
            lambda: all(floor.run(run_id).started_at for run_id in run_ids),
            "all runs have started",
            timeout_s=START_S,
            log=floor.newest_log(),
        )
        for run_id in run_ids:
            floor.wait_for(run_id, "succeeded", timeout_s=120)

    assert {floor.run(run_id).attempt for run_id in run_ids} == {1}


@pytest.mark.parametrize(
    "seconds", [pytest.param(12, id="short"), pytest.param(60, marks=pytest.mark.chaos)]
)
def test_messages_doubled_a_hundred_times_and_delivered_again_start_one_trainer(
    redis_floor: Floor, tmp_path: Path, seconds: int
) -> None:
    floor = redis_floor
    run_id = floor.new_run()
    fake = f"worker.process.fake_trainer --steps {seconds * 4} --step-s 0.25"
    trainer = witness.command(tmp_path / "witness", fake)
    impatient = "tests.chaos.impatient_app"
    given = {"PODIUM_TRAINER_COMMAND": trainer}

    with floor.worker(app=impatient, **given), floor.worker(app=impatient, **given):
        for _ in range(100):
            floor.wake(run_id)
        floor.wait_for_step(run_id, 1)
        # Both workers hold messages that they have not acknowledged, and get them again and again.
        floor.wait_for(run_id, "succeeded", timeout_s=seconds + 120)
        for _ in range(100):
            floor.wake(run_id)
        late = floor.new_run()
        floor.behave(late, steps=1)
        floor.wake(late)
        floor.wait_for(late, "succeeded", timeout_s=120)

    assert witness.words_of(tmp_path / "witness", run_id) == ["alone"]
    assert floor.states(run_id) == ["queued", "running", "succeeded"]
    assert floor.run(run_id).attempt == 1
