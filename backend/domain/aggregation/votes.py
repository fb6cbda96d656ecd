"""What several rankings of one comparison say about each pair of its responses.

Every way of aggregation reads its rankings through this; pairs that an annotator did not place
count nowhere.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.components import components
from backend.domain.ranking import Ranking
from backend.schemas.vocabulary import Verdict

Pair = tuple[str, str]

# Two estimated strengths that differ by less are the same: rounding must not break a tie.
_SAME = 1e-6


@dataclass(frozen=True)
class Votes:
    """`wins` by (better, worse); `ties` by the two ids in order; both count annotators.

    `verdict`: what most annotators said. Of verdicts that equally many gave, ranked stands, because
    the others contradict no order; without it cannot_judge, which claims less than all_bad.
    """

    wins: Mapping[Pair, int]
    ties: Mapping[Pair, int]
    placed: Sequence[str]  # in order of their ids
    unplaced: Sequence[str]
    verdict: Verdict


@dataclass(frozen=True)
class Merged:
    """What several judgments of one comparison become.

    `rankings`: one for each part of the placed responses that votes join, in order of the least id
    of each; nobody has said anything of two responses that no chain of votes joins. One without
    tiers if the verdict is not ranked; `is_outvoted` if somebody ranked all the same.
    """

    rankings: Sequence[Ranking]
    is_outvoted: bool = False

    @property
    def is_apart(self) -> bool:
        """Whether votes leave several parts."""
        return len(self.rankings) > 1


def votes(rankings: Iterable[Ranking]) -> Votes:
    """The votes in these rankings of one comparison."""
    wins: Counter[Pair] = Counter()
    ties: Counter[Pair] = Counter()
    placed: set[str] = set()
    every: set[str] = set()
    verdicts: Counter[Verdict] = Counter()
    for one in rankings:
        verdicts[one.verdict] += 1
        wins.update(one.wins)
        ties.update((min(a, b), max(a, b)) for a, b in one.ties)
        placed.update(response for tier in one.tiers for response in tier)
        every.update(one.unranked)
    return Votes(wins, ties, sorted(placed), sorted(every - placed), _verdict(verdicts))


def _verdict(said: Mapping[Verdict, int]) -> Verdict:
    leading = [one for one, times in said.items() if times == max(said.values())]
    if Verdict.RANKED in leading:
        return Verdict.RANKED
    return leading[0] if len(leading) == 1 else Verdict.CANNOT_JUDGE


def by_score(found: Votes, score: Callable[[str], float]) -> Merged:
    """The placed responses by their scores, highest first; equal scores share a tier."""
    every = {*found.placed, *found.unplaced}
    if found.verdict is not Verdict.RANKED:
        nothing = Ranking((), tuple(sorted(every)), found.verdict)
        return Merged([nothing], is_outvoted=bool(found.placed))
    return Merged(
        [
            Ranking(_tiers(part, score), tuple(sorted(every.difference(part))), found.verdict)
            for part in _parts(found)
        ]
    )


def _parts(found: Votes) -> list[list[str]]:
    """The placed responses, those together that a chain of wins and ties joins."""
    alone = ((one, one) for one in found.placed)
    standing = components([*alone, *found.wins, *found.ties])
    parts: dict[str, list[str]] = defaultdict(list)
    for one in found.placed:
        parts[standing[one]].append(one)
    return list(parts.values())


def _tiers(part: Sequence[str], score: Callable[[str], float]) -> tuple[tuple[str, ...], ...]:
    tiers: list[list[str]] = []
    last = None
    for one in sorted(part, key=score, reverse=True):
        if last is None or last - score(one) > _SAME:
            tiers.append([])
        tiers[-1].append(one)
        last = score(one)
    return tuple(tuple(sorted(tier)) for tier in tiers)
