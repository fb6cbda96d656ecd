"""The weight of the KL: fixed, or steered to a target.

Owned by policy_gradient, saved with its checkpoints.
"""

from collections.abc import Mapping
from typing import Any

from backend.schemas.policy_gradient import Kl

# The controller moves by at most CLIP / HORIZON_IN_STEPS a step: 1 %.
CLIP = 0.2
HORIZON_IN_STEPS = 20


class KlControl:
    """coef <- coef * (1 + clip(kl / target - 1, +-0.2) / 20) after each step, with a target.

    Source: Ziegler et al. 2019 (arXiv 1909.08593), section 2.2; the horizon is 20 rollouts.
    """

    def __init__(self, config: Kl) -> None:
        self._target = config.target
        self.coef = config.coef

    def update(self, kl_response: float) -> None:
        """See the KL of a rollout, nats per response."""
        if self._target is not None:
            error = max(-CLIP, min(CLIP, kl_response / self._target - 1))
            self.coef *= 1 + error / HORIZON_IN_STEPS

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"coef": self.coef}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what a checkpoint kept."""
        self.coef = float(state["coef"])
