"""Snapshot records -> rows of TRL, OpenRLHF, HH and unpaired files, and the ties these cannot hold.

Called by the export route; the native format is the snapshot's own bytes and never comes here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from backend.domain.ranking import Ranking
from backend.errors import InvalidInput
from backend.schemas.data import ExportFormat
from backend.schemas.records import (
    DemonstrationRecord,
    Message,
    PreferenceRecord,
    PromptRecord,
    SolutionRecord,
)
from backend.schemas.vocabulary import SnapshotKind, Verdict

Row = dict[str, Any]


def check_format(kind: SnapshotKind, name: ExportFormat) -> None:
    """Raise InvalidInput if a snapshot of this kind cannot be written in this format."""
    if name not in (fitting := formats_of(kind)):
        raise InvalidInput(
            f"the format {name} cannot hold a snapshot of {kind}",
            advice=f"Use one of: {', '.join(fitting)}.",
        )


def formats_of(kind: SnapshotKind) -> list[ExportFormat]:
    """The formats that hold a snapshot of this kind."""
    return ["native", *(known for held, known in _WRITERS if held == kind)]


def rows(kind: SnapshotKind, name: ExportFormat, line: str) -> Iterator[Row]:
    """The rows that one line of a snapshot becomes."""
    yield from _WRITERS[kind, name](line)


def dropped_ties(kind: SnapshotKind, name: ExportFormat, line: str) -> int:
    """How many tied pairs of this line the format leaves out.

    Pair formats hold no tie at all; unpaired loses those of the middle tiers, and of a judgment
    that ties everything.
    """
    if kind is not SnapshotKind.PREFERENCES or name == "native":
        return 0
    ranking = _ranking(PreferenceRecord.model_validate_json(line))
    if name != "unpaired":
        return len(ranking.ties)
    lost = ranking.tiers if len(ranking.tiers) == 1 else ranking.tiers[1:-1]
    return sum(len(tier) * (len(tier) - 1) // 2 for tier in lost)


def _ranking(record: PreferenceRecord) -> Ranking:
    tiers = tuple(tuple(tier) for tier in record.tiers)
    return Ranking(tiers, tuple(record.unranked), record.verdict)


def _pairs(line: str) -> Iterator[tuple[list[Row], str, str]]:
    record = PreferenceRecord.model_validate_json(line)
    content = {one.id: one.content for one in record.responses}
    messages = _plain(record.messages)
    for better, worse in _ranking(record).wins:
        yield messages, content[better], content[worse]


def _trl(line: str) -> Iterator[Row]:
    for prompt, chosen, rejected in _pairs(line):
        yield {"prompt": prompt, "chosen": [_said(chosen)], "rejected": [_said(rejected)]}


def _trl_implicit(line: str) -> Iterator[Row]:
    for prompt, chosen, rejected in _pairs(line):
        yield {"chosen": [*prompt, _said(chosen)], "rejected": [*prompt, _said(rejected)]}


def _openrlhf(line: str) -> Iterator[Row]:
    for prompt, chosen, rejected in _pairs(line):
        yield {"prompt": prompt, "chosen": chosen, "rejected": rejected}


def _hh(line: str) -> Iterator[Row]:
    for prompt, chosen, rejected in _pairs(line):
        head = _transcript(prompt)
        yield {
            "chosen": f"{head}\n\nAssistant: {chosen}",
            "rejected": f"{head}\n\nAssistant: {rejected}",
        }


def _unpaired(line: str) -> Iterator[Row]:
    record = PreferenceRecord.model_validate_json(line)
    good = set(record.tiers[0]) if len(record.tiers) > 1 else set()
    bad = set(record.tiers[-1]) if len(record.tiers) > 1 else set()
    if record.verdict is Verdict.ALL_BAD:
        bad = {one.id for one in record.responses}
    for one in record.responses:
        if one.id in good or one.id in bad:
            yield {
                "prompt": _plain(record.messages),
                "completion": [_said(one.content)],
                "label": one.id in good,
            }


def _prompt_rows(line: str) -> Iterator[Row]:
    yield {"prompt": _plain(PromptRecord.model_validate_json(line).messages)}


def _openrlhf_prompt_rows(line: str) -> Iterator[Row]:
    yield {"input": _plain(PromptRecord.model_validate_json(line).messages)}


def _completion_rows(line: str) -> Iterator[Row]:
    record = DemonstrationRecord.model_validate_json(line)
    yield {"prompt": _plain(record.messages), "completion": [_said(record.response)]}


def _conversation_rows(line: str) -> Iterator[Row]:
    record = DemonstrationRecord.model_validate_json(line)
    yield {"messages": [*_plain(record.messages), _said(record.response)]}


def _openrlhf_completion_rows(line: str) -> Iterator[Row]:
    record = DemonstrationRecord.model_validate_json(line)
    yield {"input": _plain(record.messages), "output": record.response}


def _step_rows(line: str) -> Iterator[Row]:
    record = SolutionRecord.model_validate_json(line)
    yield {
        "prompt": _plain(record.messages),
        "completions": [step.content for step in record.steps],
        "labels": [step.label for step in record.steps],
    }


_WRITERS: Mapping[tuple[SnapshotKind, ExportFormat], Callable[[str], Iterator[Row]]] = {
    (SnapshotKind.PREFERENCES, "trl"): _trl,
    (SnapshotKind.PREFERENCES, "trl-implicit"): _trl_implicit,
    (SnapshotKind.PREFERENCES, "openrlhf"): _openrlhf,
    (SnapshotKind.PREFERENCES, "hh"): _hh,
    (SnapshotKind.PREFERENCES, "unpaired"): _unpaired,
    (SnapshotKind.PROMPTS, "trl"): _prompt_rows,
    (SnapshotKind.PROMPTS, "openrlhf"): _openrlhf_prompt_rows,
    (SnapshotKind.DEMONSTRATIONS, "trl"): _completion_rows,
    (SnapshotKind.DEMONSTRATIONS, "trl-implicit"): _conversation_rows,
    (SnapshotKind.DEMONSTRATIONS, "openrlhf"): _openrlhf_completion_rows,
    (SnapshotKind.SOLUTIONS, "trl"): _step_rows,
}


def _plain(messages: Sequence[Message]) -> list[Row]:
    return [{"role": turn.role, "content": turn.content} for turn in messages]


def _said(content: str) -> Row:
    return {"role": "assistant", "content": content}


def _transcript(messages: Sequence[Row]) -> str:
    names = {"user": "\n\nHuman: ", "assistant": "\n\nAssistant: ", "system": ""}
    return "".join(f"{names[turn['role']]}{turn['content']}" for turn in messages)
