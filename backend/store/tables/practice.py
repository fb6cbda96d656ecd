"""The tables of practice: what is expected of whoever learns to rank, and what was answered.

Answers to practice comparisons are no judgments and stand in no table of those.
`backend.store.data.practice` queries these.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from backend.store.tables.columns import Base


class PracticeComparison(Base):
    """A comparison that is ranked for practice alone, and the ranking that is expected."""

    __tablename__ = "practice_comparisons"
    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"), primary_key=True)
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    # As `judgments.rankings`; of a project without criteria one, whose criterion is "".
    rankings: Mapped[list[Any]]
    explanation: Mapped[str] = mapped_column(Text)
    # What it wanted before: it wants them again when it is practice no more.
    judgments_required: Mapped[int]
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime]


class PracticeAnswer(Base):
    """What somebody answered to a practice comparison in one attempt, and how much agreed."""

    __tablename__ = "practice_answers"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"), primary_key=True)
    rankings: Mapped[list[Any]]
    agreed: Mapped[int]
    pairs: Mapped[int]
    created_at: Mapped[datetime]


class PracticeResult(Base):
    """How far somebody is with the practice of a project; `passed_at` stays once it is set."""

    __tablename__ = "practice_results"
    project_id: Mapped[str] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    attempt: Mapped[int]
    passed_at: Mapped[datetime | None]
