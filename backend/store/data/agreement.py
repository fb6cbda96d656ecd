"""The judgments of a project as the statistics of agreement read them, and their answer.

Called by `backend.jobs.agreement`.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from backend.domain.agreement.judged import Judged, Text
from backend.domain.agreement.overview import Facts, overview
from backend.schemas.projects.agreement import (
    AgreementAnswer,
    AnnotatorAnswer,
    DisputeAnswer,
    FactsAnswer,
    RankAgreementAnswer,
    WeekAnswer,
)
from backend.schemas.rewards import ModelReward, terms_by_name
from backend.store import record_names
from backend.store.data import comparisons
from backend.store.data.judgments import latest, ranking_of
from backend.store.tables.data import Assignment, Comparison, Judgment, Response
from backend.store.tables.people import User
from backend.store.tables.runs import Run

# What is read of a judgment, and how many rows at a time.
_JUDGED = (
    "comparison_id", "user_id", "tiers", "unranked", "verdict", "rankings", "active_ms",
    "created_at",
)  # fmt: skip
_AT_ONCE = 2000
_REWARD_MODEL = ModelReward.model_fields["kind"].default


def to_the_end(read: int) -> None:
    """Go on, as callers do who wait however long it takes."""


def report(
    session: Session,
    project_id: str,
    criterion: str = "",
    *,
    sees_names: bool,
    go_on: Callable[[int], None] = to_the_end,
) -> AgreementAnswer:
    """How far the annotators of a project agree, and what their judgments look like.

    `criterion`: whose rankings are compared; "" = of judgments that were given without criteria.
    `sees_names`: False for whoever may not see the members of the project. `go_on` is called now
    and then with how many judgments were read since; what it raises breaks off the work.
    """
    found = overview(judged(session, project_id, criterion, go_on), lambda: go_on(0))
    names = record_names.of_users(session, found.annotators if sees_names else ())
    prompts = comparisons.prompt_beginnings(session, [one.comparison_id for one in found.disputes])
    return AgreementAnswer(
        criterion=criterion,
        everybody=FactsAnswer(**_said(found.everybody)),
        judged_twice=found.judged_twice,
        annotators=[
            AnnotatorAnswer(user_id=user_id, name=names.get(user_id), **_said(facts))
            for user_id, facts in sorted(
                found.annotators.items(), key=lambda one: (names.get(one[0], ""), one[0])
            )
        ],
        weeks=[WeekAnswer(monday=monday, **_said(facts)) for monday, facts in found.weeks.items()],
        ranks=[RankAgreementAnswer.model_validate(one) for one in found.ranks],
        disputes=[
            DisputeAnswer(prompt=prompts[one.comparison_id], **vars(one)) for one in found.disputes
        ],
    )


def _said(facts: Facts) -> dict[str, Any]:
    """A part's facts as its answer names them."""
    return {**vars(facts.habits), "agreement": facts.agreement}


def names_digest(session: Session, project_id: str) -> str:
    """A short hash of who has judged in the project and what each of them is called now."""
    # One look into an index for each user, however many judgments there are.
    has_judged = exists().where(Judgment.user_id == User.id, Judgment.project_id == project_id)
    found = session.execute(select(User.id, User.name).where(has_judged).order_by(User.id))
    said = json.dumps([list(row) for row in found])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def judged(
    session: Session,
    project_id: str,
    criterion: str = "",
    go_on: Callable[[int], None] = to_the_end,
) -> list[Judged]:
    """The judgments that count and were given under this criterion, in the order they were made."""
    texts = _texts(session, project_id, go_on)
    current = latest(project_id).subquery()
    # The columns alone: as objects, three hundred thousand judgments would fill the memory.
    columns = (getattr(current.c, name) for name in _JUDGED)
    rows = session.execute(
        select(*columns, Comparison.prompt_id, Assignment.presented_order)
        .join(Comparison, Comparison.id == current.c.comparison_id)
        .join(Assignment, Assignment.id == current.c.assignment_id)
        .order_by(current.c.number),
        execution_options={"yield_per": _AT_ONCE},
    )
    found: list[Judged] = []
    for part in rows.partitions():
        found += [
            Judged(
                comparison_id=row.comparison_id,
                prompt_id=row.prompt_id,
                user_id=row.user_id,
                ranking=ranking,
                texts=texts,
                presented_order=row.presented_order,
                active_s=None if row.active_ms is None else row.active_ms / 1000,
                at=row.created_at,
            )
            for row in part
            if (ranking := ranking_of(row, criterion)) is not None
        ]
        go_on(len(part))
    return found


def _texts(session: Session, project_id: str, go_on: Callable[[int], None]) -> dict[str, Text]:
    of_judged = (
        select(Comparison.prompt_id)
        .join(Judgment, Judgment.comparison_id == Comparison.id)
        .where(Judgment.project_id == project_id)
    )
    rows = session.execute(
        select(
            Response.id,
            func.length(Response.content),
            Response.content_sha256,
            Response.run_id,
            Response.scores,
        ).where(Response.prompt_id.in_(of_judged)),
        execution_options={"yield_per": _AT_ONCE},
    )
    terms: dict[str, str] = {}
    looked_at: set[str] = set()
    found: dict[str, Text] = {}
    for part in rows.partitions():
        made_by = {row.run_id for row in part if row.run_id is not None} - looked_at
        terms |= _reward_models(session, made_by)
        looked_at |= made_by
        for response_id, characters, sha256, run_id, scores in part:
            reward = scores.get(terms.get(run_id or "", ""))
            found[response_id] = Text(characters, sha256, run_id, reward)
        go_on(0)
    return found


def _reward_models(session: Session, run_ids: Collection[str]) -> dict[str, str]:
    """What the scores of each run call its reward model; no entry for a run without one."""
    if not run_ids:
        return {}
    rows = session.execute(select(Run.id, Run.config).where(Run.id.in_(run_ids)))
    return {run_id: name for run_id, config in rows if (name := _reward_model(config)) is not None}


def _reward_model(config: Mapping[str, Any]) -> str | None:
    """What scores call the first reward model among the reward terms."""
    terms = terms_by_name(config).items()
    return next((name for name, term in terms if term["kind"] == _REWARD_MODEL), None)
