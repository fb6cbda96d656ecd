"""Which states a run may move between, what a person may do in each, and how to say it.

`backend.store.runs.runs` asks before every move and every verb; the screen shows the sentences.
Pure: no clock, no store.
"""

from enum import StrEnum

from backend.schemas.methods import SAMPLERS
from backend.schemas.vocabulary import Method, RunState, StopReason

S = RunState


class Verb(StrEnum):
    """What a person may ask of a run."""

    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    RETRY = "retry"
    CLONE = "clone"
    ARCHIVE = "archive"


# The reason of a move that brings a failed or cancelled run back to the queue; no other reason may.
RETRY = "retry"

MOVES: dict[RunState, frozenset[RunState]] = {
    S.QUEUED: frozenset({S.RUNNING, S.PAUSED, S.CANCELLED}),
    S.RUNNING: frozenset({S.STOPPING, S.SUCCEEDED, S.FAILED, S.CRASHED, S.QUEUED}),
    S.STOPPING: frozenset({S.CANCELLED, S.PAUSED, S.QUEUED, S.SUCCEEDED, S.FAILED, S.CRASHED}),
    S.PAUSED: frozenset({S.QUEUED, S.CANCELLED}),
    S.CRASHED: frozenset({S.QUEUED, S.CANCELLED}),
    S.FAILED: frozenset({S.QUEUED}),
    S.CANCELLED: frozenset({S.QUEUED}),
    S.SUCCEEDED: frozenset(),
}

_BY_RETRY_ALONE = frozenset({S.FAILED, S.CANCELLED})

# A run that a supervisor owns.
LIVE = frozenset({S.RUNNING, S.STOPPING})

# A run that moves no more unless somebody asks.
ENDED = frozenset({S.SUCCEEDED, S.FAILED, S.CRASHED, S.CANCELLED})

# Unexplained ends since the last checkpoint after which a run stays crashed.
CRASH_LIMIT = 3

_VERBS: dict[RunState, tuple[Verb, ...]] = {
    S.QUEUED: (Verb.CANCEL, Verb.PAUSE, Verb.CLONE),
    S.RUNNING: (Verb.CANCEL, Verb.PAUSE, Verb.CLONE),
    S.STOPPING: (Verb.CANCEL, Verb.CLONE),
    S.PAUSED: (Verb.RESUME, Verb.CANCEL, Verb.CLONE, Verb.ARCHIVE),
    S.CRASHED: (Verb.RETRY, Verb.CANCEL, Verb.CLONE, Verb.ARCHIVE),
    S.FAILED: (Verb.RETRY, Verb.CLONE, Verb.ARCHIVE),
    S.CANCELLED: (Verb.RETRY, Verb.CLONE, Verb.ARCHIVE),
    S.SUCCEEDED: (Verb.CLONE, Verb.ARCHIVE),
}

_ASKED_FOR: dict[StopReason, RunState] = {
    StopReason.CANCEL: S.CANCELLED,
    StopReason.PAUSE: S.PAUSED,
    StopReason.DRAIN: S.QUEUED,
    StopReason.TIMEOUT: S.FAILED,
}

_SENTENCES: dict[tuple[RunState, StopReason | None], str] = {
    (S.QUEUED, None): "Waiting for a worker with free devices.",
    (S.QUEUED, StopReason.DRAIN): (
        "Its worker shut down. The run waits for a worker and resumes from its last checkpoint, if "
        "it has one."
    ),
    (S.RUNNING, None): "Running.",
    (S.STOPPING, None): "Stopping at the next safe point.",
    (S.STOPPING, StopReason.CANCEL): "Cancelling: it stops at the next safe point.",
    (S.STOPPING, StopReason.PAUSE): "Pausing: the run writes a checkpoint at the next safe point.",
    (S.STOPPING, StopReason.DRAIN): (
        "Its worker is shutting down. The run writes a checkpoint and returns to the queue."
    ),
    (S.STOPPING, StopReason.TIMEOUT): "Stopping: it ran longer than resources.timeout_s.",
    (S.PAUSED, None): "Paused. Resume puts the run back into the queue.",
    (S.SUCCEEDED, None): "Finished; its results are stored.",
    (S.FAILED, None): "Failed; the error says why and what to do.",
    (S.FAILED, StopReason.TIMEOUT): "Stopped: it ran longer than resources.timeout_s.",
    (S.CRASHED, None): (
        "Crashed; the error says what is known. Podium retries the run automatically; Retry queues "
        "it now."
    ),
    (S.CANCELLED, None): "Cancelled. Retry puts the run back into the queue.",
}

# The same for methods that write no checkpoints.
_SENTENCES_OF_SAMPLERS: dict[tuple[RunState, StopReason | None], str] = {
    (S.QUEUED, StopReason.DRAIN): (
        "Its worker shut down. The run waits for a worker and starts from the beginning."
    ),
    (S.STOPPING, StopReason.PAUSE): (
        "Pausing: the run stops at the next safe point. Resume starts it from the beginning."
    ),
    (S.STOPPING, StopReason.DRAIN): (
        "Its worker is shutting down. The run stops and returns to the queue."
    ),
}

_GIVEN_UP = (
    "Crashed; the error says what is known. Podium does not retry the run automatically; use Retry."
)


def may_move(from_: RunState, to: RunState, reason: str | None = None) -> bool:
    """Whether a run may go from one state to another, for this reason."""
    if to not in MOVES[from_]:
        return False
    return from_ not in _BY_RETRY_ALONE or reason == RETRY


def allowed_verbs(state: RunState) -> tuple[Verb, ...]:
    """What a person may ask of a run in this state, most likely first."""
    return _VERBS[state]


def state_asked_for(reason: StopReason) -> RunState:
    """Where a run that was asked to stop ends up."""
    return _ASKED_FOR[reason]


def sentence(
    state: RunState,
    reason: StopReason | None = None,
    *,
    method: str = Method.SFT,
    is_tried_again: bool = True,
) -> str:
    """The state and why, in one sentence for the screen, of a run with this method.

    `is_tried_again`: whether a crashed run goes back to the queue by itself.
    """
    if state == S.CRASHED and not is_tried_again:
        return _GIVEN_UP
    if method in SAMPLERS and (state, reason) in _SENTENCES_OF_SAMPLERS:
        return _SENTENCES_OF_SAMPLERS[state, reason]
    return _SENTENCES.get((state, reason)) or _SENTENCES[state, None]
