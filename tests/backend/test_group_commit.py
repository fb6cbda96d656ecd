"""Writers who wait together share one transaction of SQLite, and nothing else."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session

from backend.errors import NotFound, Unavailable
from backend.store import group_commit
from backend.store.db import Database, LostTransaction, service_errors
from backend.store.group_commit import GroupCommit

Work = Callable[[Session], object]


@pytest.fixture
def numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database with one table of numbers, each of which refers to one that is there."""
    # However long this machine takes, whoever waits joins.
    monkeypatch.setattr(group_commit, "LONGEST_GROUP_S", 3600.0)
    database = Database(f"sqlite:///{tmp_path / 'numbers.db'}")
    with database.write() as session:
        session.execute(
            text("CREATE TABLE number (n INTEGER PRIMARY KEY, of INTEGER REFERENCES number (n))")
        )
    yield database
    database.close()


def put(n: int, of: int | None = None) -> Work:
    """Store a number and answer it."""

    def _put(session: Session) -> int:
        session.execute(text("INSERT INTO number VALUES (:n, :of)"), {"n": n, "of": of})
        return n

    return _put


def stored(database: Database) -> list[int]:
    with database.read() as session:
        return list(session.scalars(text("SELECT n FROM number ORDER BY n")))


def all_at_once(database: Database, works: list[Work]) -> list[Future[object]]:
    """How each ends when all of them wait for the writer before the first may begin."""
    group = GroupCommit(database)
    with ThreadPoolExecutor(len(works)) as threads:
        with database.write("somebody else"):
            ends = []
            for at, work in enumerate(works):
                ends.append(threads.submit(copy_context().run, group.write, work, f"work {at}"))
                while group.n_waiting <= at:
                    threading.Event().wait(0.001)
        return ends


def holds_of(database: Database) -> list[str]:
    found: list[str] = []
    database.on_hold = lambda by, _: found.append(by)
    return found


def test_those_who_wait_together_are_one_hold(numbers: Database) -> None:
    holds = holds_of(numbers)

    ends = all_at_once(numbers, [put(n) for n in range(5)])

    assert [one.result() for one in ends] == stored(numbers) == [0, 1, 2, 3, 4]
    assert holds[0] == "somebody else"
    assert len(holds) == 2


def test_nobody_joins_a_transaction_that_is_long_already(
    numbers: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "LONGEST_GROUP_S", 0.0)
    holds = holds_of(numbers)

    ends = all_at_once(numbers, [put(n) for n in range(3)])

    assert [one.result() for one in ends] == stored(numbers) == [0, 1, 2]
    assert sorted(holds) == ["somebody else", "work 0", "work 1", "work 2"]


def test_what_one_raises_undoes_its_own_work_alone(numbers: Database) -> None:
    def put_and_refuse(session: Session) -> None:
        put(1)(session)
        raise NotFound("run run_1 does not exist")

    first, refused, doubled, last = all_at_once(numbers, [put(0), put_and_refuse, put(0), put(2)])

    assert (first.result(), last.result()) == (0, 2)
    assert isinstance(refused.exception(), NotFound)
    assert isinstance(doubled.exception(), IntegrityError)
    assert stored(numbers) == [0, 2]


def test_nobody_hears_of_success_if_the_commit_fails(numbers: Database) -> None:
    def put_an_orphan(session: Session) -> None:
        session.execute(text("PRAGMA defer_foreign_keys = ON"))
        put(1, of=7)(session)

    ends = all_at_once(numbers, [put(0), put_an_orphan, put(2)])

    assert [type(one.exception()) for one in ends] == [IntegrityError] * 3
    assert stored(numbers) == []


def test_a_transaction_that_the_database_undid_is_nobodys(numbers: Database) -> None:
    def lose(session: Session) -> None:
        session.execute(text("ROLLBACK"))
        put(1)(session)
        session.execute(text("no sentence of SQL"))

    ends = all_at_once(numbers, [put(0), lose])

    assert [type(one.exception()) for one in ends] == [LostTransaction] * 2
    with pytest.raises(Unavailable), service_errors():
        ends[0].result()
    # What came after the database's own ROLLBACK was in no transaction of ours.
    assert stored(numbers) == [1]


def test_whoever_gets_no_transaction_hears_of_it(numbers: Database) -> None:
    numbers.close()
    nowhere = Database(f"{numbers.url}/no/such/folder")

    with pytest.raises(OperationalError):
        GroupCommit(nowhere).write(put(0), by="somebody")


def test_work_sees_its_own_request_in_whichever_thread(numbers: Database) -> None:
    request: ContextVar[int] = ContextVar("request")
    group = GroupCommit(numbers)

    def writes(n: int) -> int:
        request.set(n)
        return group.write(lambda _: request.get(), by="somebody")

    with ThreadPoolExecutor(4) as threads, numbers.write("somebody else"):
        ends = [threads.submit(copy_context().run, writes, n) for n in range(4)]
        while group.n_waiting < 4:
            threading.Event().wait(0.001)

    assert [one.result() for one in ends] == [0, 1, 2, 3]


class Body:
    """What a request brought."""


def test_a_refusal_keeps_nothing_of_its_request(numbers: Database) -> None:
    def refused() -> weakref.ref[Body]:
        body = Body()

        def refuse(_: Session) -> None:
            raise NotFound(f"no {body}")

        with pytest.raises(NotFound):
            GroupCommit(numbers).write(refuse, by="somebody")
        return weakref.ref(body)

    gc.collect()
    gc.disable()
    try:
        assert refused()() is None
    finally:
        gc.enable()
