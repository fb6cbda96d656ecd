"""Lists of records in words: how prompts and responses begin, and who judged."""

from collections.abc import Iterable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.schemas.comparisons import (
    ComparisonAnswer,
    JudgmentAnswer,
    ListedComparison,
    ListedJudgment,
)
from backend.schemas.data import ListedResponse, ResponseAnswer
from backend.schemas.paging import Listing
from backend.store import record_names
from backend.store.data import comparisons, prompts
from backend.store.tables.data import Response
from backend.store.tables.runs import Run

# Characters: whoever wants to read all of it asks for the record.
MOST_OF_RESPONSE = 80


def of_comparisons(session: Session, found: Listing[ComparisonAnswer]) -> Listing[ListedComparison]:
    """Complete a page of comparisons, each with the beginning of its prompt."""
    texts = prompts.beginnings(session, {one.prompt_id for one in found.items})
    items = [ListedComparison(**dict(one), prompt=texts[one.prompt_id]) for one in found.items]
    return Listing(items=items, next_cursor=found.next_cursor)


def of_responses(session: Session, found: Listing[ResponseAnswer]) -> Listing[ListedResponse]:
    """Complete a page of responses, each with the beginning of its prompt and its run's name."""
    texts = prompts.beginnings(session, {one.prompt_id for one in found.items})
    run_ids = {one.run_id for one in found.items if one.run_id is not None}
    named = session.execute(select(Run.id, Run.name).where(Run.id.in_(run_ids)))
    runs: dict[str | None, str] = {row[0]: row[1] for row in named}
    items = [
        ListedResponse(**dict(one), prompt=texts[one.prompt_id], run_name=runs.get(one.run_id))
        for one in found.items
    ]
    return Listing(items=items, next_cursor=found.next_cursor)


def of_judgments(
    session: Session, found: Listing[JudgmentAnswer], *, viewer: str, sees_names: bool
) -> Listing[ListedJudgment]:
    """Complete a page of judgments with what was judged, and names for those who may see them."""
    asked = comparisons.prompt_beginnings(session, [one.comparison_id for one in found.items])
    texts = _responses(session, {name for one in found.items for name in _named(one)})
    names = record_names.of_users(
        session, {one.user_id for one in found.items if sees_names} | {viewer}
    )
    items = [
        ListedJudgment(
            **dict(one),
            by=names.get(one.user_id),
            prompt=asked[one.comparison_id],
            responses={name: texts[name] for name in _named(one) if name in texts},
        )
        for one in found.items
    ]
    return Listing(items=items, next_cursor=found.next_cursor)


def _named(judgment: JudgmentAnswer) -> set[str]:
    """Every response that it places somewhere, under any criterion, or flags."""
    places = (tier for one in judgment.rankings for tier in one.tiers)
    tiers = [*judgment.tiers, *places, judgment.flags]
    return {name for tier in tiers for name in tier}


def _responses(session: Session, ids: Iterable[str]) -> dict[str, str]:
    start = func.substr(Response.content, 1, MOST_OF_RESPONSE)
    found = session.execute(select(Response.id, start).where(Response.id.in_(ids)))
    return {row[0]: row[1] for row in found}
