"""Does a reward model score the length of a response instead of what it says?

Computed by reward_model on the held-out split. Length is in response tokens, the end token
included. Axes: K responses of a ranking, N numbers of any list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from backend.schemas.numbers import mean
from worker.trainer.data.rankings import Ranking
from worker.trainer.evaluation.with_interval import rate_with_interval


@dataclass(frozen=True)
class LengthBias:
    """What scores and judgments have to do with length; None where there is nothing to measure.

    `correlation`: Pearson's, of score and length, each after its mean in the ranking is taken off,
    because only differences within a ranking are learned. `longer_won`: share of strict pairs of
    unequal length that the judgment gives to the longer one. `accuracy_longer` and
    `accuracy_shorter`: right pairs where the longer or the shorter one won. `intervals`: the 95 %
    intervals of these two by prompt, as metrics; none where one prompt has all of them.
    """

    correlation: float | None
    longer_won: float | None
    accuracy_longer: float | None
    accuracy_shorter: float | None
    intervals: Mapping[str, float]

    def metrics(self) -> dict[str, float]:
        """`eval/length_correlation` and its company, without what is None."""
        values = {
            "eval/length_correlation": self.correlation,
            "eval/longer_won": self.longer_won,
            "eval/accuracy_longer": self.accuracy_longer,
            "eval/accuracy_shorter": self.accuracy_shorter,
        }
        known = {name: value for name, value in values.items() if value is not None}
        return known | dict(self.intervals)


def length_bias(scores: Sequence[Tensor], rankings: Sequence[Ranking]) -> LengthBias:
    """Compare scores, K per ranking, with lengths; a tied score is half right."""
    centred_scores, centred_lengths = [], []
    right: dict[bool, list[float]] = {True: [], False: []}
    prompts: dict[bool, list[str]] = {True: [], False: []}
    for score_K, ranking in zip(scores, rankings, strict=True):
        own_K = score_K.double().cpu()
        length_K = torch.tensor([len(t.response) for t in ranking.responses], dtype=torch.float64)
        centred_scores.append(own_K - own_K.mean())
        centred_lengths.append(length_K - length_K.mean())
        for winner, loser in zip(*ranking.strict_pairs(), strict=True):
            if length_K[winner] != length_K[loser]:
                is_longer = bool(length_K[winner] > length_K[loser])
                side = float((own_K[winner] - own_K[loser]).sign())
                right[is_longer].append((1 + side) / 2)
                prompts[is_longer].append(ranking.prompt_id)
    n_pairs = len(right[True]) + len(right[False])
    return LengthBias(
        correlation=_correlation(torch.cat(centred_scores), torch.cat(centred_lengths)),
        longer_won=len(right[True]) / n_pairs if n_pairs else None,
        accuracy_longer=mean(right[True]),
        accuracy_shorter=mean(right[False]),
        intervals=_ends("eval/accuracy_longer", right[True], prompts[True])
        | _ends("eval/accuracy_shorter", right[False], prompts[False]),
    )


def _ends(name: str, right_N: Sequence[float], prompt_N: Sequence[str]) -> dict[str, float]:
    """NAME_low and NAME_high, where there is an interval."""
    found = rate_with_interval(name, right_N, prompt_N)
    return {end: value for end, value in found.items() if end != name}


def _correlation(first_N: Tensor, second_N: Tensor) -> float | None:
    scale = float(first_N.norm() * second_N.norm())
    return float(first_N @ second_N) / scale if scale > 0 else None
