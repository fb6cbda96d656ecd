"""The audit log: who changed what, for administrators."""

from typing import Annotated

from fastapi import Query

from backend.deps import PageDep, SessionDep
from backend.routes import api_router
from backend.schemas.paging import Listing
from backend.schemas.people import AuditAnswer
from backend.store.people import audit

router = api_router("audit")

Wanted = Annotated[str | None, Query(max_length=64)]


@router.get("/audit")
def list_audit(
    session: SessionDep,
    page: PageDep,
    user_id: Wanted = None,
    action: Wanted = None,
    object_id: Wanted = None,
) -> Listing[AuditAnswer]:
    """What was changed, by whom, when and in which request, newest first."""
    wanted = {"user_id": user_id, "action": action, "object_id": object_id}
    return audit.listing(session, page, wanted)
