"""The migrations and the tables say the same, in both directions, on both databases."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from backend.store.db import Database
from backend.store.tables.columns import Base
from tests.conftest import migrate, migrate_back


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


def test_memberships_of_administrators_end_and_those_of_former_ones_get_their_role(
    store_url: str,
) -> None:
    migrate_back(store_url, "0032")
    database = Database(store_url)
    project = text(
        "INSERT INTO projects (id, name, guidelines, judgments_per_comparison, created_at) "
        "VALUES ('p', 'P', '', 1, '2026-01-01')"
    )
    user = text(
        "INSERT INTO users (id, name, role, is_active, created_at) "
        "VALUES (:role, :role, :role, true, '2026-01-01')"
    )
    membership = text(
        "INSERT INTO memberships (user_id, project_id, role) VALUES (:role, 'p', 'admin')"
    )
    people = [{"role": role} for role in ("admin", "researcher", "annotator", "viewer")]
    with database.engine.begin() as connection:
        connection.execute(project)
        connection.execute(user, people)
        connection.execute(membership, people)

    migrate(store_url)

    with database.engine.connect() as connection:
        held = dict(connection.execute(text("SELECT user_id, role FROM memberships")).all())
    assert held == {one: one for one in ("researcher", "annotator", "viewer")}
    database.close()
