"""What annotators said again: two texts after the same prompt, judged twice by the same person.

Called by `backend.domain.agreement.habits`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from backend.domain.agreement.judged import Judged
from backend.domain.agreement.pairwise import chance_alike
from backend.domain.components import components


class _Said(NamedTuple):
    """One outcome: in which comparison of how many responses, and the better text (None: tied)."""

    comparison_id: str
    size: int
    better: str | None


@dataclass(frozen=True)
class Repeat:
    """Two texts that an annotator judged in one comparison and later in another.

    `comparison_id` stands for all comparisons that repeats join: they show the same texts, so they
    are one comparison that was judged again.
    """

    comparison_id: str
    user_id: str
    first: _Said
    again: _Said

    @property
    def is_alike(self) -> bool:
        """Whether the outcome was the same."""
        return self.first.better == self.again.better


def repeats(ranked: Iterable[Judged]) -> list[Repeat]:
    """Every two judgments of the same two texts, in different comparisons; in order of time."""
    of_prompt: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in ranked:
        of_prompt[one.user_id, one.prompt_id].append(one)
    found = [
        (user_id, first, again)
        for (user_id, _), own in of_prompt.items()
        if len(own) > 1
        for said in _by_texts(sorted(own, key=lambda one: one.at)).values()
        for first, again in combinations(said, 2)
        if first.comparison_id != again.comparison_id
    ]
    standing = components((one.comparison_id, other.comparison_id) for _, one, other in found)
    return [
        Repeat(standing[first.comparison_id], user_id, first, again)
        for user_id, first, again in found
    ]


def chance_of(found: Sequence[Repeat]) -> float:
    """How often these outcomes would be alike by chance: the mean over repeats, in [0, 1].

    An annotator who ties this often and else ranks at random, as in the headline: by annotator and
    number of responses, over the very repeats that are compared. The first outcomes and those that
    came again have tie rates of their own, so that the mean of what is observed less this is 0 for
    such annotators, however few their repeats.
    """
    ties: dict[tuple[str, bool, int], list[bool]] = defaultdict(list)
    for one in found:
        for said in (one.first, one.again):
            ties[_cell(one, said)].append(said.better is None)
    rates = {cell: sum(tied) / len(tied) for cell, tied in ties.items()}
    chances = [
        chance_alike(rates[_cell(one, one.first)], rates[_cell(one, one.again)]) for one in found
    ]
    return sum(chances) / len(chances) if chances else 0.0


def _cell(one: Repeat, said: _Said) -> tuple[str, bool, int]:
    return one.user_id, said is one.again, said.size


def _by_texts(own: Iterable[Judged]) -> dict[tuple[str, ...], list[_Said]]:
    """What was said of each two texts that differ."""
    found: dict[tuple[str, ...], list[_Said]] = defaultdict(list)
    for one in own:
        size = sum(len(tier) for tier in one.ranking.tiers) + len(one.ranking.unranked)
        for a, b, winner in _outcomes(one):
            texts = sorted((one.texts[a].sha256, one.texts[b].sha256))
            if texts[0] != texts[1]:
                better = None if winner is None else one.texts[winner].sha256
                found[tuple(texts)].append(_Said(one.comparison_id, size, better))
    return found


def _outcomes(one: Judged) -> Iterator[tuple[str, str, str | None]]:
    """Every two responses that were placed, and the better one; None where they are tied."""
    yield from ((better, worse, better) for better, worse in one.ranking.wins)
    yield from ((a, b, None) for a, b in one.ranking.ties)
