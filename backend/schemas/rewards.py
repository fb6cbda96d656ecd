"""Reward terms of the methods that sample, one variant per `kind`.

The browser form and the API read this union; the trainer finds the code of a kind in the file of
that name in `worker/trainer/rewards/`, and a test holds the two equal.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from backend.schemas.references import PointsTo, Reference, wanted
from backend.schemas.sections import when_absent
from backend.schemas.vocabulary import ModelKind

TAG_NAME = r"^[A-Za-z0-9_-]{1,40}$"
Language = Literal[
    "prompt", "ar", "bg", "cs", "da", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hi", "hu",
    "id", "it", "ja", "ko", "nl", "no", "pl", "pt", "ro", "ru", "sv", "th", "tr", "uk", "ur", "vi",
    "zh",
]  # fmt: skip


# What is told beside the scores of terms, under reward/ or in the scores of a response.
RESERVED_NAMES = frozenset(
    {
        "advantage",
        "chosen",
        "greedy",
        "kl",
        "mean",
        "n_tokens",
        "overlong_penalty",
        "raw_mean",
        "ref_logp_sum",
        "rejected",
        "reward",
        "std",
    }
)
RESERVED_ENDS = ("_coverage", "_high", "_low")
# Characters in the ranges of one pattern: `re` visits each of them while it compiles the pattern.
MOST_IN_RANGES = 200_000
_LAST_VISITED = 0xFFFF
# As `re` reads a pattern. A name holds no bracket, so that no set of characters hides in one.
_TOKEN = re.compile(
    r"\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|N\{[\w -]*\}|[0-7]{1,3}|.)|.",
    re.DOTALL | re.ASCII,
)


def _is_none(value: object) -> bool:
    return value is None


class RewardTerm(BaseModel):
    """What all reward terms share."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    # Whether it compares responses with the reference of their prompt.
    needs_reference: ClassVar[bool]
    # Whether every score lies between 0 and 1, whatever the response.
    is_share: ClassVar[bool]
    # Whether it can say that a response is correct: where its config or its grades ask for that.
    may_judge: ClassVar[bool]

    weight: float = Field(
        1.0, ge=-1000, le=1000, description="Weight of this term in the reward sum."
    )
    # Left out of a config that does not say it: such configs stay what they were.
    name: str | None = Field(
        None,
        pattern=r"^[a-z][a-z0-9_]{0,39}$",
        exclude_if=_is_none,
        json_schema_extra=when_absent("its kind"),
        description="What scores, charts and tables call this term, as in reward/polite; by "
        "default its kind.",
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        # With a default, one that nobody had thought of would have wrong intervals.
        for flag in ("needs_reference", "is_share", "may_judge"):
            if not hasattr(cls, flag):
                raise TypeError(f"{cls.__name__} does not say {flag}; set it to True or False")


class ModelReward(RewardTerm):
    """The score of a trained reward model, read at the last token of prompt and response."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    may_judge: ClassVar[bool] = False

    kind: Literal["model"] = "model"
    model: Annotated[Reference, PointsTo(ModelKind.REWARD_MODEL)] = Field(
        description="A reward model from the registry."
    )


class ProcessReward(RewardTerm):
    """The probability (0 to 1) that the steps are right, by a trained process reward model."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = False

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
    """1 if the response has low to high words; falls linearly to 0 at 0 and at 2 x high words."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = False

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

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = True

    kind: Literal["regex"] = "regex"
    pattern: str = Field(min_length=1, max_length=500, description="Python regular expression.")
    is_answer: bool = Field(
        False,
        description="The pattern decides whether a response is correct (it has passed), as for "
        "pass@k.",
    )

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str) -> str:
        in_ranges = characters_in_ranges(value)
        if in_ranges > MOST_IN_RANGES:
            raise ValueError(
                f"the ranges of {value[:100]!r} have {in_ranges:,} characters; all ranges of a "
                f"pattern may have {MOST_IN_RANGES:,}. Use fewer or narrower ranges"
            )
        try:
            re.compile(value)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(
                f"{value[:100]!r} is not a valid Python regular expression: {error}"
            ) from error
        return value


def characters_in_ranges(pattern: str) -> int:
    """Count the characters that `re` visits to compile the ranges of a pattern, such as [a-z].

    A hyphen outside of a set counts as if it made a range, too.
    """
    tokens = _TOKEN.findall(pattern)
    return sum(
        max(0, min(_code_of(high), _LAST_VISITED) - _code_of(low) + 1)
        for low, hyphen, high in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if hyphen == "-"
    )


def _code_of(token: str) -> int:
    """The code of the character that a token of a pattern stands for; 0 for what `re` refuses."""
    if len(token) == 1:
        return ord(token)
    kind, rest = token[1], token[2:]
    try:
        if kind == "N":
            return ord(unicodedata.lookup(rest[1:-1]))
        if kind in "xuU":
            return int(rest, 16)
    except (KeyError, TypeError, ValueError):
        return 0
    if kind in "01234567":
        return int(token[1:], 8)
    return 0 if kind in "abfnrtv" else ord(kind)


class FinishedReward(RewardTerm):
    """1 where the response ended by itself, 0 where the token limit cut it."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = False

    kind: Literal["finished"] = "finished"


class KnightsReward(RewardTerm):
    """1 if every role in a puzzle of Knights and Knaves is named correctly, else 0."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = True

    kind: Literal["knights"] = "knights"
    score: Literal["exact", "partial"] = Field(
        "exact",
        description="exact = 1 or 0; partial = the share of roles that are named correctly. A "
        "response passes only if all are.",
    )


class MathReward(RewardTerm):
    """1 if the answer is the prompt's ground truth (`reference`), however it is written, else 0."""

    needs_reference: ClassVar[bool] = True
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = True

    kind: Literal["math"] = "math"
    answer: Literal["any", "boxed", "tag", "phrase"] = Field(
        "any",
        description="Where the answer stands: tag = between <answer> and </answer>; boxed = in "
        "\\boxed{}; phrase = after `answer is` or ####; any = the first of these, in this order, "
        "that is found.",
    )
    tag: str = Field(
        "answer", pattern=TAG_NAME, description="The name of the tag that holds the answer."
    )
    tolerance: float = Field(
        0.0,
        ge=0,
        le=0.1,
        description="Numbers may differ by this share of the ground truth; 0 = exactly equal.",
    )


class FormatReward(RewardTerm):
    """1 if the response consists of the tags, in their order, and nothing else; otherwise 0."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = False

    kind: Literal["format"] = "format"
    tags: str = Field(
        "think answer",
        pattern=r"^([A-Za-z0-9_-]+( [A-Za-z0-9_-]+)*)?$",
        max_length=200,
        description="Tag names, separated by spaces: each tag opens and closes once, in this "
        "order.",
    )
    first_is_open: bool = Field(
        False,
        description="The template ends the prompt with the first opening tag, so the response "
        "begins inside it; r1_zero does not.",
    )
    is_boxed: bool = Field(
        False,
        description="The last tag, or without tags the response, ends with its only \\boxed{}.",
    )

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.tags and not self.is_boxed:
            raise ValueError(
                "there are no tags and no box to look for; name at least one tag, or set is_boxed"
            )
        if len(set(self.tags.split())) < len(self.tags.split()):
            raise ValueError(f"a tag is named twice in {self.tags!r}; name each once")
        return self


class SetMatchReward(RewardTerm):
    """How far the list matches the ground truth (`reference`); a response passes at score 1."""

    needs_reference: ClassVar[bool] = True
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = True

    kind: Literal["set_match"] = "set_match"
    score: Literal["f1", "recall", "exact"] = Field(
        "f1",
        description="f1 = the harmonic mean of recall and precision; recall = the share of the "
        "ground truth that is listed; exact = 1 or 0.",
    )
    is_ordered: bool = Field(
        False, description="Order matters: only the longest common subsequence counts."
    )
    answer: Literal["any", "boxed", "tag", "phrase", "whole"] = Field(
        "any", description="Where the list stands, as for math; whole = all of the response."
    )
    tag: str = Field(
        "answer", pattern=TAG_NAME, description="The name of the tag that holds the list."
    )


class LanguageReward(RewardTerm):
    """The share of words in the language wanted (R1's language consistency); 0 for no text."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = False

    kind: Literal["language"] = "language"
    language: Language = Field(
        "prompt", description="The language wanted; prompt = that of the prompt."
    )


class RepetitionReward(RewardTerm):
    """The share of word sequences that are new: 1 = none repeated, near 0 = a loop; 0 if empty."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = True
    may_judge: ClassVar[bool] = False

    kind: Literal["repetition"] = "repetition"
    n: int = Field(4, ge=1, le=20, description="Words in a sequence.")


class SentimentReward(RewardTerm):
    """VADER's sentiment of an English response, from -1 (negative) to 1 (positive)."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    may_judge: ClassVar[bool] = False

    kind: Literal["sentiment"] = "sentiment"


class FunctionReward(RewardTerm):
    """The score of an operator's Python function that PODIUM_REWARD_FUNCTIONS names."""

    needs_reference: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    may_judge: ClassVar[bool] = True

    kind: Literal["function"] = "function"
    function: str = Field(
        max_length=200,
        pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$",
        description="module:function, as PODIUM_REWARD_FUNCTIONS names it.",
    )


AnyRewardTerm = Annotated[
    ModelReward
    | ProcessReward
    | MathReward
    | SetMatchReward
    | KnightsReward
    | FormatReward
    | LanguageReward
    | RepetitionReward
    | SentimentReward
    | LengthReward
    | RegexReward
    | FinishedReward
    | FunctionReward,
    Field(discriminator="kind"),
]


REWARD_TERMS: Mapping[str, type[RewardTerm]] = {
    variant.model_fields["kind"].default: variant
    for variant in get_args(get_args(AnyRewardTerm)[0])
}


def _models_of(term: type[RewardTerm]) -> tuple[str, ...]:
    wants = wanted(term).items()
    return tuple(path for path, one in wants if isinstance(one.kind, ModelKind))


# The terms whose score a trained model gives, which can be wrong, and where each names its model.
LEARNED_TERMS: Mapping[str, tuple[str, ...]] = {
    kind: models for kind, term in REWARD_TERMS.items() if (models := _models_of(term))
}


def term_names(terms: Sequence[tuple[str, str | None]]) -> list[str]:
    """What terms of these kinds and names are called in scores and metrics.

    One without a name is called its kind; where that comes again it gets a number, as in math_2.
    """
    names = []
    seen: Counter[str] = Counter()
    for kind, name in terms:
        seen[kind] += name is None
        names.append(name or (kind if seen[kind] == 1 else f"{kind}_{seen[kind]}"))
    return names


def terms_by_name(config: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The reward terms of a run's config, as JSON, by what its scores call them."""
    given = config.get("reward") or []
    terms = given.get("terms", []) if isinstance(given, Mapping) else given
    names = term_names([(term["kind"], term.get("name")) for term in terms])
    return dict(zip(names, terms, strict=True))


def _told_apart(terms: list[AnyRewardTerm]) -> list[AnyRewardTerm]:
    """The same terms. Raises ValueError if scores could not say which is meant."""
    names = term_names([(term.kind, term.name) for term in terms])
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"{count} terms are called {name}; give each another `name`")
        if name in RESERVED_NAMES or name.endswith(RESERVED_ENDS):
            raise ValueError(
                f"a term is called {name}, as another metric of rewards is; give it another `name`"
            )
    return terms


RewardTerms = Annotated[list[AnyRewardTerm], AfterValidator(_told_apart)]


class Reward(BaseModel):
    """The reward of a response: the weighted sum of its terms, normalized, then clipped."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    terms: RewardTerms = Field(
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
        "if the only term is a reward model that has them (an alert says if it does not), else "
        "none.",
    )

    @model_validator(mode="after")
    def _statistics_are_of_the_whole_sum(self) -> Self:
        if self.normalize != "model":
            return self
        is_one = len(self.terms) == 1
        if is_one and isinstance(self.terms[0], ModelReward) and self.terms[0].weight != 0:
            return self
        kinds = " and ".join(f"{term.kind} (weight {term.weight:g})" for term in self.terms)
        raise ValueError(
            f"normalize is model, but the terms are {kinds}; the mean and standard deviation of a "
            "reward model fit it alone, so use one term of kind model with a weight other than 0, "
            "or set normalize to none (policy_gradient can also use running)"
        )
