"""Samples of the same prompt in several runs: which prompts there are, and what was responded.

Called by `backend.api.shared_prompts`. A prompt is known by its id; samples without one are in no
list here. Every query is answered by the index on run, prompt and step.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.schemas.compared.shared_prompts import (
    PromptSample,
    PromptSamples,
    RunPromptSamples,
    SharedPrompt,
    SharedPrompts,
)
from backend.store.tables.runs import Sample

_MOST_PROMPTS = 100
_MOST_STEPS = 500
_MOST_SAMPLES = 4
_TEXT = 300


def prompts(session: Session, run_ids: Sequence[str]) -> SharedPrompts:
    """The prompts of which the most of these runs have samples."""
    # By run first: PostgreSQL would sort all samples to count runs once each.
    by_run = (
        select(Sample.prompt_id, func.max(Sample.step).label("last_step"))
        .where(Sample.run_id.in_(run_ids), Sample.prompt_id.is_not(None))
        .group_by(Sample.run_id, Sample.prompt_id)
        .subquery()
    )
    runs, last_step = func.count(), func.max(by_run.c.last_step)
    found = session.execute(
        select(by_run.c.prompt_id, runs, last_step)
        .group_by(by_run.c.prompt_id)
        .order_by(runs.desc(), last_step.desc(), by_run.c.prompt_id)
        .limit(_MOST_PROMPTS)
    ).all()
    known = [(prompt_id, count, step) for prompt_id, count, step in found if prompt_id is not None]
    texts = _texts(session, run_ids, [prompt_id for prompt_id, _, _ in known])
    return SharedPrompts(
        items=[
            SharedPrompt(prompt_id=prompt_id, text=texts[prompt_id], runs=count, last_step=step)
            for prompt_id, count, step in known
        ]
    )


def _texts(
    session: Session, run_ids: Sequence[str], prompt_ids: Sequence[str]
) -> Mapping[str, str]:
    firsts = (
        select(func.min(Sample.number))
        .where(Sample.run_id.in_(run_ids), Sample.prompt_id.in_(prompt_ids))
        .group_by(Sample.prompt_id)
    )
    numbers = session.scalars(firsts).all()
    beginning = func.substr(Sample.prompt, 1, _TEXT)
    rows = session.execute(select(Sample.prompt_id, beginning).where(Sample.number.in_(numbers)))
    return {prompt_id: text for prompt_id, text in rows if prompt_id is not None}


def samples(
    session: Session, run_ids: Sequence[str], prompt_id: str, *, up_to: int | None
) -> PromptSamples:
    """Read each run's newest samples of the prompt, at step `up_to` or before if it is given."""
    steps = _steps(session, run_ids, prompt_id)
    return PromptSamples(
        items=[_of_run(session, run_id, prompt_id, steps[run_id], up_to) for run_id in run_ids]
    )


def _steps(session: Session, run_ids: Sequence[str], prompt_id: str) -> dict[str, list[int]]:
    """Read the newest steps with samples of the prompt, ascending, by run."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for run_id in run_ids:
        newest = (
            select(Sample.step)
            .where(Sample.run_id == run_id, Sample.prompt_id == prompt_id)
            .distinct()
            .order_by(Sample.step.desc())
            .limit(_MOST_STEPS)
        )
        found[run_id] = list(reversed(session.scalars(newest).all()))
    return found


def _of_run(
    session: Session, run_id: str, prompt_id: str, steps: list[int], up_to: int | None
) -> RunPromptSamples:
    step = max((one for one in steps if up_to is None or one <= up_to), default=None)
    here = (Sample.run_id == run_id, Sample.prompt_id == prompt_id, Sample.step == step)
    rows, count = [], 0
    if step is not None:
        shown = select(Sample).where(*here).order_by(Sample.number).limit(_MOST_SAMPLES)
        rows = list(session.scalars(shown))
        count = session.scalar(select(func.count()).select_from(Sample).where(*here)) or 0
    return RunPromptSamples(
        run=run_id,
        steps=steps,
        step=step,
        prompt=rows[0].prompt if rows else None,
        count=count,
        items=[PromptSample.model_validate(row) for row in rows],
    )
