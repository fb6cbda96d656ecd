"""Who did what to which object: one line per change, in the transaction of the change itself.

Called by `backend.deps` for every changing request that went well, and read by the audit route.
Lines are added and never changed.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.schemas.paging import Listing
from backend.schemas.people import AuditAnswer
from backend.store.paging import Page, page_of
from backend.store.tables.people import AuditEntry, User


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
    """Add a line."""
    session.add(
        AuditEntry(
            user_id=user_id,
            action=action,
            object_id=object_id,
            data=dict(data),
            request_id=request_id,
            created_at=at,
        )
    )
    session.flush()


def listing(session: Session, page: Page, wanted: Mapping[str, str | None]) -> Listing[AuditAnswer]:
    """Lines whose columns have the wanted values (None = any), newest first."""
    given = {name: value for name, value in wanted.items() if value is not None}
    statement = select(AuditEntry).filter_by(**given)
    rows, cursor = page_of(session, statement, AuditEntry.number, page)
    names = _names(session, {row.user_id for row in rows})
    shown = [AuditAnswer.model_validate(row) for row in rows]
    items = [one.model_copy(update={"user_name": names.get(one.user_id)}) for one in shown]
    return Listing(items=items, next_cursor=cursor)


def _names(session: Session, user_ids: set[str | None]) -> dict[str | None, str]:
    rows = session.execute(select(User.id, User.name).where(User.id.in_(user_ids)))
    return dict(rows.all())
