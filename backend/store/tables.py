"""The tables of the store: columns, keys and constraints, nothing else.

Store modules query these; nobody else imports this file except the migrations. `number` is the
order of creation (no order depends on clocks), `id` the public name that foreign keys point to.
Times are aware UTC and always passed as parameters. Relationships are not declared: queries say
what they join.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.columns import Base, Number, Numbered


class User(Numbered, Base):
    """A person or a program with a role."""

    __tablename__ = "users"
    name: Mapped[str] = mapped_column(String(200))
    email: Mapped[str | None] = mapped_column(String(320), unique=True)
    role: Mapped[str] = mapped_column(String(16))
    password_hash: Mapped[str | None] = mapped_column(String(300))
    is_active: Mapped[bool] = mapped_column(default=True)


class Membership(Base):
    """Which projects a user who is no administrator may see."""

    __tablename__ = "memberships"
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)


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
    archived_at: Mapped[datetime | None]


class SnapshotLine(Base):
    """One line of a snapshot's native file, without its newline."""

    __tablename__ = "snapshot_lines"
    snapshot_id: Mapped[str] = mapped_column(ForeignKey("snapshots.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    split: Mapped[str] = mapped_column(String(8))
    line: Mapped[str] = mapped_column(Text)


class Model(Numbered, Base):
    """A base model or the result of a run."""

    __tablename__ = "models"
    project_id: Mapped[str | None] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    kind: Mapped[str] = mapped_column(String(16))
    source: Mapped[dict[str, Any]]  # {"path"} | {"hub_id"} | {"artifact": key}
    facts: Mapped[dict[str, Any]]
    sha256: Mapped[str | None] = mapped_column(String(64))
    run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"), index=True)
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("models.id"))
    step: Mapped[int | None]
    archived_at: Mapped[datetime | None]
    # Its files were deleted by `podium prune`; nothing can be made with it any more.
    pruned_at: Mapped[datetime | None]


class Experiment(Numbered, Base):
    """A question; a named group of runs."""

    __tablename__ = "experiments"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text, default="")


class Run(Numbered, Base):
    """One execution. `state` moves only by `store.runs.transition`."""

    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint(
            "state IN ('queued','running','stopping','paused','succeeded','failed','crashed',"
            "'cancelled')",
            name="state",
        ),
        Index("ix_runs_queue", "state", "priority", "number"),
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    experiment_id: Mapped[str | None] = mapped_column(ForeignKey("experiments.id"), index=True)
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"), index=True)
    # The parent's checkpoint that the run goes on from; None = it begins with its config alone.
    parent_step: Mapped[int | None] = mapped_column(BigInteger)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(String(200))
    method: Mapped[str] = mapped_column(String(32))
    config: Mapped[dict[str, Any]]
    schema_version: Mapped[int]
    tags: Mapped[list[str]]
    priority: Mapped[int] = mapped_column(default=0)
    gpus: Mapped[int] = mapped_column(default=0)
    state: Mapped[str] = mapped_column(String(16))
    stop_reason: Mapped[str | None] = mapped_column(String(16))
    # Supervision: who owns the run, which try this is, and the counter that shows life.
    owner: Mapped[str | None] = mapped_column(String(64))
    attempt: Mapped[int] = mapped_column(default=0)
    beat: Mapped[int] = mapped_column(BigInteger, default=0)
    crashes: Mapped[int] = mapped_column(default=0)
    from_start: Mapped[bool] = mapped_column(default=False)
    # How far the run's events are stored, and in which file of which machine that counts.
    relayed_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    events_token: Mapped[str | None] = mapped_column(String(32))
    # Last number handed out for run_events; see store.run_events.
    seq: Mapped[int] = mapped_column(BigInteger, default=0)
    step: Mapped[int] = mapped_column(BigInteger, default=0)
    steps: Mapped[int] = mapped_column(BigInteger, default=0)
    phase: Mapped[str] = mapped_column(String(64), default="")
    eta_s: Mapped[float | None]
    checkpoint_step: Mapped[int | None] = mapped_column(BigInteger)
    environment: Mapped[dict[str, Any]]
    summary: Mapped[dict[str, Any]]
    error: Mapped[dict[str, Any] | None]
    exit_code: Mapped[int | None]
    queued_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    # Its run directory was deleted by `podium prune`, but for pinned checkpoints.
    pruned_at: Mapped[datetime | None]


class RunEvent(Base):
    """What happened to a run, in commit order; the live stream reads this table alone."""

    __tablename__ = "run_events"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # state, metric, progress, checkpoint, alert, sample, log, rewind, start
    type: Mapped[str] = mapped_column(String(16))
    data: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class MetricPoint(Base):
    """One value: a run, a name, a step; a replay overwrites, never doubles."""

    __tablename__ = "metric_points"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    value: Mapped[float | None]
    time_s: Mapped[float]  # seconds since the epoch, as the trainer said
    tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    attempt: Mapped[int]  # 0 = from outside, never rewound


class MetricBucket(Base):
    """Sixty-four steps of a curve in one row, so that a long curve is drawn from few rows."""

    __tablename__ = "metric_buckets"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    # The first step of the bucket; its points have steps from here to 63 further.
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    last_step: Mapped[int] = mapped_column(BigInteger)
    n: Mapped[int]
    n_values: Mapped[int]  # points whose value is not null
    min: Mapped[float | None]
    max: Mapped[float | None]
    total: Mapped[float | None]


class Sample(Base):
    """A logged prompt and response with scores and arrays per token."""

    __tablename__ = "samples"
    __table_args__ = (Index("ix_samples_run_step", "run_id", "step"),)
    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"))
    step: Mapped[int] = mapped_column(BigInteger)
    attempt: Mapped[int]
    prompt_id: Mapped[str | None] = mapped_column(String(64))
    prompt: Mapped[str] = mapped_column(Text)
    response: Mapped[str] = mapped_column(Text)
    finish_reason: Mapped[str | None] = mapped_column(String(16))
    scores: Mapped[dict[str, Any]]
    arrays: Mapped[dict[str, Any]]  # tokens, logp, kl, advantage where logged


class Checkpoint(Base):
    """A checkpoint a run has written."""

    __tablename__ = "checkpoints"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    attempt: Mapped[int]
    path: Mapped[str] = mapped_column(String(400))
    is_best: Mapped[bool] = mapped_column(default=False)
    # Kept until somebody unpins it, whatever max_checkpoints says.
    is_pinned: Mapped[bool] = mapped_column(default=False)
    artifact: Mapped[str | None] = mapped_column(String(400))
    created_at: Mapped[datetime]


class Artifact(Base):
    """A file a run has left in the artifact store."""

    __tablename__ = "artifacts"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    path: Mapped[str] = mapped_column(String(400), primary_key=True)
    key: Mapped[str] = mapped_column(String(400))
    sha256: Mapped[str] = mapped_column(String(64))
    size_bytes: Mapped[int] = mapped_column(BigInteger)


class LogLine(Base):
    """A line the trainer printed, bounded per run."""

    __tablename__ = "log_lines"
    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    attempt: Mapped[int]
    stream: Mapped[str] = mapped_column(String(8))  # stdout, stderr
    text: Mapped[str] = mapped_column(Text)


class AuditEntry(Base):
    """Who did what to which object, in which request."""

    __tablename__ = "audit"
    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    user_id: Mapped[str | None] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(64))
    object_id: Mapped[str] = mapped_column(String(64), index=True)
    data: Mapped[dict[str, Any]]
    request_id: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime]
