"""Users, keys, sign-in and the audit log as the API speaks of them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from backend.schemas.paging import ApiAnswer, Body, BodyPart, Id, Name, as_name
from backend.schemas.vocabulary import Role, Scope

Email = Annotated[str, Field(max_length=320, pattern=r"^[^@\s]+@[^@\s]+$"), AfterValidator(as_name)]
NewPassword = Annotated[str, Field(min_length=10, max_length=200)]
ProjectRole = Literal[Role.RESEARCHER, Role.ANNOTATOR, Role.VIEWER]
# Of one person: every request reads them all, and lists ask for what is in any of these projects.
MOST_MEMBERSHIPS = 1000


class SignIn(Body):
    """A sign-in, by the one-time token of a sign-in link or by e-mail and password."""

    token: str | None = Field(None, max_length=200)
    email: str | None = Field(None, max_length=320)
    password: str | None = Field(None, max_length=200)


class UserBody(Body):
    """A new user with a role in the service, who has it in the projects named here too.

    An administrator sees every project and becomes a member of none, everybody else sees only their
    own.
    """

    name: Name
    role: Role
    project_ids: list[Id] = Field(default_factory=list, max_length=MOST_MEMBERSHIPS)
    email: Email | None = None
    password: NewPassword | None = None


class MembershipBody(BodyPart):
    """The role that a user has in one project."""

    project_id: str = Field(max_length=64)
    role: ProjectRole


class UserChange(Body):
    """What to change about a user; what is left out stays as it is.

    An administrator may change everything; of their own e-mail address and password only with
    `current_password` if they have one. Everybody may change their own name, and with
    `current_password` their own password.
    """

    name: Name | None = None
    email: Email | None = None
    role: Role | None = Field(None, description="The role in the whole service.")
    memberships: list[MembershipBody] | None = Field(
        None,
        max_length=MOST_MEMBERSHIPS,
        description="The roles in projects, in place of those until now.",
    )
    is_active: bool | None = Field(
        None, description="False signs the user out everywhere and ends all of their keys."
    )
    password: NewPassword | None = Field(
        None, description="The new password; it ends the user's other browser sessions."
    )
    current_password: str | None = Field(None, max_length=200)


class MembershipAnswer(ApiAnswer):
    """The role that a user has in one project."""

    project_id: str
    role: Role


class UserAnswer(ApiAnswer):
    """A user; `project_ids` is null for an administrator, who sees all.

    `role` counts in the whole service, where no project decides: who may create projects. Each of
    `memberships` counts in its project.
    """

    id: str
    name: str
    email: str | None
    role: Role
    project_ids: list[str] | None
    memberships: list[MembershipAnswer]
    is_active: bool
    created_at: datetime


class SessionAnswer(ApiAnswer):
    """A browser that is signed in."""

    created_at: datetime
    expires_at: datetime


class KeyBody(Body):
    """A new API key."""

    name: Name
    expires_in_s: int | None = Field(None, ge=60, le=315_360_000)
    scopes: list[Scope] | None = Field(
        None,
        min_length=1,
        max_length=4,
        description="What the key may be used for: `read`; `rank`: take and judge comparisons; "
        "`run`: change projects, data, models and runs; `administer`: invite people, manage "
        "members, users and keys, read the audit log. Left out: all that the sender of this "
        "request may do.",
    )


class KeyAnswer(ApiAnswer):
    """An API key; `key` is shown once, in the answer that creates it.

    A key that was made with another one (`parent_id`) is revoked together with it.
    """

    id: str
    name: str
    prefix: str
    key: str | None = None
    scopes: list[Scope]
    parent_id: str | None
    expires_at: datetime | None
    created_at: datetime


class AuditAnswer(ApiAnswer):
    """One change, or one read or refusal that is kept, too.

    `action` is the operation of this API, or a command on the machine of the service. `data`: the
    ids of its address and, for rights and keys, what was there `before` and `after`.
    Refusals, exports and reads of others' judgments have `outcome` ("done" or a status), `address`
    and `count`, how often that second; without valid credentials, that minute. Each `sha256` covers
    the line and the hash before it.
    """

    number: int
    user_id: str | None
    user_name: str | None = None
    action: str
    object_id: str
    data: dict[str, JsonValue]
    request_id: str | None
    created_at: datetime
    sha256: str
