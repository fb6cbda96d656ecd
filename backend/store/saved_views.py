"""Saved views: what a page shows, under a name that everybody in the project finds.

Called by `backend.api.views`. Whoever works in a project may change its views, as they may its
experiments; the audit says who did.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backend.errors import Conflict, NotFound, changed_meanwhile
from backend.schemas.paging import Listing
from backend.schemas.projects.views import ViewAnswer, ViewBody, ViewChange
from backend.store.data import projects
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.tables.people import User
from backend.store.tables.views import SavedView

MOST_VIEWS = 200  # of a page of a project


def create(
    session: Session, project_id: str, body: ViewBody, *, user_id: str, at: datetime
) -> ViewAnswer:
    """Save a view. Raises Conflict for a name that is taken, or if there are too many."""
    projects.lock(session, project_id)
    _must_be_free(session, project_id, body.page, body.name)
    here = (SavedView.project_id == project_id, SavedView.page == body.page)
    count = session.scalar(select(func.count()).select_from(SavedView).where(*here)) or 0
    if count >= MOST_VIEWS:
        raise Conflict(
            f"this page has {count} saved views; at most {MOST_VIEWS} are kept",
            advice="Delete one that nobody needs.",
        )
    view = SavedView(
        id=new_id("view"),
        created_at=at,
        changed_at=at,
        project_id=project_id,
        user_id=user_id,
        revision=1,
        **body.model_dump(),
    )
    session.add(view)
    session.flush()
    return _answer(session, view)


def listing(
    session: Session, project_id: str, page: Page, *, of: str | None
) -> Listing[ViewAnswer]:
    """The views of a project, of one page or of all."""
    statement = select(SavedView).where(SavedView.project_id == project_id)
    if of is not None:
        statement = statement.where(SavedView.page == of)
    rows, next_cursor = page_of(session, statement, SavedView.number, page)
    return Listing(items=[_answer(session, row) for row in rows], next_cursor=next_cursor)


def get(session: Session, project_id: str, view_id: str) -> ViewAnswer:
    """One view of the project. Raises NotFound."""
    return _answer(session, _row(session, project_id, view_id))


def change(
    session: Session, project_id: str, view_id: str, body: ViewChange, *, at: datetime
) -> ViewAnswer:
    """Change what is given. Raises NotFound, and Conflict for another revision or a taken name."""
    projects.lock(session, project_id)
    view = _row(session, project_id, view_id)
    if view.revision != body.revision:
        advice = "Open the newest view, then change that one."
        raise changed_meanwhile(
            f"the view {view.name!r}", body.revision, view.revision, advice=advice
        )
    if body.name is not None and body.name != view.name:
        _must_be_free(session, project_id, view.page, body.name)
    changes: dict[str, Any] = body.model_dump(exclude={"revision"}, exclude_none=True)
    for name, value in changes.items():
        setattr(view, name, value)
    view.revision, view.changed_at = view.revision + 1, at
    session.flush()
    return _answer(session, view)


def delete(session: Session, project_id: str, view_id: str) -> None:
    """Delete a view; its address leads nowhere from then on. Raises NotFound."""
    session.delete(_row(session, project_id, view_id))
    session.flush()


def _row(session: Session, project_id: str, view_id: str) -> SavedView:
    here = (SavedView.id == view_id, SavedView.project_id == project_id)
    view = session.scalars(select(SavedView).where(*here)).one_or_none()
    if view is None:
        raise NotFound(f"there is no view {view_id} in this project")
    return view


def _must_be_free(session: Session, project_id: str, page: str, name: str) -> None:
    taken = select(SavedView.id).where(
        SavedView.project_id == project_id, SavedView.page == page, SavedView.name == name
    )
    if session.scalar(taken) is not None:
        raise Conflict(
            f"there is a view {name!r} of this page already",
            advice="Choose another name, or update that view.",
        )


def _answer(session: Session, view: SavedView) -> ViewAnswer:
    fields = {name: getattr(view, name, None) for name in ViewAnswer.model_fields}
    user_name = session.scalar(select(User.name).where(User.id == view.user_id))
    return ViewAnswer.model_validate(fields | {"user_name": user_name})
