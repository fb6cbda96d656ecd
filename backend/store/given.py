"""Rows that the caller has, as a table inside a statement: one statement asks for all of them.

Used by the modules of metrics, and where much changes at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

import orjson
from sqlalchemy import (
    ColumnElement,
    FromClause,
    Insert,
    String,
    TextualSelect,
    and_,
    bindparam,
    insert,
    select,
    text,
    true,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.types import TypeEngine

from backend.store import dialect
from backend.store.tables.columns import Base

T = TypeVar("T")
Types: TypeAlias = dict[str, TypeEngine[Any]]

# Made into Python's rows in one call, for whose length no other thread computes: 2 ms.
ROWS_AT_ONCE = 2000


def rows(session: Session, types: Types, values: Iterable[Sequence[Any]]) -> FromClause:
    """A table `given` with these columns and values, passed as one parameter of JSON."""
    passed = bindparam("given", json_of(types, values), String(), unique=True)
    return (
        _statement(_kinds(types), dialect.is_sqlite(session)).bindparams(passed).subquery("given")
    )


def is_among(
    session: Session, column: InstrumentedAttribute[T], values: Iterable[T]
) -> ColumnElement[bool]:
    """Whether a column has one of these values; a parameter for each takes longer to send."""
    own: Types = {column.key: column.type}
    asked = rows(session, own, [[one] for one in values])
    return column.in_(select(asked.c[column.key]))


def table(types: Types, *, sqlite: bool) -> FromClause:
    """The same for a statement that is built once; its parameter is `given`, made by `json_of`."""
    return _statement(_kinds(types), sqlite).subquery("given")


def json_of(types: Types, values: Iterable[Sequence[Any]]) -> str:
    """Rows with the columns of `types`."""
    return orjson.dumps([dict(zip(types, row, strict=True)) for row in values]).decode()


def _kinds(types: Types) -> tuple[tuple[str, type[TypeEngine[Any]]], ...]:
    return tuple((name, type(kind)) for name, kind in types.items())


@cache
def _statement(kinds: tuple[tuple[str, type[TypeEngine[Any]]], ...], sqlite: bool) -> TextualSelect:
    """Write the statement as text: built of SQLAlchemy it takes a tenth of the time of a chart."""
    if sqlite:
        columns = ", ".join(f"json_extract(value, '$.{name}') AS \"{name}\"" for name, _ in kinds)
        # The limit (none) keeps SQLite from taking the JSON apart for each row joined with it.
        said = f"SELECT {columns} FROM json_each(:given) LIMIT -1"
    else:
        columns = ", ".join(f'"{name}" {kind().compile()}' for name, kind in kinds)
        said = f"SELECT * FROM json_to_recordset(CAST(:given AS JSON)) AS given({columns})"
    return text(said).columns(**{name: kind() for name, kind in kinds})


def search(
    session: Session,
    asked: FromClause,
    whose: Sequence[ColumnElement[Any]],
    columns: Sequence[InstrumentedAttribute[Any]],
    inside: Sequence[ColumnElement[bool]],
) -> list[tuple[Any, ...]]:
    """Find rows of a table for each row that asks: its `whose`, then their columns; in no order."""
    if dialect.is_sqlite(session):
        found = select(*whose, *columns).select_from(asked.join(columns[0].class_, and_(*inside)))
    else:
        # The offset (none) keeps PostgreSQL to one row that asks after the other; it would join
        # them with all rows of the table, of which it thinks there are few.
        each = select(*columns).where(*inside).offset(0).lateral("each")
        found = select(*whose, *each.c).select_from(asked.join(each, true()))
    # Not by the ORM, which takes as long for ten thousand rows as the database does.
    parts = session.connection().execute(found).partitions(ROWS_AT_ONCE)
    return [tuple(row) for part in parts for row in part]


def insert_all(session: Session, table: type[Base], values: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows that all have the same columns; none of JSON without a value.

    PostgreSQL takes many rows one by one, each with its parameters, unless they come in one.
    """
    connection = session.connection()
    if dialect.is_sqlite(session) or len(values) < 2:
        connection.execute(insert(table), values)
    else:
        passed = {"given": orjson.dumps(values).decode()}
        connection.execute(_inserting(table, tuple(values[0])), passed)


@cache
def _inserting(table: type[Base], names: tuple[str, ...]) -> Insert:
    """Insert what PostgreSQL reads from JSON; columns that are not named get their defaults."""
    columns = [table.__table__.columns[name] for name in names]
    own = postgresql.dialect()  # type: ignore[no-untyped-call]
    said = ", ".join(f'"{one.name}" {one.type.compile(own)}' for one in columns)
    rows = text(f"SELECT * FROM json_to_recordset(CAST(:given AS JSON)) AS given({said})")
    found = rows.columns(**{one.name: one.type for one in columns}).subquery("given")
    return insert(table).from_select(names, select(*found.c))
