"""What a judgment says under the criteria of its assignment, or as a whole where there are none.

Called when a judgment is taken; an assignment says which criteria those are.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from backend.domain.ranking import Ranking, checked
from backend.errors import InvalidInput
from backend.schemas.comparisons import (
    Criterion,
    CriterionRanking,
    CriterionRankingAnswer,
    JudgmentBody,
)


class Said(NamedTuple):
    """The ranking that stands for a judgment, with its reasons, and one for each criterion.

    With criteria the first one's ranking stands for it, so that who knows of none reads that.
    """

    ranking: Ranking
    reasons: list[str]
    rankings: list[dict[str, Any]]


def said(body: JudgmentBody, response_ids: Sequence[str], criteria: Sequence[Criterion]) -> Said:
    """What a body says of these responses. Raises InvalidInput unless it answers each criterion."""
    if not criteria:
        return _as_a_whole(body, response_ids)
    given = _by_criterion(body, [one.name for one in criteria])
    rankings = [_checked(given[one.name], response_ids) for one in criteria]
    return Said(
        rankings[0],
        given[criteria[0].name].reasons,
        [
            kept(one.name, one.question, ranking, given[one.name].reasons)
            for one, ranking in zip(criteria, rankings, strict=True)
        ],
    )


def _as_a_whole(body: JudgmentBody, response_ids: Sequence[str]) -> Said:
    if body.rankings:
        raise InvalidInput(
            f"`rankings` names the criterion {body.rankings[0].criterion!r}, but this comparison "
            "was given to you without criteria",
            advice="Send one ranking as `tiers`, `unranked` and `verdict`.",
        )
    if body.verdict is None:
        raise InvalidInput(
            "the judgment has no `verdict`",
            advice="Send the verdict ranked, all_bad or cannot_judge.",
        )
    ranking = checked(response_ids, tiers=body.tiers, unranked=body.unranked, verdict=body.verdict)
    return Said(ranking, body.reasons, [])


def _by_criterion(body: JudgmentBody, names: Sequence[str]) -> dict[str, CriterionRanking]:
    """The rankings of a body by criterion: one for each name, and nothing beside them."""
    listed = ", ".join(names)
    wanted = f"Send `rankings` with one ranking for each criterion: {listed}."
    if not body.rankings:
        raise InvalidInput(
            f"this comparison is ranked by {len(names)} criteria ({listed}), but the judgment has "
            "no `rankings`",
            advice=wanted,
        )
    for name in ("tiers", "unranked", "verdict", "reasons"):
        if getattr(body, name):
            raise InvalidInput(
                f"the judgment has `rankings`, and `{name}` beside them",
                advice=f"Leave `{name}` out: each of the `rankings` has its own.",
            )
    given: dict[str, CriterionRanking] = {}
    for one in body.rankings:
        if one.criterion not in names:
            raise InvalidInput(
                f"`rankings` names the criterion {one.criterion!r}; this comparison is ranked by "
                f"{listed}",
                advice=wanted,
            )
        if one.criterion in given:
            raise InvalidInput(
                f"`rankings` names the criterion {one.criterion!r} twice", advice=wanted
            )
        given[one.criterion] = one
    missing = [name for name in names if name not in given]
    if missing:
        raise InvalidInput(
            f"the judgment ranks by {', '.join(given)}, but not by {', '.join(missing)}",
            advice=f"{wanted} A judgment that answers only some of them cannot be stored.",
        )
    return given


def _checked(given: CriterionRanking, response_ids: Sequence[str]) -> Ranking:
    try:
        return checked(
            response_ids, tiers=given.tiers, unranked=given.unranked, verdict=given.verdict
        )
    except InvalidInput as error:
        raise InvalidInput(
            f"under the criterion {given.criterion!r}: {error.detail}", advice=error.advice
        ) from error


def kept(criterion: str, question: str, ranking: Ranking, reasons: Sequence[str]) -> dict[str, Any]:
    """A ranking under a criterion as rows keep it."""
    answer = CriterionRankingAnswer(
        criterion=criterion,
        question=question,
        tiers=[list(tier) for tier in ranking.tiers],
        unranked=list(ranking.unranked),
        verdict=ranking.verdict,
        reasons=list(reasons),
    )
    return answer.model_dump(mode="json")
