"""Lists of comparisons and judgments in words: how prompts and responses begin, and who judged."""

from collections.abc import Iterable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.schemas.comparisons import (
    ComparisonAnswer,
    JudgmentAnswer,
    ListedComparison,
    ListedJudgment,
)
from backend.schemas.paging import Listing
from backend.store.data import agreement, comparisons
from backend.store.tables.data import Response

# Characters: whoever wants to read all of it asks for the record.
MOST_OF_RESPONSE = 80


def of_comparisons(session: Session, found: Listing[ComparisonAnswer]) -> Listing[ListedComparison]:
    """This page of comparisons, each with the beginning of its prompt."""
    prompts = comparisons.prompt_beginnings(session, [one.id for one in found.items])
    items = [ListedComparison(**dict(one), prompt=prompts[one.id]) for one in found.items]
    return Listing(items=items, next_cursor=found.next_cursor)


def of_judgments(
    session: Session, found: Listing[JudgmentAnswer], *, viewer: str, sees_names: bool
) -> Listing[ListedJudgment]:
    """This page of judgments with what was judged; names of others only for who may see them."""
    prompts = comparisons.prompt_beginnings(session, [one.comparison_id for one in found.items])
    texts = _responses(session, {name for one in found.items for name in _ranked(one)})
    names = agreement.annotator_names(
        session, {one.user_id for one in found.items if sees_names} | {viewer}
    )
    items = [
        ListedJudgment(
            **dict(one),
            by=names.get(one.user_id),
            prompt=prompts[one.comparison_id],
            responses={name: texts[name] for name in _ranked(one) if name in texts},
        )
        for one in found.items
    ]
    return Listing(items=items, next_cursor=found.next_cursor)


def _ranked(judgment: JudgmentAnswer) -> set[str]:
    """Every response that it places somewhere, under any criterion."""
    tiers = [*judgment.tiers, *(tier for one in judgment.rankings for tier in one.tiers)]
    return {name for tier in tiers for name in tier}


def _responses(session: Session, ids: Iterable[str]) -> dict[str, str]:
    start = func.substr(Response.content, 1, MOST_OF_RESPONSE)
    found = session.execute(select(Response.id, start).where(Response.id.in_(ids)))
    return {row[0]: row[1] for row in found}
