"""How far a calibration error on few held-out pairs shows that a reward model is not calibrated."""

import math

from backend.domain.verdict.evidence import Estimate
from backend.domain.verdict.measured import Judged
from backend.domain.verdict.words import as_set
from backend.plural import plural

HEALTHY = 0.05
# The mean distance of five bins grows with the noise in each: 95 % of calibrated models show at
# most this, divided by the root of the number of independent pairs, however certain they are.
_BY_CHANCE = 1.2


def by_chance(n: int) -> float:
    """The error on this many independent pairs that a calibrated model seldom exceeds (5 %)."""
    return _BY_CHANCE / math.sqrt(n)


def against_chance(n_prompts: float | None, found: Estimate) -> Judged:
    """Judge a calibration error; pairs of one prompt are not independent, so prompts count.

    A small error is not called good: on few pairs it may be luck.
    """
    if found.value <= HEALTHY:
        return "none", ""
    if not n_prompts:
        return "none", f"above {as_set(HEALTHY)}; the number of held-out prompts is not known"
    n = round(n_prompts)
    limit = by_chance(n)
    if found.value > limit:
        return "warn", (
            "more than chance: the predicted probabilities do not match how often the response "
            "with the higher score wins"
        )
    prompts = plural(n, "prompt")
    return "none", f"may be chance: on {prompts} a calibrated model can show up to {limit:.2g}"
