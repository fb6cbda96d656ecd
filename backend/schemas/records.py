"""Lines of a snapshot, which are also the lines of `inputs/*.jsonl` in a run directory.

The store writes them, the worker copies them byte by byte, the trainer reads them; so the sha256 of
the snapshot and of the input file are one and the same.
"""

import json
import math
import operator
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from backend.schemas.numbers import Measured
from backend.schemas.vocabulary import FinishReason, Split, Verdict

MAX_RESPONSES = 9
MAX_METADATA = 16_000
MAX_METADATA_LEVELS = 5
MAX_KEY = 200
# What every JSON reader holds exactly.
MAX_INTEGER = 2**53
# What neither text of a database nor UTF-8 holds.
UNFIT = re.compile("[\0\ud800-\udfff]")


def checked_metadata(value: dict[str, Any]) -> dict[str, Any]:
    """The same object: what a prompt's record says besides its words, as anybody likes.

    Raises ValueError with the reason if it is beyond the limits.
    """
    _check_item(value, depth=1)
    size = len(json.dumps(value, ensure_ascii=False))
    if size > MAX_METADATA:
        raise ValueError(f"it has {size} characters as JSON; the limit is {MAX_METADATA}")
    return value


def _check_item(value: object, *, depth: int) -> None:
    if not isinstance(value, dict | list):
        _check_value(value)
        return
    if depth > MAX_METADATA_LEVELS:
        raise ValueError(
            f"it has more than {MAX_METADATA_LEVELS} levels of objects and lists; flatten it"
        )
    if isinstance(value, dict):
        for key in value:
            _check_key(key)
    for item in value.values() if isinstance(value, dict) else value:
        _check_item(item, depth=depth + 1)


def _check_value(value: object) -> None:
    if isinstance(value, str):
        if UNFIT.search(value):
            raise ValueError("it contains a NUL character or an unpaired surrogate; remove it")
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise ValueError(f"the number {value:.3g} is beyond 2^53; write it as text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"JSON has no number {value}; use null")
    elif value is not None:
        raise ValueError(f"a value is of the type {type(value).__name__}, which JSON does not have")


def _check_key(key: object) -> None:
    if not isinstance(key, str) or not key or len(key) > MAX_KEY or UNFIT.search(key):
        raise ValueError(
            f"the key {str(key)[:40]!r} is not a text of 1 to {MAX_KEY} characters without NUL"
        )


Metadata = Annotated[dict[str, Any], AfterValidator(checked_metadata)]


# As many as `rollout.max_new_tokens` allows.
MAX_TOKEN_IDS = 1_048_576

_TokenId = Annotated[int, Field(strict=True, ge=0, lt=2**31)]
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


def _is_none(value: object) -> bool:
    return value is None


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Message(_Record):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str = Field(max_length=200_000)


class _Known(_Record):
    """What a record says of its prompt besides its words: the ground truth, tags, anything."""

    tags: list[str] = Field(default_factory=list, exclude_if=operator.not_)
    metadata: Metadata = Field(default_factory=dict, exclude_if=operator.not_)


class TokenIds(_Record):
    """A response as it was sampled: its ids, its end token or the end of its stop string included.

    `tokenizer` is the hash of the tokenizer that the ids belong to, `prompt` that of the ids which
    stood before them; `worker.trainer.data.token_ids` computes both. To another tokenizer the ids
    mean nothing: it reads the text.
    """

    tokenizer: _Sha256
    prompt: _Sha256 | None = None
    ids: list[_TokenId] = Field(min_length=1, max_length=MAX_TOKEN_IDS)


class PromptRecord(_Known):
    """One line of `prompts.jsonl`."""

    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    reference: str | None = None
    split: Split


class DemonstrationRecord(_Known):
    """One line of `demonstrations.jsonl`: the response is what the policy should say.

    One that a model has sampled keeps its ids, and why it ended: a cut response is not taught to
    end there.
    """

    demonstration_id: str
    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    reference: str | None = Field(None, exclude_if=operator.not_)
    response: str
    finish_reason: FinishReason | None = Field(None, exclude_if=_is_none)
    token_ids: TokenIds | None = Field(None, exclude_if=_is_none)
    split: Split


class ResponseRecord(_Record):
    """A response inside a preference."""

    id: str
    content: str
    finish_reason: FinishReason | None = None
    token_ids: TokenIds | None = Field(None, exclude_if=_is_none)


class CriterionRecord(_Record):
    """The ranking of a preference under one criterion, and what the annotator was asked."""

    criterion: str = Field(min_length=1, max_length=40)
    question: str = Field(min_length=1, max_length=300)
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict


class PreferenceRecord(_Record):
    """One line of `preferences.jsonl`: one judgment; nothing is dropped, and nothing
    merged unless the snapshot asks for an aggregation.

    `tiers` hold response ids, best first; ids of one tier are tied; ids in `unranked` were not
    placed. Verdicts other than `ranked` have no tiers and give no pair.

    Where a snapshot merges judgments, a line is a comparison, or a part of one whose responses no
    judgment connects with the others; these are `unranked` there, and placed in their own line.

    A judgment that was given under criteria has all of them in `rankings`, and that of the
    snapshot's `criterion` in `tiers`, `unranked` and `verdict`, which runs learn from. Without
    criteria a line has neither.
    """

    judgment_id: str
    comparison_id: str
    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    responses: list[ResponseRecord] = Field(min_length=2, max_length=MAX_RESPONSES)
    tiers: list[list[str]]
    unranked: list[str]
    verdict: Verdict
    criterion: str = Field("", exclude_if=operator.not_)
    rankings: list[CriterionRecord] = Field(
        default_factory=list, max_length=5, exclude_if=operator.not_
    )
    annotator: str
    presented_order: list[str]
    split: Split


class SolutionStep(_Record):
    """One step of a solution; label 1 = right, 0 = wrong, in between = how likely right."""

    content: str = Field(min_length=1, max_length=200_000)
    label: float = Field(ge=0, le=1)


class SolutionRecord(_Record):
    """One line of `solutions.jsonl`: a response in steps, each of them labelled.

    `is_finished` False: the response goes on after its last step, which nobody labelled.
    """

    solution_id: str
    prompt_id: str
    messages: list[Message] = Field(min_length=1)
    steps: list[SolutionStep] = Field(min_length=1, max_length=1000)
    is_finished: bool = True
    split: Split


class GeneratedRecord(_Record):
    """One line of `output/responses.jsonl`, written by `generate`.

    `passed`: correct by all reward terms that judge it, None without one; `why`: by term, why a
    response did not pass or has no score. `reference`, `tags`, `metadata`: of its prompt.
    """

    prompt_id: str
    index: int = Field(ge=0)
    content: str
    finish_reason: FinishReason
    n_tokens: int = Field(ge=0)
    logp_sum: Measured = None
    ref_logp_sum: Measured = None
    scores: dict[str, Measured] = Field(default_factory=dict)
    passed: bool | None = None
    why: dict[str, str] = Field(default_factory=dict, exclude_if=operator.not_)
    reference: str | None = Field(None, exclude_if=operator.not_)
    tags: list[str] = Field(default_factory=list, exclude_if=operator.not_)
    metadata: Metadata = Field(default_factory=dict, exclude_if=operator.not_)
    token_ids: TokenIds | None = Field(None, exclude_if=_is_none)


class EvaluatedRecord(GeneratedRecord):
    """One line of `output/responses.jsonl`, written by `evaluate`.

    `set_name`: None for the prompts of the run itself. `model`: which of the two was asked.
    """

    set_name: str | None = None
    model: Literal["model", "baseline"] = "model"
    reward: Measured = None
