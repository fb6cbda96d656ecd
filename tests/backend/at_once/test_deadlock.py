"""What PostgreSQL undoes because two transactions wait for each other is done again."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from backend.schemas.vocabulary import Role
from backend.store.db import Database
from backend.store.people import users
from backend.store.tables.people import User

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


class Two:
    """Two requests that lock two rows, each in the other order, and add a letter to each name."""

    def __init__(self, database: Database) -> None:
        """They wait for each other the first time; afterwards each goes on alone."""
        self.database = database
        with database.write() as session:
            self.people = [
                users.create(session, name="", role=Role.ANNOTATOR, at=AT).id for _ in range(2)
            ]
        self._both = threading.Barrier(2, timeout=120)
        self._has_met = threading.local()

    def names(self) -> list[str]:
        with self.database.read() as session:
            return list(session.scalars(select(User.name).order_by(User.number)))

    def write(self, letter: str) -> None:
        order = self.people if letter == "a" else self.people[::-1]
        self._has_met.so = False
        self.database.written(lambda session: self._name(session, letter, order), "two")

    def _name(self, session: Session, letter: str, order: list[str]) -> None:
        for user_id in order:
            held = select(User).where(User.id == user_id).with_for_update()
            user = session.scalars(held, execution_options={"populate_existing": True}).one()
            user.name += letter
            session.flush()
            if not self._has_met.so:
                self._has_met.so = True
                self._both.wait()


def test_both_are_done_once(postgres: Database) -> None:
    two = Two(postgres)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(two.write, "ab"))

    assert [sorted(name) for name in two.names()] == [["a", "b"], ["a", "b"]]


def test_other_errors_of_the_database_are_not_tried_again(postgres: Database) -> None:
    attempts: list[int] = []

    def fail(session: Session) -> None:
        attempts.append(1)
        raise OperationalError("x", None, Exception("gone"))

    with pytest.raises(OperationalError):
        postgres.written(fail, "two")
    assert len(attempts) == 1
