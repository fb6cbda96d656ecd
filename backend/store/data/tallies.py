"""Sums of a project's comparisons, kept beside them so that nobody counts a hundred thousand rows.

Whoever adds or judges comparisons adds to them in the same transaction; the annotators' progress
reads them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Executable, FromClause, func, literal_column, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from backend.store import built, dialect
from backend.store.built import once
from backend.store.tables.data import ProjectTally

_SUMS = ("comparisons", "wanted", "judged", "finished")
_NO_PLACES: ColumnElement[Any] = literal_column("'{}'::jsonb")


def add(session: Session, project_id: str, user_id: str = "", **more: int) -> None:
    """Add to a project's sums: `comparisons`, `wanted`, `judged` (with who judged), `finished`.

    Nobody who has added to a row waits for what is held by another who adds to it, too: whoever
    judges or notes a place holds the project before, at least as foreign keys do, and whoever makes
    comparisons holds none of others.
    """
    sums = {**dict.fromkeys(_SUMS, 0), **more}
    row = {"project_id": project_id, "user_id": user_id, "passed_up_to": {}, **sums}
    is_sqlite = dialect.is_sqlite(session)
    built.changed(session, _growing(tuple(more), is_sqlite=is_sqlite), row)


@once
def _growing(names: tuple[str, ...], *, is_sqlite: bool) -> Executable:
    """A row is new, or these of its sums grow; built once, as every judgment adds to one."""
    growing: Executable = _or_grown(
        (sqlite if is_sqlite else postgresql).insert(ProjectTally), names
    )
    return growing


def growing_for(who: FromClause, more: Mapping[str, ColumnElement[int]]) -> postgresql.Insert:
    """`_growing` as part of a larger PostgreSQL statement; rows of `who` say whose sums grow."""
    sums = {**dict.fromkeys(_SUMS, literal_column("0")), **more, "passed_up_to": _NO_PLACES}
    row = select(who.c.project_id, who.c.user_id, *sums.values())
    names = ["project_id", "user_id", *sums]
    new = postgresql.insert(ProjectTally).from_select(names, row)
    growing: postgresql.Insert = _or_grown(new, tuple(more))
    return growing


def _or_grown(new: Any, names: Sequence[str]) -> Any:
    grown = {name: getattr(ProjectTally, name) + new.excluded[name] for name in names}
    keys = [ProjectTally.project_id, ProjectTally.user_id]
    return new.on_conflict_do_update(index_elements=keys, set_=grown)


def of_project(session: Session, project_id: str) -> dict[str, int]:
    """The sums of a project by name."""
    sums = [func.coalesce(func.sum(getattr(ProjectTally, name)), 0) for name in _SUMS]
    row = session.execute(select(*sums).where(ProjectTally.project_id == project_id)).one()
    # PostgreSQL sums integers to decimals.
    return {name: int(value) for name, value in zip(_SUMS, row, strict=True)}


def judged_by(session: Session, project_id: str, user_id: str) -> int:
    """How many comparisons of a project an annotator has judged."""
    row = session.get(ProjectTally, (project_id, user_id))
    return 0 if row is None else row.judged
