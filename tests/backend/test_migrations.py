"""The migrations and the tables say the same, in both directions, on both databases."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from backend.store.db import Database
from backend.store.tables.columns import Base
from tests.conftest import migrate


def test_migrated_schema_equals_the_tables(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_migrations_run_down_to_nothing_and_up_again(store_url: str) -> None:
    migrate(store_url, "base")
    database = Database(store_url)
    assert set(inspect(database.engine).get_table_names()) <= {"alembic_version"}

    migrate(store_url)

    assert set(Base.metadata.tables) <= set(inspect(database.engine).get_table_names())
    database.close()
