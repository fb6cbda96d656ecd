"""Rows of import files -> our records: prompts, demonstrations, preferences, solutions...

Called by `backend.jobs.import_file` with rows that `backend.uploads` has decoded; each function
takes one row and gives one record, or raises InvalidInput with the reason that the user will read.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard, get_args

from pydantic import ValidationError

from backend.domain.ranking import Ranking, checked
from backend.domain.records.imported import (
    AnyInput,
    ComparisonInput,
    CriterionInput,
    DemonstrationInput,
    PreferenceInput,
    PromptInput,
    ResponseInput,
    SolutionInput,
)
from backend.errors import InvalidInput
from backend.plural import plural
from backend.schemas.data import ImportFormat, ImportKind
from backend.schemas.paging import as_name
from backend.schemas.records import (
    MAX_RESPONSES,
    UNFIT,
    CriterionRecord,
    Message,
    PreferenceRecord,
    SolutionStep,
    TokenIds,
    checked_metadata,
)
from backend.schemas.vocabulary import FinishReason, Verdict

MAX_TEXT = 200_000
MAX_STEPS = 1000
Row = Mapping[str, Any]

# What a prompt may be called in a row.
PROMPT_KEYS = ("prompt", "messages", "input", "question", "instruction", "text")
_RESPONSE_KEYS = ("response", "completion", "output", "answer", "chosen")
_HUMAN, _ASSISTANT = "\n\nHuman:", "\n\nAssistant:"
_TURN = re.compile(r"\n\n(Human|Assistant):")


def read_row(kind: ImportKind, file_format: ImportFormat, row: object) -> AnyInput:
    """The record that one row holds. Raises InvalidInput with the reason."""
    if isinstance(row, str) and kind == "prompts":
        row = {"prompt": row}
    if not isinstance(row, Mapping):
        raise InvalidInput(f"a record must be an object; found {_found(row)}")
    if kind == "prompts":
        return _prompt(row)
    if kind == "demonstrations":
        return _demonstration(row)
    if kind == "comparisons":
        return _comparison(row)
    if kind == "solutions":
        return _solution(row)
    name = detect(row) if file_format == "auto" else file_format
    return _PREFERENCES[name](row)


def detect(row: Row) -> ImportFormat:
    """Which preference format a row is in. Raises InvalidInput if none fits."""
    if "tiers" in row or "verdict" in row:
        return "native"
    if "label" in row:
        return "unpaired"
    if "chosen" in row and "rejected" in row:
        if isinstance(row["chosen"], str) and _HUMAN.strip() in row["chosen"]:
            return "hh"
        has_prompt = any(_given(row, key) for key in ("prompt", "input"))
        return "trl" if has_prompt else "trl-implicit"
    formats = ", ".join(name for name in get_args(ImportFormat) if name != "auto")
    raise InvalidInput(
        f"found the keys {sorted(map(str, row))[:8]}, which match none of the formats {formats}; "
        "rename the keys, or choose a `format`"
    )


def _prompt(row: Row) -> PromptInput:
    key = next((key for key in PROMPT_KEYS if _given(row, key)), None)
    if key is None:
        raise InvalidInput(f"there is no prompt; expected one of the keys {', '.join(PROMPT_KEYS)}")
    return _known(PromptInput(_messages(row[key])), row)


def _known(prompt: PromptInput, row: Row) -> PromptInput:
    """The prompt with what its row says of it."""
    external_id = next((row[k] for k in ("external_id", "prompt_id", "id") if _given(row, k)), None)
    return replace(
        prompt,
        external_id=None if external_id is None else _text(str(external_id), "id", 200),
        reference=_reference(row["reference"]) if _given(row, "reference") else None,
        tags=_tags(row.get("tags")),
        metadata=_metadata(row.get("metadata")),
    )


def _reference(value: object) -> str:
    """The ground truth as text; a number or a list, such as all right answers, as JSON."""
    if isinstance(value, list) or (isinstance(value, int | float) and not isinstance(value, bool)):
        value = json.dumps(value, ensure_ascii=False)
    return _text(value, "reference")


def _metadata(value: object) -> dict[str, Any]:
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"`metadata` must be an object; found {_found(value)}")
    try:
        return checked_metadata(value)
    except ValueError as error:
        raise InvalidInput(f"`metadata`: {error}") from error


def _demonstration(row: Row) -> DemonstrationInput:
    key = next((key for key in _RESPONSE_KEYS if _given(row, key)), None)
    if key is not None:
        prompt = _known(_transcript(row)[0], row) if key == "chosen" else _prompt(row)
        content = _transcript(row)[1] if key == "chosen" else _content(row[key])
        return DemonstrationInput(prompt, content)
    if _given(row, "messages"):
        prompt, content = _split(_messages(row["messages"], wants_user=False))
        return DemonstrationInput(_known(prompt, row), content)
    raise InvalidInput(
        f"there is no response; expected one of the keys {', '.join(_RESPONSE_KEYS)}"
    )


def _solution(row: Row) -> SolutionInput:
    """Read a solution: our rows hold steps of content and label, TRL's completions and labels."""
    steps = row.get("steps")
    if steps is None and _given(row, "completions"):
        completions, labels = row["completions"], row.get("labels")
        if not _is_list(completions) or not _is_list(labels) or len(completions) != len(labels):
            raise InvalidInput(
                "`completions` and `labels` must be two lists of the same length; found "
                f"{_found(completions)} and {_found(labels)}"
            )
        pairs = zip(completions, labels, strict=True)
        steps = [{"content": content, "label": label} for content, label in pairs]
    if not _is_list(steps) or not 1 <= len(steps) <= MAX_STEPS:
        raise InvalidInput(
            f"`steps` must be a list of 1 to {MAX_STEPS} objects, or give `completions` and "
            f"`labels`; found {_found(steps)}"
        )
    is_finished = row.get("is_finished", True)
    if not isinstance(is_finished, bool):
        raise InvalidInput(f"`is_finished` must be true or false; found {is_finished!r}")
    return SolutionInput(_prompt(row), tuple(map(_step, steps)), is_finished)


def _step(value: object) -> SolutionStep:
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f"each step must be an object with `content` and `label`; found {_found(value)}"
        )
    label = value.get("label")
    if not isinstance(label, bool | int | float) or not 0 <= label <= 1:
        raise InvalidInput(
            f"the label of a step is {label!r}; expected true, false or a number from 0 to 1"
        )
    return SolutionStep(content=_text(value.get("content"), "step"), label=float(label))


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _comparison(row: Row) -> ComparisonInput:
    responses = row.get("responses")
    if not isinstance(responses, Sequence) or isinstance(responses, str):
        raise InvalidInput(
            f"`responses` must be a list of 2 to {MAX_RESPONSES} texts or objects; found "
            f"{_found(responses)}"
        )
    return _compared(_prompt(row), [_response(one) for one in responses])


def _native(row: Row) -> PreferenceInput:
    try:
        record = PreferenceRecord.model_validate({"split": "train", **row})
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    ids = [one.id for one in record.responses]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise InvalidInput(f"the response id {twice} is used twice; give each response its own id")
    ranking = checked(ids, tiers=record.tiers, unranked=record.unranked, verdict=record.verdict)
    rankings = _rankings(record, ids, ranking)
    if record.presented_order and sorted(record.presented_order) != sorted(ids):
        raise InvalidInput(
            f"`presented_order` must name each of the {len(ids)} responses exactly once"
        )
    place = {one: index for index, one in enumerate(ids)}
    # Of several rankings the first stands for the judgment, whichever of them was frozen.
    standing = rankings[0] if rankings else _placed(ranking, ids)
    return PreferenceInput(
        comparison=_compared(
            PromptInput(_messages([turn.model_dump() for turn in record.messages])),
            [
                ResponseInput(
                    _text(one.content, "content"), one.finish_reason, token_ids=one.token_ids
                )
                for one in record.responses
            ],
        ),
        tiers=standing.tiers,
        unranked=standing.unranked,
        verdict=standing.verdict,
        rankings=rankings,
        annotator=_annotator(record.annotator),
        presented_order=tuple(place[one] for one in record.presented_order),
    )


def _rankings(
    record: PreferenceRecord, ids: Sequence[str], ranking: Ranking
) -> tuple[CriterionInput, ...]:
    """The rankings of a record by criterion. Raises InvalidInput if its own is none of them."""
    names = [one.criterion for one in record.rankings]
    if len(set(names)) < len(names):
        raise InvalidInput(f"`rankings` names a criterion twice; found {', '.join(names)}")
    if record.criterion and record.criterion not in names:
        raise InvalidInput(
            f"the criterion is {record.criterion!r}, but `rankings` has no ranking by it"
        )
    found = tuple(_by_criterion(one, ids) for one in record.rankings)
    chosen = record.criterion or (names[0] if names else "")
    own = _placed(ranking, ids, chosen)
    for one in found:
        if one.criterion == chosen and (one.tiers, one.verdict) != (own.tiers, own.verdict):
            raise InvalidInput(
                f"`tiers` and `verdict` differ from the ranking by {chosen!r}, which they repeat"
            )
    return found


def _by_criterion(record: CriterionRecord, ids: Sequence[str]) -> CriterionInput:
    _name(record.criterion, "criterion")
    _name(record.question, "question")
    ranking = checked(ids, tiers=record.tiers, unranked=record.unranked, verdict=record.verdict)
    return _placed(ranking, ids, record.criterion, record.question)


def _name(value: str, what: str) -> None:
    name = _as_name(value, what)
    if name != value:
        raise InvalidInput(
            f"the {what} {value!a} must have no spaces around it and be in Unicode's form NFC; "
            f"write it as {name!r}"
        )


def _annotator(value: str) -> str:
    """The name of a user who stands for an annotator."""
    return _line(value, "annotator", 150)


def _line(value: object, what: str, longest: int) -> str:
    """A text that pages show in a line, in one spelling.

    Raises InvalidInput if a part of it cannot be seen.
    """
    spelled = _as_name(_text(value, what, longest), what)
    # Letters with points are taken apart where Unicode has no one letter for them any more.
    return _text(spelled, what, longest)


def _as_name(value: str, what: str) -> str:
    try:
        return as_name(value)
    except ValueError as error:
        raise InvalidInput(f"the {what} {value[:40]!r} cannot be used: {error}") from error


def _placed(
    ranking: Ranking, ids: Sequence[str], criterion: str = "", question: str = ""
) -> CriterionInput:
    place = {one: index for index, one in enumerate(ids)}
    return CriterionInput(
        criterion,
        question,
        tiers=tuple(tuple(place[one] for one in tier) for tier in ranking.tiers),
        unranked=tuple(place[one] for one in ranking.unranked),
        verdict=ranking.verdict,
    )


def _explicit(row: Row) -> PreferenceInput:
    prompt = _prompt({**row, "messages": None})
    return _pair(prompt, _content(row.get("chosen")), _content(row.get("rejected")), row)


def _implicit(row: Row) -> PreferenceInput:
    prompt, chosen = _split(_messages(row.get("chosen"), wants_user=False))
    other, rejected = _split(_messages(row.get("rejected"), wants_user=False))
    if prompt != other:
        raise InvalidInput(
            "`chosen` and `rejected` begin with different prompts; both must answer the same prompt"
        )
    return _pair(prompt, chosen, rejected, row)


def _hh(row: Row) -> PreferenceInput:
    prompt, chosen = _split(_turns(row.get("chosen")))
    other, rejected = _split(_turns(row.get("rejected")))
    if prompt != other:
        raise InvalidInput(
            "`chosen` and `rejected` begin with different prompts; both must answer the same prompt"
        )
    return _pair(prompt, chosen, rejected, row)


def _unpaired(row: Row) -> PreferenceInput:
    raise InvalidInput(
        "a row of the unpaired format holds one response and no ranking; "
        "import it as demonstrations, or as comparisons with several responses"
    )


_PREFERENCES: Mapping[str, Callable[[Row], PreferenceInput]] = {
    "native": _native,
    "trl": _explicit,
    "openrlhf": _explicit,
    "trl-implicit": _implicit,
    "hh": _hh,
    "unpaired": _unpaired,
}


def _pair(prompt: PromptInput, chosen: str, rejected: str, row: Row) -> PreferenceInput:
    if chosen == rejected:
        raise InvalidInput("chosen and rejected are identical; drop the row or mark it as a tie")
    return PreferenceInput(
        comparison=_compared(prompt, [ResponseInput(chosen), ResponseInput(rejected)]),
        tiers=((0,), (1,)),
        unranked=(),
        verdict=Verdict.RANKED,
        annotator=_annotator(str(row.get("annotator") or "imported")),
    )


def _compared(prompt: PromptInput, responses: Sequence[ResponseInput]) -> ComparisonInput:
    if not 2 <= len(responses) <= MAX_RESPONSES:
        found = plural(len(responses), "response")
        raise InvalidInput(f"found {found}, expected 2 to {MAX_RESPONSES}")
    return ComparisonInput(prompt, tuple(responses))


def _response(value: object) -> ResponseInput:
    if not isinstance(value, Mapping):
        return ResponseInput(_content(value))
    content = value.get("content", value.get("text"))
    reason = value.get("finish_reason")
    if reason is not None and reason not in set(FinishReason):
        raise InvalidInput(f"finish_reason is {reason!r}, expected stop or length")
    return ResponseInput(
        content=_content(content),
        finish_reason=None if reason is None else FinishReason(reason),
        source=_line(str(value.get("source") or value.get("model") or "import"), "source", 200),
        token_ids=_token_ids(value.get("token_ids")),
    )


def _token_ids(value: object) -> TokenIds | None:
    if value is None:
        return None
    try:
        return TokenIds.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(["token_ids", *map(str, first["loc"])])
        raise InvalidInput(f"{place}: {first['msg']}") from error


def _messages(value: object, *, wants_user: bool = True) -> tuple[Message, ...]:
    if isinstance(value, str):
        return (Message(role="user", content=_text(value, "prompt")),)
    if not isinstance(value, Sequence) or not value:
        raise InvalidInput(f"the prompt must be text or a list of messages; found {_found(value)}")
    if len(value) > 1000:
        raise InvalidInput(f"found {len(value)} messages, expected at most 1000")
    try:
        turns = tuple(Message.model_validate(turn) for turn in value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"message: {place}: {first['msg']}") from error
    for turn in turns:
        _text(turn.content, "message")
    if wants_user and turns[-1].role == "assistant":
        raise InvalidInput(
            "the prompt ends with an assistant message; the last message must be the user's"
        )
    return turns


def _split(turns: Sequence[Message]) -> tuple[PromptInput, str]:
    if len(turns) < 2 or turns[-1].role != "assistant":
        raise InvalidInput(
            "the conversation must contain a prompt and end with the assistant's response"
        )
    return PromptInput(tuple(turns[:-1])), _text(turns[-1].content, "response")


def _transcript(row: Row) -> tuple[PromptInput, str]:
    """Prompt and response of a row whose response is `chosen`."""
    if any(_given(row, key) for key in ("prompt", "input")):
        return _prompt({**row, "messages": None}), _content(row["chosen"])
    chosen = row["chosen"]
    turns = _turns(chosen) if isinstance(chosen, str) else _messages(chosen, wants_user=False)
    return _split(turns)


def _turns(value: object) -> tuple[Message, ...]:
    """Messages of an HH transcript; text before the first turn is the system prompt."""
    if not isinstance(value, str):
        raise InvalidInput(f"the transcript must be text; found {_found(value)}")
    parts = _TURN.split(value if value.startswith("\n\n") else f"\n\n{value}")
    turns = [
        Message(
            role="user" if name == "Human" else "assistant", content=_text(text.strip(), "turn")
        )
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    ]
    if not turns:
        raise InvalidInput("the transcript has no turn that begins with Human: or Assistant:")
    system = parts[0].strip()
    return (*([Message(role="system", content=system)] if system else []), *turns)


def _content(value: object) -> str:
    """The text of a response given as text or as a list with one assistant message."""
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 1:
        turn = value[0]
        if isinstance(turn, Mapping) and turn.get("role") == "assistant":
            value = turn.get("content")
    return _text(value, "response")


def _text(value: object, what: str, longest: int = MAX_TEXT) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"the {what} must be text; found {_found(value)}")
    if not value.strip():
        raise InvalidInput(f"the {what} is empty")
    if len(value) > longest:
        raise InvalidInput(f"the {what} has {len(value)} characters; the limit is {longest}")
    if UNFIT.search(value):
        raise InvalidInput(
            f"the {what} contains a NUL character or an unpaired surrogate; remove it"
        )
    return value


def _tags(value: object) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        value = [part.strip() for part in value.split(";") if part.strip()]
    if not isinstance(value, Sequence) or len(value) > 50:
        raise InvalidInput(f"`tags` must be a list of at most 50 texts; found {_found(value)}")
    return tuple(dict.fromkeys(_line(tag, "tag", 100) for tag in value))


def _found(value: object) -> str:
    """What a value is, in words of JSON, for a sentence that says what was found."""
    if value is None:
        return "nothing"
    if _is_list(value):
        return f"a list of {len(value)}"
    if isinstance(value, Mapping):
        return "an object"
    return "text" if isinstance(value, str) else repr(value)[:40]


def _given(row: Row, key: str) -> bool:
    return row.get(key) is not None and row[key] != ""
