"""Records of a file become rows: what is there already is found, what contradicts is rejected.

Called by `backend.store.data.imports` alone, batch by batch; every row carries the import's id.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from backend.domain.records.imported import (
    AnyInput,
    ComparisonInput,
    CriterionInput,
    DemonstrationInput,
    PreferenceInput,
    PromptInput,
    SolutionInput,
)
from backend.schemas.data import ImportFormat, ImportKind, Rejection
from backend.schemas.vocabulary import Role
from backend.store.data import assignments, comparisons, prompts, solutions
from backend.store.data.assignments import SUBMITTED
from backend.store.ids import new_id
from backend.store.tables.data import Assignment, Comparison, Judgment
from backend.store.tables.people import Membership, User

MOST_REJECTIONS = 1000
LONGEST_REASON = 500

Record = TypeVar("Record")


@dataclass(frozen=True)
class NewImport:
    """An import to begin: whose file of what, into which project."""

    id: str
    project_id: str
    user_id: str
    kind: ImportKind
    format: ImportFormat


@dataclass
class ImportOutcome:
    """What became of the rows so far; the first rejected rows are kept with their reasons."""

    accepted: int = 0
    duplicates: int = 0
    rejected_total: int = 0
    rejected: list[Rejection] = field(default_factory=list)
    # What the project's sums grow by once the import is complete.
    comparisons: int = 0
    wanted: int = 0
    finished: int = 0
    judged: Counter[str] = field(default_factory=Counter)  # by annotator
    # Whether it judged comparisons that were there before: these are counted afterwards.
    judged_others: bool = False

    def reject(self, line: int, reason: str) -> None:
        """Count a row that was not taken; `line`: its number, as `Rejection` says."""
        self.rejected_total += 1
        if len(self.rejected) < MOST_REJECTIONS:
            # A reason may quote the file, whose words can be megabytes long.
            self.rejected.append(Rejection(line=line, reason=reason[:LONGEST_REASON]))

    def take(self, sent: int, added: int) -> None:
        """Count rows that were taken, `added` of them for the first time."""
        self.accepted += added
        self.duplicates += sent - added

    def add(self, other: "ImportOutcome") -> None:
        """Add what became of a batch."""
        self.accepted += other.accepted
        self.duplicates += other.duplicates
        self.rejected_total += other.rejected_total
        self.comparisons += other.comparisons
        self.wanted += other.wanted
        self.finished += other.finished
        self.judged += other.judged
        self.judged_others |= other.judged_others
        self.rejected = sorted(self.rejected + other.rejected, key=lambda one: one.line)
        del self.rejected[MOST_REJECTIONS:]


# How an outcome crosses to another process.
IMPORT_OUTCOME: TypeAdapter[ImportOutcome] = TypeAdapter(ImportOutcome)


def keep(
    session: Session, new: NewImport, good: Sequence[tuple[int, AnyInput]], *, at: datetime
) -> ImportOutcome:
    """Keep records, given with their lines, as rows of an import."""
    outcome = ImportOutcome()
    _KEEPERS[new.kind](session, new, good, outcome, at)
    return outcome


_Good = Sequence[tuple[int, AnyInput]]


def _keep_prompts(
    session: Session, new: NewImport, good: _Good, outcome: ImportOutcome, at: datetime
) -> None:
    records = _records(good, PromptInput)
    ids, added = prompts.ensure(session, new.project_id, records, import_id=new.id, at=at)
    contradicting = prompts.contradicting(session, ids, records)
    for (line, _), record in zip(good, records, strict=True):
        if record in contradicting:
            outcome.reject(
                line,
                "the project has this prompt already, with another reference or other metadata "
                f"({ids[record.content_sha256]}); keep one of the two, or import into another "
                "project",
            )
    outcome.take(len(good) - len(contradicting), added)


def _keep_demonstrations(
    session: Session, new: NewImport, good: _Good, outcome: ImportOutcome, at: datetime
) -> None:
    added = prompts.ensure_demonstrations(
        session,
        new.project_id,
        new.user_id,
        _records(good, DemonstrationInput),
        import_id=new.id,
        at=at,
    )
    outcome.take(len(good), added)


def _keep_comparisons(
    session: Session, new: NewImport, good: _Good, outcome: ImportOutcome, at: datetime
) -> None:
    records = _records(good, ComparisonInput)
    made = comparisons.ensure(session, new.project_id, records, import_id=new.id, at=at)
    outcome.take(len(good), made.added)
    outcome.comparisons += made.added
    outcome.wanted += made.wanted


def _keep_preferences(
    session: Session, new: NewImport, good: _Good, outcome: ImportOutcome, at: datetime
) -> None:
    records = _records(good, PreferenceInput)
    compared = [one.comparison for one in records]
    found, added, wanted = comparisons.ensure(
        session, new.project_id, compared, import_id=new.id, at=at
    )
    outcome.comparisons += added
    outcome.wanted += wanted
    annotators = _ensure_annotators(session, new, sorted({one.annotator for one in records}), at)
    known = _known(session, [comparison_id for comparison_id, _ in found.values()])
    rows: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for (line, _), record in zip(good, records, strict=True):
        comparison_id, response_ids = found[record.comparison.content_sha256]
        annotator = annotators[record.annotator]
        made = _rows(new, comparison_id, response_ids, annotator, record, at)
        before = known.get((comparison_id, annotator))
        said = _said(made[1]["tiers"], made[1]["verdict"], made[1]["rankings"])
        if before is None:
            known[comparison_id, annotator] = said
            rows.append(made)
            outcome.accepted += 1
        elif before == said:
            outcome.duplicates += 1
        else:
            outcome.reject(
                line,
                f"{record.annotator} has already judged this comparison with another result; keep "
                "one of the two rows",
            )
    if rows:
        session.execute(insert(Assignment), [assignment for assignment, _ in rows])
        session.execute(insert(Judgment), [judgment for _, judgment in rows])
        outcome.judged.update(assignment["user_id"] for assignment, _ in rows)
        judged = {assignment["comparison_id"] for assignment, _ in rows}
        own = session.scalars(
            select(Comparison.id).where(Comparison.id.in_(judged), Comparison.import_id == new.id)
        ).all()
        outcome.finished += assignments.recount(session, sorted(own))
        outcome.judged_others = len(own) < len(judged)


def _keep_solutions(
    session: Session, new: NewImport, good: _Good, outcome: ImportOutcome, at: datetime
) -> None:
    added = solutions.ensure(
        session,
        new.project_id,
        new.user_id,
        _records(good, SolutionInput),
        import_id=new.id,
        at=at,
    )
    outcome.take(len(good), added)


_KEEPERS: dict[ImportKind, Callable[[Session, NewImport, _Good, ImportOutcome, datetime], None]] = {
    "prompts": _keep_prompts,
    "demonstrations": _keep_demonstrations,
    "comparisons": _keep_comparisons,
    "preferences": _keep_preferences,
    "solutions": _keep_solutions,
}


def _records(good: _Good, kind: type[Record]) -> list[Record]:
    return [cast(Record, record) for _, record in good]


def _ensure_annotators(
    session: Session, new: NewImport, names: Sequence[str], at: datetime
) -> dict[str, str]:
    """Users who stand for the annotators of a file; they are inactive, so nobody can be them."""
    labels = {f"{name} (imported)": name for name in names}
    known = session.execute(
        select(User.name, User.id)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.project_id == new.project_id,
            User.name.in_(labels),
            User.is_active.is_(False),
        )
    )
    found = {labels[row[0]]: row[1] for row in known}
    added = {name: new_id("user") for name in names if name not in found}
    if added:
        session.execute(
            insert(User),
            [
                {
                    "id": user_id,
                    "name": f"{name} (imported)",
                    "role": Role.ANNOTATOR,
                    "is_active": False,
                    "import_id": new.id,
                    "created_at": at,
                }
                for name, user_id in added.items()
            ],
        )
        session.execute(
            insert(Membership),
            [
                {"user_id": user_id, "project_id": new.project_id, "role": Role.ANNOTATOR}
                for user_id in added.values()
            ],
        )
    return found | added


_Said = tuple[list[list[str]], str, list[list[Any]]]


def _said(tiers: list[list[str]], verdict: str, rankings: Sequence[dict[str, Any]]) -> _Said:
    """Return what a judgment says, as a whole and by criterion: equal for two that say the same."""
    names = ("criterion", "tiers", "verdict")
    return tiers, verdict, [[one[name] for name in names] for one in rankings]


def _known(session: Session, comparison_ids: Sequence[str]) -> dict[tuple[str, str], _Said]:
    rows = session.execute(
        select(
            Judgment.comparison_id,
            Judgment.user_id,
            Judgment.tiers,
            Judgment.verdict,
            Judgment.rankings,
        )
        .where(Judgment.comparison_id.in_(comparison_ids), Judgment.review_reason.is_(None))
        .order_by(Judgment.revision)
    )
    return {(row[0], row[1]): _said(*row[2:]) for row in rows}


def _rows(
    new: NewImport,
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
        "project_id": new.project_id,
        "comparison_id": comparison_id,
        "user_id": annotator,
        "import_id": new.id,
        "state": SUBMITTED,
        "presented_order": [response_ids[place] for place in record.presented_order],
        "criteria": [{"name": one.criterion, "question": one.question} for one in record.rankings],
        "expires_at": at,
        "created_at": at,
    }
    judgment = {
        "id": new_id("judgment"),
        "project_id": new.project_id,
        "assignment_id": assignment_id,
        "comparison_id": comparison_id,
        "user_id": annotator,
        "import_id": new.id,
        "tiers": [[response_ids[place] for place in tier] for tier in record.tiers],
        "unranked": [response_ids[place] for place in record.unranked],
        "verdict": record.verdict,
        "reasons": [],
        "rankings": [_ranking(one, response_ids) for one in record.rankings],
        "flags": [],
        "body_sha256": "",
        "created_at": at,
    }
    return assignment, judgment


def _ranking(one: CriterionInput, response_ids: Sequence[str]) -> dict[str, Any]:
    """A ranking under one criterion as a judgment keeps it."""
    return {
        "criterion": one.criterion,
        "question": one.question,
        "tiers": [[response_ids[place] for place in tier] for tier in one.tiers],
        "unranked": [response_ids[place] for place in one.unranked],
        "verdict": one.verdict,
        "reasons": [],
    }
