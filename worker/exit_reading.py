"""How a trainer's end is read: exit code, `exit.json` and what was asked for become a state.

Called by `worker.supervisor`. Pure but for `read_report`; it moves no state itself.
"""

import signal
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from backend.domain.run_state import state_asked_for
from backend.schemas.events import ExitReport
from backend.schemas.vocabulary import ExitCode, RunState, StopReason
from worker.trainer_process import Ended

# The report is written over a reserve of this size.
_LONGEST_REPORT_BYTES = 65536


@dataclass(frozen=True)
class Failure:
    """Why a run ended badly: a word for programs, a sentence, and what to do about it."""

    cause: str
    message: str
    advice: str

    def as_error(self) -> dict[str, str]:
        """The form in which the store keeps it."""
        return {"cause": self.cause, "message": self.message, "advice": self.advice}


class RunFailed(Exception):
    """Raised where a run cannot go on and nobody has to look for a bug."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


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


_BY_CODE = {
    ExitCode.BUG: Failure(
        "bug",
        "The trainer stopped with an error of its own.",
        "Read the traceback in the log; if it is none of your files, report it. Retry goes on "
        "from the last checkpoint.",
    ),
    ExitCode.CONFIG_OR_DATA: Failure(
        "config_or_data",
        "The trainer refused the config or its data.",
        "Change what the message names, in a clone of this run.",
    ),
    ExitCode.OUT_OF_MEMORY: Failure(
        "out_of_memory",
        "The trainer ran out of memory.",
        "Lower optim.micro_batch_tokens or rollout.max_new_tokens, or train with LoRA.",
    ),
    ExitCode.NON_FINITE_LOSS: Failure(
        "non_finite_loss",
        "The loss was no longer a finite number.",
        "Lower optim.lr or optim.grad_clip, or set precision to fp32; retry goes on from the "
        "last checkpoint.",
    ),
    ExitCode.DISK: Failure(
        "disk",
        "The run directory is full or not writable.",
        "Free space in the data directory (`podium prune` helps), then retry.",
    ),
}

TIMEOUT = Failure(
    "timeout",
    "The run took longer than resources.timeout_s.",
    "Retry goes on from the last checkpoint with a fresh clock; a clone can set a longer time.",
)

LOST = Failure(
    "worker_lost",
    "The worker that ran it showed no sign of life.",
    "It goes on from its last checkpoint by itself, three times at most; look at the worker's log.",
)


def read_report(path: Path, attempt: int) -> ExitReport | None:
    """This attempt's `exit.json`, or None if it is missing, broken or another attempt's."""
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST_REPORT_BYTES)
        report = ExitReport.model_validate_json(data.rstrip(b"\0 \n"))
    except (OSError, ValidationError):
        return None
    return report if report.attempt == attempt else None


def read_end(
    ended: Ended, report: ExitReport | None, reason: StopReason | None, log_tail: str
) -> Reading:
    """The state that follows; `reason` is set if the run was asked to stop.

    0 succeeded; 1-4 and 6 failed; a run that was asked to stop gets what was asked for; anything
    that says nothing of itself is crashed.
    """
    if ended.not_started is not None:
        return _not_started(ended.not_started)
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
    return Failure(report.cause or usual.cause, message, report.advice or usual.advice)


def _not_started(why: str) -> Reading:
    failure = Failure(
        "not_started",
        f"The trainer could not be started: {why}",
        "Check PODIUM_TRAINER_COMMAND and that the worker's extra is installed: "
        "pip install 'podium[worker]'.",
    )
    return Reading(RunState.FAILED, None, failure)


def _crash(ended: Ended, report: ExitReport | None, log_tail: str) -> Failure:
    if ended.signal is not None:
        name = signal.Signals(ended.signal).name
        how = f"The trainer was killed by {name}."
    elif report is not None:
        how = f"The trainer returned {ended.code}, but its exit.json says {report.code}."
    else:
        how = f"The trainer returned {ended.code} and left no exit.json."
    advice = "It goes on from its last checkpoint by itself, three times at most; read the log."
    if ended.signal == signal.SIGKILL:
        advice = "Often the kernel's answer to too little memory: see `dmesg`. " + advice
    return Failure("crashed", f"{how}\n{log_tail}".strip(), advice)
