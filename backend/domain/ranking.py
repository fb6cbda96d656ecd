"""Rankings: what a valid one is, and the pairs that it says something about.

Called when a judgment is taken, when a snapshot is counted and by the exports; ids only, no text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.errors import InvalidInput
from backend.schemas.vocabulary import Verdict


@dataclass(frozen=True)
class Ranking:
    """Tiers best first, ids of one tier are tied; `unranked` ids were not placed."""

    tiers: tuple[tuple[str, ...], ...]
    unranked: tuple[str, ...]
    verdict: Verdict

    @property
    def places(self) -> dict[str, int]:
        """The tier of each placed id, 0 = best."""
        return {one: place for place, tier in enumerate(self.tiers) for one in tier}

    @property
    def wins(self) -> list[tuple[str, str]]:
        """Every (better, worse) pair: across tiers, never within one, never with an unranked id."""
        return [
            (better, worse)
            for place, tier in enumerate(self.tiers)
            for lower in self.tiers[place + 1 :]
            for better in tier
            for worse in lower
        ]

    @property
    def ties(self) -> list[tuple[str, str]]:
        """Every pair of ids that share a tier."""
        return [
            (one, other)
            for tier in self.tiers
            for place, one in enumerate(tier)
            for other in tier[place + 1 :]
        ]


def checked(
    response_ids: Sequence[str],
    *,
    tiers: Sequence[Sequence[str]],
    unranked: Sequence[str],
    verdict: Verdict,
) -> Ranking:
    """The ranking, if every response stands in one place exactly and the verdict fits.

    `ranked` wants at least one response placed. The other verdicts have no tiers; their responses
    are all unranked, said or not. Raises InvalidInput.
    """
    if verdict is not Verdict.RANKED:
        if tiers:
            raise InvalidInput(
                f"the verdict {verdict} comes with tiers",
                advice="Send no tiers, or the verdict ranked.",
            )
        unranked = unranked or response_ids
    if any(not tier for tier in tiers):
        raise InvalidInput("a tier is empty", advice="Leave empty tiers out.")
    named = [one for tier in tiers for one in tier] + list(unranked)
    _check_places(response_ids, named)
    if verdict is Verdict.RANKED and not tiers:
        raise InvalidInput(
            "the verdict is ranked, but no response is in a tier",
            advice="Put at least one response into a tier, or use the verdict all_bad or "
            "cannot_judge.",
        )
    return Ranking(tuple(tuple(tier) for tier in tiers), tuple(unranked), verdict)


def _check_places(response_ids: Sequence[str], named: Sequence[str]) -> None:
    expected = set(response_ids)
    foreign = [one for one in named if one not in expected]
    missing = [one for one in response_ids if one not in named]
    if foreign:
        raise InvalidInput(
            f"response {foreign[0]} is not part of this comparison",
            advice="Name only the responses of this comparison.",
        )
    twice = next((one for one in named if named.count(one) > 1), None)
    if twice is not None:
        raise InvalidInput(f"response {twice} is placed twice", advice="Name each response once.")
    if missing:
        raise InvalidInput(
            f"response {missing[0]} is in no tier and not in `unranked`",
            advice="Put it into a tier or into `unranked`.",
        )
