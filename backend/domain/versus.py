"""How often people prefer one run's response to another's. Pure; `backend.store.versus` reads.

Wins are counted by pair and their interval is by prompt: several judgments of a pair, and several
pairs of a prompt, depend on each other.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from backend.domain.ranking import Ranking
from backend.domain.seeds.groups import differences
from backend.schemas.vocabulary import Verdict
from intervals.clustered import Clusters, interval_of_rate
from intervals.interval import Interval
from intervals.length_controlled import win_rate_at_equal_length

# How responses are sampled, beside the model that is asked.
_SAMPLING = ("prompts", "rollout", "samples_per_prompt", "seed")


class Pair(NamedTuple):
    """The ids of a prompt, of the run's response to it and of the other's."""

    prompt_id: str
    ours: str
    theirs: str


class Vote(NamedTuple):
    """One judgment of a pair: how it ranks the two responses."""

    pair: Pair
    ranking: Ranking


@dataclass(frozen=True)
class WinRate:
    """Judgments by what they say, and the rate of the pairs that were placed."""

    won: int
    tied: int
    lost: int
    left_out: int
    judged: int
    rate: float | None
    interval: Interval | None
    # What the rate would be if both responses were equally long, with its interval.
    at_equal_length: tuple[float, Interval | None] | None


def win_rate(votes: Iterable[Vote], tokens: Mapping[str, int]) -> WinRate:
    """A tie and two bad responses are half a win each way. `tokens`: of responses, by id."""
    said = [(vote, outcome(vote)) for vote in votes]
    by_pair: defaultdict[Pair, list[float]] = defaultdict(list)
    for vote, value in said:
        if value is not None:
            by_pair[vote.pair].append(value)
    outcomes = [value for _, value in said]
    rates = {pair: fmean(values) for pair, values in by_pair.items()}
    clusters = Clusters.of(list(rates.values()), [pair.prompt_id for pair in by_pair])
    return WinRate(
        won=outcomes.count(1.0),
        tied=outcomes.count(0.5),
        lost=outcomes.count(0.0),
        left_out=outcomes.count(None),
        judged=len(by_pair),
        rate=clusters.mean if by_pair else None,
        interval=interval_of_rate(clusters) if by_pair else None,
        at_equal_length=_at_equal_length(rates, tokens),
    )


def _at_equal_length(
    rates: Mapping[Pair, float], tokens: Mapping[str, int]
) -> tuple[float, Interval | None] | None:
    """None where fewer than two prompts were judged, or a length is missing.

    Without the pairs of which a length is missing the rest may be other pairs.
    """
    of_pairs = (one for pair in rates for one in (pair.ours, pair.theirs))
    if len({pair.prompt_id for pair in rates}) < 2 or any(one not in tokens for one in of_pairs):
        return None
    return win_rate_at_equal_length(
        list(rates.values()),
        [float(tokens[pair.ours] - tokens[pair.theirs]) for pair in rates],
        [pair.prompt_id for pair in rates],
    )


def outcome(vote: Vote) -> float | None:
    """1 = the run's response is better, 0.5 = neither, 0 = the other's; None = not both placed."""
    pair, ranking = vote
    if ranking.verdict is Verdict.ALL_BAD or ranking.ties:
        return 0.5
    return next((float(better == pair.ours) for better, _ in ranking.wins), None)


def not_alike(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """The dotted paths of sampling settings in which two configs differ."""
    chosen = [{name: config.get(name) for name in _SAMPLING} for config in (ours, theirs)]
    return sorted(differences(chosen))
