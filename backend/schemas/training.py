"""Run configs: one frozen object per `method`, read by the browser form, the API and the trainer.

Imports no torch. Every number carries its unit, range and default here and nowhere else; unknown
keys are refused. `parse_run_config` is the one way in.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import (
    LanguageModel,
    PointsTo,
    Preferences,
    Prompts,
    Reference,
)
from backend.schemas.rewards import AnyRewardTerm, Reward
from backend.schemas.sections import Common, Rollout
from backend.schemas.vocabulary import ModelKind, SnapshotKind

SCHEMA_VERSION = 1


class SftConfig(Common):
    """Supervised fine-tuning on demonstrations; the loss is over what the assistant says."""

    method: Literal["sft"] = "sft"
    model: LanguageModel = Field(description="The language model to train.")
    demonstrations: Annotated[Reference, PointsTo(SnapshotKind.DEMONSTRATIONS)] = Field(
        description="A snapshot of responses that people wrote."
    )
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    max_tokens: int = Field(
        512, ge=8, le=1_048_576, description="Longest prompt and response; longer ones are refused."
    )
    packing: bool = Field(
        True,
        description="Compute the records of a micro-batch joined, each seeing itself alone, not "
        "padded to the longest. Changes the speed and nothing else.",
    )
    assistant_turns: Literal["last", "all"] = Field(
        "last",
        description="What the loss is over: last = the response; all = also what the assistant "
        "says earlier in the conversation.",
    )


class RewardModelConfig(Common):
    """A scalar head trained on rankings, all responses of a ranking together."""

    method: Literal["reward_model"] = "reward_model"
    model: Annotated[Reference, PointsTo(ModelKind.CAUSAL_LM, or_kind=ModelKind.REWARD_MODEL)] = (
        Field(description="The language model to start from.")
    )
    preferences: Preferences = Field(description="A snapshot of rankings.")
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    max_tokens: int = Field(512, ge=8, le=1_048_576, description="Longest prompt and response.")
    loss: Literal["pairwise", "listwise"] = Field(
        "pairwise", description="pairwise = Bradley-Terry over all pairs; listwise = Plackett-Luce."
    )
    center: float = Field(
        0.0,
        ge=0,
        le=10,
        description="Weight of the squared sum of a pair's scores, which holds them near 0; "
        "0.01 is usual.",
    )
    margin: float = Field(
        0.0,
        ge=0,
        le=100,
        description="By how much the scores of a pair shall differ for each tier between them, in "
        "units of the score; 0 with listwise.",
    )

    @model_validator(mode="after")
    def _only_pairs_have_a_margin(self) -> Self:
        if self.loss == "listwise" and self.margin > 0:
            raise ValueError("margin must be 0 with loss listwise, which does not use it")
        return self


class ProcessRewardModelConfig(Common):
    """A scalar head trained on labelled steps: how likely is each step of a response right?"""

    method: Literal["process_reward_model"] = "process_reward_model"
    model: LanguageModel = Field(description="The language model to start from.")
    solutions: Annotated[Reference, PointsTo(SnapshotKind.SOLUTIONS)] = Field(
        description="A snapshot of responses in labelled steps."
    )
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    max_tokens: int = Field(512, ge=8, le=1_048_576, description="Longest prompt and response.")
    separator: Literal["newline", "blank_line"] = Field(
        "newline", description="What stands between two steps; a step is scored where it ends."
    )


class DpoConfig(Common):
    """Direct preference optimization on the pairs of rankings."""

    method: Literal["dpo"] = "dpo"
    model: LanguageModel = Field(description="The language model to start from.")
    reference: LanguageModel | None = Field(
        None, description="What log-ratios are measured against; default: the starting model."
    )
    preferences: Preferences = Field(description="A snapshot of rankings.")
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    max_tokens: int = Field(512, ge=8, le=1_048_576, description="Longest prompt and response.")
    beta: float = Field(0.1, gt=0, le=100, description="Strength of the pull to the reference.")
    label_smoothing: float = Field(
        0.0, ge=0, lt=0.5, description="Share of labels taken to be wrong; 0 with ipo."
    )
    loss: Literal["sigmoid", "ipo"] = Field(
        "sigmoid", description="sigmoid = DPO; ipo = squared distance of the margin to its target."
    )

    @model_validator(mode="after")
    def _policy_and_reference_start_equal(self) -> Self:
        if self.lora is not None and self.lora.dropout > 0:
            raise ValueError(
                "lora.dropout must be 0 for dpo: it would make the policy differ from its reference"
            )
        if self.loss == "ipo" and self.label_smoothing > 0:
            raise ValueError("label_smoothing must be 0 with loss ipo, which does not use it")
        return self


class GenerateConfig(Common):
    """Sample responses to prompts; they come home as responses and comparisons to rank."""

    method: Literal["generate"] = "generate"
    model: LanguageModel = Field(description="The model that answers.")
    reference: LanguageModel | None = Field(
        None, description="If given, kl/exact and log-probs against this model are measured."
    )
    prompts: Prompts = Field(description="A snapshot of prompts to answer.")
    split: Literal["train", "heldout", "all"] = Field(
        "all", description="Which side of the snapshot is sampled."
    )
    samples_per_prompt: int = Field(4, ge=1, le=1024, description="Responses per prompt.")
    rollout: Rollout = Field(default_factory=Rollout)
    reward: list[AnyRewardTerm] = Field(
        default_factory=list, max_length=16, description="Terms that score each response."
    )
    make_comparisons: bool = Field(
        True, description="Make one comparison per prompt of its distinct responses (2 to 9)."
    )


class EvaluateConfig(Common):
    """Score a model's responses, alone or against a baseline."""

    method: Literal["evaluate"] = "evaluate"
    model: LanguageModel = Field(description="The model to score.")
    baseline_model: LanguageModel | None = Field(None, description="A model to compare with.")
    prompts: Prompts = Field(description="A snapshot of prompts to answer.")
    split: Literal["train", "heldout", "all"] = Field(
        "all", description="Which side of the snapshot is answered."
    )
    reward: Reward
    pass_reward: float | None = Field(
        1.0,
        ge=-1e6,
        le=1e6,
        description="Weighted sum from which on a response passes, for pass@k; null = no pass@k.",
    )
    samples_per_prompt: int = Field(1, ge=1, le=1024, description="Responses per prompt.")
    rollout: Rollout = Field(default_factory=Rollout)

    @model_validator(mode="after")
    def _nothing_runs(self) -> Self:
        if self.reward.normalize == "running":
            raise ValueError(
                "reward.normalize is running, but an evaluation has no run to learn from; use "
                "auto, model or none"
            )
        return self


RunConfig = Annotated[
    SftConfig
    | RewardModelConfig
    | ProcessRewardModelConfig
    | DpoConfig
    | PolicyGradientConfig
    | GenerateConfig
    | EvaluateConfig,
    Field(discriminator="method"),
]

METHOD_CONFIGS: dict[str, type[Common]] = {
    "sft": SftConfig,
    "reward_model": RewardModelConfig,
    "process_reward_model": ProcessRewardModelConfig,
    "dpo": DpoConfig,
    "policy_gradient": PolicyGradientConfig,
    "generate": GenerateConfig,
    "evaluate": EvaluateConfig,
}

_ADAPTER: TypeAdapter[RunConfig] = TypeAdapter(RunConfig)


def parse_run_config(value: Any) -> RunConfig:
    """Validate a plain object into the config of its `method`.

    Raises pydantic.ValidationError naming each wrong key with its path.
    """
    return _ADAPTER.validate_python(value)


def longest_sequence(config: RunConfig) -> int:
    """Most tokens of a prompt with its response that a run may put before a model."""
    if isinstance(config, PolicyGradientConfig | GenerateConfig | EvaluateConfig):
        return config.rollout.max_prompt_tokens + config.rollout.max_new_tokens
    return config.max_tokens
