"""Statements that a process of tests compiles once, for all its databases.

SQLAlchemy keeps what it has compiled with an engine. The service has one engine; the tests have one
each, and compiling the same statements again for every test was a quarter of the work of a test of
the API. Databases of one kind are all alike here, so that they can share what was compiled.
"""

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

from backend.store import db

_MOST_STATEMENTS = 5000
_shared: dict[type, LRUCache[Any, Any]] = {}


def share() -> None:
    """From now on `Database` makes engines that share what they compile."""
    create = db.create_engine

    def create_and_share(*arguments: Any, **options: Any) -> Engine:
        engine = create(*arguments, **options)
        kind = type(engine.dialect)
        # The dialect is part of each statement's key; by default each engine's is another.
        kind.__eq__, kind.__hash__ = _is_of_its_kind, _hash_of_its_kind
        engine._compiled_cache = _shared.setdefault(kind, LRUCache(_MOST_STATEMENTS))
        return engine

    db.create_engine = create_and_share


def _is_of_its_kind(one: DefaultDialect, other: object) -> bool:
    return type(one) is type(other)


def _hash_of_its_kind(one: DefaultDialect) -> int:
    return hash(type(one))
