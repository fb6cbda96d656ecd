"""What a route may ask for besides its session and its caller: settings, database, time, page.

`backend.routes` gives `session`, `caller`, `phases` and `at`. No rules and no SQL here.
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.settings import Settings
from backend.store.data import projects
from backend.store.db import Database
from backend.store.paging import Page

# Routers know the store's session by this name alone: they import no SQLAlchemy.
SessionDep = Session
# Characters of an Idempotency-Key at most.
LONGEST_KEY = 200
_SAME_AGAIN = "The same key and body give the same answer again; nothing is done twice."


# Each is `async` because FastAPI calls what is not in a thread, which costs more than all of it.
async def settings_of(request: Request) -> Settings:
    """The settings that the application was made with."""
    settings: Settings = request.app.state.settings
    return settings


async def database_of(request: Request) -> Database:
    """The database of the application, for what goes on after a request's phases."""
    database: Database = request.app.state.database
    return database


SettingsDep = Annotated[Settings, Depends(settings_of)]


# The time of the request, which a parameter `at` is given.
Now = datetime


def visible_project(session: Session, caller: Caller, project_id: str) -> None:
    """Raise NotFound or Forbidden unless the caller may do this in a project of the body."""
    caller.must_see(project_id, f"project {project_id}")
    projects.must_exist(session, project_id)


async def _page(
    limit: Annotated[int, Query(ge=1, le=500, description="Items per page.")] = 50,
    cursor: Annotated[
        str | None, Query(max_length=200, description="The next_cursor of the previous page.")
    ] = None,
    oldest_first: Annotated[
        bool, Query(description="List the oldest first; by default the newest comes first.")
    ] = False,
) -> Page:
    return Page(limit=limit, cursor=cursor, oldest_first=oldest_first)


PageDep = Annotated[Page, Depends(_page)]


# For the decorators of POST routes that create: `openapi_extra=IDEMPOTENT`. `backend.phases` reads
# the header; as a parameter FastAPI would read it a second time.
IDEMPOTENT: dict[str, Any] = {
    "parameters": [
        {
            "name": "idempotency-key",
            "in": "header",
            "required": False,
            "schema": {
                "anyOf": [{"type": "string", "maxLength": LONGEST_KEY}, {"type": "null"}],
                "description": _SAME_AGAIN,
                "title": "Idempotency-Key",
            },
            "description": _SAME_AGAIN,
        }
    ]
}
