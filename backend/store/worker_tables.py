"""The tables of what workers tell of themselves and of how runs ended.

Store modules query these as those of `backend.store.tables`; nobody else imports this file except
the migrations.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.columns import Base, Number, Numbered


class Worker(Numbered, Base):
    """A worker process, its devices and the counter that shows life."""

    __tablename__ = "workers"
    host: Mapped[str] = mapped_column(String(200))
    pid: Mapped[int]
    # Boot, pid namespace and start time: tells a reused pid from the worker that had it.
    process: Mapped[str] = mapped_column(String(200))
    slots: Mapped[int]
    devices: Mapped[list[Any]]
    # What it measured at its last beat: memory and disk, and whether it drains.
    report: Mapped[dict[str, Any]] = mapped_column(default=dict)
    beat: Mapped[int] = mapped_column(BigInteger, default=0)
    beat_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    # Found to be gone by others; it never said so.
    is_lost: Mapped[bool] = mapped_column(default=False)


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
