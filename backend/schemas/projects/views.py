"""Saved views of a project, as the API speaks of them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from backend.schemas.paging import ApiAnswer, Body, Name

ViewPage = Literal["compare", "runs"]

# The part of an address behind its question mark: what a browser writes there, and nothing else.
Query = Annotated[str, Field(max_length=8000, pattern=r"^[A-Za-z0-9._~%+&=,:*!'()@/-]*$")]


class ViewBody(Body):
    """What a page shows, under a name."""

    page: ViewPage
    name: Name
    query: Query


class ViewChange(Body):
    """What changes; the rest stays. Raises a conflict if the view has another revision by now."""

    revision: int = Field(ge=1, le=2**31 - 1, description="The one that the change was made from.")
    name: Name | None = None
    query: Query | None = None


class ViewAnswer(ApiAnswer):
    """A saved view."""

    id: str
    project_id: str
    page: ViewPage
    name: str
    query: str
    user_name: str
    revision: int
    created_at: datetime
    changed_at: datetime
