"""The tables of runs: their rows, events, samples, checkpoints, logs and failures.

Store modules query these; the worker reads the rows that they return.
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
    literal_column,
)
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Number, Numbered, PlainJson, index_where


class Experiment(Numbered, Base):
    """A question, with the runs that answer it and what was concluded."""

    __tablename__ = "experiments"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    question: Mapped[str] = mapped_column(Text, default="", server_default="")
    hypothesis: Mapped[str] = mapped_column(Text, default="", server_default="")
    notes: Mapped[str] = mapped_column(Text, default="")
    conclusion: Mapped[str] = mapped_column(Text, default="", server_default="")
    # Rises with each change: a change names the one that it was made from.
    revision: Mapped[int] = mapped_column(server_default="1")
    changed_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]


class Run(Numbered, Base):
    """One execution. `state` moves only by `store.runs.runs.transition`."""

    __tablename__ = "runs"
    __table_args__ = (
        CheckConstraint(
            "state IN ('queued','running','stopping','paused','succeeded','failed','crashed',"
            "'cancelled')",
            name="state",
        ),
        Index("ix_runs_queue", "state", "priority", "number"),
        Index("ix_runs_verdict", "verdict", "state"),
        # PostgreSQL writes a changed row anew. Where its page has room, no index has to say where
        # it is now: with seven of them, that takes most of the time of a change.
        {"postgresql_with": {"fillfactor": 50}},
    )
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    experiment_id: Mapped[str | None] = mapped_column(ForeignKey("experiments.id"), index=True)
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("runs.id"), index=True)
    # The parent's checkpoint that the run goes on from; None = it begins with its config alone.
    parent_step: Mapped[int | None] = mapped_column(BigInteger)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(String(200))
    # Markdown; no list reads it.
    notes: Mapped[str] = mapped_column(Text, default="", server_default="", deferred=True)
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
    # Last number handed out for run_events; see store.runs.events.
    seq: Mapped[int] = mapped_column(BigInteger, default=0)
    step: Mapped[int] = mapped_column(BigInteger, default=0)
    steps: Mapped[int] = mapped_column(BigInteger, default=0)
    phase: Mapped[str] = mapped_column(String(64), default="")
    eta_s: Mapped[float | None]
    checkpoint_step: Mapped[int | None] = mapped_column(BigInteger)
    environment: Mapped[dict[str, Any]]
    summary: Mapped[dict[str, Any]]
    error: Mapped[dict[str, Any] | None]
    # Of a run that has ended; None = its metrics have not been judged since they changed.
    verdict: Mapped[str | None] = mapped_column(String(16))
    verdict_level: Mapped[str | None] = mapped_column(String(8))
    verdict_sentence: Mapped[str | None] = mapped_column(Text)
    exit_code: Mapped[int | None]
    queued_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    # Its run directory was deleted by `podium prune`, but for pinned checkpoints.
    pruned_at: Mapped[datetime | None]


class RunFact(Base):
    """What a run is found by under a key: `store.runs.table.facts` says which there are."""

    __tablename__ = "run_facts"
    # By run: the keys that some runs have, and what is deleted with one.
    __table_args__ = (
        Index("ix_run_facts_run", "run"),
        {"sqlite_with_rowid": False, "postgresql_with": {"fillfactor": 70}},
    )
    key: Mapped[str] = mapped_column(
        String(200).with_variant(String(200, collation="C"), "postgresql"), primary_key=True
    )
    run: Mapped[int] = mapped_column(
        Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False
    )
    text: Mapped[str | None] = mapped_column(Text().with_variant(Text(collation="C"), "postgresql"))
    number: Mapped[float | None]
    least: Mapped[float | None]
    greatest: Mapped[float | None]


# Most of what is told of a run: numbers, progress and lines that have pages of their own.
FREQUENT = ("metric", "progress", "sample", "log")
_RARE = "type NOT IN ('metric', 'progress', 'sample', 'log')"


class RunEvent(Base):
    """What happened to a run, in commit order; a metric's values are in `metric_points` alone."""

    __tablename__ = "run_events"
    # The starts of attempts and who judged, among everything that was told: see
    # store.differences.environments and store.metrics.verdicts.
    __table_args__ = (
        index_where("ix_run_events_start", "run_id", "seq", where="type = 'start'"),
        index_where("ix_run_events_judged", "run_id", "seq", where="type = 'judged'"),
        # The history that people read: see store.runs.events.
        index_where("ix_run_events_rare", "run_id", "seq", where=_RARE),
    )
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # state, metric, progress, checkpoint, alert, sample, log, rewind, start, judged
    type: Mapped[str] = mapped_column(String(16))
    data: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


# In the words of their indexes, which a value beside the statement would hide from general plans.
IS_START = RunEvent.type == literal_column("'start'")
IS_RARE = RunEvent.type.not_in([literal_column(f"'{one}'") for one in FREQUENT])
IS_JUDGED = RunEvent.type == literal_column("'judged'")


class Sample(Base):
    """A logged prompt and response with scores and arrays per token."""

    __tablename__ = "samples"
    __table_args__ = (
        # Rewinds.
        Index("ix_samples_run_step", "run_id", "step"),
        # Which kinds there are, and the steps and samples of one.
        Index("ix_samples_run_kind_step", "run_id", "kind", "step"),
        # Of several runs beside each other: see store.runs.shared_prompts.
        Index("ix_samples_run_prompt", "run_id", "prompt_id", "step"),
    )
    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"))
    step: Mapped[int] = mapped_column(BigInteger)
    attempt: Mapped[int]
    kind: Mapped[str] = mapped_column(String(16), default="rollout", server_default="rollout")
    # What it is an example of among those of its step.
    chosen_for: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    prompt_id: Mapped[str | None] = mapped_column(String(64))
    prompt: Mapped[str] = mapped_column(Text)
    response: Mapped[str] = mapped_column(Text)
    finish_reason: Mapped[str | None] = mapped_column(String(16))
    scores: Mapped[dict[str, Any]]
    # Whether it passed, why not, and what is known of its prompt.
    checked: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    # Texts and numbers of each token, where they are logged.
    arrays: Mapped[dict[str, Any]]
    # A `TokenIds`; read only where it is asked for.
    token_ids: Mapped[dict[str, Any] | None] = mapped_column(PlainJson, deferred=True)


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


class RunFailure(Base):
    """One end of a run that was failed or crashed, and what was known at that moment."""

    __tablename__ = "run_failures"
    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), index=True)
    attempt: Mapped[int]
    cause: Mapped[str] = mapped_column(String(32))
    message: Mapped[str] = mapped_column(Text)
    advice: Mapped[str] = mapped_column(Text)
    step: Mapped[int] = mapped_column(BigInteger)
    exit_code: Mapped[int | None]
    # [{"stream", "text"}, ...]: the last lines that the trainer printed
    log: Mapped[list[Any]]
    # Bytes and seconds by name: peak_rss_bytes, disk_free_bytes, ...
    resources: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
