"""`kl.max`: how far from its reference a policy may go.

Owned by policy_gradient, asked by the loop whether the run is over; saved with its checkpoints.
"""

import math
from collections.abc import Mapping
from typing import Any


class KlLimit:
    """Keeps what was measured last, not a verdict: a clone may go on under another limit."""

    def __init__(self, nats: float | None) -> None:
        self._nats = math.inf if nats is None else nats
        self._exact = 0.0

    def allows(self, kl: float) -> bool:
        """Whether a policy may be this far, nats per response."""
        return not kl > self._nats

    def measured(self, kl_exact: float) -> None:
        """See the KL of an evaluation, nats per response."""
        self._exact = kl_exact

    @property
    def is_passed(self) -> bool:
        """Whether the last evaluation was above: the run is over."""
        return not self.allows(self._exact)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"exact": self._exact}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what a checkpoint kept."""
        self._exact = float(state["exact"])
