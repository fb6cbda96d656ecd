"""The table of models: base models and the results of runs.

Store modules query these.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Numbered


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
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("models.id"), index=True)
    step: Mapped[int | None]
    archived_at: Mapped[datetime | None]
    # Its files were deleted by `podium prune`; nothing can be made with it any more.
    pruned_at: Mapped[datetime | None]
