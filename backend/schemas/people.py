"""Users, keys, sign-in and projects as the API speaks of them."""

from datetime import datetime

from pydantic import Field

from backend.schemas.paging import ApiAnswer, Body, Id
from backend.schemas.vocabulary import Role


class SignIn(Body):
    """Either the one-time token of a sign-in link, or e-mail and password."""

    token: str | None = Field(None, max_length=200)
    email: str | None = Field(None, max_length=320)
    password: str | None = Field(None, max_length=200)


class UserBody(Body):
    """A new user; everybody but an administrator sees only the projects named here."""

    name: str = Field(min_length=1, max_length=200)
    role: Role
    project_ids: list[Id] = Field(default_factory=list, max_length=1000)
    email: str | None = Field(None, max_length=320, pattern=r"^[^@\s]+@[^@\s]+$")
    password: str | None = Field(None, min_length=10, max_length=200)


class UserAnswer(ApiAnswer):
    """A user; `project_ids` is null for an administrator, who sees all."""

    id: str
    name: str
    email: str | None
    role: Role
    project_ids: list[str] | None
    created_at: datetime


class KeyBody(Body):
    """A new API key."""

    name: str = Field(min_length=1, max_length=200)
    expires_in_s: int | None = Field(None, ge=60, le=315_360_000)


class KeyAnswer(ApiAnswer):
    """An API key; `key` is shown once, in the answer that creates it."""

    id: str
    name: str
    prefix: str
    key: str | None = None
    expires_at: datetime | None
    created_at: datetime


class AuditAnswer(ApiAnswer):
    """One change. `action` is the operation of this API, `data` the ids of its address."""

    number: int
    user_id: str | None
    user_name: str | None = None
    action: str
    object_id: str
    data: dict[str, str]
    request_id: str | None
    created_at: datetime


class ProjectBody(Body):
    """A new project."""

    name: str = Field(min_length=1, max_length=200)
    guidelines: str = Field("", max_length=50_000)
    judgments_per_comparison: int = Field(1, ge=1, le=100)


class ProjectCounts(ApiAnswer):
    """How much a project holds."""

    prompts: int
    demonstrations: int
    solutions: int
    responses: int
    comparisons: int
    judgments: int
    open_comparisons: int = Field(description="Comparisons that still want a judgment.")


class ProjectAnswer(ApiAnswer):
    """A project; `counts` only in the answer for one project."""

    id: str
    name: str
    guidelines: str
    judgments_per_comparison: int
    created_at: datetime
    archived_at: datetime | None
    counts: ProjectCounts | None = None
