"""Sections that the run configs of several methods share.

Read by `backend.schemas.training` and by whoever takes one section; imports no torch. Every number
carries its unit, range and default here; where the default is none, whoever uses it says what that
means.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from backend.schemas.references import Demonstrations, Prompts, Reference
from backend.schemas.vocabulary import METHODS_WITHOUT_DROPOUT, RANKING_METHODS, in_words

SystemPrompt = Annotated[
    str, Field(max_length=10_000, description="System prompt; empty = no system prompt.")
]
TEMPLATES = ("model", "plain", "text", "r1_zero")


def _template(value: str) -> str:
    if value in TEMPLATES or "{{" in value or "{%" in value:
        return value
    raise ValueError(
        f"{value[:40]!r} is not the name of a template; choose one of {', '.join(TEMPLATES)}, or "
        "write a Jinja template, which holds {{ ... }} or {% ... %}"
    )


StopString = Annotated[str, Field(min_length=1, max_length=100)]
Template = Annotated[
    str,
    AfterValidator(_template),
    Field(
        max_length=20_000,
        description="How a conversation is written for the model. model = its own chat template, "
        "or plain if it has none; plain = User: and Assistant:, a line each; text = the prompt "
        "alone; r1_zero = the prompt of DeepSeek-R1-Zero, which asks for <think> and <answer>. Or "
        "a Jinja template, which writes {{ bos_token }} itself.",
        json_schema_extra={
            "x-choices": list(TEMPLATES),
            "x-custom": "{{ bos_token }}{% for m in messages %}{{ m['content'] }}\n{% endfor %}",
        },
    ),
]
# Of the methods that train on records.
RecordTokens = Annotated[
    int,
    Field(
        ge=8,
        le=1_048_576,
        description="Longest prompt with its response, in tokens. A longer record ends the run "
        "with an error.",
    ),
]


@dataclass(frozen=True)
class Caution:
    """Something that a config may say and that is seldom meant; `rule` names it in alerts."""

    path: str
    rule: str
    message: str
    advice: str


def when_absent(words: str) -> dict[str, JsonValue]:
    """Give the default of a field in words, for the form, where it depends on other things."""
    return {"x-default": words}


def without(*names: str) -> Callable[[dict[str, Any]], None]:
    """Leave fields out of the JSON Schema, and so of the form, that a method does not use.

    Stored configs have them, so they are still read.
    """

    def drop(schema: dict[str, Any]) -> None:
        for name in names:
            schema["properties"].pop(name, None)

    return drop


class Section(BaseModel):
    """A part of a run config; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Lora(Section):
    """Low-rank adapters; null in the config means full fine-tuning."""

    r: int = Field(16, ge=1, le=1024, description="Rank of the adapter matrices.")
    alpha: float = Field(
        32.0, gt=0, le=4096, description="Scale: the adapter's output is multiplied by alpha / r."
    )
    dropout: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Dropout on the adapter's input; must be 0 for "
        f"{in_words(METHODS_WITHOUT_DROPOUT, 'and')}.",
    )
    targets: Literal["attention", "linear"] = Field(
        "linear",
        description="attention = the projections q, k, v and o, whatever the model calls them; "
        "linear = every linear layer except the output head.",
    )


class Optim(Section):
    """The AdamW optimizer and its learning-rate schedule, which counts optimizer steps."""

    lr: float = Field(1e-4, gt=0, le=1, description="Peak learning rate.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "constant",
        description="Learning-rate schedule after warm-up; linear and cosine end at 0.",
    )
    warmup_ratio: float = Field(
        0.0, ge=0, le=1, description="Share of all optimizer steps used for linear warm-up."
    )
    weight_decay: float = Field(0.0, ge=0, le=10, description="Decoupled weight decay.")
    grad_clip: float = Field(
        1.0,
        gt=0,
        le=1e6,
        description="Maximum gradient norm; a larger gradient is scaled down to it.",
    )
    batch_size: int | None = Field(
        None,
        ge=1,
        le=65536,
        json_schema_extra=when_absent("16"),
        description="Records per optimizer step (rankings for "
        f"{in_words(RANKING_METHODS, 'and')}).",
    )
    micro_batch_tokens: int = Field(
        4096,
        ge=64,
        le=1_048_576,
        description="Tokens in one forward and backward pass; a prompt that several responses "
        "share counts once. A step with more tokens takes several passes. A larger value "
        "needs more memory. If a model cannot share prompts, a pass computes more tokens, and an "
        "alert says so.",
    )
    gradient_checkpointing: bool = Field(
        False,
        description="Store only the input of each transformer block and recompute the rest in the "
        "backward pass. Long sequences need much less memory; steps take about a third longer.",
    )
    epochs: float | None = Field(
        None,
        gt=0,
        le=1000,
        json_schema_extra=when_absent("1"),
        description="Passes over the training records.",
    )

    @property
    def tokens_without_grad(self) -> int:
        """Tokens of one pass that needs no gradient: of those a block's insides alone are held."""
        return 4 * self.micro_batch_tokens


class Log(Section):
    """Which samples are logged, and how many."""

    samples_every: int = Field(1, ge=1, le=100_000, description="Steps between logged samples.")
    samples_per_step: int = Field(
        8, ge=0, le=1000, description="Samples logged at each of these steps."
    )
    tokens: Literal["none", "best_worst", "chosen", "all"] = Field(
        "chosen",
        description="Samples that include per-token values (log-prob, KL, entropy, advantage, "
        "change); best_worst = those with the highest and the lowest reward; chosen = these, the "
        "median, the longest, one that was cut, the one with the largest KL and one of a group "
        "whose rewards are equal.",
    )
    probes: int = Field(
        4,
        ge=0,
        le=64,
        description="Held-out prompts whose response is logged with per-token values at every "
        "evaluation: the same prompts, so that they can be compared through training.",
    )


class Resources(Section):
    """The devices and time that the run needs."""

    gpus: int = Field(
        0,
        ge=0,
        le=64,
        description="Number of GPUs to reserve; 0 = run on the CPU. The trainer computes on one "
        "GPU.",
    )
    threads: int | None = Field(
        None,
        ge=1,
        le=1024,
        json_schema_extra=when_absent("OMP_NUM_THREADS of the worker if it is set, else its cores"),
        description="CPU threads. Later attempts use the number of the first one.",
    )
    timeout_s: float | None = Field(
        None,
        gt=0,
        le=31_536_000,
        description="Maximum wall-clock time of one attempt, in seconds; a retry starts a new "
        "count.",
    )


class Common(Section):
    """What every method's config holds."""

    seed: int = Field(0, ge=0, le=2**63 - 1, description="Seed of all random numbers of the run.")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="Precision of the computation. auto = bf16 where the processor multiplies "
        "bf16 natively, else fp32. Master weights and optimizer state are always fp32.",
    )
    lora: Lora | None = Field(
        None,
        description="Train low-rank adapters instead of all weights; off (null) = full "
        "fine-tuning.",
    )
    optim: Optim = Field(default_factory=Optim)
    eval_every: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="Steps between evaluations; 0 = only before the first step and after the last.",
    )
    checkpoint_every: int | None = Field(
        None,
        ge=0,
        le=1_000_000,
        json_schema_extra=when_absent("by time: a crash costs at most 10 minutes"),
        description="Steps between checkpoints; 0 = only when the run is asked to stop.",
    )
    max_checkpoints: int = Field(
        2,
        ge=1,
        le=1000,
        description="Number of newest checkpoints to keep, besides the best and the pinned ones.",
    )
    log: Log = Field(default_factory=Log)
    resources: Resources = Field(default_factory=Resources)

    @model_validator(mode="after")
    def _drops_nothing_where_it_compares(self) -> Self:
        method = getattr(self, "method", None)
        if method in METHODS_WITHOUT_DROPOUT and self.lora is not None and self.lora.dropout > 0:
            raise ValueError(
                f"lora.dropout is {self.lora.dropout:g}, but must be 0 for {method}: dropout would "
                "make the policy differ from what it is compared with"
            )
        return self

    def cautions(self) -> list[Caution]:
        """List what works, but not as one may think."""
        if self.resources.gpus < 2:
            return []
        return [
            Caution(
                "resources.gpus",
                "idle_gpus",
                f"is {self.resources.gpus}, but a trainer computes on one GPU; the others are "
                "reserved and idle",
                "set it to 1",
            )
        ]


class Rollout(Section):
    """How responses are sampled."""

    prompts_per_step: int = Field(64, ge=1, le=65536, description="Prompts sampled at each step.")
    samples_per_prompt: int = Field(1, ge=1, le=1024, description="Responses per prompt.")
    max_prompt_tokens: int = Field(
        256,
        ge=1,
        le=1_048_576,
        description="Longest prompt in tokens, with its chat template. A longer prompt ends "
        "the run with an error.",
    )
    max_new_tokens: int = Field(128, ge=1, le=1_048_576, description="Longest response in tokens.")
    temperature: float = Field(
        1.0,
        ge=0,
        le=10,
        description="Sampling temperature; it scales the log-probabilities too. 0 = greedy: the "
        "likeliest token, with its log-probability at temperature 1; not for policy_gradient.",
    )
    top_p: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Nucleus sampling: keep the most likely tokens up to this probability; 1 "
        "= off. Below 1 the log-probabilities no longer match what is sampled.",
    )
    stop: list[StopString] = Field(
        [],
        max_length=8,
        description="Stop strings: a response ends with the token that completes one of them, and "
        "keeps that whole token. An end token ends it, too.",
    )
    system: SystemPrompt = ""
    template: Template = "model"
    engine: Literal["transformers", "vllm"] = Field(
        "transformers",
        description="Sampling engine: the trainer itself (transformers), or vLLM if the worker "
        "has it.",
    )
    engine_memory: float = Field(
        0.3, gt=0, lt=1, description="Share of the GPU's memory that vLLM may use."
    )

    @model_validator(mode="after")
    def _logp_is_of_the_whole_distribution(self) -> Self:
        if self.engine == "vllm" and self.top_p < 1 and self.temperature not in (0, 1):
            raise ValueError(
                f"rollout.top_p is {self.top_p:g} and rollout.temperature is "
                f"{self.temperature:g}, but vLLM reports no log-probabilities for this "
                "combination; set one of them to 1, or set rollout.engine to transformers"
            )
        return self

    @property
    def longest(self) -> int:
        """Most tokens of a prompt with its response."""
        return self.max_prompt_tokens + self.max_new_tokens

    @property
    def is_scaled(self) -> bool:
        """Whether log-probabilities are those of a temperature other than 1."""
        return self.temperature not in (0, 1)

    @property
    def is_narrowed(self) -> bool:
        """Whether tokens come from a part of the distribution that gives the log-probabilities.

        Greedy ones do not count: vLLM tells theirs at temperature 1 and of the whole, either way.
        """
        return self.top_p < 1 and self.temperature > 0

    def check_samples(self, samples_per_prompt: int) -> None:
        """Raise ValueError if several responses to a prompt would all be the same one."""
        if self.temperature == 0 and samples_per_prompt > 1:
            raise ValueError(
                f"samples_per_prompt is {samples_per_prompt}, but rollout.temperature is 0, so "
                "all responses to a prompt would be equal; set samples_per_prompt to 1, or "
                "rollout.temperature above 0"
            )


_UNUSED_ROLLOUT = ("prompts_per_step", "samples_per_prompt")
_UNUSED_LOG = tuple(name for name in Log.model_fields if name != "samples_per_step")
_UNUSED_OPTIM = tuple(name for name in Optim.model_fields if name != "micro_batch_tokens")
_UNUSED = ("lora", "eval_every", "checkpoint_every", "max_checkpoints")


class SamplerRollout(Rollout):
    """How responses are sampled; how many, the method says."""

    model_config = ConfigDict(json_schema_extra=without(*_UNUSED_ROLLOUT))


class SamplerLog(Log):
    """How many samples are logged; there is one step, and no token is told alone."""

    model_config = ConfigDict(json_schema_extra=without(*_UNUSED_LOG))


class SamplerOptim(Optim):
    """How many tokens one pass takes; nothing is optimised."""

    model_config = ConfigDict(json_schema_extra=without(*_UNUSED_OPTIM))


class Sampler(Common):
    """What the configs of methods hold that sample responses and train nothing."""

    model_config = ConfigDict(json_schema_extra=without(*_UNUSED))

    optim: SamplerOptim = Field(default_factory=SamplerOptim)
    log: SamplerLog = Field(default_factory=SamplerLog)

    def cautions(self) -> list[Caution]:
        """List also what a method ignores that trains nothing."""
        given = [
            *(
                _not_default(self.rollout, "rollout.", _UNUSED_ROLLOUT)
                if isinstance(self, HasRollout)
                else ()
            ),
            *_not_default(self.optim, "optim.", _UNUSED_OPTIM),
            *_not_default(self.log, "log.", _UNUSED_LOG),
            *_not_default(self, "", _UNUSED),
        ]
        return [*super().cautions(), *given]


class OnRecords(Common):
    """What the configs of methods hold that train on records and sample nothing."""

    model_config = ConfigDict(json_schema_extra=without("log"))

    def cautions(self) -> list[Caution]:
        """List also what a method ignores that samples nothing."""
        who = "methods that train on records log no samples and"
        return [*super().cautions(), *_not_default(self.log, "log.", Log.model_fields, who=who)]


def _not_default(
    section: Section, prefix: str, names: Iterable[str], *, who: str = "methods that only sample"
) -> Iterator[Caution]:
    """A caution for each of these settings that a config gives another value than the default."""
    for name in names:
        value = getattr(section, name)
        if value == type(section).model_fields[name].get_default(call_default_factory=True):
            continue
        said = "given" if isinstance(value, Section) else f"{value}"
        instead = (
            "set `samples_per_prompt` beside `rollout` instead"
            if name == "samples_per_prompt"
            else "leave it out"
        )
        yield Caution(
            f"{prefix}{name}",
            "ignored_setting",
            f"is {said}, but {who} do not use it",
            instead,
        )


SetName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=32)]
MetadataKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=32)]
Breakdown = Annotated[
    list[MetadataKey],
    Field(
        max_length=4,
        description="Keys of the prompts' metadata, such as level: each metric of an evaluation "
        "is also reported for each of their values.",
    ),
]


Texts = Annotated[
    Demonstrations | None,
    Field(
        description="A snapshot of demonstrations not used in training: how likely their responses "
        "are shows what was forgotten. A demonstration that has more tokens with its prompt than "
        "rollout.max_prompt_tokens and rollout.max_new_tokens together ends the run with an error."
    ),
]


class EvaluationSet(Section):
    """A set of prompts with its own sampling; its metrics are `eval/NAME/...`."""

    name: SetName = Field(description="As in its metrics: heldout, ood, people_8.")
    prompts: Prompts = Field(description="A snapshot of prompts to answer.")
    split: Literal["train", "heldout", "all"] = Field(
        "all", description="Which split of the snapshot to evaluate."
    )
    samples_per_prompt: int = Field(1, ge=1, le=1024, description="Responses per prompt.")
    temperature: float | None = Field(
        None, ge=0, le=10, description="Sampling temperature; none (null) = that of the rollout."
    )
    top_p: float | None = Field(
        None, gt=0, le=1, description="Nucleus sampling; none (null) = that of the rollout."
    )
    max_new_tokens: int | None = Field(
        None,
        ge=1,
        le=1_048_576,
        description="Longest response in tokens; none (null) = that of the rollout.",
    )

    def rollout_of(self, rollout: Rollout) -> Rollout:
        """How this set is sampled: as the run, but for what it says otherwise.

        Raises ValueError where its responses to a prompt would all be equal.
        """
        names = ("temperature", "top_p", "max_new_tokens")
        said = {name: value for name in names if (value := getattr(self, name)) is not None}
        own = Rollout.model_validate(rollout.model_dump() | said)
        own.check_samples(self.samples_per_prompt)
        return own


EvaluationSets = Annotated[list[EvaluationSet], Field(max_length=8)]


def check_sets(sets: list[EvaluationSet], rollout: Rollout) -> None:
    """Raise ValueError if two sets have one name, or if one cannot be sampled as it says."""
    names = [one.name for one in sets]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two evaluation sets are named {twice}; give each its own name")
    for one in sets:
        one.rollout_of(rollout)


@runtime_checkable
class HasRollout(Protocol):
    """The config of a method that samples responses."""

    @property
    def rollout(self) -> Rollout: ...


@runtime_checkable
class HasSets(HasRollout, Protocol):
    """The config of a method that samples responses to named sets of prompts, too."""

    @property
    def evaluation_sets(self) -> list[EvaluationSet]: ...


def rollouts_of(config: HasRollout) -> list[Rollout]:
    """How a run samples: first as its rollout says, then as each of its sets."""
    sets = config.evaluation_sets if isinstance(config, HasSets) else []
    return [config.rollout, *(one.rollout_of(config.rollout) for one in sets)]


def check_logp(sets: list[EvaluationSet], rollout: Rollout) -> None:
    """Raise ValueError if vLLM cannot report the log-probabilities of all sets.

    It reports them before temperature and nucleus, or after both, the same for a whole run.
    """
    own = {"rollout": rollout}
    all_of = own | {f"the evaluation set {one.name}": one.rollout_of(rollout) for one in sets}
    scaled = next((name for name, one in all_of.items() if one.is_scaled), None)
    narrowed = next((name for name, one in all_of.items() if one.is_narrowed), None)
    if rollout.engine == "vllm" and scaled is not None and narrowed is not None:
        raise ValueError(
            f"{scaled} has the temperature {all_of[scaled].temperature:g}, and {narrowed} has "
            f"temperature {all_of[narrowed].temperature:g} and top_p {all_of[narrowed].top_p:g}, "
            "but vLLM cannot report the log-probabilities of both in one run; evaluate them in "
            "two runs, or set rollout.engine to transformers"
        )


@runtime_checkable
class HasSplit(Protocol):
    """The config of a method that reads the side of its data that the config names."""

    @property
    def split(self) -> Literal["train", "heldout", "all"]: ...


@runtime_checkable
class HasReference(Protocol):
    """The config of a method that measures its model against another one, token by token."""

    @property
    def model(self) -> Reference: ...

    @property
    def reference(self) -> Reference | None: ...
