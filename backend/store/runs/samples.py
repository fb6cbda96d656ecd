"""Samples: the prompts and responses a run has logged.

The worker's relay appends and rewinds inside its fenced transaction, the API reads. It keeps order
of arrival and ranks nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import ColumnElement, bindparam, delete, exists, func, insert, literal, or_, select
from sqlalchemy.orm import Session, undefer

from backend.errors import NotFound
from backend.schemas.run_directory.events import SampleKind, SampleLine
from backend.schemas.runs import SampleAnswer, SamplesAnswer
from backend.store import dialect
from backend.store.runs import events as run_events
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import Sample

_ARRAYS = ("tokens", "logp", "kl", "advantage", "sampler_logp", "entropy", "value", "change")
# Of one answer, the newest: a run that logs samples at each step may have a hundred thousand.
MOST_STEPS = 2000
# What was decided of a response, and what is known of its prompt.
_CHECKED = ("passed", "why", "reference", "tags", "metadata")


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
    checked = {name: getattr(line, name) for name in _CHECKED}
    return {
        "run_id": run_id,
        "attempt": attempt,
        "step": line.step,
        "kind": line.kind,
        "chosen_for": line.chosen_for,
        "prompt_id": line.prompt_id,
        # PostgreSQL keeps no NUL in text.
        "prompt": line.prompt.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        "response": line.response.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        "finish_reason": line.finish_reason,
        "scores": _storable(line.scores),
        "checked": _storable({n: v for n, v in checked.items() if v not in (None, {}, [])}),
        "arrays": _storable(arrays),
        "token_ids": None if line.token_ids is None else line.token_ids.model_dump(),
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


@dataclass(frozen=True)
class Asked:
    """Which samples of a run are asked for.

    Without a `prompt_id` those of one `step`, by default the newest; with one, the newest of that
    prompt through all steps, or those at the `step`. `text` stands in the prompt or the response.
    `is_of_every_step`: through all steps, the newest first, in whichever order a step was logged.
    `is_nearest`: at the step nearest to `step` that has any, and of the other kind if the run has
    none of this.
    """

    kind: SampleKind = "rollout"
    step: int | None = None
    prompt_id: str | None = None
    text: str = ""
    sort: str = "order"
    limit: int = 200
    is_nearest: bool = False
    is_of_every_step: bool = False


def answer(session: Session, run_id: str, asked: Asked) -> SamplesAnswer:
    """Samples of a run: as logged, or by the score that `sort` names."""
    kinds = _kinds(session, run_id)
    if asked.is_nearest:
        asked = _nearest(session, run_id, asked, kinds)
    chosen = [Sample.run_id == run_id, Sample.kind == asked.kind]
    if asked.prompt_id is not None:
        chosen.append(Sample.prompt_id == asked.prompt_id)
    known = _steps(session, run_id, asked)
    step = asked.step
    if step is None and asked.prompt_id is None and not asked.is_of_every_step:
        step = known[-1] if known else None
        if step is None:
            return SamplesAnswer(
                kinds=kinds,
                kind=asked.kind,
                step=None,
                steps=[],
                has_earlier_steps=False,
                items=[],
            )
    if step is not None:
        chosen.append(Sample.step == step)
    if asked.text:
        columns = (Sample.prompt, Sample.response)
        is_sqlite = dialect.is_sqlite(session)
        lower = func.unicode_lower if is_sqlite else func.lower
        place = func.instr if is_sqlite else func.strpos
        chosen.append(or_(*(place(lower(one), lower(asked.text)) > 0 for one in columns)))
    items = [_answer(row) for row in _rows(session, chosen, asked)]
    return SamplesAnswer(
        kinds=kinds,
        kind=asked.kind,
        step=step,
        steps=known[-MOST_STEPS:],
        has_earlier_steps=len(known) > MOST_STEPS,
        items=items,
    )


def _nearest(session: Session, run_id: str, asked: Asked, kinds: Sequence[SampleKind]) -> Asked:
    """What there is instead of what was asked for; the same if there is that, or nothing."""
    if kinds and asked.kind not in kinds:
        asked = replace(asked, kind=kinds[0])
    step = asked.step
    if step is None:
        return asked
    own = [Sample.run_id == run_id, Sample.kind == asked.kind]
    if asked.prompt_id is not None:
        own.append(Sample.prompt_id == asked.prompt_id)
    before = session.scalar(select(func.max(Sample.step)).where(*own, Sample.step <= step))
    after = session.scalar(select(func.min(Sample.step)).where(*own, Sample.step >= step))
    found = [one for one in (before, after) if one is not None]
    return replace(asked, step=min(found, key=lambda one: abs(one - step), default=step))


def _rows(
    session: Session, chosen: Sequence[ColumnElement[bool]], asked: Asked
) -> Sequence[Sample]:
    found = select(Sample).where(*chosen)
    if asked.is_of_every_step:
        newest = found.order_by(Sample.step.desc(), Sample.number).limit(asked.limit)
        return session.scalars(newest).all()
    if asked.prompt_id is not None and asked.step is None:
        newest = found.order_by(Sample.step.desc(), Sample.number.desc()).limit(asked.limit)
        return session.scalars(newest).all()[::-1]
    if asked.sort == "order":
        return session.scalars(found.order_by(Sample.number).limit(asked.limit)).all()
    rows = list(session.scalars(found.order_by(Sample.number)))
    rows.sort(key=lambda row: _rank(row.scores.get(asked.sort.removeprefix("-")), asked.sort))
    return rows[: asked.limit]


def _kinds(session: Session, run_id: str) -> list[SampleKind]:
    has = select(exists().where(Sample.run_id == run_id, Sample.kind == bindparam("kind")))
    return [kind for kind in get_args(SampleKind) if session.scalar(has, {"kind": kind})]


def _steps(session: Session, run_id: str, asked: Asked) -> list[int]:
    """The newest steps that have such samples, ascending; one more than MOST_STEPS if it has."""
    of_kind = (Sample.run_id == run_id, Sample.kind == asked.kind)
    if asked.prompt_id is not None:
        of_prompt = select(Sample.step).where(*of_kind, Sample.prompt_id == asked.prompt_id)
        newest = of_prompt.distinct().order_by(Sample.step.desc()).limit(MOST_STEPS + 1)
        return list(session.scalars(newest))[::-1]
    # From each step to the one before by the index: a step has many samples.
    last = select(func.max(Sample.step).label("step"), literal(1).label("place")).where(*of_kind)
    steps = last.cte("steps", recursive=True)
    before = select(func.max(Sample.step)).where(*of_kind, Sample.step < steps.c.step)
    steps = steps.union_all(
        select(before.correlate(steps).scalar_subquery(), steps.c.place + 1).where(
            steps.c.step.is_not(None), steps.c.place <= MOST_STEPS
        )
    )
    found = select(steps.c.step).where(steps.c.step.is_not(None)).order_by(steps.c.step)
    return list(session.scalars(found))


def chosen(session: Session, run_id: str, numbers: Sequence[int]) -> list[Sample]:
    """Read these samples of a run, in this order, with their token ids.

    Raises NotFound if one is not of this run.
    """
    wanted = (
        select(Sample)
        .where(Sample.run_id == run_id, Sample.number.in_(numbers))
        .options(undefer(Sample.token_ids))
    )
    found = {sample.number: sample for sample in session.scalars(wanted)}
    missing = [number for number in numbers if number not in found]
    if missing:
        raise NotFound(f"this run has no sample {missing[0]}")
    return [found[number] for number in numbers]


def _rank(score: float | None, sort: str) -> tuple[bool, float]:
    # Samples without this score come last, whichever way the others go.
    if score is None:
        return True, 0.0
    return False, -score if sort.startswith("-") else score


def _answer(row: Sample) -> SampleAnswer:
    own = {
        name: getattr(row, name, None) for name in SampleAnswer.model_fields if name not in _CHECKED
    }
    return SampleAnswer.model_validate(own | row.checked | row.arrays)
