"""How a trainer's end is read: exit code, `exit.json` and what was asked for become a state.

Called by the supervisor; whatever prepares a run or takes its results raises its `RunFailed`. Pure
but for `read_report`; it moves no state itself.
"""

import json
import re
import signal
from dataclasses import dataclass, replace
from pathlib import Path

from backend.domain.failures import SENTENCES, cause_of
from backend.domain.run_state import state_asked_for
from backend.schemas.numbers import gb
from backend.schemas.run_directory.events import ExitReport
from backend.schemas.vocabulary import ExitCode, FailureCause, RunState, StopReason
from worker.process.trainer_process import Ended, Used
from worker.run_directory.cleaning import clean
from worker.run_directory.failures import LIMITS_ADVICE, TIMEOUT, Failure

# The report is written over a reserve of this size.
_LONGEST_REPORT_BYTES = 65536


@dataclass(frozen=True)
class Reading:
    """Where the run goes from here; `is_unexplained` counts towards the limit of crashes."""

    state: RunState
    exit_code: int | None
    failure: Failure | None = None

    @property
    def is_unexplained(self) -> bool:
        """Whether nobody said why the trainer ended."""
        return self.state == RunState.CRASHED


def _usual(cause: FailureCause, advice: str) -> Failure:
    return Failure(cause, SENTENCES[cause], advice)


_BY_CODE = {
    ExitCode.BUG: _usual(
        FailureCause.BUG,
        "Read the traceback in the log. If it does not point to your own files, report the bug.",
    ),
    ExitCode.CONFIG_OR_DATA: Failure(
        FailureCause.CONFIG,
        "The trainer rejected the config or the data.",
        "Clone this run and change what the message names.",
    ),
    ExitCode.OUT_OF_MEMORY: _usual(
        FailureCause.OUT_OF_MEMORY,
        "Lower optim.micro_batch_tokens or rollout.max_new_tokens, or train with LoRA.",
    ),
    ExitCode.NON_FINITE_LOSS: _usual(
        FailureCause.NON_FINITE_LOSS,
        "Lower optim.lr or optim.grad_clip, or set precision to fp32.",
    ),
    ExitCode.DISK: _usual(
        FailureCause.DISK,
        "Free space in the data directory (`podium prune` helps) or make it writable, then retry "
        "the run.",
    ),
}

_COMMAND = (
    "Check PODIUM_TRAINER_COMMAND and that the worker's extra is installed: run `.venv/bin/pip "
    "install --constraint constraints.txt --editable '.[worker]'` in Podium's source folder."
)
# What a process prints that got no memory, of the GPU or of the machine.
_NO_MEMORY = re.compile(
    r"(CUDA|HIP) out of memory|CUDA error: out of memory|\bOutOfMemoryError\b|\bMemoryError\b"
)


def read_report(path: Path, attempt: int) -> ExitReport | None:
    """Read this attempt's `exit.json`; None if it is missing, broken or another attempt's."""
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_REPORT_BYTES)
        said = json.loads(data.rstrip(b"\0 \n").decode("utf-8", "replace"))
        report = ExitReport.model_validate(clean(said))
    except (OSError, ValueError, RecursionError):
        return None
    return report if report.attempt == attempt else None


def read_end(
    ended: Ended, report: ExitReport | None, reason: StopReason | None, log_tail: str
) -> Reading:
    """The state that follows; `reason` is set if the run was asked to stop.

    0 succeeded; 1-4 and 6 failed; a run that was asked to stop gets what was asked for; anything
    that says nothing of itself is crashed.
    """
    if ended.not_started is not None and not (ended.is_short and reason):
        state = RunState.CRASHED if ended.is_short else RunState.FAILED
        return Reading(state, None, _not_started(ended.not_started, ended.is_short))
    says_so = report is not None and ended.code == report.code
    if says_so and report is not None and ended.code in _BY_CODE:
        failure = _failure(report, log_tail)
        return Reading(RunState.FAILED, ended.code, failure)
    if says_so and ended.code == ExitCode.DONE:
        return Reading(RunState.SUCCEEDED, ended.code)
    if reason is not None:
        failure_or_none = TIMEOUT if reason == StopReason.TIMEOUT else None
        return Reading(state_asked_for(reason), ended.code, failure_or_none)
    return Reading(RunState.CRASHED, ended.code, _crash(ended, report, log_tail))


def _failure(report: ExitReport, log_tail: str) -> Failure:
    usual = _BY_CODE[report.code]
    message = report.message or usual.message
    if report.code == ExitCode.BUG and not report.message:
        message += f"\n{log_tail}"
    cause = cause_of(report.cause, otherwise=usual.cause)
    return Failure(cause, message, report.advice or usual.advice)


def _not_started(why: str, is_short: bool) -> Failure:
    return Failure(
        FailureCause.NOT_STARTED,
        f"The trainer could not be started: {why}",
        LIMITS_ADVICE if is_short else _COMMAND,
    )


def _crash(ended: Ended, report: ExitReport | None, log_tail: str) -> Failure:
    if ended.signal is not None:
        failure = _killed(signal.Signals(ended.signal), ended.usage)
    elif report is not None and report.code == ended.code:
        failure = _unasked(ended.code)
    elif report is not None:
        failure = _unexplained(
            f"ended with exit code {ended.code}, but its report (exit.json) says {report.code}"
        )
    else:
        failure = _unexplained(f"ended with exit code {ended.code} and wrote no report (exit.json)")
    if _NO_MEMORY.search(log_tail):
        failure = replace(failure, cause=FailureCause.OUT_OF_MEMORY)
    return replace(failure, message=f"{failure.message}\n{log_tail}".strip())


def _unasked(code: int) -> Failure:
    if code == ExitCode.STOPPED:
        return Failure(
            FailureCause.KILLED,
            "The trainer was asked to stop by a signal that Podium did not send.",
            "Find out what ends processes on the worker's machine.",
        )
    return _unexplained(f"ended with exit code {code}; expected 0 to {ExitCode.GREATEST}")


def _unexplained(how: str) -> Failure:
    return Failure(
        FailureCause.UNEXPLAINED, f"The trainer {how}.", "Read the last lines of the log."
    )


def _killed(by: signal.Signals, used: Used | None) -> Failure:
    if by == signal.SIGKILL and used is not None and used.is_oom_kill:
        how = (
            "The kernel killed the trainer (SIGKILL) because memory ran out; its peak memory was "
            f"{gb(used.peak_rss_bytes)}."
        )
        return replace(_BY_CODE[ExitCode.OUT_OF_MEMORY], message=how)
    advice = "Read the last lines of the log."
    if by == signal.SIGKILL:
        advice = (
            "Somebody killed it, or the kernel did because memory ran out; `dmesg` on the "
            "worker's machine shows out-of-memory kills."
        )
    return Failure(FailureCause.KILLED, f"The trainer was killed by {by.name}.", advice)
