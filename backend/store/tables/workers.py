"""The table of what workers report about themselves.

`backend.store.workers` queries it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Numbered


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
