"""The weight of the KL: fixed, or steered to a target.

Owned by policy_gradient, saved with its checkpoints.
"""

from collections.abc import Mapping
from typing import Any

from backend.schemas.policy_gradient import Kl

CLIP = 0.2
# With the default horizon the coefficient moves by at most CLIP / 20 = 1 % a step.
HORIZON_IN_STEPS = 20


class KlControl:
    """coef <- coef * (1 + clip(kl / target - 1, +-0.2) * min(n / horizon, 1)), with a target.

    n is the number of samples of a step, the horizon 20 n unless the config says another. One below
    n counts as n, or the factor could fall below 0.
    Source: Ziegler et al. 2019 (arXiv 1909.08593), section 2.2.
    """

    def __init__(self, config: Kl, *, n_samples: int) -> None:
        self._target = config.target
        horizon = config.horizon or HORIZON_IN_STEPS * n_samples
        self._share = min(n_samples / horizon, 1.0)
        self._start = self.coef = config.coef

    def update(self, kl_response: float) -> None:
        """See the KL of a rollout, nats per response."""
        if self._target is not None:
            error = max(-CLIP, min(CLIP, kl_response / self._target - 1))
            self.coef *= 1 + error * self._share

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: where the coefficient stands, and where it started."""
        return {"coef": self.coef, "start": self._start}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on steering where a checkpoint stands.

        A coefficient of the config that is not the one it started from holds from here on, as does
        that of a config without a target: a clone may change both.
        """
        if self._target is not None and float(state["start"]) == self._start:
            self.coef = float(state["coef"])
