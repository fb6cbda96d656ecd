"""What annotators do whatever they judge: prefer the first or the longer response, tie, hurry.

Called by `backend.domain.agreement.overview` for all annotators, for each one and for each week. A
habit is no error by itself: longer responses may be better. It is worth a look where one
annotator's share differs from the others', or where the first shown wins more often than by chance.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from backend.domain.agreement.interval import interval_of_share
from backend.domain.agreement.judged import Judged
from backend.domain.agreement.pairwise import FEWEST
from backend.domain.agreement.repeats import chance_of, repeats
from intervals.interval import Interval

# What happened in a comparison: how often, out of how many.
Case = tuple[str, float, float]


@dataclass(frozen=True)
class Share:
    """How often something happened, how often chance lets it happen, and in how many comparisons.

    `interval` covers 95 % and is about further comparisons of the same annotators; None for fewer
    than 20 comparisons. All None or 0 where there is nothing to count.
    """

    value: float | None
    by_chance: float | None
    interval: Interval | None
    comparisons: int


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
    unequal length won by the longer response; 1/2 by chance. reward_accuracy: the same of the
    response to which the run's reward model gave more. self_consistency: the same two texts judged
    again by the same person with the same outcome; by chance as `repeats.chance_of` says.
    tie_rate: ties among all placed pairs.
    """
    ranked = [one for one in judged if one.ranking.tiers]
    ties = sum(len(one.ranking.ties) for one in ranked)
    pairs = ties + sum(len(one.ranking.wins) for one in ranked)
    again = repeats(ranked)
    active = [one.active_s for one in judged if one.active_s is not None]
    return Habits(
        judgments=len(judged),
        first_shown=_first_shown([one for one in ranked if one.presented_order]),
        longer=_share(((one.comparison_id, *_longer(one)) for one in ranked), 0.5),
        reward_accuracy=_share(((one.comparison_id, *_rewarded(one)) for one in ranked), 0.5),
        self_consistency=_share(
            ((one.comparison_id, one.is_alike, 1) for one in again), chance_of(again)
        ),
        tie_rate=ties / pairs if pairs else None,
        median_active_s=median(active) if active else None,
    )


def _share(cases: Iterable[Case], by_chance: float) -> Share:
    """Compute a share with its interval over comparisons: judgments of one depend on each other."""
    counted: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for comparison_id, hits, trials in cases:
        if trials:
            before = counted[comparison_id]
            counted[comparison_id] = before[0] + hits, before[1] + trials
    if not counted:
        return Share(None, None, None, 0)
    total = sum(trials for _, trials in counted.values())
    value = sum(hits for hits, _ in counted.values()) / total
    interval = None
    if len(counted) >= FEWEST:
        moves = [(hits - value * trials) / total for hits, trials in counted.values()]
        interval = interval_of_share(value, moves, clusters=len(counted))
    return Share(value, by_chance, interval, len(counted))


def _first_shown(shown: Sequence[Judged]) -> Share:
    by_chance = sum(1 / len(one.presented_order) for one in shown) / len(shown) if shown else 0
    return _share(((one.comparison_id, _is_first_best(one), 1) for one in shown), by_chance)


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
