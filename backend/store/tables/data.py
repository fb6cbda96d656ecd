"""The tables of a project's data: from prompts to judgments and the snapshots made of them.

Store modules query these.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Numbered


class Project(Numbered, Base):
    """People, prompts and guidelines that belong together."""

    __tablename__ = "projects"
    name: Mapped[str] = mapped_column(String(200))
    guidelines: Mapped[str] = mapped_column(Text, default="")
    judgments_per_comparison: Mapped[int] = mapped_column(default=1)
    archived_at: Mapped[datetime | None]


class Import(Numbered, Base):
    """One import request and what became of each line."""

    __tablename__ = "imports"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    kind: Mapped[str] = mapped_column(String(32))
    format: Mapped[str] = mapped_column(String(32))
    accepted: Mapped[int]
    duplicates: Mapped[int]
    rejected: Mapped[list[Any]]


class Prompt(Numbered, Base):
    """A conversation up to the point where a response is wanted."""

    __tablename__ = "prompts"
    __table_args__ = (UniqueConstraint("project_id", "content_sha256"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    external_id: Mapped[str | None] = mapped_column(String(200))
    messages: Mapped[list[Any]]
    reference: Mapped[str | None] = mapped_column(Text)
    tags: Mapped[list[str]]
    content_sha256: Mapped[str] = mapped_column(String(64))


class Demonstration(Numbered, Base):
    """A response a person wrote, for supervised fine-tuning."""

    __tablename__ = "demonstrations"
    __table_args__ = (UniqueConstraint("prompt_id", "content_sha256"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.id"))
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id"))
    content: Mapped[str] = mapped_column(Text)
    content_sha256: Mapped[str] = mapped_column(String(64))


class Solution(Numbered, Base):
    """A response in steps, each with a label, for process reward models."""

    __tablename__ = "solutions"
    __table_args__ = (UniqueConstraint("prompt_id", "content_sha256"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.id"))
    user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id"))
    steps: Mapped[list[Any]]  # [{"content", "label"}, ...]
    is_finished: Mapped[bool]
    content_sha256: Mapped[str] = mapped_column(String(64))


class Response(Numbered, Base):
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


class Comparison(Numbered, Base):
    """A prompt with K responses to be ranked, 2 <= K <= 9."""

    __tablename__ = "comparisons"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.id"), index=True)
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"))
    response_ids: Mapped[list[str]]
    judgments_required: Mapped[int] = mapped_column(default=1)
    content_sha256: Mapped[str | None] = mapped_column(String(64))


class Assignment(Numbered, Base):
    """One annotator's lease on a comparison."""

    __tablename__ = "assignments"
    __table_args__ = (UniqueConstraint("comparison_id", "user_id"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"))
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    state: Mapped[str] = mapped_column(String(16))  # leased, submitted, skipped
    presented_order: Mapped[list[str]]
    expires_at: Mapped[datetime]
    skip_reason: Mapped[str | None] = mapped_column(String(200))


class Judgment(Numbered, Base):
    """One annotator's ranking of a comparison; a later revision replaces an earlier one."""

    __tablename__ = "judgments"
    __table_args__ = (UniqueConstraint("assignment_id", "revision"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignments.id"))
    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    revision: Mapped[int] = mapped_column(default=1)
    tiers: Mapped[list[Any]]
    unranked: Mapped[list[str]]
    verdict: Mapped[str] = mapped_column(String(16))
    reasons: Mapped[list[str]]
    flags: Mapped[list[str]]
    comment: Mapped[str] = mapped_column(Text, default="")
    active_ms: Mapped[int | None]
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
    counts: Mapped[dict[str, Any]]
    # The job that still writes its lines; None = complete, and visible.
    job_id: Mapped[str | None] = mapped_column(String(64))
    archived_at: Mapped[datetime | None]


class SnapshotLine(Base):
    """One line of a snapshot's native file, without its newline."""

    __tablename__ = "snapshot_lines"
    snapshot_id: Mapped[str] = mapped_column(ForeignKey("snapshots.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    split: Mapped[str] = mapped_column(String(8))
    line: Mapped[str] = mapped_column(Text)
