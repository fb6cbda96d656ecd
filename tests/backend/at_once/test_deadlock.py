"""What PostgreSQL undoes because two transactions wait for each other is done again."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from psycopg.errors import DeadlockDetected
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.phases import Phases
from backend.schemas.comparisons import AssignmentAnswer
from backend.schemas.vocabulary import Role
from backend.store.data import assignments
from backend.store.db import Database
from backend.store.people import users
from backend.store.tables.people import User
from tests.backend.conftest import Service
from tests.backend.test_loop import comparison, upload

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
Work = Callable[[Session], None]


class Two:
    """Two requests that lock two rows, each in the other order, and add a letter to each name."""

    def __init__(self, database: Database, written: Callable[[Work, str], None]) -> None:
        """They wait for each other the first time; afterwards each goes on alone."""
        self.database, self._written = database, written
        with database.write() as session:
            self.people = [
                users.create(session, name="", role=Role.ANNOTATOR, at=AT).id for _ in range(2)
            ]
        self._both = threading.Barrier(2, timeout=120)
        self._has_met = threading.local()

    def names(self) -> list[str]:
        with self.database.read() as session:
            named = select(User.name).where(User.id.in_(self.people))
            return list(session.scalars(named))

    def write(self, letter: str) -> None:
        order = self.people if letter == "a" else self.people[::-1]
        self._has_met.so = False
        self._written(lambda session: self._name(session, letter, order), "two")

    def _name(self, session: Session, letter: str, order: list[str]) -> None:
        for user_id in order:
            held = select(User).where(User.id == user_id).with_for_update()
            user = session.scalars(held, execution_options={"populate_existing": True}).one()
            user.name += letter
            session.flush()
            if not self._has_met.so:
                self._has_met.so = True
                self._both.wait()


def test_both_requests_are_done_once(postgres_service: Service) -> None:
    state = postgres_service.app.state
    two = Two(state.database, state.transactions._write)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(two.write, "ab"))

    assert two.names() in (["ab", "ab"], ["ba", "ba"])


def test_the_answer_is_that_of_the_second_time(
    postgres_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first time nothing was left, which is a 204 without a body."""
    api = postgres_service.client()
    project = api.post("/projects", json={"name": "P"}).raise_for_status().json()["id"]
    upload(api, project, "comparisons", comparison(1))
    lease, times = assignments.lease, iter((1, 2))

    def undone_once(*arguments: Any, **named: Any) -> AssignmentAnswer | None:
        return lease(*arguments, **named) if next(times) == 2 else None

    remember = Phases.remember

    def deadlock_once(phases: Phases, session: Session, done: object, used: Any) -> None:
        if done is None:
            raise OperationalError("x", None, DeadlockDetected())
        remember(phases, session, done, used)

    monkeypatch.setattr(assignments, "lease", undone_once)
    monkeypatch.setattr(Phases, "remember", deadlock_once)
    answer = api.post(f"/projects/{project}/assignments")

    assert answer.status_code == 201
    assert answer.json()["id"].startswith("assignment_")


def test_other_errors_of_the_database_are_not_tried_again(postgres: Database) -> None:
    attempts: list[int] = []

    def fail(session: Session) -> None:
        attempts.append(1)
        raise OperationalError("x", None, Exception("gone"))

    with pytest.raises(OperationalError):
        postgres.written(fail, "two")
    assert len(attempts) == 1
