"""Crowd-BT: Bradley-Terry in which an annotator who often contradicts the others counts less.

Annotator k reports the pair as the strengths have it with probability eta_k, and turned round with
probability 1 - eta_k: P(k says a > b) = eta_k s(a - b) + (1 - eta_k) s(b - a), s the logistic
function. All comparisons are fitted together, because they share the annotators. Source: Chen,
Bennett, Collins-Thompson & Horvitz 2013, Pairwise ranking aggregation in a crowdsourced setting.
It differs in three points: 1. a normal prior on strengths and a beta prior on eta take the place of
the virtual node; 2. all judgments are there from the start, so EM takes the place of online steps;
3. eta_k is judged by strengths that k has not voted on. A comparison has few judgments, and its
strengths would follow each of them: by its own votes even a coin flipper looks reliable.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.aggregation.strengths import fit
from backend.domain.aggregation.votes import Merged, Pair, Votes, by_score, votes
from backend.domain.ranking import Ranking

# An annotator is taken as reliable in 4 of 5 pairs until own pairs say otherwise. Without such a
# prior everybody turned round would explain the votes as well.
_RELIABLE, _UNRELIABLE = 4.0, 1.0
_STEPS = 200
_CLOSE = 1e-3  # far below what votes can tell of an eta or a strength

# Who said what about which comparison: rankings by annotator, by comparison.
Judgments = Mapping[str, Mapping[str, Ranking]]


@dataclass(frozen=True)
class Crowd:
    """What each comparison becomes, and eta of each annotator."""

    merged: Mapping[str, Merged]
    reliability: Mapping[str, float]


def crowd_bradley_terry(judgments: Judgments, *, prior: float) -> Crowd:
    """The rankings by annotator-weighted strengths.

    A tie is half a win each way and says nothing about who is reliable; neither does a comparison
    with one judgment. `prior` as in `backend.domain.aggregation.strengths.fit`. It stops when no
    eta moves by 0.001.
    """
    found = {key: votes(said.values()) for key, said in judgments.items()}
    said = {
        key: {user: votes([ranking]) for user, ranking in each.items()}
        for key, each in judgments.items()
    }
    eta = _reliability(said, {key: one.placed for key, one in found.items()}, prior)
    merged = {}
    for key, one in found.items():
        strengths = _converged(one.placed, said[key], eta, prior)
        merged[key] = by_score(one, strengths.__getitem__)
    return Crowd(merged, eta)


_Said = Mapping[str, Votes]
_Strengths = Mapping[str, float]


def _reliability(
    said: Mapping[str, _Said], placed: Mapping[str, Sequence[str]], prior: float
) -> dict[str, float]:
    """Eta of each annotator, by the strengths that the others' votes give."""
    users = sorted({user for each in said.values() for user in each})
    eta = dict.fromkeys(users, _RELIABLE / (_RELIABLE + _UNRELIABLE))
    shared = [(key, user) for key, each in said.items() if len(each) > 1 for user in each]
    others: dict[tuple[str, str], _Strengths] = {
        (key, user): dict.fromkeys(placed[key], 0.0) for key, user in shared
    }
    for _ in range(_STEPS):
        for key, user in shared:
            rest = {other: one for other, one in said[key].items() if other != user}
            others[key, user] = _moved(placed[key], rest, eta, others[key, user], prior)
        before, eta = eta, _judged(said, eta, others)
        if all(abs(eta[user] - before[user]) < _CLOSE for user in users):
            break
    return eta


def _judged(
    said: Mapping[str, _Said],
    eta: Mapping[str, float],
    others: Mapping[tuple[str, str], _Strengths],
) -> dict[str, float]:
    faithful = dict.fromkeys(eta, _RELIABLE)
    pairs = dict.fromkeys(eta, _RELIABLE + _UNRELIABLE)
    for (key, user), strengths in others.items():
        for a, b in said[key][user].wins:
            faithful[user] += _faithful(eta[user], strengths[a] - strengths[b])
            pairs[user] += 1
    return {user: faithful[user] / pairs[user] for user in eta}


def _faithful(eta: float, ahead: float) -> float:
    """How likely a report was not turned round, of a winner this far ahead."""
    win = 1 / (1 + math.exp(-ahead))
    return eta * win / (eta * win + (1 - eta) * (1 - win))


def _converged(
    placed: Sequence[str], said: _Said, eta: Mapping[str, float], prior: float
) -> _Strengths:
    at: _Strengths = dict.fromkeys(placed, 0.0)
    for _ in range(_STEPS):
        before, at = at, _moved(placed, said, eta, at, prior)
        if all(abs(at[one] - before[one]) < _CLOSE for one in placed):
            break
    return at


def _moved(
    placed: Sequence[str], said: _Said, eta: Mapping[str, float], at: _Strengths, prior: float
) -> _Strengths:
    """One step of EM: each vote counts for the winner as far as it is believed, else against."""
    weighted: dict[Pair, float] = defaultdict(float)
    for (a, b), faithful in _beliefs(said, eta, at):
        weighted[a, b] += faithful
        weighted[b, a] += 1 - faithful
    return fit(placed, weighted, {}, prior=prior, near=at).of


def _beliefs(said: _Said, eta: Mapping[str, float], at: _Strengths) -> Iterable[tuple[Pair, float]]:
    for user, one in said.items():
        for a, b in one.wins:
            yield (a, b), _faithful(eta[user], at[a] - at[b])
        for pair in one.ties:
            yield pair, 0.5
