"""What a model's responses to a set came to, as far as two models are compared by it.

Made of measured responses, and kept by policy runs of those of the reference. Numbers alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """Response by response, in the order of the prompts.

    `raw` is the weighted sum, `reward` what is made of it; `most` as in `Scores`.
    """

    raw: list[float]
    reward: list[float]
    most: float | None
    passed: list[bool | None]
    lengths: list[float]

    def at(self, places: Sequence[int]) -> "Outcome":
        """The outcome of some of the responses."""
        return Outcome(
            [self.raw[i] for i in places],
            [self.reward[i] for i in places],
            self.most,
            [self.passed[i] for i in places],
            [self.lengths[i] for i in places],
        )
