"""The connection to SQLite or PostgreSQL: who may write, and when a transaction begins and ends.

Sessions are opened at the edges: routes through `backend.deps`, streams, the commands in
`backend.ops` and the worker. Store functions get a Session and never commit; `Database.write()`
commits once at the end or rolls everything back. A request has one session at a time, and the pool
has a connection for everybody who may ask for one.
"""

import contextlib
import logging
import math
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache, partial
from types import FrameType
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, ExceptionContext, QueuePool, create_engine, event
from sqlalchemy.exc import (
    DataError,
    DisconnectionError,
    IntegrityError,
    InternalError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as NoFreeConnection
from sqlalchemy.orm import Session
from sqlalchemy.orm.exc import StaleDataError
from sqlalchemy.pool import ConnectionPoolEntry

from backend.errors import Conflict, InvalidInput, Unavailable

# Foreign keys name tables by text: whoever opens a database has them all. The records of unfinished
# imports are hidden from every session.
from backend.store import built, visibility
from backend.store.tables import (  # noqa: F401
    credentials,
    data,
    jobs,
    metrics,
    models,
    people,
    practice,
    runs,
    views,
    workers,
)

T = TypeVar("T")
log = logging.getLogger("podium.store")

BUSY_TIMEOUT_S = 30.0

# No request holds the writer for longer; see docs/operations.md.
LONG_HOLD_S = 0.25

# Who may hold connections of one process at the same time, each one at most: requests have so many
# turns (`backend.pressure.turns`), the others so many threads. Whoever needs more says so here.
ADMISSIONS = 4  # Requests that are asked who sends them; SQLite has one.
READERS = 16
# Python computes in one thread at a time: several that do so for long only delay each other, and
# each small request waits for all of them.
HEAVY = 1
WRITERS = 6  # SQLite has one.
OPENINGS = 2  # Streams that are being opened.
CATCH_UPS = 1  # Open streams that read what they missed, in turn.
WATCHERS = 3  # What is new for streams, who may still follow them, and who waits for a comparison.
EXPORTS = 2
JOBS = 2  # What is said about them, and what dead ones have left.
IMPORTS = 2  # Of failed ones, what is removed.
REPEATED = 3  # Traces and heads of the audit log, and dead imports.
OTHERS = 1  # Readiness; start-up comes before everything else.
MOST_CONNECTIONS = sum(
    (
        *(ADMISSIONS, READERS, HEAVY, WRITERS, OPENINGS, CATCH_UPS, WATCHERS, EXPORTS),
        *(JOBS, IMPORTS, REPEATED, OTHERS),
    )
)
# Of a process that does jobs or imports: what it reads all the time, and what it writes.
MOST_OF_A_CHILD = 2
# Somebody who was not counted above is told so soon, and does not wait among those who were.
POOL_TIMEOUT_S = 3.0
# What threads that still use a connection get when the database is closed.
LONGEST_END_S = 2.0


# PostgreSQL's codes for a transaction that it has undone because two waited for each other, and for
# what another has locked.
_DEADLOCK, _LOCKED = "40P01", "55P03"


class LostTransaction(Exception):
    """The database has undone a transaction that several parts shared."""


# The database is away, busy for too long, or has no connection left: trying again may help.
AWAY = (OperationalError, InternalError, NoFreeConnection, LostTransaction)

# A network that is gone breaks connections after some seconds, so that callers can try again: TCP's
# own patience of minutes and hours would cost a worker its runs and the API its threads.
_SILENT_NETWORK = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,  # milliseconds
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}
# A connection that was used so lately is not asked whether it lives.
UNASKED_S = 1.0
# The same for the server: sessions of a machine that is gone end after some seconds, instead of
# keeping their connections and locks for hours.
_SILENT_CLIENT = (
    "tcp_keepalives_idle = 5",
    "tcp_keepalives_interval = 3",
    "tcp_keepalives_count = 3",
    "tcp_user_timeout = 15000",  # milliseconds
)

# One state of the database for all statements; PostgreSQL would show each the newest.
_BEGIN_AT_ONCE = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

# Compiling a statement takes PostgreSQL longer than any of ours runs.
_NO_JIT = "jit = off"

# SQLite lets one writer in at a time and makes the others poll; sixteen polling writers starve one
# another for seconds. Queueing them inside the process keeps the tail short.
_write_locks: dict[str, threading.Lock] = {}
_write_locks_guard = threading.Lock()


class SecondSession(RuntimeError):
    """A request opened a session while it had one: two such requests can wait for each other."""


class SessionsOfARequest:
    """Counts the sessions that one request has open, in whichever thread."""

    # Tests set this; production logs instead, because the request may well succeed.
    raises = False

    def __init__(self) -> None:
        self._n_open = 0

    def opened(self) -> None:
        """Count one. Raises SecondSession where tests ask for it."""
        self._n_open += 1
        if self._n_open > 1:
            error = SecondSession("a request opened a second session before it closed its first")
            if self.raises:
                self._n_open -= 1
                raise error
            log.error("store.second_session", exc_info=error, stack_info=True)

    def closed(self) -> None:
        """Count one less."""
        self._n_open -= 1


_request: ContextVar[SessionsOfARequest | None] = ContextVar("podium_request", default=None)


@contextmanager
def one_session_at_a_time() -> Iterator[None]:
    """Allow one session at most in this block and all that it calls, threads and tasks too."""
    token = _request.set(SessionsOfARequest())
    try:
        yield
    finally:
        _request.reset(token)


@contextmanager
def counted() -> Iterator[None]:
    """Count the session of this block as one of the request that it belongs to, if any."""
    request = _request.get()
    if request is None:
        yield
        return
    request.opened()
    try:
        yield
    finally:
        request.closed()


class Parts:
    """A writing transaction that several writers share, one after the other."""

    def __init__(self, connection: Connection) -> None:
        self.begun = time.monotonic()
        self._connection = connection
        # Whose part took longest so far, and how long.
        self.longest_by: str | None = None
        self._longest_s = 0.0

    @contextmanager
    def part(self, by: str) -> Iterator[Session]:
        """A session whose work is kept for the commit at the end, or undone by an exception.

        Raises LostTransaction if the database has undone the whole transaction, as SQLite does when
        the disk is full: then no part may go on.
        """
        began = time.monotonic()
        try:
            with (
                Session(
                    self._connection,
                    join_transaction_mode="create_savepoint",
                    expire_on_commit=False,
                ) as session,
                session.begin(),
            ):
                yield session
        except BaseException as error:
            if not self._is_open():
                raise LostTransaction from error
            raise
        finally:
            if (took := time.monotonic() - began) >= self._longest_s:
                self.longest_by, self._longest_s = by, took

    def _is_open(self) -> bool:
        driver = self._connection.connection.driver_connection
        return driver is not None and driver.in_transaction


class Database:
    """One engine and the ways to use it: to look, to read and to write."""

    def __init__(
        self, url: str, *, idle_connections: int = 10, longest_pause_s: float = 60.0
    ) -> None:
        """Connect lazily to `url` (SQLAlchemy form, `sqlite:///file` or `postgresql+psycopg://`).

        PostgreSQL: at most `idle_connections` stay open while nobody asks, `MOST_CONNECTIONS` while
        many do. It ends a writing session that says nothing for `longest_pause_s`, as that of a
        process which was stopped: its locks would hold everybody else up.
        """
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self.engine = (
            _sqlite_engine(url) if self.is_sqlite else _postgres_engine(url, idle_connections)
        )
        pause_ms = round(longest_pause_s * 1000)
        begin = (
            "BEGIN IMMEDIATE"
            if self.is_sqlite
            else f"BEGIN; SET LOCAL idle_in_transaction_session_timeout = {pause_ms}"
        )
        self._write_engine = self.engine.execution_options(podium_begin=begin)
        self._read_engine = (
            self.engine
            if self.is_sqlite
            else self.engine.execution_options(podium_begin="BEGIN READ ONLY")
        )
        self._look_engine = self.engine.execution_options(podium_begin=None)
        event.listen(self._look_engine, "before_cursor_execute", _must_select)
        with _write_locks_guard:
            self._write_lock = _write_locks.setdefault(url, threading.Lock())
        # Told after each writing transaction who held the writer, and for how many seconds.
        self.on_hold: Callable[[str, float], None] | None = None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for reading; PostgreSQL refuses writes in it, SQLite undoes them."""
        with counted(), Session(self._read_engine, expire_on_commit=False) as session:
            yield session
            if not self.is_sqlite:
                # Nothing to keep: but after a ROLLBACK psycopg forgets the statements that it has
                # prepared, and PostgreSQL would plan each of them anew.
                session.commit()

    @contextmanager
    def look(self) -> Iterator[Session]:
        """A session for one SELECT or two, each a transaction of its own; it refuses all else.

        To begin and to end a transaction are two messages more, and whoever is asked who they are
        waits for them with every request.
        """
        with counted(), self._look_engine.connect() as connection, _on(connection) as session:
            visibility.see_anew(session)
            yield session

    @contextmanager
    def read_at_once(self) -> Iterator[Session]:
        """A session for reading a lot: it sees what was committed at its first read, all the time.

        A read that lasts keeps SQLite from shortening its log and PostgreSQL from cleaning up: end
        it before a long computation.
        """
        with Session(self.engine, expire_on_commit=False) as session:
            if not self.is_sqlite:  # whose readers have no other way
                session.connection(execution_options={"podium_begin": _BEGIN_AT_ONCE})
            yield session

    @contextmanager
    def write(self, by: str | None = None) -> Iterator[Session]:
        """A session whose work is committed at the end, or undone by an exception.

        Others wait from its BEGIN to its COMMIT, and on SQLite all of them: what takes time is done
        before. `by` is who writes, for the log; by default the function that called.
        """
        with counted(), self._one_writer():
            begun: float | None = None
            try:
                with self._write_engine.connect() as connection, connection.begin():
                    begun = time.monotonic()
                    with _on(connection) as session:
                        yield session
                        if session.in_transaction():  # It may have objects to be written.
                            session.commit()
            finally:
                if begun is not None:
                    self._tell_hold(by, time.monotonic() - begun)

    def written(self, work: Callable[[Session], T], by: str) -> T:
        """What `work` answers, committed when this returns.

        PostgreSQL undoes one of two transactions that wait for each other: its work is done once
        more, so it keeps nothing outside of the session that a second time does not replace.
        """
        try:
            with self.write(by) as session:
                return work(session)
        except OperationalError as error:
            if not _has_code(error, _DEADLOCK):
                raise
        log.warning("store.write_repeated by=%s reason=deadlock", by)
        with self.write(by) as session:
            return work(session)

    @contextmanager
    def write_parts(self) -> Iterator[Parts]:
        """A transaction for several writers in turn, committed at the end for all of them.

        What one part raises undoes that part alone; whoever gets an exception from here knows that
        nothing of any part was stored. The log names the part that took longest.
        """
        with self._one_writer():
            parts: Parts | None = None
            try:
                with self._write_engine.connect() as connection, connection.begin():
                    parts = Parts(connection)
                    yield parts
            finally:
                if parts is not None:
                    self._tell_hold(parts.longest_by, time.monotonic() - parts.begun)

    def analyze(self, tables: Iterable[str]) -> None:
        """Let PostgreSQL look at tables that have many new rows.

        By itself it does so within a minute. Until then its plans are for what was there before: it
        sorted all open comparisons for each lease. A table that is locked for maintenance is left
        to it, and so is an empty one: of a table that nobody has looked at it expects some rows, of
        one that was found empty that it may be read whole. SQLite's plans do not depend on it.
        """
        if self.is_sqlite:
            return
        filled = [table for table in tables if self._has_rows(table)]
        with self.engine.connect() as connection:
            each_alone = connection.execution_options(podium_begin=None)
            for table in filled:
                each_alone.exec_driver_sql(f"ANALYZE (SKIP_LOCKED) {table}")

    def _has_rows(self, table: str) -> bool:
        """Whether a table of PostgreSQL has any; of one that is locked nobody waits to know it."""
        try:
            with self.engine.connect() as connection, connection.begin():
                connection.exec_driver_sql(f"LOCK TABLE {table} IN ACCESS SHARE MODE NOWAIT")
                found = connection.exec_driver_sql(f"SELECT EXISTS (SELECT FROM {table})")
                return bool(found.scalar())
        except OperationalError as error:
            if not _has_code(error, _LOCKED):
                raise
            return False

    def _one_writer(self) -> AbstractContextManager[object]:
        return self._write_lock if self.is_sqlite else nullcontext()

    def _tell_hold(self, by: str | None, seconds: float) -> None:
        is_long = seconds > LONG_HOLD_S
        if self.on_hold is None and not is_long:
            return
        name = by or _writer(sys._getframe(1))
        if is_long:
            log.warning("store.write_held_long by=%s ms=%d", name, round(seconds * 1000))
        if self.on_hold is not None:
            self.on_hold(name, seconds)

    def close(self) -> None:
        """Give back every connection.

        A thread whose task was cancelled may still be reading; its connection would go back to a
        pool that nobody closes any more.
        """
        pool, until = self.engine.pool, time.monotonic() + LONGEST_END_S
        while isinstance(pool, QueuePool) and pool.checkedout() and time.monotonic() < until:
            time.sleep(0.01)
        self.engine.dispose()


def _on(connection: Connection) -> Session:
    """A session whose transaction is the connection's."""
    session = Session(connection, expire_on_commit=False)
    built.go_on(session, connection)
    return session


class NotASelect(RuntimeError):
    """A statement that changes or holds something, in a session that only looks.

    Nothing would undo it, and what it holds would be free again at once.
    """


_HOLDS = re.compile(r"\bFOR (NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b|\bpg_(try_)?advisory_")


@lru_cache(1000)
def _only_selects(statement: str) -> bool:
    return statement.startswith("SELECT") and not _HOLDS.search(statement)


def _must_select(_: Connection, __: object, statement: str, *___: object) -> None:
    if not _only_selects(statement):
        raise NotASelect(f"found {statement[:60]!r} in a session that only looks; open another")


def unanswered() -> Unavailable:
    """What a client is told where the database is away."""
    return Unavailable(
        "the database did not answer", advice="Try again in a moment; see the service's log."
    )


@contextmanager
def service_errors() -> Iterator[None]:
    """What the database complains of, as errors of the service."""
    try:
        yield
    except AWAY as error:
        raise unanswered() from error
    except IntegrityError as error:
        raise Conflict(
            "another request changed the same thing at the same moment",
            advice="Send the request again.",
        ) from error
    except StaleDataError as error:
        raise Conflict(
            "another request deleted what this one changes, at the same moment",
            advice="Load it again to see whether it is still there.",
        ) from error
    except DataError as error:
        raise InvalidInput(
            "the database cannot hold a value of this request",
            advice="Remove NUL characters and numbers that are out of range.",
        ) from error


def _has_code(error: OperationalError, code: str) -> bool:
    return getattr(error.orig, "sqlstate", None) == code


def _writer(frame: FrameType | None) -> str:
    """The function outside of this file and of contextlib that the frame was called by."""
    while frame is not None and frame.f_code.co_filename in (__file__, contextlib.__file__):
        frame = frame.f_back
    return "unknown" if frame is None else frame.f_code.co_qualname


def _postgres_engine(url: str, idle_connections: int) -> Engine:
    engine = create_engine(
        url,
        hide_parameters=True,  # Errors go into the log.
        # The driver's own BEGIN is a message more in each transaction that says how it begins; we
        # emit ours below.
        isolation_level="AUTOCOMMIT",
        pool_size=idle_connections,
        max_overflow=MOST_CONNECTIONS - idle_connections,
        pool_timeout=POOL_TIMEOUT_S,
        connect_args=_SILENT_NETWORK,
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: Any) -> None:
        # Statements and not options of the connection, which belong to whoever wrote the URL and
        # are refused by some poolers.
        connection.execute("; ".join(f"SET {setting}" for setting in (*_SILENT_CLIENT, _NO_JIT)))

    _ask_the_idle(engine)
    _say_no_rows(engine)
    _begin_with(engine, "BEGIN")
    return engine


def _say_no_rows(engine: Engine) -> None:
    """Leave out of PostgreSQL's errors what follows their first line: it can have whole rows."""

    @event.listens_for(engine, "handle_error")
    def _shorten(context: ExceptionContext) -> None:
        error: Any = context.original_exception
        said, primary = str(error), getattr(error, "diag", None) and error.diag.message_primary
        if primary:
            error.args = (primary,)
            if (shown := context.sqlalchemy_exception) is not None:
                shown.args = tuple(str(one).replace(said, primary) for one in shown.args)


def _ask_the_idle(engine: Engine) -> None:
    """Ask a connection that nobody has used for a while whether it lives, before it is used.

    SQLAlchemy's own `pool_pre_ping` asks each time: a sixth of what a small request asks for.
    """

    @event.listens_for(engine, "checkin")
    def _note(_: Any, record: ConnectionPoolEntry) -> None:
        built.let_go(record.info)
        record.info["idle_since"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _ask(connection: Any, record: ConnectionPoolEntry, _: Any) -> None:
        if time.monotonic() - record.info.get("idle_since", math.inf) < UNASKED_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError("the connection has ended while nobody used it") from error


def _sqlite_engine(url: str) -> Engine:
    engine = create_engine(
        url,
        hide_parameters=True,  # Errors go into the log.
        poolclass=QueuePool,
        pool_size=MOST_CONNECTIONS,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        connect_args={"timeout": BUSY_TIMEOUT_S},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _: Any) -> None:
        # The driver's own BEGIN comes too late and is never IMMEDIATE; we emit ours below.
        connection.isolation_level = None
        for pragma in (
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "foreign_keys=ON",
            f"busy_timeout={int(BUSY_TIMEOUT_S * 1000)}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite's own `lower` knows the letters of English alone.
        connection.create_function("unicode_lower", 1, _lower, deterministic=True)

    _begin_with(engine, "BEGIN")
    _say_savepoints(engine)
    return engine


def _say_savepoints(engine: Engine) -> None:
    """Send these as text: SQLAlchemy compiles them anew for each part of a transaction."""
    dialect: Any = engine.dialect
    for method, words in (
        ("do_savepoint", "SAVEPOINT"),
        ("do_release_savepoint", "RELEASE SAVEPOINT"),
        ("do_rollback_to_savepoint", "ROLLBACK TO SAVEPOINT"),
    ):
        setattr(dialect, method, partial(_say, words))


def _say(words: str, connection: Connection, name: str) -> None:
    built.sent(connection, f"{words} {name}", None, lambda _: None)


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _begin_with(engine: Engine, usual: str) -> None:
    """Begin each transaction with the statement that its execution options name, if any."""

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        statement = connection.get_execution_options().get("podium_begin", usual)
        if statement is not None:
            built.sent(connection, statement, None, lambda _: None)
