"""Invitations to a project: made and revoked by who runs it, used by who is invited.

No mail is sent: whoever invites passes the link on. Its token stands in the fragment of the link,
which browsers keep out of requests and logs, and comes here in a body.
"""

from typing import Annotated

from fastapi import Query, Response
from pydantic import JsonValue

from backend import auth
from backend.api.session import check_origin, set_cookie
from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep, SettingsDep
from backend.domain.access import Caller
from backend.errors import InvalidInput, NotFound, TooManyTries
from backend.phases import Phases
from backend.pressure.passwords import Passwords
from backend.pressure.turns import refusing_late
from backend.routes import api_router
from backend.schemas.paging import Listing
from backend.schemas.people import UserAnswer
from backend.schemas.projects.members import (
    Acceptance,
    InvitationAnswer,
    InvitationsAnswer,
    InvitationsBody,
    InvitationToken,
    OpenedInvitation,
    RenewalBody,
    RenewalsBody,
)
from backend.schemas.vocabulary import InvitationState
from backend.store.people import invitations

router = api_router("invitations")


@router.post("/projects/{project_id}/invitations", status_code=201, openapi_extra=IDEMPOTENT)
def create_invitations(
    project_id: str,
    body: InvitationsBody,
    session: SessionDep,
    caller: Caller,
    phases: Phases,
    at: Now,
) -> InvitationsAnswer:
    """Make one link for each of these people; each token is shown once.

    A link works once and until it expires. It ends earlier if it is revoked, if its sender loses
    the role that it hands out, and with the key that it was made with.
    """
    made = auth.invite(session, caller, project_id, body, at=at)
    phases.note_change(before=None, after=[_offer(one) for one in made.items])
    return made


@router.get("/projects/{project_id}/invitations")
def list_invitations(
    project_id: str,
    session: SessionDep,
    page: PageDep,
    at: Now,
    state: Annotated[list[InvitationState] | None, Query(max_length=4)] = None,
) -> Listing[InvitationAnswer]:
    """The invitations to this project, never their tokens."""
    return invitations.listing(session, project_id, page, states=state, at=at)


@router.post("/projects/{project_id}/invitations/{invitation_id}/renew")
def renew_invitation(
    project_id: str,
    invitation_id: str,
    body: RenewalBody,
    session: SessionDep,
    caller: Caller,
    phases: Phases,
    at: Now,
) -> InvitationAnswer:
    """Make another link for somebody who has not come yet; the link before ends."""
    renewed = auth.renew_invitation(
        session, caller, project_id, invitation_id, expires_in_s=body.expires_in_s, at=at
    )
    phases.note_change(before=None, after=_offer(renewed))
    return renewed


@router.post("/projects/{project_id}/invitations/renew")
def renew_invitations(
    project_id: str,
    body: RenewalsBody,
    session: SessionDep,
    caller: Caller,
    phases: Phases,
    at: Now,
) -> InvitationsAnswer:
    """Make other links for people who have not come yet, all or none; the links before end.

    Who has come meanwhile is left out of the answer.
    """
    renewed = auth.renew_invitations(session, caller, project_id, body, at=at)
    phases.note_change(before=None, after=[_offer(one) for one in renewed.items])
    return renewed


@router.delete("/projects/{project_id}/invitations/{invitation_id}", status_code=204)
def revoke_invitation(project_id: str, invitation_id: str, session: SessionDep, at: Now) -> None:
    """End a link at once."""
    invitations.revoke(session, project_id, invitation_id, at=at)


@router.post("/invitation")
async def open_invitation(body: InvitationToken, phases: Phases, at: Now) -> OpenedInvitation:
    """What the link with this token is to; it can still be used afterwards."""
    return await _opened(body.token, phases, at)


@router.post("/invitation/accept", status_code=201)
async def accept_invitation(
    body: Acceptance, response: Response, phases: Phases, settings: SettingsDep, at: Now
) -> UserAnswer:
    """Make the account of whoever was invited, and sign the browser in; the link ends."""
    request = phases.request
    check_origin(request)
    # Before the password is hashed: whoever has no link makes nobody compute.
    invitation = await _opened(body.token, phases, at)
    email = _address(invitation, body)
    passwords: Passwords = request.app.state.passwords
    async with refusing_late(TooManyTries):
        hashed = await passwords.hash(body.password, person=request.scope["podium.address"])
    cookie = auth.new_cookie()

    def _accept(session: SessionDep) -> UserAnswer:
        user = auth.accept_invitation(session, body.token, email=email, password_hash=hashed, at=at)
        before = request.cookies.get(auth.COOKIE)
        auth.open_session(session, user.id, cookie, replaces=before, at=at)
        phases.note_change(before=None, after=_rights(user))
        return user

    user = await phases.write_as_nobody(_accept)
    set_cookie(response, cookie, request, settings)
    return user


@router.post("/invitation/join")
def join_by_invitation(
    body: InvitationToken, session: SessionDep, caller: Caller, phases: Phases, at: Now
) -> UserAnswer:
    """Give whoever is signed in what the link with this token is to; the link ends."""
    user = auth.join_by_invitation(session, caller, body.token, at=at)
    phases.note_change(before=None, after=_rights(user))
    return user


async def _opened(token: str, phases: Phases, at: Now) -> OpenedInvitation:
    async with refusing_late(NotFound):
        return await phases.read(lambda session: auth.opened_invitation(session, token, at=at))


def _address(invitation: OpenedInvitation, body: Acceptance) -> str:
    """What the new user signs in with. Raises InvalidInput if nobody has said it."""
    email = invitation.email or body.email
    if email is None:
        raise InvalidInput(
            "the invitation has no e-mail address, and `email` is missing",
            advice="Send the address to sign in with later; no mail is sent to it.",
        )
    return email


def _offer(invitation: InvitationAnswer) -> dict[str, JsonValue]:
    """What an invitation is to, for the audit."""
    return invitation.model_dump(mode="json", include={"id", "name", "role", "expires_at"})


def _rights(user: UserAnswer) -> dict[str, JsonValue]:
    return user.model_dump(mode="json", include={"role", "memberships"})
