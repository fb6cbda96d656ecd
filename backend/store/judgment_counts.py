"""How many judgments of a project count, under which criteria, and why others were not given.

Called by the routes that count them: so many records a snapshot of preferences would have.
"""

from typing import Any

from sqlalchemy import ColumnElement, TableValuedAlias, desc, func, or_, select, true
from sqlalchemy.orm import Session

from backend.schemas.comparisons import CriterionCount, JudgmentCounts, SkipCount
from backend.schemas.paging import Listing
from backend.store import dialect, record_names
from backend.store.data import projects
from backend.store.data.assignments import SKIPPED
from backend.store.data.judgments import latest
from backend.store.tables.data import Assignment, Judgment

WITHOUT = ""
# Rows of skips: annotators may give any reason.
MOST_SKIPS = 500


def of_project(session: Session, project_id: str) -> JudgmentCounts:
    """Count the last revisions of its judgments. Raises NotFound."""
    judgments, given = _counted(session, project_id)
    asked = [one["name"] for one in projects.criteria(session, project_id)]
    names = [*asked, *sorted(given.keys() - {*asked, WITHOUT}), WITHOUT]
    return JudgmentCounts(
        judgments=judgments,
        reviews=_reviews(session, project_id),
        criteria=[CriterionCount(criterion=one, judgments=given.get(one, 0)) for one in names],
    )


def skips(session: Session, project_id: str, *, sees_names: bool) -> Listing[SkipCount]:
    """Count what annotators have skipped, by annotator and reason, the most first.

    Whoever may not see names is not told whose they are.
    """
    count = func.count().label("comparisons")
    rows = session.execute(
        select(Assignment.user_id, Assignment.skip_reason, count)
        .where(Assignment.project_id == project_id, Assignment.state == SKIPPED)
        .group_by(Assignment.user_id, Assignment.skip_reason)
        .order_by(desc("comparisons"), Assignment.user_id, Assignment.skip_reason)
        .limit(MOST_SKIPS)
    ).all()
    names = record_names.of_users(session, {row.user_id for row in rows if sees_names})
    return Listing(
        items=[
            SkipCount(
                user_id=row.user_id,
                by=names.get(row.user_id),
                reason=row.skip_reason or "",
                comparisons=row.comparisons,
            )
            for row in rows
        ]
    )


def _reviews(session: Session, project_id: str) -> int:
    counted = latest(project_id, is_review=True).with_only_columns(func.count())
    return session.scalar(counted) or 0


def _counted(session: Session, project_id: str) -> tuple[int, dict[str, int]]:
    """How many judgments count, and how many were given under each name, in one reading of them.

    One that was given without criteria has no name.
    """
    current = latest(project_id).with_only_columns(Judgment.rankings).subquery()
    ranking, name, is_first = _each_ranking(session, current.c.rankings)
    once = func.count().filter(or_(name.is_(None), is_first))
    rows = session.execute(
        select(name, func.count(), once)
        .select_from(current)
        .outerjoin(ranking, true())
        .group_by(name)
    ).all()
    return sum(row[2] for row in rows), {row[0] or WITHOUT: row[1] for row in rows}


def _each_ranking(
    session: Session, rankings: ColumnElement[Any]
) -> tuple[TableValuedAlias, ColumnElement[Any], ColumnElement[bool]]:
    """The rankings of a row as rows; the name of each, and whether it is the first."""
    if dialect.is_sqlite(session):
        each = func.json_each(rankings).table_valued("value", "key")
        return each, func.json_extract(each.c.value, "$.criterion"), each.c.key == 0
    each = func.jsonb_array_elements(rankings).table_valued("value", with_ordinality="place")
    each = each.render_derived()
    return each, func.jsonb_extract_path_text(each.c.value, "criterion"), each.c.place == 1
