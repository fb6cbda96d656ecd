"""Who did what to which object: one line per change, in the transaction of the change itself.

Called by `backend.phases` for every changing request that went well, by `backend.traces` for what
changes nothing, and read by the audit route and `podium audit`. Lines are added and never changed,
which triggers of the database see to; `backend.domain.audit_chain` says how they hang together.
"""

from collections.abc import Collection, Generator, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.domain.audit_chain import BEGINNING, Head, Line, Link, sha256_of
from backend.schemas.paging import Listing
from backend.schemas.people import AuditAnswer
from backend.store import built, dialect, given, record_names
from backend.store.paging import Page, page_of
from backend.store.tables.people import AuditEntry

# Of PostgreSQL's advisory locks: whoever adds a line waits for the line before.
_LOCK = 7_246_001
_LOCKING = select(func.pg_advisory_xact_lock(_LOCK))
_NEWEST = select(AuditEntry.number, AuditEntry.sha256).order_by(AuditEntry.number.desc()).limit(1)
_READ_AT_ONCE = 1000


class Said(NamedTuple):
    """What a line says of one object; `user_id` None: nobody was known."""

    user_id: str | None
    action: str
    object_id: str
    data: Mapping[str, Any]


def record(
    session: Session,
    *,
    user_id: str | None,
    action: str,
    object_id: str,
    data: Mapping[str, Any],
    request_id: str | None,
    at: datetime,
) -> None:
    """Add a line at the end of the chain.

    Others who add one wait until this transaction ends: add it last.
    """
    changed = {object_id: data}
    record_all(
        session, user_id=user_id, action=action, changed=changed, request_id=request_id, at=at
    )


def record_all(
    session: Session,
    *,
    user_id: str | None,
    action: str,
    changed: Mapping[str, Mapping[str, Any]],
    request_id: str | None,
    at: datetime,
) -> None:
    """Add a line with its data for each object that one action has changed."""
    said = [Said(user_id, action, object_id, data) for object_id, data in changed.items()]
    record_lines(session, said, request_id=request_id, at=at)


def record_lines(
    session: Session, said: Collection[Said], *, request_id: str | None, at: datetime
) -> None:
    """Add lines that say this at the end of the chain, in one go; as `record`, add them last."""
    if not said:
        return
    session.flush()  # Before the lock: what others wait for by then is held already.
    if not dialect.is_sqlite(session):
        built.rows(session, _LOCKING, {})
    last = head(session)
    rows = []
    for one in said:
        line = Line(
            last.number + 1, one.user_id, one.action, one.object_id, dict(one.data), request_id, at
        )
        last = Head(line.number, sha256_of(line, last.sha256))
        rows.append({**line._asdict(), "sha256": last.sha256})
    # Not as objects, which cost several times as much: a request may change five hundred.
    given.insert_all(session, AuditEntry, rows)


def head(session: Session) -> Head:
    """The last line's number and hash."""
    found = built.row(session, _NEWEST, {})
    return Head(0, BEGINNING) if found is None else Head(*found)


def chain(session: Session) -> Generator[Link]:
    """Every line with its hash, in order; close it before the session."""
    entry = AuditEntry
    statement = select(*(getattr(entry, name) for name in Line._fields), entry.sha256)
    ordered = statement.order_by(entry.number).execution_options(yield_per=_READ_AT_ONCE)
    with closing(session.execute(ordered)) as rows:
        for row in rows:
            yield Link(Line(*row[:-1]), row.sha256)


def listing(session: Session, page: Page, wanted: Mapping[str, str | None]) -> Listing[AuditAnswer]:
    """Lines whose columns have the wanted values (None = any), newest first."""
    named = {name: value for name, value in wanted.items() if value is not None}
    statement = select(AuditEntry).filter_by(**named)
    rows, cursor = page_of(session, statement, AuditEntry.number, page)
    names = record_names.of_users(session, {row.user_id for row in rows if row.user_id})
    shown = [AuditAnswer.model_validate(row) for row in rows]
    items = [one.model_copy(update={"user_name": names.get(one.user_id or "")}) for one in shown]
    return Listing(items=items, next_cursor=cursor)
