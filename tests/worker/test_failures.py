"""How runs fail, each cause by a real process that dies of it: cause, advice, log and resources."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import select, update

from backend.store.tables.runs import Run, RunFailure
from tests.worker.floor import Floor

pytestmark = pytest.mark.slow

CGROUPS = Path("/sys/fs/cgroup/memory")
NUMBERS = {
    "optim": {"micro_batch_tokens": 4096, "lr": 1e-4},
    "precision": "bf16",
    "max_checkpoints": 3,
}


def ends(floor: Floor, run_id: str) -> list[RunFailure]:
    """The bad ends of a run, oldest first."""
    return floor.rows(
        select(RunFailure).where(RunFailure.run_id == run_id).order_by(RunFailure.number)
    )


def fake_trainer(before: str, *flags: str) -> str:
    """A trainer command that runs some shell first."""
    script = (
        f'{before}; exec {sys.executable} -S -m worker.process.fake_trainer {" ".join(flags)} "$@"'
    )
    return shlex.join(["sh", "-c", script, "sh"])


def test_each_cause_is_told_with_advice_log_and_resources(floor: Floor) -> None:
    said = {
        "data": {"exit": 2, "cause": "data", "message": "line 3 is empty"},
        "config": {"exit": 2, "cause": "config"},
        "out_of_memory": {"exit": 3},
        "non_finite_loss": {"exit": 4},
        "bug": {"exit": 1},
        "disk": {"exit": 6, "checkpoint_every": 2},
        "killed": {"die_at": 3, "die_signal": 11},
        "unexplained": {"silent": True, "exit": 7},
    }
    by_cause = {cause: floor.new_run(**NUMBERS) for cause in said}
    for cause, how in said.items():
        floor.behave(by_cause[cause], **{"steps": 3, "message": None} | how)

    with floor.worker(slots=3, PODIUM_CRASH_BACK_OFF_S="[600]"):
        floor.wake(by_cause["data"])
        runs = {
            cause: floor.wait_for(run_id, "failed", "crashed", timeout_s=120)
            for cause, run_id in by_cause.items()
        }

    for cause, run in runs.items():
        assert run.error is not None
        (end,) = ends(floor, run.id)
        assert (run.error["cause"], end.cause, end.attempt, end.step) == (cause, cause, 1, 3)
        assert end.resources["peak_rss_bytes"] > 5e6, "an interpreter has some MB at least"
        assert end.resources["disk_free_bytes"] > 0
        assert end.resources["cpu_s"] > 0
        texts = [line["text"] for line in end.log]
        assert "step 3 of 3" in texts
    assert {c for c, run in runs.items() if run.state == "crashed"} == {"killed", "unexplained"}
    errors = {cause: run.error or {} for cause, run in runs.items()}
    assert errors["data"]["message"] == "line 3 is empty"
    memory = errors["out_of_memory"]
    assert memory["advice"] == "Lower optim.micro_batch_tokens from 4096 to 2048."
    assert memory["changes"] == {"optim.micro_batch_tokens": 2048}
    assert (
        "from 0.0001 to 5e-05, or set precision from bf16 to fp32"
        in errors["non_finite_loss"]["advice"]
    )
    assert "are free on the disk" in errors["disk"]["advice"]
    assert "max_checkpoints 2 instead of 3" in errors["disk"]["advice"]
    assert "SIGSEGV" in errors["killed"]["message"]


def test_the_log_of_an_end_is_its_last_two_hundred_lines(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    run_id = floor.new_run()

    with floor.worker("--steps", "300", "--step-s", "0", "--exit", "1"):
        floor.wake(run_id)
        floor.wait_for(run_id, "failed", timeout_s=120)

    (end,) = ends(floor, run_id)
    texts = [line["text"] for line in end.log]
    assert len(texts) == 200
    assert texts[-2:] == ["step 300 of 300", "the fake trainer ends with 1"]
    assert texts[0] == "step 102 of 300"


def test_a_timeout_says_how_long_it_would_have_taken(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    run_id = floor.new_run(resources={"timeout_s": 10})

    with floor.worker("--steps", "20000", "--step-s", "0.02"):
        floor.wake(run_id)
        run = floor.wait_for(run_id, "failed", timeout_s=120)

    assert run.error is not None
    assert run.error["cause"] == "timeout"
    assert run.error["changes"]["resources.timeout_s"] > 100
    assert "Raise resources.timeout_s from 10 to" in run.error["advice"]


def test_a_model_that_has_changed_is_missing(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    run_id = floor.new_run()
    (floor.data_dir / "models" / "base" / "config.json").write_text('{"vocab_size": 5}')

    with floor.worker():
        floor.wake(run_id)
        run = floor.wait_for(run_id, "failed", timeout_s=120)

    assert run.error is not None
    assert run.error["cause"] == "missing_model"
    (end,) = ends(floor, run_id)
    assert "have changed" in end.message


def test_a_lost_worker_leaves_the_lines_that_came_home(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    run_id = floor.new_run()
    with floor.database.write() as session:
        gone = {"owner": "worker_gone", "attempt": 1, "state": "running"}
        session.execute(update(Run).where(Run.id == run_id).values(**gone))

    with floor.worker(PODIUM_STALE_S="3"):
        floor.wait_for(run_id, "succeeded", timeout_s=120)

    (end,) = ends(floor, run_id)
    assert (end.cause, end.attempt, end.log) == ("worker_lost", 1, [])


def test_memory_that_an_allocation_did_not_get_fails_the_run(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    run_id = floor.new_run(**NUMBERS)
    limited = fake_trainer("ulimit -v 200000", "--steps 1", "--hoard-mib 4000")

    with floor.worker(PODIUM_TRAINER_COMMAND=limited):
        floor.wake(run_id)
        run = floor.wait_for(run_id, "failed", timeout_s=120)

    assert run.error is not None
    assert (run.error["cause"], run.exit_code) == ("out_of_memory", 3)
    (end,) = ends(floor, run_id)
    assert 50e6 < end.resources["peak_rss_bytes"] < 210e6


@contextmanager
def little_memory(size: str) -> Iterator[Path]:
    """A control group that may hold so much, or the test is skipped."""
    group = CGROUPS / f"podium-test-{os.getpid()}"
    try:
        group.mkdir(exist_ok=True)
        (group / "memory.limit_in_bytes").write_text(size)
    except OSError as error:
        pytest.skip(f"no memory control group can be made here: {error}")
    try:
        yield group
    finally:
        with suppress(OSError):
            group.rmdir()


def test_a_kill_by_the_kernel_for_want_of_memory_is_told_from_other_kills(
    sqlite_floor: Floor,
) -> None:
    floor = sqlite_floor
    run_id = floor.new_run(**NUMBERS)
    with little_memory("64M") as group:
        limited = fake_trainer(f"echo $$ > {group}/cgroup.procs", "--steps 1", "--hoard-mib 4000")
        with floor.worker(PODIUM_TRAINER_COMMAND=limited, PODIUM_CRASH_BACK_OFF_S="[600]"):
            floor.wake(run_id)
            run = floor.wait_for(run_id, "crashed", timeout_s=120)

    assert run.error is not None
    assert run.error["cause"] == "out_of_memory"
    assert "The kernel killed the trainer (SIGKILL) because memory ran out" in run.error["message"]
    assert run.error["changes"] == {"optim.micro_batch_tokens": 2048}
