"""Samples: the prompts and responses a run has logged.

The worker's relay appends and rewinds inside its fenced transaction, the API reads. It keeps order
of arrival and ranks nothing.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from backend.schemas.events import SampleLine
from backend.schemas.runs import SampleAnswer, SamplesAnswer
from backend.store.runs import events as run_events
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import Sample

_ARRAYS = ("tokens", "logp", "kl", "advantage")


def append(
    session: Session, run_id: str, attempt: int, lines: Sequence[SampleLine], *, at: datetime
) -> int:
    """Store samples and one `sample` event per step; returns how many were stored."""
    if not lines:
        return 0
    session.execute(insert(Sample), [_row(run_id, attempt, line) for line in lines])
    counts = sorted(Counter(line.step for line in lines).items())
    events = [NewEvent("sample", {"step": step, "count": count}) for step, count in counts]
    run_events.append(session, run_id, events, at=at)
    return len(lines)


def _row(run_id: str, attempt: int, line: SampleLine) -> dict[str, Any]:
    arrays = {name: getattr(line, name) for name in _ARRAYS if getattr(line, name) is not None}
    return {
        "run_id": run_id,
        "attempt": attempt,
        "step": line.step,
        "prompt_id": line.prompt_id,
        # PostgreSQL keeps no NUL in text.
        "prompt": line.prompt.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        "response": line.response.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        "finish_reason": line.finish_reason,
        "scores": _storable(line.scores),
        "arrays": _storable(arrays),
    }


def _storable(value: Any) -> Any:
    """The same value with U+FFFD for the character that JSON columns refuse."""
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    return value


def rewind(session: Session, run_id: str, after_step: int) -> None:
    """Delete what lies beyond a step."""
    session.execute(delete(Sample).where(Sample.run_id == run_id, Sample.step > after_step))


def steps(session: Session, run_id: str) -> list[int]:
    """Steps that have samples, ascending."""
    statement = select(Sample.step).where(Sample.run_id == run_id).distinct().order_by(Sample.step)
    return list(session.scalars(statement))


def answer(
    session: Session, run_id: str, step: int | None, *, sort: str, limit: int
) -> SamplesAnswer:
    """Samples of a step, default the newest: as logged, or by the score that `sort` names."""
    known = steps(session, run_id)
    step = step if step is not None or not known else known[-1]
    if step is None:
        return SamplesAnswer(step=None, steps=[], items=[])
    statement = select(Sample).where(Sample.run_id == run_id, Sample.step == step)
    rows = list(session.scalars(statement.order_by(Sample.number)))
    if sort != "order":
        rows.sort(key=lambda row: _rank(row.scores.get(sort.removeprefix("-")), sort))
    return SamplesAnswer(step=step, steps=known, items=[_answer(row) for row in rows[:limit]])


def _rank(score: float | None, sort: str) -> tuple[bool, float]:
    # Samples without this score come last, whichever way the others go.
    if score is None:
        return True, 0.0
    return False, -score if sort.startswith("-") else score


def _answer(row: Sample) -> SampleAnswer:
    shown = {name: getattr(row, name, None) for name in SampleAnswer.model_fields}
    return SampleAnswer.model_validate(shown | row.arrays)
