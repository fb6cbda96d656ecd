"""A machine that has no process, memory or descriptor to give: the run waits, and is not failed."""

import errno
import os
import sys
from collections.abc import Callable
from typing import Any

from tests.worker.floor import Floor
from tests.worker.test_bucket_outage import RestlessWorker
from worker.process.trainer_process import TrainerProcess
from worker.supervisor import Supervisor
from worker.worker_process import Claimed


def short(times: float, of: int) -> tuple[Callable[..., TrainerProcess], list[int]]:
    """Starts a trainer, but for so many times; the list has an entry for each of them."""
    refused: list[int] = []

    def start(*args: Any, **given: Any) -> TrainerProcess:
        if len(refused) < times:
            refused.append(of)
            raise OSError(of, os.strerror(of))
        return TrainerProcess(*args, **given)

    return start, refused


def claimed(floor: Floor, min_free_gb: float = 0) -> tuple[RestlessWorker, Claimed]:
    command = f"{sys.executable} -S -m worker.process.fake_trainer --steps 2"
    given = {"min_free_gb": min_free_gb, "trainer_command": command, "beat_s": 0.1}
    this_worker = RestlessWorker(floor.settings.model_copy(update=given))
    this_worker.register()
    found = this_worker.claim_next()
    assert found is not None
    return this_worker, found


def test_a_trainer_is_started_once_the_machine_has_a_process_for_it(floor: Floor) -> None:
    run_id = floor.new_run()
    this_worker, found = claimed(floor)
    supervisor = Supervisor(this_worker, found)
    start, refused = short(3, errno.EAGAIN)
    supervisor.start_trainer = start  # type: ignore[assignment]

    supervisor.see_through()
    this_worker.close()

    assert refused == [errno.EAGAIN] * 3
    assert floor.states(run_id) == ["queued", "running", "succeeded"]


def test_a_machine_that_stays_short_has_the_run_tried_again(floor: Floor) -> None:
    run_id = floor.new_run()
    this_worker, found = claimed(floor)
    supervisor = Supervisor(this_worker, found)
    supervisor.start_trainer, _ = short(float("inf"), errno.EMFILE)  # type: ignore[assignment]

    supervisor.see_through()
    this_worker.close()

    run = floor.run(run_id)
    assert (run.state, run.crashes, run.error["cause"]) == ("crashed", 1, "not_started")
    assert "Too many open files" in run.error["message"]
    assert "Podium retries the run automatically from the beginning." in run.error["advice"]


def test_a_full_disk_is_no_shortage_that_passes(floor: Floor) -> None:
    run_id = floor.new_run()
    this_worker, found = claimed(floor)
    supervisor = Supervisor(this_worker, found)
    start, refused = short(float("inf"), errno.ENOSPC)
    supervisor.start_trainer = start  # type: ignore[assignment]

    supervisor.see_through()
    this_worker.close()

    run = floor.run(run_id)
    assert (run.state, run.error["cause"], len(refused)) == ("failed", "disk", 1)


def test_a_trainer_is_told_how_much_of_the_disk_must_stay_free(floor: Floor) -> None:
    floor.new_run()
    this_worker, found = claimed(floor, min_free_gb=0.001)
    supervisor = Supervisor(this_worker, found)
    told: list[str] = []

    def start(*args: Any, **given: Any) -> TrainerProcess:
        told.append(given["environment"]["PODIUM_MIN_FREE_GB"])
        return TrainerProcess(*args, **given)

    supervisor.start_trainer = start  # type: ignore[assignment]
    supervisor.see_through()
    this_worker.close()

    assert told == ["0.001"]
