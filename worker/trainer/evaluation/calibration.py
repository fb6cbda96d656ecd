"""Does a reward model win as often as it predicts? The calibration curve of pairwise probabilities.

Computed by reward_model on the held-out split. Under Bradley-Terry the first of two responses wins
with probability sigmoid(difference of their scores). Axes: K responses of a ranking, E pairs of
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from worker.trainer.data.rankings import Ranking
from worker.trainer.losses import tier_pairs

N_BINS = 5


@dataclass(frozen=True)
class Bin:
    """Pairs whose favourite wins with a predicted probability in [low, high); the last has 1 too.

    `predicted` is their mean probability, `won` the share that the favourite did win.
    """

    low: float
    high: float
    n_pairs: int
    predicted: float
    won: float


def calibration_curve(scores: Sequence[Tensor], rankings: Sequence[Ranking]) -> list[Bin]:
    """The bins that hold a pair, from 0.5 to 1; a tie is half a win, a tied score half a favourite.

    Source: reliability diagrams, Guo et al. 2017 (arXiv 1706.04599), over pairs instead of classes.
    """
    parts = [_favourites(score_K, r.tiers) for score_K, r in zip(scores, rankings, strict=True)]
    predicted_E = torch.cat([predicted for predicted, _ in parts])
    won_E = torch.cat([won for _, won in parts])
    place_E = ((predicted_E - 0.5) * 2 * N_BINS).long().clamp(max=N_BINS - 1)
    curve = []
    for place in sorted(set(place_E.tolist())):
        inside_E = place_E == place
        curve.append(
            Bin(
                low=0.5 + place / (2 * N_BINS),
                high=0.5 + (place + 1) / (2 * N_BINS),
                n_pairs=int(inside_E.sum()),
                predicted=float(predicted_E[inside_E].mean()),
                won=float(won_E[inside_E].mean()),
            )
        )
    return curve


def calibration_error(curve: Sequence[Bin]) -> float:
    """Mean distance of predicted and won over all pairs, in 0..0.5 for a favourite's win."""
    n_pairs = sum(one.n_pairs for one in curve)
    return sum(one.n_pairs * abs(one.predicted - one.won) for one in curve) / max(n_pairs, 1)


def described(curve: Sequence[Bin]) -> str:
    """The curve in words."""
    parts = [f"{one.low:.0%}-{one.high:.0%}: {one.won:.0%} of {one.n_pairs} pairs" for one in curve]
    return (
        "Share of pairs in which the response with the higher score won, by predicted "
        f"probability: {'; '.join(parts)}"
    )


def _favourites(score_K: Tensor, tiers: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    first, second, wins = tier_pairs(tiers)
    score_K = score_K.double().cpu()
    margin_E = score_K[first] - score_K[second]
    win_E = torch.tensor(wins, dtype=torch.float64)
    # The favourite is the first, the second, or nobody.
    won_E = 0.5 + margin_E.sign() * (win_E - 0.5)
    return margin_E.abs().sigmoid(), won_E
