"""The tables of curves: the points of metrics, their levels, what was distributed and scored.

Store modules query these."""

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    String,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Number


class MetricPoint(Base):
    """One value: a run, a name, a step; a replay overwrites, never doubles.

    Whoever writes points holds their run, and their curve has the foreign key: one for each point
    would cost PostgreSQL more than to store it (docs/decisions/0017).
    """

    __tablename__ = "metric_points"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    run_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    value: Mapped[float | None]
    time_s: Mapped[float]  # seconds since the epoch, as the trainer said
    tokens: Mapped[int] = mapped_column(BigInteger, default=0)
    attempt: Mapped[int]  # 0 = from outside, never rewound


class MetricCurve(Base):
    """One metric of one run, and how far its points are summed up in `metric_levels`."""

    __tablename__ = "metric_curves"
    __table_args__ = (UniqueConstraint("run_id", "name"),)
    number: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"))
    name: Mapped[str] = mapped_column(String(100))
    # Points before this step are in the levels; what lies beyond is read from the points.
    sealed_step: Mapped[int] = mapped_column(BigInteger, default=0)


class MetricLevel(Base):
    """A bucket of a curve: `store.metrics.levels` says how many steps each level's buckets have."""

    __tablename__ = "metric_levels"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    curve: Mapped[int] = mapped_column(
        Number, ForeignKey("metric_curves.number"), primary_key=True, autoincrement=False
    )
    level: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    # The first step of the bucket, a multiple of its width.
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    last_step: Mapped[int] = mapped_column(BigInteger)
    n: Mapped[int] = mapped_column(BigInteger)
    n_values: Mapped[int] = mapped_column(BigInteger)  # points whose value is finite
    min: Mapped[float | None]
    max: Mapped[float | None]
    total: Mapped[float | None]
    last: Mapped[float | None]  # the value at last_step
    # What the points have on the other axes.
    time_min: Mapped[float]
    time_max: Mapped[float]
    tokens_min: Mapped[int] = mapped_column(BigInteger)
    tokens_max: Mapped[int] = mapped_column(BigInteger)


class TokenMark(Base):
    """A step at which the tokens that a run had processed grew, and to how many."""

    __tablename__ = "token_marks"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    tokens: Mapped[int] = mapped_column(BigInteger)


class Distribution(Base):
    """How values of one name are spread over a step, or over all steps of a bucket.

    `store.metrics.distributions` says how many steps each level's buckets have; level 0 are steps.
    """

    __tablename__ = "distributions"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    level: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    # The first step of the bucket, a multiple of its width.
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # The newest step that is in it, and where that lies on the other axes.
    last_step: Mapped[int] = mapped_column(BigInteger)
    time_s: Mapped[float]
    tokens: Mapped[int] = mapped_column(BigInteger)
    # Bins and counts: see `domain.curves.histograms`.
    histogram: Mapped[bytes]


class AskedPrompt(Base):
    """A prompt that a run trains on, with the number that `prompt_scores` knows it by."""

    __tablename__ = "asked_prompts"
    __table_args__ = (UniqueConstraint("run_id", "prompt_id"), {"sqlite_with_rowid": False})
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    # From 0 in the order in which the run has asked them first.
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    prompt_id: Mapped[str] = mapped_column(String(64))


class PromptScores(Base):
    """What the responses to each prompt of a step scored."""

    __tablename__ = "prompt_scores"
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    step: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    # Columns by prompt: see `domain.curves.prompt_scores`.
    scores: Mapped[bytes]
