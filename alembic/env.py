"""Runs migrations on the database of the settings, or on the URL the caller passed.

Started by `podium migrate` and by `alembic check`; reads the tables of `backend.store`.
"""

from typing import Any

from alembic import context
from sqlalchemy import JSON

from backend.settings import Settings
from backend.store.db import Database
from backend.store.tables.columns import Base, UtcDateTime


def render_item(kind: str, item: Any, _: Any) -> str | bool:
    """Name column types as the library does: old migrations must not change with our code."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, JSON):
        return 'sa.JSON().with_variant(postgresql.JSONB(), "postgresql")'
    return False


config = context.config
url = config.get_main_option("sqlalchemy.url") or Settings().sqlalchemy_url
database = Database(url)

with database.engine.connect() as connection:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        # SQLite cannot alter columns in place: batch mode copies the table.
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        # All of an upgrade or nothing, on SQLite too: its DDL is transactional, and the store
        # begins its transactions itself, so that the driver commits none of it early.
        transactional_ddl=True,
        render_item=render_item,
    )
    with context.begin_transaction():
        context.run_migrations()
database.close()
