"""Rows that the caller has, as a table inside a statement: one statement asks for all of them.

Used by the metric modules beside this one.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import orjson
from sqlalchemy import (
    JSON,
    BindParameter,
    ColumnElement,
    FromClause,
    String,
    and_,
    bindparam,
    cast,
    column,
    func,
    select,
    true,
)
from sqlalchemy.orm import InstrumentedAttribute, Session
from sqlalchemy.types import TypeEngine

Types: TypeAlias = dict[str, TypeEngine[Any]]

# Made into Python's rows in one call, for whose length no other thread computes: 2 ms.
ROWS_AT_ONCE = 2000


def is_sqlite(session: Session) -> bool:
    """Which of the two ways to say it the session's database understands."""
    return session.get_bind().dialect.name == "sqlite"


def rows(session: Session, types: Types, values: Iterable[Sequence[Any]]) -> FromClause:
    """A table `given` with these columns and values, passed as one parameter of JSON."""
    return _table(types, bindparam(None, json_of(types, values)), sqlite=is_sqlite(session))


def table(types: Types, *, sqlite: bool) -> FromClause:
    """The same for a statement that is built once; its parameter is `given`, made by `json_of`."""
    return _table(types, bindparam("given", type_=String()), sqlite=sqlite)


def json_of(types: Types, values: Iterable[Sequence[Any]]) -> str:
    """Rows with the columns of `types`."""
    return orjson.dumps([dict(zip(types, row, strict=True)) for row in values]).decode()


def _table(types: Types, passed: BindParameter[str], *, sqlite: bool) -> FromClause:
    if not sqlite:
        columns = [column(name, kind) for name, kind in types.items()]
        recordset = func.json_to_recordset(cast(passed, JSON))
        return recordset.table_valued(*columns, name="given").render_derived(with_types=True)
    each = func.json_each(passed).table_valued("value")
    found = [
        func.json_extract(each.c.value, f"$.{name}", type_=kind).label(name)
        for name, kind in types.items()
    ]
    # The limit (none) keeps SQLite from taking the JSON apart for each row that is joined with it.
    return select(*found).limit(-1).subquery("given")


def search(
    session: Session,
    asked: FromClause,
    whose: Sequence[ColumnElement[Any]],
    columns: Sequence[InstrumentedAttribute[Any]],
    inside: Sequence[ColumnElement[bool]],
) -> list[tuple[Any, ...]]:
    """`whose` of a row that asks, and columns of a table's rows inside it; in no order."""
    if is_sqlite(session):
        found = select(*whose, *columns).select_from(asked.join(columns[0].class_, and_(*inside)))
    else:
        # The offset (none) keeps PostgreSQL to one row that asks after the other; it would join
        # them with all rows of the table, of which it thinks there are few.
        each = select(*columns).where(*inside).offset(0).lateral("each")
        found = select(*whose, *each.c).select_from(asked.join(each, true()))
    # Not by the ORM, which takes as long for ten thousand rows as the database does.
    parts = session.connection().execute(found).partitions(ROWS_AT_ONCE)
    return [tuple(row) for part in parts for row in part]
