"""The table of saved views; `backend.store.saved_views` queries it."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base, Numbered


class SavedView(Numbered, Base):
    """The address of a page under a name, for everybody who reads the project."""

    __tablename__ = "saved_views"
    __table_args__ = (UniqueConstraint("project_id", "page", "name"),)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"))
    page: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(200))
    query: Mapped[str] = mapped_column(Text)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    # Rises with each change: a change names the one that it was made from.
    revision: Mapped[int]
    changed_at: Mapped[datetime]
