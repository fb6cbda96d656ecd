"""The table of jobs: what runs in processes beside the API, how far it is, and what came of it.

`backend.store.jobs` queries it.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Numbered


class Job(Numbered, Base):
    """One job; the row decides: who finds it ended may not conclude it."""

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_kind_cache_key", "kind", "cache_key"),)
    kind: Mapped[str] = mapped_column(String(32))
    project_id: Mapped[str | None] = mapped_column(ForeignKey("projects.id"))
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    state: Mapped[str] = mapped_column(String(16))
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    total: Mapped[int | None] = mapped_column(BigInteger)
    result: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    # What the child found, and all that this depends on: equal questions are answered with it.
    found: Mapped[dict[str, Any] | None]
    cache_key: Mapped[str | None] = mapped_column(String(200))
    # The API process that does it, and a counter that rises as long as that process lives.
    owner: Mapped[str] = mapped_column(String(64))
    beat: Mapped[int] = mapped_column(BigInteger, default=0)
    finished_at: Mapped[datetime | None]
