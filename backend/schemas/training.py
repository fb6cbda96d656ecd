"""Run configs: one frozen object per `method`, read by the browser form, the API and the trainer.

Imports no torch. Every number carries its unit, range and default here; where the default is none,
whoever uses it says what that means. Unknown keys are refused. `parse_run_config` is the one way
in. What else a method is stands in `backend.schemas.methods`.
"""

from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, model_validator

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import (
    Demonstrations,
    LanguageModel,
    PointsTo,
    Preferences,
    Prompts,
    Reference,
)
from backend.schemas.rewards import Reward, RewardTerms
from backend.schemas.sections import (
    Breakdown,
    EvaluationSets,
    HasRollout,
    OnRecords,
    RecordTokens,
    Sampler,
    SamplerRollout,
    SystemPrompt,
    Template,
    Texts,
    check_logp,
    check_sets,
    rollouts_of,
    when_absent,
)
from backend.schemas.vocabulary import ModelKind, SnapshotKind

SCHEMA_VERSION = 1


class SftConfig(OnRecords):
    """Learn to answer as demonstrations do; the loss covers the assistant's tokens only."""

    method: Literal["sft"] = "sft"
    model: LanguageModel = Field(description="The language model to train.")
    demonstrations: Demonstrations = Field(description="A snapshot of demonstrations.")
    system: SystemPrompt = ""
    template: Template = "model"
    max_tokens: RecordTokens = 512
    packing: bool = Field(
        True,
        description="Join the records of a micro-batch instead of padding them; each record "
        "attends only to itself. Changes the speed and not the result, except that in a model "
        "with dropout other units drop out.",
    )
    assistant_turns: Literal["last", "all"] = Field(
        "last",
        description="Which turns the loss covers: last = the response; all = every turn of the "
        "assistant.",
    )


class RewardModelConfig(OnRecords):
    """Train a model that gives one score to a prompt and response, from rankings."""

    method: Literal["reward_model"] = "reward_model"
    model: Annotated[Reference, PointsTo(ModelKind.CAUSAL_LM, or_kind=ModelKind.REWARD_MODEL)] = (
        Field(description="The language model to start from.")
    )
    preferences: Preferences = Field(description="A snapshot of preferences (judgments).")
    system: SystemPrompt = ""
    template: Template = "model"
    max_tokens: RecordTokens = 512
    loss: Literal["pairwise", "listwise"] = Field(
        "pairwise", description="pairwise = Bradley-Terry over all pairs; listwise = Plackett-Luce."
    )
    center: float = Field(
        0.0,
        ge=0,
        le=10,
        description="Weight of (2 x the mean score of a ranking)^2, a penalty that keeps the "
        "scores near 0; 0.01 is usual.",
    )
    margin: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Score difference that a pair must reach, times the number of tiers by which "
        "the two responses differ; must be 0 with listwise.",
    )

    @model_validator(mode="after")
    def _only_pairs_have_a_margin(self) -> Self:
        if self.loss == "listwise" and self.margin > 0:
            raise ValueError(
                f"margin is {self.margin:g}, but loss listwise does not use it; set margin to 0, "
                "or loss to pairwise"
            )
        return self


class ProcessRewardModelConfig(OnRecords):
    """Train a model that gives the probability that each step of a response is right."""

    method: Literal["process_reward_model"] = "process_reward_model"
    model: LanguageModel = Field(description="The language model to start from.")
    solutions: Annotated[Reference, PointsTo(SnapshotKind.SOLUTIONS)] = Field(
        description="A snapshot of solutions."
    )
    system: SystemPrompt = ""
    template: Template = "model"
    max_tokens: RecordTokens = 512
    separator: Literal["newline", "blank_line"] = Field(
        "newline", description="Text between two steps; a step is scored at its end."
    )


class DpoConfig(OnRecords):
    """Train the policy on ranked pairs, without a reward model."""

    method: Literal["dpo"] = "dpo"
    model: LanguageModel = Field(description="The language model to start from.")
    reference: LanguageModel | None = Field(
        None,
        json_schema_extra=when_absent("the starting model"),
        description="The reference model for the log-ratios.",
    )
    preferences: Preferences = Field(description="A snapshot of preferences (judgments).")
    system: SystemPrompt = ""
    template: Template = "model"
    max_tokens: RecordTokens = 512
    beta: float = Field(
        0.1,
        gt=0,
        le=100,
        description="Strength of the KL constraint to the reference (beta of the DPO paper).",
    )
    label_smoothing: float = Field(
        0.0, ge=0, lt=0.5, description="Assumed share of wrong labels; must be 0 with ipo."
    )
    loss: Literal["sigmoid", "ipo"] = Field(
        "sigmoid", description="sigmoid = DPO; ipo = squared distance of the margin to its target."
    )

    @model_validator(mode="after")
    def _only_sigmoid_smooths_labels(self) -> Self:
        if self.loss == "ipo" and self.label_smoothing > 0:
            raise ValueError(
                f"label_smoothing is {self.label_smoothing:g}, but loss ipo does not use it; set "
                "label_smoothing to 0, or loss to sigmoid"
            )
        return self


_Sampling = TypeVar("_Sampling", bound="GenerateConfig | EvaluateConfig")


def _greedy_responses_are_one(config: _Sampling) -> _Sampling:
    config.rollout.check_samples(config.samples_per_prompt)
    return config


class GenerateConfig(Sampler):
    """Sample responses to prompts; they are stored as responses, and as comparisons to rank."""

    method: Literal["generate"] = "generate"
    model: LanguageModel = Field(description="The model that generates the responses.")
    reference: LanguageModel | None = Field(
        None, description="Optional: measure kl/exact and log-probabilities against this model."
    )
    prompts: Prompts = Field(description="A snapshot of prompts to answer.")
    split: Literal["train", "heldout", "all"] = Field(
        "all", description="Which split of the snapshot to sample."
    )
    samples_per_prompt: int = Field(4, ge=1, le=1024, description="Responses per prompt.")
    rollout: SamplerRollout = Field(default_factory=SamplerRollout)
    reward: RewardTerms = Field(
        default_factory=list, max_length=16, description="Terms that score each response."
    )
    make_comparisons: bool = Field(
        True,
        description="Create one comparison per prompt from its distinct responses; at least 2 "
        "are needed, at most 9 are used.",
    )

    _greedy = model_validator(mode="after")(_greedy_responses_are_one)


class EvaluateConfig(Sampler):
    """Score a model's responses, alone or against a baseline."""

    method: Literal["evaluate"] = "evaluate"
    model: LanguageModel = Field(description="The model to score.")
    baseline_model: LanguageModel | None = Field(None, description="A model to compare with.")
    prompts: Prompts = Field(description="A snapshot of prompts to answer.")
    split: Literal["train", "heldout", "all"] = Field(
        "all", description="Which split of the snapshot to evaluate."
    )
    reward: Reward
    pass_reward: float | None = Field(
        1.0,
        ge=-1e6,
        le=1e6,
        description="A response passes (for pass@k) if the reward terms that judge correctness say "
        "so; without such a term, if its weighted reward sum is at least this value; none (null) = "
        "no pass@k.",
    )
    samples_per_prompt: int = Field(1, ge=1, le=1024, description="Responses per prompt.")
    rollout: SamplerRollout = Field(default_factory=SamplerRollout)
    evaluation_sets: EvaluationSets = Field(
        default_factory=list, description="More sets of prompts, each with numbers of its own."
    )
    breakdown: Breakdown = Field(default_factory=list)
    texts: Texts = None

    @model_validator(mode="after")
    def _sets_can_be_sampled(self) -> Self:
        check_sets(self.evaluation_sets, self.rollout)
        check_logp(self.evaluation_sets, self.rollout)
        return self

    _greedy = model_validator(mode="after")(_greedy_responses_are_one)

    @model_validator(mode="after")
    def _nothing_runs(self) -> Self:
        if self.reward.normalize == "running":
            raise ValueError(
                "reward.normalize is running, but an evaluate run has no running statistics; set "
                "it to auto, model or none"
            )
        return self


# Of the methods that train a model.
TrainingConfig = (
    SftConfig | RewardModelConfig | ProcessRewardModelConfig | DpoConfig | PolicyGradientConfig
)
RunConfig = Annotated[
    TrainingConfig | GenerateConfig | EvaluateConfig, Field(discriminator="method")
]

_ADAPTER: TypeAdapter[RunConfig] = TypeAdapter(RunConfig, config=ConfigDict(defer_build=True))


def parse_run_config(value: Any) -> RunConfig:
    """Validate a plain object into the config of its `method`.

    Raises pydantic.ValidationError naming each wrong key with its path.
    """
    return _ADAPTER.validate_python(value)


# What makes the longest sequence shorter.
SHORTER = (
    "Lower max_tokens, or rollout.max_prompt_tokens and the max_new_tokens of the rollout and of "
    "its evaluation sets."
)


def longest_sequence(config: RunConfig) -> int:
    """Most tokens of a prompt with its response that a run may put before a model, in any set."""
    if isinstance(config, HasRollout):
        return max(one.longest for one in rollouts_of(config))
    return config.max_tokens
