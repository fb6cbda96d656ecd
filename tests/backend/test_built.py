"""Statements that are built once: the driver's answers mean the same as SQLAlchemy's."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import bindparam, insert, null, select, text, update
from sqlalchemy.exc import (
    IntegrityError,
    InvalidRequestError,
    MultipleResultsFound,
    NoResultFound,
    OperationalError,
)

from backend.store import built
from backend.store.db import Database, NotASelect
from backend.store.tables.data import GuidelineVersion, Project
from tests.plans import sent_to

# Noon in Berlin.
AT = datetime(2026, 11, 22, 12, 0, tzinfo=timezone(timedelta(hours=1)))


class Undone(Exception):
    """Ends a piece of work whose changes shall be gone."""


NEW = insert(Project)
RENAMED = update(Project).where(Project.id == bindparam("of_id")).values(name="after")
NAMED = select(Project.name).where(Project.name == bindparam("name"))
NUMBERED = select(Project.id).where(Project.number > bindparam("number"))


def new(name: str = "before") -> dict[str, Any]:
    return {
        "id": f"project_{name}",
        "created_at": AT,
        "name": name,
        "guidelines": "",
        "guidelines_version": 0,
        "judgments_per_comparison": 1,
        "overlap_first": 0,
        "overlap_share": 0.25,
        "cannot_judge_reasons": ["100 %", "ü"],
        "criteria": [{"name": "a"}],
        "practice_bar": 0.5,
        "revision": 1,
        "archived_at": None,
    }


def names(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(Project.name).order_by(Project.number)))


def test_rows_mean_what_they_mean_to_sqlalchemy(database: Database) -> None:
    of_it = (Project.id, Project.created_at, Project.criteria, Project.overlap_share)
    query = select(*of_it, null(), bindparam("said", 3), null())
    query = query.where(Project.created_at <= bindparam("at")).limit(5)
    with database.write() as session:
        assert built.changed(session, NEW, new()) == 1
        found = built.rows(session, query, {"at": AT})
        assert found == [tuple(row) for row in session.connection().execute(query, {"at": AT})]
        assert built.rows(session, query, {"at": AT, "said": 4})[0][-2] == 4
        assert built.rows(session, query, {"at": AT - timedelta(seconds=1)}) == []
    assert found == [("project_before", AT, [{"name": "a"}], 0.25, None, 3, None)]
    assert found[0][1].tzinfo == UTC


def test_one_row_is_one(database: Database) -> None:
    with database.write() as session:
        for name in ("a", "b"):
            built.changed(session, NEW, new(name))
        assert built.row(session, NAMED, {"name": "a"}) == ("a",)
        assert built.row(session, NAMED, {"name": "c"}) is None
        assert built.value(session, NAMED, {"name": "b"}) == "b"
        assert built.value(session, NAMED, {"name": "c"}) is None
        with pytest.raises(NoResultFound):
            built.one(session, NAMED, {"name": "c"})
        with pytest.raises(MultipleResultsFound):
            built.row(session, NUMBERED, {"number": 0})


def test_a_naive_time_is_refused(database: Database) -> None:
    with database.write() as session, pytest.raises(ValueError, match="naive"):
        built.changed(session, NEW, new() | {"created_at": AT.replace(tzinfo=None)})


def test_a_name_in_several_places_is_written_as_where_its_type_is_known(
    database: Database,
) -> None:
    at = bindparam("at")
    query = select(Project.id).where(Project.created_at <= at, bindparam("at").is_not(None))
    with database.write() as session:
        built.changed(session, NEW, new())
        assert built.rows(session, query, {"at": AT}) == [("project_before",)]
        assert built.rows(session, query, {"at": AT - timedelta(seconds=1)}) == []
        with pytest.raises(ValueError, match="naive"):
            built.rows(session, query, {"at": AT.replace(tzinfo=None)})


def test_what_would_be_made_anew_each_time_is_refused(database: Database) -> None:
    of_many = select(Project.id).where(Project.id.in_(bindparam("ids", expanding=True)))
    with database.write() as session:
        with pytest.raises(TypeError, match="length of a list"):
            built.rows(session, of_many, {"ids": ["a"]})
        with pytest.raises(TypeError, match="default"):
            built.changed(session, NEW, {"id": "a", "created_at": AT, "name": "a"})


def test_errors_are_sqlalchemys_and_show_no_rows(database: Database) -> None:
    with database.write() as session:
        built.changed(session, NEW, new())
    with pytest.raises(IntegrityError) as found, database.write() as session:
        built.changed(session, NEW, new() | {"name": "a secret"})
    assert "a secret" not in str(found.value)
    assert "project_before" not in str(found.value)
    assert names(database) == ["before"]


def test_a_connection_that_is_lost_is_replaced(postgres_url: str) -> None:
    database = Database(postgres_url)
    own, end = text("SELECT pg_backend_pid()"), text("SELECT pg_terminate_backend(:pid)")

    def write_without_a_server() -> None:
        with database.write() as session:
            pid = session.scalar(own)
            with database.read() as other:
                assert other.scalar(end, {"pid": pid})
            built.changed(session, NEW, new())

    with pytest.raises(OperationalError) as found:
        write_without_a_server()
    assert found.value.connection_invalidated
    with database.write() as session:
        built.changed(session, NEW, new())
    assert names(database) == ["before"]
    database.close()


def test_objects_and_built_statements_share_a_transaction(database: Database) -> None:
    version = GuidelineVersion(
        project_id="project_before", version=1, guidelines="g", user_id=None, created_at=AT
    )
    with database.write() as session:
        built.changed(session, NEW, new())
        project = session.scalars(select(Project)).one()
        project.name = "by an object"
        session.flush()
        assert built.value(session, NAMED, {"name": "by an object"}) == "by an object"
        session.add(version)  # Nobody flushes it.
    with database.read() as session:
        assert session.scalars(select(GuidelineVersion.version)).all() == [1]
    with suppress(Undone), database.write() as session:
        built.changed(session, RENAMED, {"of_id": "project_before"})
        raise Undone
    assert names(database) == ["by an object"]


def test_a_savepoint_undoes_what_was_built(database: Database) -> None:
    with database.write() as session:
        built.changed(session, NEW, new())
        with suppress(Undone), session.begin_nested():
            built.changed(session, RENAMED, {"of_id": "project_before"})
            raise Undone
    assert names(database) == ["before"]


def test_after_the_end_of_its_transaction_a_session_is_refused_what_is_built(
    database: Database,
) -> None:
    with database.write() as session:
        session.connection()
        session.rollback()
        with pytest.raises(InvalidRequestError, match="has ended"):
            built.changed(session, NEW, new())
    assert names(database) == []


def test_a_part_undoes_what_was_built(sqlite_url: str) -> None:
    database = Database(sqlite_url)

    with database.write_parts() as parts:
        with parts.part("test") as session:
            built.changed(session, NEW, new())
        with suppress(Undone), parts.part("test") as session:
            built.changed(session, RENAMED, {"of_id": "project_before"})
            raise Undone
    assert names(database) == ["before"]
    database.close()


def test_a_session_that_looks_refuses_what_was_built_to_change(database: Database) -> None:
    held = select(Project.id).where(Project.id == bindparam("id")).with_for_update()
    with database.look() as session:
        assert built.rows(session, NAMED, {"name": "a"}) == []
        with pytest.raises(NotASelect):
            built.changed(session, NEW, new())
        if not database.is_sqlite:  # which holds no rows
            with pytest.raises(NotASelect):
                built.rows(session, held, {"id": "a"})
    assert names(database) == []


def test_listeners_hear_of_built_statements(database: Database) -> None:
    with sent_to(database) as sent, database.write() as session:
        built.rows(session, NAMED, {"name": "a"})
    assert len(sent) == 1
    assert "projects" in sent[0].statement
