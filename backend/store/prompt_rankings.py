"""The comparisons of a prompt, or one of them: what was ranked, by whom and how."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Select, false, func, select
from sqlalchemy.orm import Session

from backend.schemas.compared.rankings import (
    GivenRanking,
    PromptRankings,
    RankedComparison,
    RankedResponse,
)
from backend.schemas.comparisons import AssignedPrompt
from backend.store import record_names
from backend.store.data import judgments
from backend.store.tables.data import Comparison, Judgment, Prompt, Response

# Of one prompt; the newest count.
MOST_COMPARISONS = 20
MOST_JUDGMENTS = 200
# Characters of a response among many: who wants to read all of it asks for its comparison.
MOST_OF_TEXT = 2000


@dataclass(frozen=True)
class Asked:
    """Which comparisons of a project: those of a prompt, or one."""

    project_id: str
    prompt_id: str | None = None
    comparison_id: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the texts are wanted from beginning to end, as of one comparison alone."""
        return self.comparison_id is not None

    def comparisons(self) -> Select[Comparison]:
        """The newest first."""
        found = select(Comparison).where(Comparison.project_id == self.project_id)
        if self.prompt_id is not None:
            found = found.where(Comparison.prompt_id == self.prompt_id)
        if self.comparison_id is not None:
            found = found.where(Comparison.id == self.comparison_id)
        return found.order_by(Comparison.number.desc())


def of(session: Session, asked: Asked, *, viewer: str, sees_names: bool) -> PromptRankings:
    """The newest comparisons with the judgments that count, in the order they came.

    Of other people's judgments, whoever may not see names is not told whose they are.
    """
    newest = asked.comparisons()
    found = session.scalars(newest.limit(MOST_COMPARISONS)).all()
    ids = {one for each in found for one in each.response_ids}
    texts = _texts(session, ids, most=None if asked.is_whole else MOST_OF_TEXT)
    asked_of = _prompts(session, {one.prompt_id for one in found} if asked.is_whole else ())
    given = _given(session, [one.id for one in found])
    people = {one.user_id for some in given.values() for one in some if sees_names}
    names = record_names.of_users(session, people | {viewer})
    return PromptRankings(
        items=[
            RankedComparison(
                id=one.id,
                run_id=one.run_id,
                created_at=one.created_at,
                judgments_required=one.judgments_required,
                prompt=asked_of.get(one.prompt_id),
                responses=[texts[each] for each in one.response_ids if each in texts],
                judgments=[_answer(judgment, viewer, names) for judgment in given[one.id]],
            )
            for one in found
        ]
    )


def _texts(session: Session, ids: Iterable[str], *, most: int | None) -> dict[str, RankedResponse]:
    """The responses, each with so many characters at most; None = all of them."""
    content, length = Response.content, func.length(Response.content)
    start = content if most is None else func.substr(content, 1, most)
    is_cut = false() if most is None else length > most
    rows = session.execute(select(Response.id, start, is_cut).where(Response.id.in_(ids)))
    return {row[0]: RankedResponse(id=row[0], content=row[1], is_cut=row[2]) for row in rows}


def _prompts(session: Session, ids: Collection[str]) -> dict[str, AssignedPrompt]:
    rows = session.execute(select(Prompt.id, Prompt.messages).where(Prompt.id.in_(ids)))
    return {row[0]: AssignedPrompt(id=row[0], messages=row[1]) for row in rows}


def _given(session: Session, comparison_ids: Sequence[str]) -> dict[str, list[Judgment]]:
    of_them = judgments.latest_of(Judgment.comparison_id.in_(comparison_ids))
    found: defaultdict[str, list[Judgment]] = defaultdict(list)
    for judgment in session.scalars(of_them.order_by(Judgment.number).limit(MOST_JUDGMENTS)):
        found[judgment.comparison_id].append(judgment)
    return found


def _answer(judgment: Judgment, viewer: str, names: dict[str, str]) -> GivenRanking:
    return GivenRanking(
        by=names.get(judgment.user_id),
        is_own=judgment.user_id == viewer,
        tiers=judgment.tiers,
        unranked=judgment.unranked,
        verdict=judgment.verdict,
        reasons=judgment.reasons,
        rankings=judgment.rankings,
        flags=judgment.flags,
        comment=judgment.comment,
        created_at=judgment.created_at,
    )
