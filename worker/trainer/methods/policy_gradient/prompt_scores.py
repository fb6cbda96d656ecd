"""What the responses to each training prompt of a step scored: one row a prompt, for its curve.

Called by the loop at every step; changes nothing.
"""

import math
from collections.abc import Sequence
from statistics import fmean

from backend.schemas.run_directory.events import PromptScoresLine
from worker.trainer.methods.policy_gradient.rollout import AskedPrompt


def prompt_scores_line(step: int, asked: Sequence[AskedPrompt]) -> PromptScoresLine:
    """A row for each prompt, in the order in which they were asked first.

    All its responses count, also those that nothing was trained on because they were cut, and those
    to a prompt that dynamic sampling replaced: a prompt that everything answers right is replaced.
    """
    raw: dict[str, list[float]] = {}
    passed: dict[str, list[bool | None]] = {}
    for one in asked:
        raw.setdefault(one.prompt_id, []).extend(one.scores.raw)
        passed.setdefault(one.prompt_id, []).extend(one.scores.passed)
    finite = [[value for value in values if math.isfinite(value)] for values in raw.values()]
    return PromptScoresLine(
        step=step,
        prompt_ids=list(raw),
        responses=[len(values) for values in raw.values()],
        scored=[len(values) for values in finite],
        score=[fmean(values) if values else None for values in finite],
        passed=[_n_passed(several) for several in passed.values()],
    )


def _n_passed(several: Sequence[bool | None]) -> int | None:
    return None if all(one is None for one in several) else sum(one is True for one in several)
