"""Connections: one per request, enough for everybody who was counted, 503 when there are none."""

import asyncio
import sqlite3
import threading
from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from sqlalchemy.orm import Session

from backend.pressure.turns import SQLITE_READERS, Turns
from backend.store import db
from backend.store.db import (
    MOST_CONNECTIONS,
    Database,
    NotASelect,
    SecondSession,
    one_session_at_a_time,
)
from backend.store.tables.data import Project
from tests.backend.conftest import Service
from tests.loops import in_a_loop
from tests.processes import wait_until


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Databases that are opened from here on wait less long than in production."""
    monkeypatch.setattr(db, "POOL_TIMEOUT_S", 0.3)
    monkeypatch.setattr(db, "BUSY_TIMEOUT_S", 0.3)


def test_an_empty_pool_is_503_and_no_longer_than_it_is_empty(
    impatient: None, service: Service, api: TestClient
) -> None:
    database: Database = service.app.state.database
    with ExitStack() as held:
        for _ in range(MOST_CONNECTIONS):
            held.enter_context(database.engine.connect())
        for answer in (
            api.get("/me"),
            api.post("/projects", json={"name": "p"}),
            api.get("/stream?runs=run_x"),
            api.get("/snapshots/snapshot_x/export"),
        ):
            assert answer.status_code == 503, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            assert int(answer.headers["Retry-After"]) >= 1
        assert service.anonymous().get("/readyz").status_code == 503
    assert api.get("/me").status_code == 200
    assert api.post("/projects", json={"name": "p"}).status_code == 201
    wait_until(
        lambda: service.anonymous().get("/readyz").status_code == 200, "what was found is old"
    )


def test_a_locked_file_is_503_and_no_longer_than_it_is_locked(
    impatient: None, light_service: Service, sqlite_url: str
) -> None:
    api = light_service.client()
    other = sqlite3.connect(Path(sqlite_url.removeprefix("sqlite:///")), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    answer = api.post("/projects", json={"name": "p"})
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert api.get("/me").status_code == 200  # Who reads waits for nobody.

    other.execute("ROLLBACK")
    other.close()
    assert api.post("/projects", json={"name": "p"}).status_code == 201


def test_slow_reads_of_others_keep_nobody_from_writing(light_service: Service) -> None:
    turns: Turns = light_service.app.state.turns
    hold = light_service.portal.wrap_async_context_manager
    api = light_service.client()
    with ExitStack() as slow:
        for n in range(SQLITE_READERS):
            slow.enter_context(hold(turns.reading(f"user_{n}")))
        answers = list[int]()
        asking = threading.Thread(
            target=lambda: answers.append(api.post("/projects", json={"name": "p"}).status_code)
        )
        asking.start()
        asking.join(60)
        assert answers == [201]


def test_a_request_has_one_session_at_a_time(database: Database) -> None:
    with one_session_at_a_time():
        with database.read():
            pass
        with database.write():
            pass
        with database.read():
            for open_another in (database.read, database.write):
                with pytest.raises(SecondSession), open_another():
                    pass
        with database.read():
            pass
    with database.read(), database.read():
        pass  # Nobody counts outside of requests.


def test_sessions_are_counted_over_threads_and_tasks(database: Database) -> None:
    def in_a_thread() -> None:
        with pytest.raises(SecondSession), database.read():
            pass

    async def check() -> None:
        with one_session_at_a_time(), database.read():
            await anyio.to_thread.run_sync(in_a_thread)
            await asyncio.create_task(asyncio.to_thread(in_a_thread))

    in_a_loop(check())


def test_a_connection_that_ended_while_nobody_used_it_is_replaced(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, other = Database(postgres_url), Database(postgres_url)
    own, end = text("SELECT pg_backend_pid()"), text("SELECT pg_terminate_backend(:pid)")

    def after_an_end() -> int:
        with database.read() as session:
            first = session.scalar(own)
        with other.read() as session:
            assert session.scalar(end, {"pid": first})
        with database.read() as session:
            second = session.scalar(own)
        assert second != first
        return int(second)

    monkeypatch.setattr(db, "UNASKED_S", 0.0)
    after_an_end()
    # One that was used a moment ago is not asked: its request fails, and the next one goes on.
    monkeypatch.setattr(db, "UNASKED_S", 60.0)
    with pytest.raises(OperationalError):
        after_an_end()
    with database.read() as session:
        assert session.scalar(own)
    for one in (database, other):
        one.close()


def test_what_a_reading_session_writes_is_not_kept(database: Database) -> None:
    refused = nullcontext() if database.is_sqlite else pytest.raises(InternalError)
    with refused, database.read() as session:
        session.add(Project(id="project_x", created_at=datetime.now(UTC), name="x"))
        session.flush()
    with database.read() as session:
        assert session.scalars(select(Project)).all() == []


def test_a_session_that_looks_refuses_what_nothing_would_undo(database: Database) -> None:
    with database.look() as session:
        session.add(Project(id="project_x", created_at=datetime.now(UTC), name="x"))
        with pytest.raises(NotASelect):
            session.flush()
    with database.look() as session:
        assert session.scalars(select(Project)).all() == []


@pytest.mark.parametrize(
    "statement",
    [
        *(f"SELECT id FROM projects FOR {one}" for one in ("UPDATE", "NO KEY UPDATE", "SHARE")),
        "SELECT id FROM projects\nFOR KEY SHARE OF projects SKIP LOCKED",
        "SELECT pg_advisory_xact_lock(1)",
        "SELECT pg_try_advisory_lock(1)",
        "WITH gone AS (DELETE FROM projects RETURNING id) SELECT id FROM gone",
    ],
)
def test_a_session_that_looks_refuses_what_it_cannot_hold(
    database: Database, statement: str
) -> None:
    with database.look() as session, pytest.raises(NotASelect):
        session.execute(text(statement))


def test_a_session_that_looks_leaves_no_transaction_open(database: Database) -> None:
    def is_open(session: Session) -> bool:
        driver: Any = session.connection().connection.driver_connection
        if database.is_sqlite:
            return bool(driver.in_transaction)
        return bool(driver.info.transaction_status)  # Idle is 0.

    with database.read() as session:
        session.scalars(select(Project.id)).all()
        assert is_open(session), "this way to ask sees a transaction"
    with database.look() as session:
        session.scalars(select(Project.id)).all()
        assert not is_open(session)
        with pytest.raises(DBAPIError):
            session.execute(text("SELECT nothing"))
        assert not is_open(session)
        assert session.scalars(select(Project.id)).all() == []


def test_a_session_that_looks_sees_what_others_commit_meanwhile(database: Database) -> None:
    with database.look() as session:
        assert session.scalars(select(Project.id)).all() == []
        with database.write() as other:
            other.add(Project(id="project_x", created_at=datetime.now(UTC), name="x"))
        assert session.scalars(select(Project.id)).all() == ["project_x"]
