"""What reward terms say of responses, as metrics with 95 % intervals by prompt."""

import math
from collections.abc import Sequence

from worker.trainer.evaluation.with_interval import (
    rate_with_interval,
    score_with_interval,
    scored_rate_with_interval,
)
from worker.trainer.events import Events
from worker.trainer.rewards.scorer import Scores


def term_metrics(scores: Scores, prompt_ids: Sequence[str]) -> dict[str, float]:
    """The mean score by each term over what it could score, and how much that was."""
    values: dict[str, float] = {}
    for name in scores.coverage:
        is_scored = [float(math.isfinite(score)) for score in scores.terms[name]]
        values |= rate_with_interval(_coverage(name), is_scored, prompt_ids)
    for name, scored in scores.terms.items():
        metric = f"reward/{name}"
        if name in scores.judging & scores.shares:
            values |= scored_rate_with_interval(metric, scored, prompt_ids)
        else:
            most = 1.0 if name in scores.shares else None
            values |= score_with_interval(metric, scored, prompt_ids, most=most)
    return values


def coverage(scores: Scores) -> dict[str, float]:
    """The share of responses with a score, by term that judges correctness or missed some.

    Of a step that trains: without intervals.
    """
    return {_coverage(name): share for name, share in scores.coverage.items()}


def _coverage(term: str) -> str:
    return f"reward/{term}_coverage"


def pass_rate(scores: Scores, prompt_ids: Sequence[str]) -> dict[str, float]:
    """eval/pass@1: the share that passed; nothing where no term judges that."""
    passed = [float(one) for one in scores.passed if one is not None]
    if not passed or len(passed) < len(prompt_ids):
        return {}
    return rate_with_interval("eval/pass@1", passed, prompt_ids)


def tell_unscored(
    events: Events,
    reward: Sequence[float],
    consequence: str,
    *,
    whose: str = "",
    step: int | None = None,
) -> None:
    """Point out how many responses have no finite reward, if any, and what follows from it.

    `whose`: which responses they are, as "of the baseline to the set ood".
    """
    n_unscored = sum(not math.isfinite(value) for value in reward)
    if n_unscored > 0:
        named = f"responses {whose}".rstrip()
        events.alert(
            "unscored",
            f"{n_unscored} of {len(reward)} {named} got no finite reward: {consequence}",
            step=step,
        )
