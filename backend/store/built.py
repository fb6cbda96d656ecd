"""Statements that are built once: building one takes longer than most databases need to run it.

Modules of the store build those that people wait for at their first use, or when they are loaded.
They are compiled once, too, and given to the driver itself: SQLAlchemy looks a statement up among
all others, and makes a result of its own for its rows, which takes three times as long as the
driver.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, Dialect, Executable, Transaction
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import InvalidRequestError, MultipleResultsFound, NoResultFound
from sqlalchemy.orm import Session
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

P = ParamSpec("P")
T = TypeVar("T")
_Process = Callable[[Any], Any]

_BEGUN = "podium_begun"
# Kept while a connection is used: to make one takes half as long as to send a small statement.
_CURSOR = "podium_cursor"

_lock = threading.RLock()


def once(build: Callable[P, T]) -> Callable[P, T]:
    """Build a statement at the first call with these arguments, in one thread at a time."""
    kept = cache(build)

    @wraps(build)
    def built(*args: P.args, **kwargs: P.kwargs) -> T:
        with _lock:
            return kept(*args, **kwargs)  # type: ignore[arg-type]

    return built


def rows(
    session: Session, statement: Executable, named: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """What a statement that is built once finds, or what it returns of the rows that it changes.

    Records of unfinished imports are not left out: it says `is_visible` itself.
    """
    connection = _connection(session)
    known = _known(statement, named, connection.dialect)
    return sent(connection, known.text, known.parameters(named), known.read)


def row(
    session: Session, statement: Executable, named: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    """The only row that it finds, None if there is none. Raises MultipleResultsFound."""
    found = rows(session, statement, named)
    if len(found) > 1:
        raise MultipleResultsFound(f"found {len(found)} rows, expected one at most")
    return found[0] if found else None


def one(session: Session, statement: Executable, named: Mapping[str, Any]) -> tuple[Any, ...]:
    """The only row that it finds. Raises NoResultFound, and MultipleResultsFound."""
    found = row(session, statement, named)
    if found is None:
        raise NoResultFound("found no row, expected one")
    return found


def value(session: Session, statement: Executable, named: Mapping[str, Any]) -> Any:
    """The first value of the only row that it finds, None if there is none."""
    found = row(session, statement, named)
    return None if found is None else found[0]


def changed(session: Session, statement: Executable, named: Mapping[str, Any]) -> int:
    """How many rows a statement that is built once, and returns none, has changed."""
    connection = _connection(session)
    known = _known(statement, named, connection.dialect)
    return sent(connection, known.text, known.parameters(named), _rowcount)


def go_on(session: Session, connection: Connection) -> None:
    """Note that the transaction of a session is that of a connection which has begun it.

    It need not ask for its connection, which takes as long as a small statement. It does so within
    a savepoint, which begins when it asks. After the end of that transaction the driver would keep
    each statement at once, so none is sent.
    """
    session.info[_BEGUN] = connection, connection.get_transaction()


def _connection(session: Session) -> Connection:
    begun: tuple[Connection, Transaction | None] | None = session.info.get(_BEGUN)
    if begun is None or session.in_nested_transaction():
        return session.connection()
    connection, transaction = begun
    # One without a transaction only looks: each of its statements is one by itself.
    if transaction is not None and not transaction.is_active:
        raise InvalidRequestError("the transaction of this session has ended: nothing is undone")
    return connection


def sent(connection: Connection, text: str, parameters: Any, read: Callable[[DBAPICursor], T]) -> T:
    """Send a text to the driver and read its answer; None has no parameters.

    Errors are those of SQLAlchemy, and its listeners hear of the statement.
    """
    info = connection.connection.info
    cursor = info.pop(_CURSOR, None) or connection.connection.cursor()
    for note in connection.engine.dispatch.before_cursor_execute:
        note(connection, cursor, text, parameters, None, False)
    try:
        if parameters is None:
            cursor.execute(text)
        else:
            cursor.execute(text, parameters)
        found = read(cursor)
    except connection.dialect.loaded_dbapi.Error as error:
        # What becomes of an error and of its connection is decided there alone.
        connection._handle_dbapi_exception(error, text, parameters, cursor, None)
    info[_CURSOR] = cursor
    return found


def let_go(info: MutableMapping[Any, Any]) -> None:
    """Forget what was found last over the connection of this `info`, which nobody uses now."""
    info.pop(_CURSOR, None)


@dataclass
class _Known:
    """A statement as one kind of database is sent it."""

    text: str
    # Names of parameters in the order of their places; None where the driver asks by name.
    places: tuple[str, ...] | None
    # What the statement says itself, as the driver wants it.
    said: dict[str, Any]
    # What makes of a parameter what the driver wants, by name.
    writers: tuple[tuple[str, _Process], ...]
    columns: tuple[TypeEngine[Any], ...]
    dialect: Dialect
    # What makes of a column of the driver what it means, by place; known with the first rows.
    _readers: tuple[tuple[int, _Process], ...] | None = None

    def parameters(self, named: Mapping[str, Any]) -> Any:
        """What the driver is told."""
        values = {**self.said, **named}
        for name, process in self.writers:
            values[name] = process(values[name])
        return values if self.places is None else tuple(values[name] for name in self.places)

    def read(self, cursor: DBAPICursor) -> list[tuple[Any, ...]]:
        """The rows that a driver has found."""
        found: Any = cursor.fetchall()
        readers = self._readers
        if readers is None:
            readers = self._readers = self._known_readers(cursor)
        return [_meant(one, readers) for one in found] if readers else found

    def _known_readers(self, cursor: DBAPICursor) -> tuple[tuple[int, _Process], ...]:
        kinds = [one[1] for one in cursor.description or ()]
        processes = [
            column.dialect_impl(self.dialect).result_processor(self.dialect, kind)
            for column, kind in zip(self.columns, kinds, strict=True)
        ]
        return tuple((place, one) for place, one in enumerate(processes) if one is not None)


def _meant(one: Sequence[Any], readers: Iterable[tuple[int, _Process]]) -> tuple[Any, ...]:
    values = list(one)
    for place, process in readers:
        values[place] = process(values[place])
    return tuple(values)


_texts: dict[tuple[Executable, tuple[str, ...], str], _Known] = {}


def _known(statement: Executable, named: Mapping[str, Any], dialect: Dialect) -> _Known:
    key = (statement, tuple(named), dialect.name)
    known = _texts.get(key)
    if known is None:
        with _lock:
            known = _texts.setdefault(key, _compiled(statement, list(named), dialect))
    return known


def _compiled(statement: Any, names: list[str], dialect: Dialect) -> _Known:
    """Compile a statement for a kind of database."""
    compiled: SQLCompiler = statement.compile(dialect=dialect, column_keys=names)
    _must_be_plain(compiled)
    # A name may stand in several places, of which some do not know their type.
    writers: Mapping[str, Any] = compiled._bind_processors
    said = {
        name: writers.get(name, _as_it_is)(bind.effective_value)
        for bind, name in compiled.bind_names.items()
        if name not in names and not bind.required
    }
    return _Known(
        str(compiled),
        None if compiled.positiontup is None else tuple(compiled.positiontup),
        said,
        tuple((name, one) for name, one in writers.items() if name not in said),
        tuple(one.type for one in compiled._result_columns),
        dialect,
    )


def _as_it_is(value: Any) -> Any:
    return value


def _must_be_plain(compiled: SQLCompiler) -> None:
    """Refuse what would have to be made anew each time."""
    if compiled.post_compile_params or compiled.literal_execute_params:
        raise TypeError(f"the text depends on the length of a list: {compiled}")
    if compiled.prefetch or compiled.escaped_bind_names:
        raise TypeError(f"Python makes a default of a column, or a name is odd: {compiled}")


def _rowcount(cursor: DBAPICursor) -> int:
    return cursor.rowcount
