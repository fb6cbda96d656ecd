"""Why a run ended badly, in the form that the store keeps, and the failures of no trainer's own.

Raised or recorded by whatever works for a run: before its trainer exists, beside it, or once its
worker is gone. What the end of a trainer means is `worker.run_directory.exit_reading`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backend.domain.failures import SENTENCES, Facts, advise
from backend.schemas.vocabulary import FailureCause
from worker.run_directory.cleaning import clean_text

LIMITS_ADVICE = "Check the limits of the worker's container or user: processes, memory, open files."


@dataclass(frozen=True)
class Failure:
    """Why a run ended badly: what kind of thing, what exactly, and what to do about it.

    `changes` are values of the config, by dotted path, with which a clone should fare better.
    """

    cause: FailureCause
    message: str
    advice: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    def as_error(self) -> dict[str, Any]:
        """The form in which the store keeps it; names of files need not be text."""
        return {
            "cause": self.cause,
            "message": clean_text(self.message),
            "advice": clean_text(self.advice),
            "changes": dict(self.changes),
        }

    def advised(self, config: Mapping[str, Any], facts: Facts) -> "Failure":
        """The same with advice in numbers of the run, where numbers help."""
        better = advise(self.cause, config, facts)
        return self if better is None else replace(self, advice=better.text, changes=better.changes)


class RunFailed(Exception):
    """Raised where a run cannot go on and nobody has to look for a bug.

    `may_pass`: what is in the way may be gone later, so the run crashes and is tried again.
    """

    def __init__(self, failure: Failure, *, may_pass: bool = False) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.may_pass = may_pass


def bad_output(what: str) -> RunFailed:
    """What a trainer that reported success has left cannot be stored, and why."""
    advice = "The trainer reported success, so this is a bug of the trainer. Read its log."
    return RunFailed(Failure(FailureCause.OUTPUT, f"The results cannot be stored: {what}.", advice))


TIMEOUT = Failure(
    FailureCause.TIMEOUT,
    SENTENCES[FailureCause.TIMEOUT],
    "Retry gives the run the same time again, from its last checkpoint if it has one. To allow "
    "more time, clone the run with a larger resources.timeout_s.",
)

LOST = Failure(
    FailureCause.WORKER_LOST,
    SENTENCES[FailureCause.WORKER_LOST],
    "Check the worker's log and its machine.",
)


def not_begun(error: OSError) -> Failure:
    """A machine that had no process, memory or descriptor to give before the trainer began."""
    return Failure(
        FailureCause.NOT_STARTED,
        f"The worker's machine could not start the trainer: {error}.",
        LIMITS_ADVICE,
    )
