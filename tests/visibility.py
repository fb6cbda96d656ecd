"""Every SELECT that a test sends to PostgreSQL leaves out the records of unfinished imports.

Loaded by `tests/conftest.py`, so that each query of the store is looked at in the tests that it has
anyway. On SQLite the same queries are restricted only while an import is unfinished.
"""

import re
from functools import lru_cache
from typing import Any

from sqlalchemy import Engine, event

TABLES = (
    "prompts", "demonstrations", "solutions", "responses", "comparisons", "assignments",
    "judgments", "users",
)  # fmt: skip
_FROM = re.compile(rf"(?:\bFROM|\bJOIN|,)\s+({'|'.join(TABLES)})\b(?!\.)(?:\s+AS\s+(\w+))?")
# The columns of rows that are inserted are left out: some are called as another table is.
_COLUMNS = re.compile(r"INSERT INTO \w+ \([\w, ]+\)")
# What is locked is named a second time.
_LOCKED = re.compile(r"\bOF [\w, ]+$")
# What is loaded again by its number was seen before.
_AGAIN = re.compile(r"FROM (\w+)\s+WHERE \1\.number = %\(\w+\)s(?:::\w+)?(?: FOR UPDATE)?\s*$")


@lru_cache(10_000)
def unrestricted(statement: str) -> frozenset[str]:
    """The tables, by the names they have in it, whose unfinished records a SELECT would see."""
    if not statement.lstrip().startswith(("SELECT", "WITH")) or _AGAIN.search(statement):
        return frozenset()
    read = _LOCKED.sub("", _COLUMNS.sub("", statement))
    names = [alias or table for table, alias in _FROM.findall(read)]
    return frozenset(
        name
        for name in names
        if statement.count(f"{name}.import_id IS NULL OR") < names.count(name)
    )


def watch() -> None:
    """Fail each query of a session that sees too much, from now on."""

    @event.listens_for(Engine, "before_cursor_execute")
    def _look(
        connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, *more: Any
    ) -> None:
        if connection.dialect.name != "postgresql" or _may_see(context):
            return
        found = unrestricted(statement)
        assert not found, f"unfinished imports are seen in {sorted(found)}: {statement}"


def _may_see(context: Any) -> bool:
    """Whether a statement is sent as text, or of a session that sees all.

    What `backend.store.built` sends has no context, and no such session.
    """
    if context is None:
        return False
    return not context.compiled or bool(
        context.execution_options.get("podium_sees_unfinished_imports")
    )
