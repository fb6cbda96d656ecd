"""Imports: good records go in, bad ones come back with line and reason, all in one transaction.

Called by the import route with records that `backend.domain.formats` has read. Sending a file again
adds nothing: records are recognised by the hash of their content, judgments by annotator,
comparison and ranking.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar, cast

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from backend.domain.imported import (
    AnyInput,
    ComparisonInput,
    DemonstrationInput,
    PreferenceInput,
    PromptInput,
    SolutionInput,
)
from backend.errors import InvalidInput
from backend.schemas.data import ImportAnswer, ImportFormat, ImportKind, Rejection
from backend.schemas.vocabulary import Role
from backend.store.data import assignments, comparisons, projects, prompts, solutions, tallies
from backend.store.data.assignments import SUBMITTED
from backend.store.ids import new_id
from backend.store.tables.data import Assignment, Import, Judgment
from backend.store.tables.people import Membership, User

BATCH = 500
MOST_REJECTIONS = 1000

Line = tuple[int, AnyInput | str]
Record = TypeVar("Record")


@dataclass
class _Tally:
    accepted: int = 0
    duplicates: int = 0
    rejected_total: int = 0
    rejected: list[Rejection] = field(default_factory=list)

    def reject(self, line: int, reason: str) -> None:
        self.rejected_total += 1
        if len(self.rejected) < MOST_REJECTIONS:
            self.rejected.append(Rejection(line=line, reason=reason))

    def take(self, sent: int, added: int) -> None:
        self.accepted += added
        self.duplicates += sent - added


def take(
    session: Session,
    project_id: str,
    user_id: str,
    lines: Iterable[Line],
    *,
    kind: ImportKind,
    file_format: ImportFormat,
    strict: bool,
    at: datetime,
) -> ImportAnswer:
    """Keep every good line; a line is a record or the reason why it is none.

    Raises InvalidInput, and so keeps nothing, if `strict` and any line is bad.
    """
    projects.lock(session, project_id)
    tally = _Tally()
    keep = _KEEPERS[kind]
    every = iter(lines)
    while batch := list(islice(every, BATCH)):
        good = [(number, record) for number, record in batch if not isinstance(record, str)]
        for number, record in batch:
            if isinstance(record, str):
                tally.reject(number, record)
        if good:
            keep(session, project_id, user_id, good, tally, at)
    if strict and tally.rejected_total:
        raise InvalidInput(
            f"{tally.rejected_total} lines were rejected; the first is line "
            f"{tally.rejected[0].line}: {tally.rejected[0].reason}",
            advice="Correct them, or import with strict=false to take only the others.",
            rejected=[one.model_dump() for one in tally.rejected],
            rejected_total=tally.rejected_total,
        )
    row = Import(
        id=new_id("import"),
        project_id=project_id,
        user_id=user_id,
        kind=kind,
        format=file_format,
        accepted=tally.accepted,
        duplicates=tally.duplicates,
        rejected=[one.model_dump() for one in tally.rejected],
        created_at=at,
    )
    session.add(row)
    session.flush()
    return ImportAnswer(
        import_id=row.id,
        accepted=tally.accepted,
        duplicates=tally.duplicates,
        rejected=tally.rejected,
        rejected_total=tally.rejected_total,
    )


_Good = Sequence[tuple[int, AnyInput]]


def _keep_prompts(
    session: Session, project_id: str, user_id: str, good: _Good, tally: _Tally, at: datetime
) -> None:
    _, added = prompts.ensure(session, project_id, _records(good, PromptInput), at=at)
    tally.take(len(good), added)


def _keep_demonstrations(
    session: Session, project_id: str, user_id: str, good: _Good, tally: _Tally, at: datetime
) -> None:
    records = _records(good, DemonstrationInput)
    added = prompts.ensure_demonstrations(session, project_id, user_id, records, at=at)
    tally.take(len(good), added)


def _keep_comparisons(
    session: Session, project_id: str, user_id: str, good: _Good, tally: _Tally, at: datetime
) -> None:
    records = _records(good, ComparisonInput)
    _, added = comparisons.ensure(session, project_id, records, at=at)
    tally.take(len(good), added)


def _keep_preferences(
    session: Session, project_id: str, user_id: str, good: _Good, tally: _Tally, at: datetime
) -> None:
    records = _records(good, PreferenceInput)
    found, _ = comparisons.ensure(session, project_id, [one.comparison for one in records], at=at)
    annotators = _ensure_annotators(
        session, project_id, sorted({one.annotator for one in records}), at
    )
    known = _known(session, [comparison_id for comparison_id, _ in found.values()])
    new: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for (line, _), record in zip(good, records, strict=True):
        comparison_id, response_ids = found[record.comparison.content_sha256]
        annotator = annotators[record.annotator]
        rows = _rows(project_id, comparison_id, response_ids, annotator, record, at)
        before = known.get((comparison_id, annotator))
        said = (rows[1]["tiers"], rows[1]["verdict"])
        if before is None:
            known[comparison_id, annotator] = said
            new.append(rows)
            tally.accepted += 1
        elif before == said:
            tally.duplicates += 1
        else:
            tally.reject(line, f"{record.annotator} has already judged this comparison with another result; keep "
                "one of the two rows")
    if new:
        session.execute(insert(Assignment), [assignment for assignment, _ in new])
        session.execute(insert(Judgment), [judgment for _, judgment in new])
        judged = sorted({assignment["comparison_id"] for assignment, _ in new})
        finished = assignments.recount(session, judged)
        tallies.add(session, project_id, finished=finished)
        by_annotator = Counter(assignment["user_id"] for assignment, _ in new)
        for annotator, count in sorted(by_annotator.items()):
            tallies.add(session, project_id, annotator, judged=count)


def _keep_solutions(
    session: Session, project_id: str, user_id: str, good: _Good, tally: _Tally, at: datetime
) -> None:
    added = solutions.ensure(session, project_id, user_id, _records(good, SolutionInput), at=at)
    tally.take(len(good), added)


_KEEPERS: dict[ImportKind, Callable[[Session, str, str, _Good, _Tally, datetime], None]] = {
    "prompts": _keep_prompts,
    "demonstrations": _keep_demonstrations,
    "comparisons": _keep_comparisons,
    "preferences": _keep_preferences,
    "solutions": _keep_solutions,
}


def _records(good: _Good, kind: type[Record]) -> list[Record]:
    return [cast(Record, record) for _, record in good]


def _ensure_annotators(
    session: Session, project_id: str, names: Sequence[str], at: datetime
) -> dict[str, str]:
    """Users who stand for the annotators of a file; they are inactive, so nobody can be them."""
    labels = {f"{name} (imported)": name for name in names}
    known = session.execute(
        select(User.name, User.id)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.project_id == project_id, User.name.in_(labels), User.is_active.is_(False)
        )
    )
    found = {labels[row[0]]: row[1] for row in known}
    new = {name: new_id("user") for name in names if name not in found}
    if new:
        session.execute(
            insert(User),
            [
                {
                    "id": user_id,
                    "name": f"{name} (imported)",
                    "role": Role.ANNOTATOR,
                    "is_active": False,
                    "created_at": at,
                }
                for name, user_id in new.items()
            ],
        )
        session.execute(
            insert(Membership),
            [
                {"user_id": user_id, "project_id": project_id, "role": Role.ANNOTATOR}
                for user_id in new.values()
            ],
        )
    return found | new


def _known(
    session: Session, comparison_ids: Sequence[str]
) -> dict[tuple[str, str], tuple[list[list[str]], str]]:
    rows = session.execute(
        select(Judgment.comparison_id, Judgment.user_id, Judgment.tiers, Judgment.verdict)
        .where(Judgment.comparison_id.in_(comparison_ids))
        .order_by(Judgment.revision)
    )
    return {(row[0], row[1]): (row[2], row[3]) for row in rows}


def _rows(
    project_id: str,
    comparison_id: str,
    response_ids: Sequence[str],
    annotator: str,
    record: PreferenceInput,
    at: datetime,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The assignment and the judgment that an imported ranking becomes."""
    assignment_id = new_id("assignment")
    assignment = {
        "id": assignment_id,
        "project_id": project_id,
        "comparison_id": comparison_id,
        "user_id": annotator,
        "state": SUBMITTED,
        "presented_order": [response_ids[place] for place in record.presented_order],
        "expires_at": at,
        "created_at": at,
    }
    judgment = {
        "id": new_id("judgment"),
        "project_id": project_id,
        "assignment_id": assignment_id,
        "comparison_id": comparison_id,
        "user_id": annotator,
        "tiers": [[response_ids[place] for place in tier] for tier in record.tiers],
        "unranked": [response_ids[place] for place in record.unranked],
        "verdict": record.verdict,
        "reasons": [],
        "flags": [],
        "body_sha256": "",
        "created_at": at,
    }
    return assignment, judgment
