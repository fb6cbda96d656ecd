"""Freezing as it was once: everything at once, in the caller's transaction; the test's reference.

It sorts what the split decides, keeps all rows in memory and counts in sets.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from backend.domain.ranking import Ranking
from backend.domain.records.split import position
from backend.schemas.data import SnapshotBody, SnapshotFilter
from backend.schemas.records import (
    DemonstrationRecord,
    Message,
    PreferenceRecord,
    PromptRecord,
    ResponseRecord,
    SolutionRecord,
    SolutionStep,
)
from backend.schemas.vocabulary import SnapshotKind, Split, Verdict
from backend.store.data import judgments
from backend.store.tables.data import (
    Assignment,
    Comparison,
    Demonstration,
    Judgment,
    Prompt,
    Response,
    Solution,
)

BATCH = 200


@dataclass(frozen=True)
class FrozenLine:
    """One line without its newline, and what it adds to the counts."""

    split: Split
    line: str
    prompt_id: str
    pairs: int = 0
    ties: int = 0


def frozen(session: Session, project_id: str, body: SnapshotBody) -> tuple[list[str], str, Any]:
    """The lines of the native file, its hash and the counts."""
    tally = _Tally(body.kind)
    found = list(lines(session, project_id, body))
    for one in found:
        tally.take(one)
    return [one.line for one in found], tally.sha256, tally.counts


def lines(session: Session, project_id: str, body: SnapshotBody) -> Iterator[FrozenLine]:
    """The records that the filter lets through, in order of creation."""
    rows = _READERS[body.kind](session, project_id, body.filter)
    held = heldout(
        {row.Prompt.content_sha256 for row in rows},
        fraction=body.heldout_fraction,
        seed=body.seed,
    )
    for first in range(0, len(rows), BATCH):
        batch = rows[first : first + BATCH]
        texts = _responses(session, batch) if body.kind is SnapshotKind.PREFERENCES else {}
        for row in batch:
            is_held = row.Prompt.content_sha256 in held
            split = Split.HELDOUT if is_held else Split.TRAIN
            yield _WRITERS[body.kind](row, split, texts)


def _prompt_rows(session: Session, project_id: str, wanted: SnapshotFilter) -> Sequence[Any]:
    rows = session.execute(
        select(Prompt).where(Prompt.project_id == project_id).order_by(Prompt.number)
    )
    is_wanted = _by_prompt(wanted)
    return [row for row in rows if is_wanted(row.Prompt)]


def _demonstration_rows(session: Session, project_id: str, wanted: SnapshotFilter) -> Sequence[Any]:
    rows = session.execute(
        select(Demonstration, Prompt)
        .join(Prompt, Prompt.id == Demonstration.prompt_id)
        .where(Demonstration.project_id == project_id)
        .order_by(Demonstration.number)
    )
    is_wanted = _by_prompt(wanted)
    return [row for row in rows if is_wanted(row.Prompt)]


def _solution_rows(session: Session, project_id: str, wanted: SnapshotFilter) -> Sequence[Any]:
    rows = session.execute(
        select(Solution, Prompt)
        .join(Prompt, Prompt.id == Solution.prompt_id)
        .where(Solution.project_id == project_id)
        .order_by(Solution.number)
    )
    is_wanted = _by_prompt(wanted)
    return [row for row in rows if is_wanted(row.Prompt)]


def _preference_rows(session: Session, project_id: str, wanted: SnapshotFilter) -> Sequence[Any]:
    current = judgments.latest(project_id).subquery()
    judgment = aliased(Judgment, current, name="Judgment")
    rows = session.execute(
        select(judgment, Comparison, Prompt, Assignment)
        .join(Comparison, Comparison.id == judgment.comparison_id)
        .join(Prompt, Prompt.id == Comparison.prompt_id)
        .join(Assignment, Assignment.id == judgment.assignment_id)
        .order_by(judgment.number)
    )
    is_wanted = _by_prompt(wanted)
    runs = None if wanted.run_ids is None else set(wanted.run_ids)
    chosen = None if wanted.comparison_ids is None else set(wanted.comparison_ids)
    return [
        row
        for row in rows
        if is_wanted(row.Prompt)
        and (runs is None or row.Comparison.run_id in runs)
        and (chosen is None or row.Comparison.id in chosen)
    ]


_READERS: Mapping[SnapshotKind, Callable[[Session, str, SnapshotFilter], Sequence[Any]]] = {
    SnapshotKind.PROMPTS: _prompt_rows,
    SnapshotKind.DEMONSTRATIONS: _demonstration_rows,
    SnapshotKind.PREFERENCES: _preference_rows,
    SnapshotKind.SOLUTIONS: _solution_rows,
}


def _by_prompt(wanted: SnapshotFilter) -> Callable[[Prompt], bool]:
    prompt_ids = None if wanted.prompt_ids is None else set(wanted.prompt_ids)
    tags = None if wanted.tags is None else set(wanted.tags)
    return lambda prompt: (
        (prompt_ids is None or prompt.id in prompt_ids)
        and (tags is None or not tags.isdisjoint(prompt.tags))
    )


def _responses(session: Session, rows: Sequence[Any]) -> dict[str, ResponseRecord]:
    ids = {one for row in rows for one in row.Comparison.response_ids}
    found = session.scalars(select(Response).where(Response.id.in_(ids)))
    return {
        row.id: ResponseRecord(
            id=row.id,
            content=row.content,
            finish_reason=row.finish_reason,
            token_ids=row.token_ids,
        )
        for row in found
    }


_Texts = Mapping[str, ResponseRecord]


def _prompt_line(row: Any, split: Split, texts: _Texts) -> FrozenLine:
    record = PromptRecord(
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        reference=row.Prompt.reference,
        tags=row.Prompt.tags,
        metadata=row.Prompt.more,
        split=split,
    )
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id)


def _demonstration_line(row: Any, split: Split, texts: _Texts) -> FrozenLine:
    record = DemonstrationRecord(
        demonstration_id=row.Demonstration.id,
        reference=row.Prompt.reference,
        tags=row.Prompt.tags,
        metadata=row.Prompt.more,
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        response=row.Demonstration.content,
        split=split,
    )
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id)


def _solution_line(row: Any, split: Split, texts: _Texts) -> FrozenLine:
    record = SolutionRecord(
        solution_id=row.Solution.id,
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        steps=[SolutionStep.model_validate(step) for step in row.Solution.steps],
        is_finished=row.Solution.is_finished,
        split=split,
    )
    return FrozenLine(split, record.model_dump_json(), row.Prompt.id)


def _preference_line(row: Any, split: Split, texts: _Texts) -> FrozenLine:
    judgment: Judgment = row.Judgment
    record = PreferenceRecord(
        judgment_id=judgment.id,
        comparison_id=judgment.comparison_id,
        prompt_id=row.Prompt.id,
        messages=_messages(row.Prompt),
        responses=[texts[one] for one in row.Comparison.response_ids],
        tiers=judgment.tiers,
        unranked=judgment.unranked,
        verdict=Verdict(judgment.verdict),
        annotator=judgment.user_id,
        presented_order=row.Assignment.presented_order,
        split=split,
    )
    ranking = Ranking(
        tuple(tuple(tier) for tier in record.tiers), tuple(record.unranked), record.verdict
    )
    return FrozenLine(
        split, record.model_dump_json(), row.Prompt.id, len(ranking.wins), len(ranking.ties)
    )


_WRITERS: Mapping[SnapshotKind, Callable[[Any, Split, _Texts], FrozenLine]] = {
    SnapshotKind.PROMPTS: _prompt_line,
    SnapshotKind.DEMONSTRATIONS: _demonstration_line,
    SnapshotKind.PREFERENCES: _preference_line,
    SnapshotKind.SOLUTIONS: _solution_line,
}


def _messages(prompt: Prompt) -> list[Message]:
    return [Message.model_validate(turn) for turn in prompt.messages]


def heldout(contents: Collection[str], *, fraction: float, seed: int) -> set[str]:
    """The content hashes that are held out: those that stand below `fraction`.

    With two prompts or more and a fraction above 0 neither side is empty: the nearest prompt moves
    over. A single prompt is always for training.
    """
    if fraction == 0 or len(contents) < 2:
        return set()
    ordered = sorted(contents, key=lambda content: (position(content, seed), content))
    below = sum(position(content, seed) < fraction for content in ordered)
    return set(ordered[: min(max(below, 1), len(ordered) - 1)])


class _Tally:
    """Hash and counts of a snapshot while its lines go by."""

    def __init__(self, kind: SnapshotKind) -> None:
        self.kind = kind
        self.counts: dict[str, dict[str, int]] = {}
        self._prompts: dict[str, set[str]] = {}
        self._hash = hashlib.sha256()
        self._position = 0
        for split in Split:
            self.counts[split] = {"records": 0, "prompts": 0}
            self._prompts[split] = set()
            if kind is SnapshotKind.PREFERENCES:
                self.counts[split] |= {"pairs": 0, "ties": 0}

    def take(self, one: FrozenLine) -> int:
        """Count a line; returns its position."""
        self._hash.update(one.line.encode() + b"\n")
        counts = self.counts[one.split]
        self._prompts[one.split].add(one.prompt_id)
        counts["records"] += 1
        counts["prompts"] = len(self._prompts[one.split])
        if self.kind is SnapshotKind.PREFERENCES:
            counts["pairs"] += one.pairs
            counts["ties"] += one.ties
        self._position += 1
        return self._position - 1

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()
