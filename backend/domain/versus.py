"""How often people prefer one run's response to another's. Pure; `backend.store.versus` reads.

Wins are counted by pair and their interval is by prompt: several judgments of a pair, and several
pairs of a prompt, depend on each other.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from backend.domain.seeds.groups import differences
from backend.schemas.vocabulary import Verdict
from intervals.clustered import Clusters, Interval, interval_of_rate

# How responses are sampled, beside the model that is asked.
_SAMPLING = ("prompts", "rollout", "samples_per_prompt", "seed")


@dataclass(frozen=True)
class Vote:
    """One judgment of a pair: the ids of the run's response and of the other's, and its tiers."""

    prompt_id: str
    ours: str
    theirs: str
    verdict: str
    tiers: Sequence[Sequence[str]]


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


def win_rate(votes: Iterable[Vote]) -> WinRate:
    """A tie and two bad responses are half a win each way."""
    said = [(vote, outcome(vote)) for vote in votes]
    by_pair: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for vote, value in said:
        if value is not None:
            by_pair[vote.prompt_id, vote.ours, vote.theirs].append(value)
    outcomes = [value for _, value in said]
    clusters = Clusters.of([fmean(one) for one in by_pair.values()], [one[0] for one in by_pair])
    return WinRate(
        won=outcomes.count(1.0),
        tied=outcomes.count(0.5),
        lost=outcomes.count(0.0),
        left_out=outcomes.count(None),
        judged=len(by_pair),
        rate=clusters.mean if by_pair else None,
        interval=interval_of_rate(clusters) if by_pair else None,
    )


def outcome(vote: Vote) -> float | None:
    """1 = the run's response is better, 0.5 = neither, 0 = the other's; None = not both placed."""
    if vote.verdict == Verdict.ALL_BAD:
        return 0.5
    place = {one: rank for rank, tier in enumerate(vote.tiers) for one in tier}
    if vote.ours not in place or vote.theirs not in place:
        return None
    ours, theirs = place[vote.ours], place[vote.theirs]
    return 0.5 if ours == theirs else float(ours < theirs)


def not_alike(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """The dotted paths of sampling settings in which two configs differ."""
    chosen = [{name: config.get(name) for name in _SAMPLING} for config in (ours, theirs)]
    return sorted(differences(chosen))
