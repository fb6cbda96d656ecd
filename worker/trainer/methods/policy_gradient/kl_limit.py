"""`kl.max`: how far from its reference a policy may go.

Owned by policy_gradient, asked by the loop whether the run is over; saved with its checkpoints.
"""

import math
from collections.abc import Mapping
from typing import Any

from worker.trainer.errors import ConfigError


class KlLimit:
    """Keeps what was measured last, not a verdict: a clone may go on under another limit.

    The KL of a rollout is one of sampled log-ratios: noisy, but known at every step. Above the
    limit it calls for an evaluation, whose exact KL decides.
    """

    def __init__(self, nats: float | None) -> None:
        self._nats = math.inf if nats is None else nats
        self._sampled = self._exact = 0.0

    def allows(self, kl: float) -> bool:
        """Whether a policy may be this far, nats per response."""
        return not kl > self._nats

    def sampled(self, kl_response: float) -> None:
        """See the KL of a rollout, nats per response."""
        self._sampled = kl_response

    def measured(self, kl_exact: float) -> None:
        """See the KL of an evaluation, nats per response."""
        self._exact = kl_exact

    @property
    def calls_for_evaluation(self) -> bool:
        """Whether the last rollout was above the limit, so that an evaluation is due."""
        return not self.allows(self._sampled)

    @property
    def is_passed(self) -> bool:
        """Whether the last evaluation was above the limit: the run is over."""
        return not self.allows(self._exact)

    def nothing_within(self) -> ConfigError:
        """Say that there is no model to leave as output."""
        return ConfigError(
            f"no evaluation with a reward was within kl.max {self._nats:g}, so there is no model "
            f"to leave as output; the last one found kl/exact {self._exact:.3g} nats per response",
            "Raise kl.max, or start from a model that is nearer to the reference.",
        )

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"sampled": self._sampled, "exact": self._exact}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what a checkpoint kept."""
        self._sampled, self._exact = float(state["sampled"]), float(state["exact"])
