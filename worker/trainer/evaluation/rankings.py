"""How well scores agree with rankings: accuracy, margin and their interval by prompt.

Used by the methods that learn from rankings, whatever their scores are: those of a head, or
implicit rewards. Axes: K responses of a ranking, E pairs of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from worker.trainer.data.rankings import Ranking, Rankings
from worker.trainer.evaluation.with_interval import rate_with_interval


@dataclass(frozen=True)
class RankingScores:
    """Scores of one ranking against its strict pairs; sums over the pairs.

    Tied pairs do not count; a tied score on a strict pair counts half as right.
    """

    prompt_id: str
    n_pairs: float
    n_right: float
    chosen: float
    rejected: float


def judge(score_K: Tensor, ranking: Ranking) -> RankingScores:
    """Compare the scores of a ranking's responses, K, with its tiers."""
    winner, loser = ranking.strict_pairs()
    score_K = score_K.double()
    chosen_E, rejected_E = score_K[winner], score_K[loser]
    n_right = float((chosen_E > rejected_E).sum()) + 0.5 * float((chosen_E == rejected_E).sum())
    return RankingScores(
        ranking.prompt_id,
        float(len(winner)),
        n_right,
        float(chosen_E.sum()),
        float(rejected_E.sum()),
    )


def mean_of(judged: Sequence[RankingScores]) -> dict[str, float]:
    """`accuracy`, `margin`, `chosen`, `rejected`: means over strict pairs; empty without one."""
    n_pairs = sum(one.n_pairs for one in judged)
    if n_pairs == 0:
        return {}
    chosen = sum(one.chosen for one in judged) / n_pairs
    rejected = sum(one.rejected for one in judged) / n_pairs
    return {
        "accuracy": sum(one.n_right for one in judged) / n_pairs,
        "margin": chosen - rejected,
        "chosen": chosen,
        "rejected": rejected,
    }


def heldout_metrics(scores: Sequence[Tensor], rankings: Sequence[Ranking]) -> dict[str, float]:
    """Metrics `eval/*`, the accuracy with its 95 % interval by prompt."""
    judged = [judge(score_K, ranking) for score_K, ranking in zip(scores, rankings, strict=True)]
    with_pairs = [one for one in judged if one.n_pairs > 0]
    values = {f"eval/{name}": value for name, value in mean_of(judged).items()}
    values["eval/pairs"] = sum(one.n_pairs for one in judged)
    values["eval/prompts"] = float(len({one.prompt_id for one in judged}))
    if with_pairs:
        values |= rate_with_interval(
            "eval/accuracy",
            [one.n_right for one in with_pairs],
            [one.prompt_id for one in with_pairs],
            [one.n_pairs for one in with_pairs],
        )
    return values


def uncounted_metrics(rankings: Rankings) -> dict[str, float]:
    """What an evaluation tells where no held-out ranking can be used: of those there are, 0 pairs.

    Nothing where nothing was held out.
    """
    return {"eval/pairs": 0.0} if rankings.n_heldout else {}
