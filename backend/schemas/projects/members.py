"""Members of a project and invitations to it as the API speaks of them."""

from datetime import datetime

from pydantic import Field

from backend.schemas.paging import ApiAnswer, Body, BodyPart, Id, Name
from backend.schemas.people import Email, NewPassword, ProjectRole
from backend.schemas.vocabulary import InvitationState, Role


class MemberAnswer(ApiAnswer):
    """Somebody who has a role in a project; an administrator has one in each."""

    id: str
    name: str
    email: str | None
    role: Role = Field(description="The role in this project.")
    is_active: bool
    judgments: int = Field(description="Comparisons of this project that this person has judged.")
    guidelines_version: int | None = Field(
        description="The newest version of the guidelines that this person has acknowledged."
    )
    acknowledged_at: datetime | None
    practice_attempt: int | None = Field(
        description="Of the practice of the project; null if this person has not begun it."
    )
    practice_passed_at: datetime | None
    created_at: datetime


class MemberChange(Body):
    """The new role of a member of a project."""

    role: ProjectRole


class InvitedPerson(BodyPart):
    """Who is invited: how they are called and, if known, the address they will sign in with."""

    name: Name
    email: Email | None = None


class InvitationsBody(Body):
    """One link for each of these people; no mail is sent."""

    people: list[InvitedPerson] = Field(min_length=1, max_length=100)
    role: Role = Field(
        description="The role in the project, at most the sender's own; `admin` makes "
        "administrators of the service."
    )
    expires_in_s: int = Field(604_800, ge=60, le=7_776_000, description="Seconds; 7 days.")


class RenewalBody(Body):
    """How long the new link of an invitation works."""

    expires_in_s: int = Field(604_800, ge=60, le=7_776_000, description="Seconds; 7 days.")


class RenewalsBody(RenewalBody):
    """Whose links are made anew, and how long the new ones work."""

    invitation_ids: list[Id] = Field(min_length=1, max_length=100)


class InvitationAnswer(ApiAnswer):
    """An invitation to a project; `token` is shown once, in the answer that makes it.

    The link is `/invitation#token=TOKEN` at the address of this service. It works once.
    """

    id: str
    name: str
    email: str | None
    role: Role
    state: InvitationState
    token: str | None = None
    invited_by: str
    invited_by_name: str
    user_id: str | None = Field(description="Who used it.")
    expires_at: datetime
    created_at: datetime


class InvitationsAnswer(ApiAnswer):
    """The invitations that were made or renewed, in the order in which they were sent."""

    items: list[InvitationAnswer]


class InvitationToken(Body):
    """What stands in the link, behind `#token=`."""

    token: str = Field(max_length=200)


class Acceptance(InvitationToken):
    """The account of somebody who was invited and has none yet."""

    email: Email | None = Field(
        None,
        description="What to sign in with later, if the invitation has no address. No mail is "
        "sent to it.",
    )
    password: NewPassword


class OpenedInvitation(ApiAnswer):
    """What an invitation is to, for whoever has its link."""

    name: str
    email: str | None
    role: Role
    project_id: str
    project_name: str
    expires_at: datetime
