"""Runs as the API shows them: answers built from rows, lists, and what a run has left behind.

Called by routes; it changes nothing.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain import run_state
from backend.domain.failures import SENTENCES, cause_of
from backend.domain.filters.fields import Key
from backend.schemas.methods import METHODS
from backend.schemas.paging import Listing
from backend.schemas.runs import (
    ArtifactAnswer,
    CheckpointAnswer,
    FailureAnswer,
    LogLineAnswer,
    Progress,
    RunAnswer,
)
from backend.schemas.vocabulary import RunState, StopReason
from backend.store.paging import Page
from backend.store.runs import attempts, failures, outputs, runs, supervision
from backend.store.runs.checkpoints import answers, best_steps
from backend.store.runs.table import values
from backend.store.runs.table.pages import NEWEST_FIRST, RunFilter, Sort, find
from backend.store.tables.models import Model
from backend.store.tables.runs import Artifact, Checkpoint, LogLine, Run, RunFailure

# The columns of a run that are shown as they are.
_SHOWN = [
    name
    for name in RunAnswer.model_fields
    if hasattr(Run, name) and name not in ("notes", "verdict")
]


def one(session: Session, run_id: str) -> RunAnswer:
    """The run, or NotFound."""
    run = runs.get(session, run_id)
    return of(session, [run])[0].model_copy(update={"notes": run.notes})


def listing(
    session: Session,
    wanted: RunFilter,
    page: Page,
    sort: Sort = NEWEST_FIRST,
    columns: Sequence[Key] = (),
) -> Listing[RunAnswer]:
    """One page of runs in this order, with their values of `columns`."""
    rows, next_cursor = find(session, wanted, page, sort)
    shown = values.of_runs(session, rows, columns)
    items = [answer.model_copy(update={"values": shown[answer.id]}) for answer in of(session, rows)]
    return Listing(items=items, next_cursor=next_cursor)


def of(session: Session, rows: Sequence[Run]) -> list[RunAnswer]:
    """Turn these rows into answers, in the same order."""
    ids = [run.id for run in rows]
    made, best = _output_model_ids(session, ids), best_steps(session, ids)
    sizes, starts = outputs.sizes(session, ids), attempts.newest_starts(session, rows)
    return [
        _answer(
            run,
            output_model_ids=made[run.id],
            output_bytes=sizes.get(run.id, 0),
            best_checkpoint_step=best.get(run.id),
            attempt_started_at=starts[run.id],
        )
        for run in rows
    ]


def _answer(run: Run, **beside: object) -> RunAnswer:
    state, spec = RunState(run.state), METHODS[run.method]
    again = supervision.is_tried_again(run)
    reason = StopReason(run.stop_reason) if run.stop_reason else None
    shown = {name: getattr(run, name) for name in _SHOWN}
    progress = Progress(step=run.step, steps=run.steps, phase=run.phase, eta_s=run.eta_s)
    return RunAnswer.model_validate(
        {
            **shown,
            **beside,
            "notes": None,
            "verdict": _verdict(run),
            "estimator": run.config.get("estimator"),
            "result": spec.result,
            "logs_samples": spec.logs_samples,
            "state_sentence": run_state.sentence(
                state, reason, method=run.method, is_tried_again=again
            ),
            "is_retried": state == RunState.CRASHED and again,
            "progress": progress,
            "allowed": list(run_state.allowed_verbs(state)),
            "worker_id": run.owner,
            "error": _error(run.error),
        }
    )


def _verdict(run: Run) -> dict[str, Any] | None:
    if run.verdict is None:
        return None
    level, sentence = run.verdict_level, run.verdict_sentence
    return {"kind": run.verdict, "level": level, "sentence": sentence}


def _error(error: dict[str, Any] | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"changes": {}} | error | _cause(error["cause"])


def _cause(word: str) -> dict[str, str]:
    cause = cause_of(word)
    return {"cause": cause, "sentence": SENTENCES[cause]}


def bad_ends(session: Session, run_id: str) -> list[FailureAnswer]:
    """How the run ended badly, newest first."""
    rows = failures.of_run(session, run_id)
    return [FailureAnswer.model_validate(_columns(row) | _cause(row.cause)) for row in rows]


def _columns(row: RunFailure) -> dict[str, Any]:
    return {name: getattr(row, name) for name in FailureAnswer.model_fields if hasattr(row, name)}


def _output_model_ids(session: Session, run_ids: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {run_id: [] for run_id in run_ids}
    rows = session.execute(
        select(Model.run_id, Model.id).where(Model.run_id.in_(run_ids)).order_by(Model.number)
    )
    for run_id, model_id in rows:
        if run_id is not None:
            found[run_id].append(model_id)
    return found


def log_lines(session: Session, run_id: str, *, after: int, limit: int) -> list[LogLineAnswer]:
    """What the trainer printed beyond line number `after`, in order."""
    statement = select(LogLine).where(LogLine.run_id == run_id, LogLine.number > after)
    rows = session.scalars(statement.order_by(LogLine.number).limit(limit))
    return [LogLineAnswer.model_validate(row) for row in rows]


def checkpoints(session: Session, run_id: str) -> list[CheckpointAnswer]:
    """The run's checkpoints, oldest step first."""
    statement = select(Checkpoint).where(Checkpoint.run_id == run_id).order_by(Checkpoint.step)
    return answers(runs.get(session, run_id), session.scalars(statement))


def artifacts(session: Session, run_id: str) -> list[ArtifactAnswer]:
    """The files the run has left in the artifact store, by path."""
    statement = select(Artifact).where(Artifact.run_id == run_id).order_by(Artifact.path)
    return [ArtifactAnswer.model_validate(row) for row in session.scalars(statement)]
