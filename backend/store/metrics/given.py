"""Rows that the caller has, as a table inside a statement: one statement asks for all of them.

Used by the metric modules beside this one.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from sqlalchemy import BindParameter, FromClause, bindparam, cast, column, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

Types: TypeAlias = dict[str, TypeEngine[Any]]


def rows(session: Session, types: Types, values: Iterable[Sequence[Any]]) -> FromClause:
    """A table `given` with these columns and values, passed as one parameter of JSON."""
    named = [dict(zip(types, row, strict=True)) for row in values]
    passed: BindParameter[str] = bindparam(None, json.dumps(named))
    if session.get_bind().dialect.name != "sqlite":
        columns = [column(name, kind) for name, kind in types.items()]
        table = func.jsonb_to_recordset(cast(passed, JSONB)).table_valued(*columns, name="given")
        return table.render_derived(with_types=True)
    each = func.json_each(passed).table_valued("value")
    found = [
        func.json_extract(each.c.value, f"$.{name}", type_=kind).label(name)
        for name, kind in types.items()
    ]
    # The limit (none) keeps SQLite from taking the JSON apart for each row that is joined with it.
    return select(*found).limit(-1).subquery("given")
