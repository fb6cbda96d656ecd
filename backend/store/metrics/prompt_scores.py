"""What the responses to each training prompt of a run scored at every step.

The worker's relay appends and rewinds inside its fenced transaction, `backend.api.metrics` reads. A
step is one row; several steps are summed up when they are read, which is exact.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from backend.domain.curves.prompt_scores import (
    NOT_JUDGED,
    PromptScore,
    SummedScore,
    packed,
    unpacked,
)
from backend.schemas.metrics.prompt_scores import PromptCurve, PromptScoresAnswer
from backend.schemas.run_directory.events import PromptScoresLine
from backend.schemas.vocabulary import Split
from backend.store import dialect
from backend.store.data import prompts
from backend.store.ids import in_parts
from backend.store.tables.data import Prompt
from backend.store.tables.metrics import AskedPrompt, PromptScores
from backend.store.tables.runs import Run

# An id that is longer is none of a project.
_LONGEST_ID = 64
_TEXT = 300
# Prompts of steps that are looked at for one answer: about a second.
MOST_LOOKED_AT = 500_000
_BATCH = 200


def append(session: Session, run_id: str, lines: Sequence[PromptScoresLine]) -> None:
    """Store lines, each step once: the last that is said of it counts.

    A prompt with an id that no project has is left out.
    """
    if not lines:
        return
    numbers = _numbers(session, run_id, lines)
    said = {line.step: packed(_of_line(line, numbers)) for line in lines}
    rows = [{"run_id": run_id, "step": step, "scores": scores} for step, scores in said.items()]
    statement = (sqlite if dialect.is_sqlite(session) else postgresql).insert(PromptScores)
    upsert = statement.on_conflict_do_update(
        index_elements=["run_id", "step"], set_={"scores": statement.excluded["scores"]}
    )
    session.connection().execute(upsert, rows)


def _of_line(line: PromptScoresLine, numbers: Mapping[str, int]) -> Iterator[PromptScore]:
    columns = (line.prompt_ids, line.responses, line.scored, line.score, line.passed)
    for prompt_id, responses, scored, score, passed in zip(*columns, strict=True):
        if prompt_id in numbers:
            yield PromptScore(
                numbers[prompt_id],
                responses,
                scored if score is not None else 0,
                score or 0.0,
                NOT_JUDGED if passed is None else passed,
            )


def _numbers(session: Session, run_id: str, lines: Sequence[PromptScoresLine]) -> Mapping[str, int]:
    """The number of each prompt of these lines; one that is new gets the next."""
    said = dict.fromkeys(
        one for line in lines for one in line.prompt_ids if 0 < len(one) <= _LONGEST_ID
    )
    of_run = AskedPrompt.run_id == run_id
    found: dict[str, int] = {}
    ids = list(said)
    for some in in_parts(ids, _BATCH):
        numbered = select(AskedPrompt.prompt_id, AskedPrompt.number).where(
            of_run, AskedPrompt.prompt_id.in_(some)
        )
        found |= dict(session.execute(numbered).all())
    last = session.scalar(select(func.max(AskedPrompt.number)).where(of_run))
    fresh = [prompt_id for prompt_id in ids if prompt_id not in found]
    new = dict(zip(fresh, range(0 if last is None else last + 1, 2**31), strict=False))
    if new:
        rows = [{"run_id": run_id, "prompt_id": one, "number": n} for one, n in new.items()]
        session.execute(insert(AskedPrompt), rows)
    return found | new


def rewind(session: Session, run_id: str, after_step: int) -> None:
    """Forget what lies beyond a step. Prompts keep their numbers: they are asked again."""
    beyond = (PromptScores.run_id == run_id, PromptScores.step > after_step)
    session.execute(delete(PromptScores).where(*beyond))


@dataclass(frozen=True)
class Asked:
    """Which prompts of a run in which steps are asked for, and how fine.

    `prompt_ids`: only these, or with None all behind number `after`, at most `limit`. `from_` and
    `to`: the first and the last step, None = of all. A column is `width` steps wide, or without one
    as many as make at most `points` columns of the window.
    """

    prompt_ids: Sequence[str] | None = None
    after: int = -1
    limit: int = 200
    from_: int | None = None
    to: int | None = None
    points: int = 200
    width: int | None = None


def read(session: Session, run_id: str, asked: Asked) -> PromptScoresAnswer:
    """The curves of some prompts in a window of steps; empty where the run has told none."""
    of_run = PromptScores.run_id == run_id
    step = PromptScores.step
    first, last = session.execute(select(func.min(step), func.max(step)).where(of_run)).one()
    total = session.scalar(
        select(func.count()).select_from(AskedPrompt).where(AskedPrompt.run_id == run_id)
    )
    found, cursor = _prompts(session, run_id, asked)
    begin = max(value for value in (first, asked.from_, 0) if value is not None)
    end = min((value for value in (last, asked.to) if value is not None), default=-1)
    width = asked.width or _width(end - begin + 1, asked.points)
    columns, next_step = _columns(session, run_id, (one.number for one in found), begin, end, width)
    return PromptScoresAnswer(
        split=Split.TRAIN,
        n_prompts=total or 0,
        first_step=first,
        last_step=last,
        width=width,
        next_step=next_step,
        next_cursor=cursor,
        items=[_curve(one.prompt_id, one.text, columns[one.number]) for one in found],
    )


def _prompts(
    session: Session, run_id: str, asked: Asked
) -> tuple[Sequence[Row[int, str, Any]], str | None]:
    """Number, id and beginning of the prompts that are asked for, and where the next begin."""
    found = (
        select(
            AskedPrompt.number,
            AskedPrompt.prompt_id,
            prompts.beginning(session, _TEXT).label("text"),
        )
        .join(Run, Run.id == AskedPrompt.run_id)
        # Of the run's own project: ids come from the trainer, which may say anything.
        .outerjoin(
            Prompt,
            (Prompt.id == AskedPrompt.prompt_id) & (Prompt.project_id == Run.project_id),
        )
        .where(AskedPrompt.run_id == run_id)
        .order_by(AskedPrompt.number)
    )
    if asked.prompt_ids is not None:
        named = found.where(AskedPrompt.prompt_id.in_(asked.prompt_ids))
        return session.execute(named).all(), None
    rows = session.execute(
        found.where(AskedPrompt.number > asked.after).limit(asked.limit + 1)
    ).all()
    if len(rows) <= asked.limit:
        return rows, None
    return rows[: asked.limit], str(rows[asked.limit - 1].number)


def _width(steps: int, points: int) -> int:
    """A power of two, so that columns stay where they are while a run grows."""
    width = 1
    while steps > width * points:
        width *= 2
    return width


def _columns(
    session: Session, run_id: str, numbers: Iterable[int], begin: int, end: int, width: int
) -> tuple[Mapping[int, list[SummedScore]], int | None]:
    """The columns of each of these prompts, and the step where they end before the window does."""
    inside = (PromptScores.run_id == run_id, PromptScores.step >= begin, PromptScores.step <= end)
    statement = select(PromptScores.step, PromptScores.scores).where(*inside)
    found: dict[int, list[SummedScore]] = {number: [] for number in numbers}
    options = {"yield_per": _BATCH}
    looked_at, place = 0, -1
    with session.execute(statement.order_by(PromptScores.step), execution_options=options) as rows:
        for step, kept in rows:
            # A column is here as a whole or not at all.
            if step // width != place and looked_at >= MOST_LOOKED_AT:
                return found, step // width * width
            place = step // width
            for one in unpacked(kept):
                looked_at += 1
                columns = found.get(one.number)
                if columns is None:
                    continue
                if not columns or columns[-1].last_step // width != place:
                    columns.append(SummedScore())
                columns[-1].add(step, one)
    return found, None


def _curve(prompt_id: str, text: str | None, columns: Sequence[SummedScore]) -> PromptCurve:
    return PromptCurve.model_construct(
        prompt_id=prompt_id,
        text=text,
        x=[one.last_step for one in columns],
        score=[_rounded(one.score) for one in columns],
        passed=[_rounded(one.passed) for one in columns],
        responses=[one.responses for one in columns],
    )


def _rounded(value: float | None) -> float | None:
    """Round to the seven digits that are kept."""
    return None if value is None else float(f"{value:.7g}")
