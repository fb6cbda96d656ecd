"""Reward terms of the methods that sample, one variant per `kind`.

The browser form and the API read this union; the trainer finds the code of a kind in the file of
that name in `worker/trainer/rewards/`, and a test holds the two equal.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from backend.schemas.references import PointsTo, Reference
from backend.schemas.vocabulary import ModelKind


class RewardTerm(BaseModel):
    """What all reward terms share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float = Field(
        1.0, ge=-1000, le=1000, description="Weight of this term in the reward sum."
    )


class ModelReward(RewardTerm):
    """The score of a trained reward model, read at the last token of prompt and response."""

    kind: Literal["model"] = "model"
    model: Annotated[Reference, PointsTo(ModelKind.REWARD_MODEL)] = Field(
        description="A reward model from the registry."
    )


class ProcessReward(RewardTerm):
    """The probability (0 to 1) that the steps are right, by a trained process reward model."""

    kind: Literal["process"] = "process"
    process_model: Annotated[Reference, PointsTo(ModelKind.PROCESS_MODEL)] = Field(
        description="A process reward model from the registry."
    )
    combine: Literal["min", "last", "mean"] = Field(
        "min",
        description="min = the step with the lowest probability; last = the last step; mean = "
        "the mean over all steps.",
    )


class LengthReward(RewardTerm):
    """1 if the response has low to high words; falls linearly to 0 at no and at 2 x high words."""

    kind: Literal["length"] = "length"
    low: int = Field(1, ge=0, le=100_000, description="Fewest words that score 1.")
    high: int = Field(100, ge=1, le=100_000, description="Most words that score 1.")

    @model_validator(mode="after")
    def _has_a_band(self) -> Self:
        if self.low > self.high:
            raise ValueError(
                f"low is {self.low} and high is {self.high}, so no length fits; set low to at "
                "most high"
            )
        return self


class RegexReward(RewardTerm):
    """1 where the pattern is found in the response, else 0; each search has a time limit."""

    kind: Literal["regex"] = "regex"
    pattern: str = Field(min_length=1, max_length=500, description="Python regular expression.")

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(
                f"{value[:100]!r} is not a valid Python regular expression: {error}"
            ) from error
        return value


class FinishedReward(RewardTerm):
    """1 where the response ended by itself, 0 where the token limit cut it."""

    kind: Literal["finished"] = "finished"


AnyRewardTerm = Annotated[
    ModelReward | ProcessReward | LengthReward | RegexReward | FinishedReward,
    Field(discriminator="kind"),
]


REWARD_TERMS: Mapping[str, type[RewardTerm]] = {
    variant.model_fields["kind"].default: variant
    for variant in get_args(get_args(AnyRewardTerm)[0])
}


class Reward(BaseModel):
    """The reward of a response: the weighted sum of its terms, normalized, then clipped."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    terms: list[AnyRewardTerm] = Field(
        min_length=1, max_length=16, description="The reward is the weighted sum of these terms."
    )
    clip: float | None = Field(
        10.0,
        gt=0,
        le=1e6,
        description="The normalized reward is clipped to [-clip, clip]; none (null) = no clip.",
    )
    clip_after_baseline: bool = Field(
        False,
        description="Clip the reward after the estimator's baseline is subtracted, as OpenRLHF "
        "does, instead of before.",
    )
    normalize: Literal["auto", "none", "running", "model"] = Field(
        "auto",
        description="How the reward sum is normalized: none; running = by its mean and standard "
        "deviation over the run; model = by those stored with the reward model; auto = model "
        "if the only term is a reward model, else none.",
    )
