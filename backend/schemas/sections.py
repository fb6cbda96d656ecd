"""Sections that the run configs of several methods share.

Read by `backend.schemas.training` and by whoever takes one section; imports no torch. Every number
carries its unit, range and default here and nowhere else.
"""

from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


@dataclass(frozen=True)
class Caution:
    """Something that a config may say and that is seldom meant; `rule` names it in alerts."""

    path: str
    rule: str
    message: str
    advice: str


class Section(BaseModel):
    """A part of a run config; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Lora(Section):
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


class Optim(Section):
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
        4096,
        ge=64,
        le=1_048_576,
        description="Tokens computed in one forward and backward pass, a shared prompt once; a "
        "step of more tokens takes several. More need more memory.",
    )
    gradient_checkpointing: bool = Field(
        False,
        description="Keep only what enters each block and compute the rest again for the backward "
        "pass: much less memory for long sequences, steps about a third longer.",
    )
    epochs: float | None = Field(
        None,
        gt=0,
        le=1000,
        description="Passes over the training records; default 1. Refused in policy_gradient.",
    )

    @property
    def tokens_without_grad(self) -> int:
        """Tokens of one pass that needs no gradient: of those a block's insides alone are held."""
        return 4 * self.micro_batch_tokens


class Log(Section):
    """What is written besides metrics."""

    samples_every: int = Field(1, ge=1, le=100_000, description="Steps between logged samples.")
    samples_per_step: int = Field(8, ge=0, le=1000, description="Samples logged at such a step.")
    tokens: Literal["none", "best_worst", "all"] = Field(
        "best_worst",
        description="Which samples carry arrays per token (log-prob, KL, advantage).",
    )


class Resources(Section):
    """What the run asks of a worker."""

    gpus: int = Field(
        0,
        ge=0,
        le=64,
        description="GPUs the run holds; it computes on one, on the CPU with 0.",
    )
    threads: int | None = Field(
        None, ge=1, le=1024, description="CPU threads; default: the cores seen at first start."
    )
    timeout_s: float | None = Field(
        None, gt=0, le=31_536_000, description="Longest wall-clock time of the run in seconds."
    )


class Common(Section):
    """What every method's config holds."""

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

    def cautions(self) -> list[Caution]:
        """What works, but not as one may think."""
        if self.resources.gpus < 2:
            return []
        return [
            Caution(
                "resources.gpus",
                "idle_gpus",
                f"is {self.resources.gpus}, and a trainer computes on one: the others are held "
                "and stand idle",
                "set it to 1",
            )
        ]


class Rollout(Section):
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
    engine: Literal["transformers", "vllm"] = Field(
        "transformers",
        description="Who samples: the trainer itself, or vLLM where the worker has it.",
    )
    engine_memory: float = Field(
        0.3, gt=0, lt=1, description="Share of the GPU's memory that vllm may hold."
    )

    @model_validator(mode="after")
    def _logp_is_of_the_whole_distribution(self) -> Self:
        if self.engine == "vllm" and self.top_p < 1 and self.temperature != 1:
            raise ValueError(
                f"rollout.top_p is {self.top_p:g} at temperature {self.temperature:g}, of which "
                "vllm tells no log-probability; set either to 1, or engine to transformers"
            )
        return self
