"""The tables of a project's data: from prompts to judgments and the snapshots made of them.

Store modules query these.
"""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from backend.schemas.projects.project import CANNOT_JUDGE_REASONS
from backend.store.tables.columns import (
    Base,
    FromImport,
    Number,
    Numbered,
    PlainJson,
    index_where,
)


class Project(Numbered, Base):
    """People, prompts and guidelines that belong together."""

    __tablename__ = "projects"
    name: Mapped[str] = mapped_column(String(200))
    guidelines: Mapped[str] = mapped_column(Text, default="")
    # Of `guideline_versions`; 0 before anybody wrote guidelines.
    guidelines_version: Mapped[int] = mapped_column(default=0, server_default="0")
    judgments_per_comparison: Mapped[int] = mapped_column(default=1)
    # Which new comparisons get a second judgment: the first of the project, a share of the rest.
    overlap_first: Mapped[int] = mapped_column(default=0, server_default="0")
    overlap_share: Mapped[float] = mapped_column(default=0.0, server_default="0")
    cannot_judge_reasons: Mapped[list[str]] = mapped_column(
        server_default=json.dumps(CANNOT_JUDGE_REASONS)
    )
    criteria: Mapped[list[Any]] = mapped_column(server_default="[]")  # [{"name", "question"}, ...]
    # Share of the pairs of its practice comparisons that an annotator has to agree on.
    practice_bar: Mapped[float] = mapped_column(default=0.8, server_default="0.8")
    # How often it was changed, from 1: a change says which revision it was made from.
    revision: Mapped[int] = mapped_column(default=1, server_default="1")
    archived_at: Mapped[datetime | None]


class GuidelineVersion(Base):
    """The guidelines of a project as they were written once; `projects.guidelines` is the last."""

    __tablename__ = "guideline_versions"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    guidelines: Mapped[str] = mapped_column(Text)
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime]


class GuidelineAcknowledgement(Base):
    """Which version of a project's guidelines a person has read, and when."""

    __tablename__ = "guideline_acknowledgements"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    acknowledged_at: Mapped[datetime]


class Import(Numbered, Base):
    """One import request and what became of each line.

    `state`: writing and failed imports are seen by nobody, nor are their records; `complete` is the
    end. `beat` rises while somebody works on it. `begins` holds the highest number of each table
    when it began: whatever it brought has a higher one.
    """

    __tablename__ = "imports"
    __table_args__ = (Index("ix_imports_state", "state"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    kind: Mapped[str] = mapped_column(String(32))
    format: Mapped[str] = mapped_column(String(32))
    accepted: Mapped[int]
    duplicates: Mapped[int]
    rejected: Mapped[list[Any]]
    state: Mapped[str] = mapped_column(String(16), server_default="complete")
    beat: Mapped[int] = mapped_column(BigInteger, server_default="0")
    begins: Mapped[dict[str, Any]] = mapped_column(server_default="{}")


class Prompt(FromImport, Numbered, Base):
    """A conversation up to the point where a response is wanted."""

    __tablename__ = "prompts"
    __table_args__ = (
        UniqueConstraint("project_id", "content_sha256"),
        # The pages of a list, and the one with the name that its owner gave it.
        Index("ix_prompts_project_number", "project_id", "number"),
        Index("ix_prompts_external", "project_id", "external_id"),
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    external_id: Mapped[str | None] = mapped_column(String(200))
    messages: Mapped[list[Any]]
    reference: Mapped[str | None] = mapped_column(Text)
    tags: Mapped[list[str]]
    # SQLAlchemy keeps the attribute `metadata` for itself.
    more: Mapped[dict[str, Any]] = mapped_column("metadata", default=dict, server_default="{}")
    content_sha256: Mapped[str] = mapped_column(String(64))


class Demonstration(FromImport, Numbered, Base):
    """A response a person wrote, for supervised fine-tuning."""

    __tablename__ = "demonstrations"
    __table_args__ = (UniqueConstraint("prompt_id", "content_sha256"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.id"))
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id"))
    content: Mapped[str] = mapped_column(Text)
    content_sha256: Mapped[str] = mapped_column(String(64))


class Solution(FromImport, Numbered, Base):
    """A response in steps, each with a label, for process reward models."""

    __tablename__ = "solutions"
    __table_args__ = (UniqueConstraint("prompt_id", "content_sha256"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.id"))
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id"))
    steps: Mapped[list[Any]]  # [{"content", "label"}, ...]
    is_finished: Mapped[bool]
    content_sha256: Mapped[str] = mapped_column(String(64))


class Response(FromImport, Numbered, Base):
    """What a model or a person answered to a prompt."""

    __tablename__ = "responses"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.id"), index=True)
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"), index=True)
    model_id: Mapped[str | None] = mapped_column(ForeignKey("models.id"))
    source: Mapped[str] = mapped_column(String(200), default="import")
    index: Mapped[int] = mapped_column(default=0)
    content: Mapped[str] = mapped_column(Text)
    content_sha256: Mapped[str] = mapped_column(String(64))
    finish_reason: Mapped[str | None] = mapped_column(String(16))
    n_tokens: Mapped[int | None]
    logp_sum: Mapped[float | None]
    scores: Mapped[dict[str, Any]]
    # A `TokenIds` where a model has sampled it; read only where it is asked for.
    token_ids: Mapped[dict[str, Any] | None] = mapped_column(PlainJson, deferred=True)


class Comparison(FromImport, Numbered, Base):
    """A prompt with K responses to be ranked, 2 <= K <= 9."""

    __tablename__ = "comparisons"
    __table_args__ = (
        # In the order in which annotators get those that still want judgments.
        index_where(
            "ix_comparisons_open",
            "project_id",
            "judged",
            "number",
            where="judged < judgments_required",
        ),
        # Those that wait for their second judgment; see store.data.candidates.
        index_where(
            "ix_comparisons_begun", "project_id", "number", where="is_overlap AND judged = 1"
        ),
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.id"), index=True)
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"), index=True)
    response_ids: Mapped[list[str]]
    judgments_required: Mapped[int] = mapped_column(default=1)
    # How many annotators have judged it: its assignments in state `submitted`.
    judged: Mapped[int] = mapped_column(default=0)
    # Its second judgment is its project's overlap, and comes before the first of later ones.
    is_overlap: Mapped[bool] = mapped_column(default=False, server_default=false())
    content_sha256: Mapped[str | None] = mapped_column(String(64))


class Assignment(FromImport, Numbered, Base):
    """One annotator's lease on a comparison."""

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("comparison_id", "user_id"),
        index_where(
            "ix_assignments_leased",
            "project_id",
            "comparison_id",
            "expires_at",
            where="state = 'leased'",
        ),
        index_where(
            "ix_assignments_leased_user",
            "user_id",
            "project_id",
            "expires_at",
            where="state = 'leased'",
        ),
        index_where(
            "ix_assignments_passed",
            "user_id",
            "project_id",
            "passed",
            where="passed IS NOT NULL",
        ),
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"))
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    state: Mapped[str] = mapped_column(String(16))  # leased, submitted, skipped, late
    presented_order: Mapped[list[str]]
    # Those of the project when the lease was granted: what a judgment has to answer.
    criteria: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")
    expires_at: Mapped[datetime]
    granted_at: Mapped[datetime | None]  # The lease; renewing it changes only expires_at.
    is_offline: Mapped[bool] = mapped_column(default=False, server_default=false())
    skip_reason: Mapped[str | None] = mapped_column(String(200))
    # The number of its comparison, if that still wants judgments, but this annotator has judged or
    # skipped it, or judged it too late; else null.
    passed: Mapped[int | None] = mapped_column(Number)


class ProjectTally(Base):
    """Sums of a project's comparisons, in as many rows as people add to them.

    One row for each annotator, and one for everything else, whose user_id is empty: two people who
    judge at the same moment never wait for each other's row.
    """

    __tablename__ = "project_tallies"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    comparisons: Mapped[int] = mapped_column(BigInteger, default=0)
    wanted: Mapped[int] = mapped_column(BigInteger, default=0)  # judgments required
    judged: Mapped[int] = mapped_column(BigInteger, default=0)  # comparisons judged, by annotator
    finished: Mapped[int] = mapped_column(BigInteger, default=0)  # comparisons that want no more
    # Numbers of comparisons by judgments; see store.data.places.
    passed_up_to: Mapped[dict[str, Any]] = mapped_column(default=dict)


class Judgment(FromImport, Numbered, Base):
    """One annotator's ranking of a comparison; a later revision replaces an earlier one.

    Those with a `review_reason` are extra judgments with revisions of their own: kept, but outside
    of quota, progress, agreement and snapshots.
    """

    __tablename__ = "judgments"
    __table_args__ = (
        index_where(
            "ix_judgments_counted",
            "assignment_id",
            "revision",
            where="review_reason IS NULL",
            unique=True,
        ),
        index_where(
            "ix_judgments_review",
            "assignment_id",
            "revision",
            where="review_reason IS NOT NULL",
            unique=True,
        ),
        index_where(
            "ix_judgments_review_project",
            "project_id",
            "number",
            where="review_reason IS NOT NULL",
        ),
        Index("ix_judgments_user", "user_id", "project_id", "created_at"),
        # The pages of one person's list.
        Index("ix_judgments_user_number", "user_id", "project_id", "number"),
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    # SQLite looks for the judgments of every assignment that an upsert with RETURNING stores.
    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id"), index=True)
    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    revision: Mapped[int] = mapped_column(default=1)
    tiers: Mapped[list[Any]]
    unranked: Mapped[list[str]]
    verdict: Mapped[str] = mapped_column(String(16))
    reasons: Mapped[list[str]]
    # One for each criterion that it was given under; the columns above have the first one's.
    rankings: Mapped[list[Any]] = mapped_column(default=list, server_default="[]")
    flags: Mapped[list[str]]
    comment: Mapped[str] = mapped_column(Text, default="")
    active_ms: Mapped[int | None]
    review_reason: Mapped[str | None] = mapped_column(String(16))
    body_sha256: Mapped[str] = mapped_column(String(64))


class Snapshot(Numbered, Base):
    """Frozen records; sha256 is that of the native file, byte by byte."""

    __tablename__ = "snapshots"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(16))
    sha256: Mapped[str] = mapped_column(String(64))
    heldout_fraction: Mapped[float]
    seed: Mapped[int] = mapped_column(BigInteger)
    filter: Mapped[dict[str, Any]]
    aggregation: Mapped[str] = mapped_column(String(32), default="none", server_default="none")
    criterion: Mapped[str] = mapped_column(String(40), default="", server_default="")
    counts: Mapped[dict[str, Any]]
    # The job that still writes its lines; None = complete, and visible.
    job_id: Mapped[str | None] = mapped_column(String(64))
    archived_at: Mapped[datetime | None]

    def count(self, what: str, split: str = "all") -> int:
        """How many records, prompts, pairs or ties a split holds, or all of them together."""
        parts = self.counts.values() if split == "all" else [self.counts.get(split, {})]
        return sum(part.get(what, 0) for part in parts)


class SnapshotLine(Base):
    """One line of a snapshot's native file, without its newline."""

    __tablename__ = "snapshot_lines"
    snapshot_id: Mapped[str] = mapped_column(ForeignKey("snapshots.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    split: Mapped[str] = mapped_column(String(8))
    line: Mapped[str] = mapped_column(Text)
