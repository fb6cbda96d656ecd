"""How many judgments of a project count, and under which criteria they were given.

Called by the route that counts them: so many records a snapshot of preferences would have.
"""

from sqlalchemy import func, select, true
from sqlalchemy.orm import Session

from backend.schemas.comparisons import CriterionCount, JudgmentCounts
from backend.store import dialect
from backend.store.data import projects
from backend.store.data.judgments import latest
from backend.store.tables.data import Judgment

WITHOUT = ""


def of_project(session: Session, project_id: str) -> JudgmentCounts:
    """Count the last revisions of its judgments. Raises NotFound."""
    judgments = _count(session, project_id, is_review=False)
    given = _by_criterion(session, project_id)
    asked = [one["name"] for one in projects.criteria(session, project_id)]
    names = [*asked, *sorted(given.keys() - {*asked, WITHOUT}), WITHOUT]
    return JudgmentCounts(
        judgments=judgments,
        reviews=_count(session, project_id, is_review=True),
        criteria=[CriterionCount(criterion=one, judgments=given.get(one, 0)) for one in names],
    )


def _count(session: Session, project_id: str, *, is_review: bool) -> int:
    counted = latest(project_id, is_review=is_review).with_only_columns(func.count())
    return session.scalar(counted) or 0


def _by_criterion(session: Session, project_id: str) -> dict[str, int]:
    """How many judgments were given under each name; one that was given without has none."""
    is_sqlite = dialect.is_sqlite(session)
    each = func.json_each if is_sqlite else func.jsonb_array_elements
    length = func.json_array_length if is_sqlite else func.jsonb_array_length
    current = latest(project_id).with_only_columns(Judgment.rankings).subquery()
    ranking = each(current.c.rankings).table_valued("value")
    name = (
        func.json_extract(ranking.c.value, "$.criterion")
        if is_sqlite
        else func.jsonb_extract_path_text(ranking.c.value, "criterion")
    )
    named = select(name, func.count()).select_from(current).join(ranking, true()).group_by(name)
    without = select(func.count()).select_from(current).where(length(current.c.rankings) == 0)
    found = {row[0]: row[1] for row in session.execute(named)}
    return found | {WITHOUT: session.scalar(without) or 0}
