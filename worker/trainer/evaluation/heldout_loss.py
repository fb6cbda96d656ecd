"""The loss on held-out records and its change since the first evaluation, with their intervals.

Used by the methods that learn from records. Records differ much more from each other than the loss
of one record moves, so the change is that of each record, and its interval is by prompt. A record
or turn of N.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from worker.trainer.evaluation.with_interval import ratio_with_interval


class HeldoutLoss:
    """What the first evaluation found, which a checkpoint keeps.

    `prompt_N`: the prompt of each record. `weight_N`: how much its loss counts, such as its tokens.
    `measure`: the records and all settings of their loss, whose `repr` tells them apart.
    """

    def __init__(
        self, prompt_N: Sequence[str], weight_N: Sequence[float], measure: object = ""
    ) -> None:
        self._prompt_N, self._weight_N = list(prompt_N), list(weight_N)
        self._measure = hashlib.sha256(repr(measure).encode()).hexdigest()
        self._first_N: list[float] | None = None

    def metrics(self, step: int, loss_N: Sequence[float]) -> dict[str, float]:
        """`eval/loss` and, after step 0, `eval/loss_change`; `loss_N` is times its weight, nats."""
        if step == 0:
            self._first_N = list(loss_N)
        values = ratio_with_interval("eval/loss", loss_N, self._weight_N, self._prompt_N)
        if step == 0 or self._first_N is None:
            return values
        change_N = [now - first for now, first in zip(loss_N, self._first_N, strict=True)]
        return values | ratio_with_interval(
            "eval/loss_change", change_N, self._weight_N, self._prompt_N
        )

    def state(self) -> dict[str, Any]:
        """The first losses, and of what they are."""
        return {"measure": self._measure, "first": self._first_N}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take them over if they are of the same records and settings; else no change is known."""
        if state["measure"] == self._measure:
            self._first_N = state["first"]
