"""Run configs: one frozen object per `method`, read by the browser form, the API and the trainer.

Imports no torch. Every number carries its unit, range and default here and nowhere else; unknown
keys are refused. `parse_run_config` is the one way in.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from backend.schemas.references import Reference
from backend.schemas.rewards import AnyRewardTerm, Reward
from backend.schemas.vocabulary import Estimator

SCHEMA_VERSION = 1


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Lora(_Section):
    """Low-rank adapters; null in the config means full fine-tuning."""

    r: int = Field(16, ge=1, le=1024, description="Rank of the adapter matrices.")
    alpha: float = Field(32.0, gt=0, le=4096, description="Scale; the adapter acts with alpha / r.")
    dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Dropout on the adapter's input; 0 for policy_gradient and dpo.",
    )
    targets: Literal["attention", "linear"] = Field(
        "linear", description="attention = q, k, v, o; linear = every linear layer but the head."
    )


class Optim(_Section):
    """AdamW and its schedule; schedules count optimizer steps."""

    lr: float = Field(1e-4, gt=0, le=1, description="Peak learning rate.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "constant", description="Course of the learning rate after warm-up."
    )
    warmup_ratio: float = Field(
        0.0, ge=0, le=1, description="Share of the optimizer steps spent warming up."
    )
    weight_decay: float = Field(0.0, ge=0, le=10, description="Decoupled weight decay.")
    grad_clip: float = Field(
        1.0, gt=0, le=1e6, description="Largest norm of the gradient before it is scaled down."
    )
    batch_size: int | None = Field(
        None,
        ge=1,
        le=65536,
        description="Records per optimizer step (rankings for reward_model); default 16. "
        "Refused in policy_gradient, where rollout and minibatch_size say it.",
    )
    micro_batch_tokens: int = Field(
        4096, ge=64, le=1_048_576, description="Padded tokens per forward and backward pass."
    )
    epochs: float | None = Field(
        None,
        gt=0,
        le=1000,
        description="Passes over the training records; default 1. Refused in policy_gradient.",
    )


class Log(_Section):
    """What is written besides metrics."""

    samples_every: int = Field(1, ge=1, le=100_000, description="Steps between logged samples.")
    samples_per_step: int = Field(8, ge=0, le=1000, description="Samples logged at such a step.")
    tokens: Literal["none", "best_worst", "all"] = Field(
        "best_worst",
        description="Which samples carry arrays per token (log-prob, KL, advantage).",
    )


class Resources(_Section):
    """What the run asks of a worker."""

    gpus: int = Field(0, ge=0, le=64, description="GPUs the run holds; 0 trains on the CPU.")
    threads: int | None = Field(
        None, ge=1, le=1024, description="CPU threads; default: the cores seen at first start."
    )
    timeout_s: float | None = Field(
        None, gt=0, le=31_536_000, description="Longest wall-clock time of the run in seconds."
    )


class _Common(_Section):
    seed: int = Field(0, ge=0, le=2**63 - 1, description="Seed of every named random stream.")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="Precision of the computation; masters and optimizer state are always fp32.",
    )
    lora: Lora | None = Field(None, description="Adapters; null trains every weight.")
    optim: Optim = Field(default_factory=Optim)
    eval_every: int = Field(
        0, ge=0, le=1_000_000, description="Steps between evaluations; 0 = only first and last."
    )
    checkpoint_every: int = Field(
        0, ge=0, le=1_000_000, description="Steps between checkpoints; 0 = only when asked to stop."
    )
    max_checkpoints: int = Field(2, ge=1, le=1000, description="Newest checkpoints that are kept.")
    log: Log = Field(default_factory=Log)
    resources: Resources = Field(default_factory=Resources)


class SftConfig(_Common):
    """Supervised fine-tuning on demonstrations; the loss is over response tokens only."""

    method: Literal["sft"] = "sft"
    model: Reference = Field(description="The language model to train.")
    demonstrations: Reference = Field(description="A snapshot of responses that people wrote.")
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    max_tokens: int = Field(
        512, ge=8, le=1_048_576, description="Longest prompt and response; longer ones are refused."
    )
    packing: bool = Field(False, description="Join short records into rows of max_tokens.")


class RewardModelConfig(_Common):
    """A scalar head trained on rankings, all responses of a ranking together."""

    method: Literal["reward_model"] = "reward_model"
    model: Reference = Field(description="The language model to start from.")
    preferences: Reference = Field(description="A snapshot of rankings.")
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    max_tokens: int = Field(512, ge=8, le=1_048_576, description="Longest prompt and response.")
    loss: Literal["pairwise", "listwise"] = Field(
        "pairwise", description="pairwise = Bradley-Terry over all pairs; listwise = Plackett-Luce."
    )


class DpoConfig(_Common):
    """Direct preference optimization on the pairs of rankings."""

    method: Literal["dpo"] = "dpo"
    model: Reference = Field(description="The language model to start from.")
    preferences: Reference = Field(description="A snapshot of rankings.")
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    max_tokens: int = Field(512, ge=8, le=1_048_576, description="Longest prompt and response.")
    beta: float = Field(0.1, gt=0, le=100, description="Strength of the pull to the reference.")
    label_smoothing: float = Field(0.0, ge=0, lt=0.5, description="Share of flipped labels.")
    loss: Literal["sigmoid", "ipo"] = Field("sigmoid", description="Form of the loss.")


class Rollout(_Section):
    """How responses are sampled."""

    prompts_per_step: int = Field(64, ge=1, le=65536, description="Prompts sampled at each step.")
    samples_per_prompt: int = Field(1, ge=1, le=1024, description="Responses per prompt.")
    max_prompt_tokens: int = Field(
        256, ge=1, le=1_048_576, description="Longest prompt with its template; longer is refused."
    )
    max_new_tokens: int = Field(128, ge=1, le=1_048_576, description="Longest response in tokens.")
    temperature: float = Field(
        1.0, gt=0, le=10, description="Temperature of sampling and log-probs."
    )
    top_p: float = Field(
        1.0, gt=0, le=1, description="Nucleus; below 1 the ratio no longer fits what was sampled."
    )
    system: str = Field("", max_length=10_000, description="System prompt; empty = none at all.")
    engine: Literal["transformers", "vllm"] = Field("transformers", description="Who samples.")


class Kl(_Section):
    """The pull to the reference."""

    coef: float = Field(0.01, ge=0, le=100, description="Weight beta of the KL, per nat.")
    estimator: Literal["k1", "k2", "k3"] = Field("k1", description="Estimator per token.")
    place: Literal["reward", "loss"] = Field("reward", description="Where the KL enters.")
    target: float | None = Field(
        None, gt=0, le=1e4, description="Adaptive coefficient: nats per response to hold."
    )
    max: float | None = Field(
        None,
        gt=0,
        le=1e4,
        description="Stop at the last evaluation below this many nats a response.",
    )


class Clip(_Section):
    """Range of the probability ratio."""

    low: float = Field(0.2, ge=0, lt=1, description="Ratio is clipped below 1 - low.")
    high: float = Field(0.2, ge=0, le=10, description="Ratio is clipped above 1 + high.")
    dual: float | None = Field(
        None, gt=1, le=100, description="Bound of the loss for negative advantages."
    )


class Gae(_Section):
    """Generalized advantage estimation (ppo), gamma also for reinforce_pp."""

    gamma: float = Field(1.0, gt=0, le=1, description="Discount per token.")
    lam: float = Field(0.95, ge=0, le=1, description="Mixing of n-step returns.")


class PolicyGradientConfig(_Common):
    """Sample, score, estimate advantages, update; one step = one rollout with all its updates."""

    method: Literal["policy_gradient"] = "policy_gradient"
    estimator: Estimator = Field(Estimator.REINFORCE_PP, description="How advantages are made.")
    model: Reference = Field(description="The policy to start from.")
    reference: Reference | None = Field(
        None, description="What the KL is measured against; default: the starting model."
    )
    prompts: Reference = Field(description="A snapshot of prompts to answer.")
    reward: Reward
    rollout: Rollout = Field(default_factory=Rollout)
    kl: Kl = Field(default_factory=Kl)
    clip: Clip = Field(default_factory=Clip)
    gae: Gae | None = None
    entropy_coef: float = Field(0.0, ge=0, le=10, description="Weight of the entropy bonus.")
    loss_average: Literal["token", "sequence", "constant"] = Field(
        "token", description="What the policy loss is averaged over."
    )
    overlong: Literal["keep", "mask", "penalize"] = Field(
        "keep", description="What happens to responses cut by the token limit."
    )
    steps: int = Field(100, ge=1, le=10_000_000, description="Rollouts.")
    epochs_per_rollout: int = Field(1, ge=1, le=64, description="Passes over each rollout.")
    minibatch_size: int | None = Field(
        None, ge=1, le=65536, description="Responses per update; default: the whole rollout."
    )

    @model_validator(mode="after")
    def _batch_is_said_by_rollout(self) -> Self:
        for name in ("batch_size", "epochs"):
            if getattr(self.optim, name) is not None:
                raise ValueError(
                    f"optim.{name} is not used by policy_gradient; "
                    "say it with rollout.prompts_per_step, epochs_per_rollout and minibatch_size"
                )
        if self.lora is not None and self.lora.dropout > 0:
            raise ValueError(
                "lora.dropout must be 0 for policy_gradient: it would make the ratio differ from 1"
            )
        return self


class GenerateConfig(_Common):
    """Sample responses to prompts; they come home as responses and comparisons to rank."""

    method: Literal["generate"] = "generate"
    model: Reference = Field(description="The model that answers.")
    reference: Reference | None = Field(
        None, description="If given, kl/exact and log-probs against this model are measured."
    )
    prompts: Reference = Field(description="A snapshot of prompts to answer.")
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


class EvaluateConfig(_Common):
    """Score a model's responses, alone or against a baseline."""

    method: Literal["evaluate"] = "evaluate"
    model: Reference = Field(description="The model to score.")
    baseline_model: Reference | None = Field(None, description="A model to compare with.")
    prompts: Reference = Field(description="A snapshot of prompts to answer.")
    reward: Reward
    samples_per_prompt: int = Field(1, ge=1, le=1024, description="Responses per prompt.")
    rollout: Rollout = Field(default_factory=Rollout)


RunConfig = Annotated[
    SftConfig
    | RewardModelConfig
    | DpoConfig
    | PolicyGradientConfig
    | GenerateConfig
    | EvaluateConfig,
    Field(discriminator="method"),
]

METHOD_CONFIGS: dict[str, type[_Common]] = {
    "sft": SftConfig,
    "reward_model": RewardModelConfig,
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


def references(config: RunConfig) -> dict[str, Reference]:
    """Every reference of a config by dotted path, as in `model` or `reward.terms.0.model`."""
    found: dict[str, Reference] = {}
    _collect(config, "", found)
    return found


def _collect(value: object, path: str, found: dict[str, Reference]) -> None:
    if isinstance(value, Reference):
        found[path] = value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            _collect(getattr(value, name), f"{path}.{name}" if path else name, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _collect(item, f"{path}.{index}", found)
