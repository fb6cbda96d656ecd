"""What annotators do whatever they judge: prefer the first or the longer response, tie, hurry.

Called by `backend.domain.agreement.overview` for all annotators, for each one and for each week. A
habit is no error by itself: longer responses may be better. It is worth a look where one
annotator's share differs from the others', or where the first shown wins more often than by chance.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

from backend.domain.agreement.interval import Interval, interval_of_share
from backend.domain.agreement.judged import Judged
from backend.domain.agreement.pairwise import FEWEST, chance_alike


@dataclass(frozen=True)
class Share:
    """How often something happened, how often chance lets it happen, and out of how many.

    `interval` covers 95 %; None for fewer than 20 cases. All None or 0 where there is no case.
    """

    value: float | None
    by_chance: float | None
    interval: Interval | None
    cases: int


@dataclass(frozen=True)
class Habits:
    """What a set of judgments looks like."""

    judgments: int
    first_shown: Share
    longer: Share
    reward_accuracy: Share
    self_consistency: Share
    tie_rate: float | None
    median_active_s: float | None


def habits(judged: Sequence[Judged]) -> Habits:
    """The habits in these judgments.

    first_shown: the share of the best tier that was shown first; 1 / K by chance. longer: pairs of
    unequal length won by the longer response, a judgment being a case; 1/2 by chance.
    reward_accuracy: the same of the response to which the run's reward model gave more.
    self_consistency: the same two texts judged again by the same person with the same outcome, two
    texts being a case; by chance t^2 + (1 - t)^2 / 2 with tie rate t.
    tie_rate: ties among all placed pairs.
    """
    ranked = [one for one in judged if one.ranking.tiers]
    ties = sum(len(one.ranking.ties) for one in ranked)
    pairs = ties + sum(len(one.ranking.wins) for one in ranked)
    tie_rate = ties / pairs if pairs else None
    active = [one.active_s for one in judged if one.active_s is not None]
    return Habits(
        judgments=len(judged),
        first_shown=_first_shown([one for one in ranked if one.presented_order]),
        longer=_share([counted for one in ranked if (counted := _longer(one))[1]], 0.5),
        reward_accuracy=_share([found for one in ranked if (found := _rewarded(one))[1]], 0.5),
        self_consistency=_self_consistency(ranked, tie_rate),
        tie_rate=tie_rate,
        median_active_s=median(active) if active else None,
    )


def _share(cases: Sequence[tuple[float, float]], by_chance: float) -> Share:
    """Of (hits, trials) of each case; cases are what an interval resamples."""
    trials = sum(of for _, of in cases)
    if not trials:
        return Share(None, None, None, 0)
    value = sum(hits for hits, _ in cases) / trials
    interval = None
    if len(cases) >= FEWEST:
        moves = [(hits - value * of) / trials for hits, of in cases]
        interval = interval_of_share(value, moves, clusters=len(cases))
    return Share(value, by_chance, interval, len(cases))


def _first_shown(shown: Sequence[Judged]) -> Share:
    by_chance = sum(1 / len(one.presented_order) for one in shown) / len(shown) if shown else 0
    return _share([(_is_first_best(one), 1) for one in shown], by_chance)


def _is_first_best(one: Judged) -> float:
    best = one.ranking.tiers[0]
    return (one.presented_order[0] in best) / len(best)


def _longer(one: Judged) -> tuple[int, int]:
    """How many pairs of unequal length the longer won, and how many there are."""
    lengths = [
        (one.texts[better].characters, one.texts[worse].characters)
        for better, worse in one.ranking.wins
    ]
    return sum(a > b for a, b in lengths), sum(a != b for a, b in lengths)


def _rewarded(one: Judged) -> tuple[float, int]:
    """How many won pairs a reward model orders alike, half where it cannot tell, of how many."""
    pairs = [(one.texts[better], one.texts[worse]) for better, worse in one.ranking.wins]
    rewards = [
        (better.reward, worse.reward)
        for better, worse in pairs
        if better.run_id == worse.run_id and better.reward is not None and worse.reward is not None
    ]
    return sum((a > b) + (a == b) / 2 for a, b in rewards), len(rewards)


def _self_consistency(ranked: Iterable[Judged], tie_rate: float | None) -> Share:
    of_prompt: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in ranked:
        of_prompt[one.user_id, one.prompt_id].append(one)
    cases = [
        again
        for own in of_prompt.values()
        if len(own) > 1
        for said in _by_texts(own).values()
        if (again := _again(said))[1]
    ]
    t = tie_rate or 0.0
    return _share(cases, chance_alike(t, t))


def _by_texts(own: Iterable[Judged]) -> dict[tuple[str, ...], list[tuple[str, str | None]]]:
    """By two texts: in which comparison, and which of them won (None: tied)."""
    said: dict[tuple[str, ...], list[tuple[str, str | None]]] = defaultdict(list)
    for one in own:
        for a, b, winner in _outcomes(one):
            texts = sorted((one.texts[a].sha256, one.texts[b].sha256))
            if texts[0] != texts[1]:
                best = None if winner is None else one.texts[winner].sha256
                said[tuple(texts)].append((one.comparison_id, best))
    return said


def _outcomes(one: Judged) -> Iterator[tuple[str, str, str | None]]:
    """Every two responses that were placed, and the better one; None where they are tied."""
    yield from ((better, worse, better) for better, worse in one.ranking.wins)
    yield from ((a, b, None) for a, b in one.ranking.ties)


def _again(said: Sequence[tuple[str, str | None]]) -> tuple[float, float]:
    """How often two judgments of these texts in different comparisons are alike, of how many."""
    alike = [x == y for (here, x), (there, y) in combinations(said, 2) if here != there]
    return float(sum(alike)), float(len(alike))
