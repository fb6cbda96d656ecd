"""How the end of a trainer is read, by the table of exit codes and on a real worker."""

import errno
import json
import os
from pathlib import Path

import pytest

from backend.schemas.run_directory.events import ExitReport
from backend.schemas.vocabulary import RunState, StopReason
from tests import processes
from tests.worker.floor import Floor
from worker.process.trainer_process import Ended, Used
from worker.run_directory.disk_errors import disk_failure
from worker.run_directory.exit_reading import read_end, read_report

S = RunState
FAILURES = {
    1: "bug",
    2: "config",
    3: "out_of_memory",
    4: "non_finite_loss",
    6: "disk",
}


def report(code: int) -> ExitReport:
    return ExitReport(attempt=1, code=code)


@pytest.mark.parametrize(("code", "cause"), FAILURES.items())
@pytest.mark.parametrize("reason", [None, *StopReason])
def test_a_code_that_says_what_went_wrong_is_a_failure_whatever_was_asked(
    code: int, cause: str, reason: StopReason | None
) -> None:
    reading = read_end(Ended(code), report(code), reason, "")

    assert reading.state == S.FAILED
    assert reading.failure is not None
    assert reading.failure.cause == cause
    assert reading.failure.advice


@pytest.mark.parametrize("reason", [None, *StopReason])
def test_a_trainer_that_is_done_has_succeeded_even_if_it_was_asked_to_stop(
    reason: StopReason | None,
) -> None:
    assert read_end(Ended(0), report(0), reason, "").state == S.SUCCEEDED


@pytest.mark.parametrize(
    ("reason", "state"),
    [("cancel", S.CANCELLED), ("pause", S.PAUSED), ("drain", S.QUEUED), ("timeout", S.FAILED)],
)
@pytest.mark.parametrize("ended", [Ended(5), Ended(None, 9), Ended(0), Ended(77)])
def test_a_stopped_run_gets_what_was_asked_for_however_its_trainer_ended(
    reason: str, state: RunState, ended: Ended
) -> None:
    said = report(5) if ended.code == 5 else None

    assert read_end(ended, said, StopReason(reason), "").state == state


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (Ended(None, 11), None),
        (Ended(None, 9), report(0)),
        (Ended(0), None),
        (Ended(0), report(1)),
        (Ended(1), report(0)),
        (Ended(77), report(77)),
    ],
)
def test_an_end_that_explains_nothing_is_a_crash(ended: Ended, said: ExitReport | None) -> None:
    reading = read_end(ended, said, None, "the last line")

    assert reading.state == S.CRASHED
    assert reading.failure is not None
    assert "the last line" in reading.failure.message
    assert reading.failure.cause == ("killed" if ended.signal else "unexplained")


def test_a_trainer_that_somebody_else_has_stopped_is_told_so() -> None:
    reading = read_end(Ended(5), report(5), None, "the last line")

    assert reading.state == S.CRASHED
    assert reading.failure is not None
    assert reading.failure.cause == "killed"
    assert "a signal that Podium did not send" in reading.failure.message
    assert "the last line" in reading.failure.message


def test_a_code_that_means_nothing_is_told_so() -> None:
    reading = read_end(Ended(77), report(77), None, "")

    assert reading.failure is not None
    assert reading.failure.message == "The trainer ended with exit code 77; expected 0 to 6."


@pytest.mark.parametrize(
    "said",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        "RuntimeError: CUDA error: out of memory",
        "MemoryError",
    ],
)
@pytest.mark.parametrize("ended", [Ended(1), Ended(None, 6)])
def test_a_crash_whose_last_words_are_of_memory_ran_out_of_it(ended: Ended, said: str) -> None:
    failure = read_end(ended, None, None, f"Traceback\n{said}").failure

    assert failure is not None
    assert failure.cause == "out_of_memory"


@pytest.mark.parametrize(
    ("signal", "is_oom_kill", "cause"),
    [(9, True, "out_of_memory"), (9, False, "killed"), (15, True, "killed")],
)
def test_a_kill_by_the_kernel_is_told_from_kills_by_others(
    signal: int, is_oom_kill: bool, cause: str
) -> None:
    used = Used(peak_rss_bytes=3 * 10**9, cpu_s=1.0, is_oom_kill=is_oom_kill)

    failure = read_end(Ended(None, signal, usage=used), None, None, "").failure

    assert failure is not None
    assert failure.cause == cause
    assert ("its peak memory was 3.0 GB" in failure.message) == (cause == "out_of_memory")


def test_what_the_trainer_says_goes_before_what_we_usually_say() -> None:
    said = ExitReport(attempt=1, code=2, cause="data", message="no pairs", advice="rank some")

    failure = read_end(Ended(2), said, None, "").failure

    assert failure is not None
    assert failure.as_error() == {
        "cause": "data",
        "message": "no pairs",
        "advice": "rank some",
        "changes": {},
    }
    foreign = ExitReport(attempt=1, code=2, cause="no_pairs")
    other = read_end(Ended(2), foreign, None, "").failure
    assert other is not None
    assert other.cause == "config", "a word of its own is read by the exit code"


def test_a_report_counts_for_its_own_attempt_only(tmp_path: Path) -> None:
    path = tmp_path / "exit.json"
    path.write_text('{"attempt": 1, "code": 0}' + " " * 100_000)

    assert read_report(path, 1) == report(0)
    assert read_report(path, 2) is None
    assert read_report(tmp_path / "missing.json", 1) is None
    for broken in ("", "{", "[]", '{"attempt": "x"}', "\0" * 100):
        path.write_text(broken)
        assert read_report(path, 1) is None


@pytest.mark.slow
def test_every_exit_code_of_a_real_process_ends_in_its_state(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    by_code = {code: floor.new_run() for code in (*FAILURES, 5, 9)}
    for code, run_id in by_code.items():
        floor.behave(run_id, exit=code, message=f"code {code}")
    silent, missing = floor.new_run(), floor.new_run()
    floor.behave(silent, silent=True)
    # A trainer that cannot even read its config: the end without a report, with a traceback.
    floor.behave(missing, die_at=None, steps="none")

    with floor.worker(slots=2, PODIUM_CRASH_BACK_OFF_S="[600]"):
        floor.wake(silent)
        for code, cause in FAILURES.items():
            run = floor.wait_for(by_code[code], "failed")
            assert run.error is not None
            assert (run.exit_code, run.error["cause"]) == (code, cause)
            assert run.error["message"] == f"code {code}"
        for run_id in (by_code[5], by_code[9], silent, missing):
            floor.wait_for(run_id, "crashed")
        error = floor.run(missing).error

    assert error is not None
    assert "TypeError" in json.dumps(error), "the end of the log is kept with the error"


@pytest.mark.slow
def test_characters_that_no_database_keeps_do_not_cost_a_report(floor: Floor) -> None:
    run_id = floor.new_run()
    floor.behave(run_id, exit=2, message="the record 'a\0b\ud800' has no answer")

    with floor.worker():
        floor.wake(run_id)
        run = floor.wait_for(run_id, "failed", "crashed")

    assert run.error is not None
    assert (run.state, run.exit_code, run.error["cause"]) == ("failed", 2, "config")
    assert run.error["message"] == "the record 'a\ufffdb?' has no answer"


def test_a_file_whose_name_is_no_text_can_be_named() -> None:
    name = os.fsdecode(b"/data/caf\xe9")
    failure = disk_failure(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name))

    told = failure.as_error()

    assert told["message"].encode().startswith(b"/data/caf? cannot be written: ")


def test_a_trainer_that_finds_no_room_on_the_machine_is_tried_again_unless_it_is_to_stop() -> None:
    ended = Ended(None, not_started="[Errno 11] Resource temporarily unavailable", is_short=True)

    reading = read_end(ended, None, None, "")
    stopped = read_end(ended, None, StopReason.CANCEL, "")

    assert (reading.state, stopped.state) == (RunState.CRASHED, RunState.CANCELLED)
    assert reading.failure is not None
    assert reading.failure.cause == "not_started"
    assert "limits" in reading.failure.advice


@pytest.mark.slow
def test_a_trainer_that_cannot_be_started_fails_with_advice(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()

    with sqlite_floor.worker(PODIUM_TRAINER_COMMAND="/nowhere/trainer"):
        processes.wait_until(lambda: sqlite_floor.run(run_id).state == "failed", "it failed")

    error = sqlite_floor.run(run_id).error
    assert error is not None
    assert error["cause"] == "not_started"
    assert "PODIUM_TRAINER_COMMAND" in error["advice"]
