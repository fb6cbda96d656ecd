"""Invitations by the hashes of their tokens: who may become what in which project, once.

Called by `backend.auth` and the invitation routes. An invitation is worth what its sender may hand
out when it is used: it ends with the sender's account, role and key.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, String, and_, func, or_, select, tuple_, update
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import Conflict, NotFound
from backend.schemas.paging import Listing
from backend.schemas.people import UserAnswer
from backend.schemas.projects.members import InvitationAnswer, OpenedInvitation
from backend.schemas.vocabulary import InvitationState, Role
from backend.store import given
from backend.store.ids import new_id
from backend.store.paging import Page, page_of
from backend.store.people import callers, users
from backend.store.tables.credentials import Invitation
from backend.store.tables.data import Project
from backend.store.tables.people import User

# Of one sender: whoever takes a role away from the sender ends them in one transaction.
MOST_OPEN = 1000


class Link(NamedTuple):
    """The hash of a link's token, and when the link ends."""

    token_sha256: str
    expires_at: datetime


class Offer(NamedTuple):
    """Who is invited, and by which link."""

    name: str
    email: str | None
    link: Link


def add(
    session: Session,
    sender: Caller,
    project_id: str,
    offers: Sequence[Offer],
    *,
    role: Role,
    at: datetime,
) -> list[InvitationAnswer]:
    """Keep invitations. Raises Forbidden for a role above the sender's own.

    Raises NotSignedIn if the sender may do nothing any more, Conflict for a sender who would have
    sent more than one may.
    """
    sender.must_hand_out(role, project_id)
    callers.hold(session, sender)
    callers.present(session, sender).must_hand_out(role, project_id)
    _must_have_room(session, sender, len(offers), at)
    rows = [
        {
            "id": new_id("invitation"),
            "project_id": project_id,
            "name": one.name,
            "email": None if one.email is None else one.email.lower(),
            "role": role,
            "token_sha256": one.link.token_sha256,
            "invited_by": sender.id,
            "key_id": sender.key.id if sender.key else None,
            "expires_at": one.link.expires_at,
            "created_at": at,
        }
        for one in offers
    ]
    given.insert_all(session, Invitation, rows)
    return [_answer(Invitation(**row), sender.name, InvitationState.OPEN) for row in rows]


def renew(
    session: Session,
    sender: Caller,
    project_id: str,
    invitation_id: str,
    *,
    link: Link,
    at: datetime,
) -> InvitationAnswer:
    """Give an invitation another link, of whoever renews it; the link before ends.

    Raises Conflict if it was used, and for a sender who has sent as many as one may; Forbidden for
    a role above the sender's own, NotSignedIn if the sender may do nothing any more.
    """
    callers.hold(session, sender)
    row = _unused(session, project_id, invitation_id)
    _renew(session, sender, {row: link}, at)
    return _answer(row, sender.name, InvitationState.OPEN)


def renew_unused(
    session: Session, sender: Caller, project_id: str, links: Mapping[str, Link], *, at: datetime
) -> list[InvitationAnswer]:
    """Give each of these invitations its link, as `renew` does, but for those that were used.

    Answers in the order of `links`. Raises NotFound if the project has no such invitation, and what
    `renew` raises.
    """
    callers.hold(session, sender)
    of_project = select(Invitation).where(
        Invitation.project_id == project_id, Invitation.id.in_(links)
    )
    # In one order: another one who renews the same ones waits.
    held = session.scalars(of_project.order_by(Invitation.number).with_for_update())
    rows = {row.id: row for row in held}
    for invitation_id in links:
        if invitation_id not in rows:
            raise NotFound(f"there is no invitation {invitation_id} to this project")
    unused = {rows[one]: link for one, link in links.items() if rows[one].used_at is None}
    _renew(session, sender, unused, at)
    return [_answer(row, sender.name, InvitationState.OPEN) for row in unused]


def revoke(session: Session, project_id: str, invitation_id: str, *, at: datetime) -> None:
    """End a link at once. Raises Conflict if it was used."""
    row = _unused(session, project_id, invitation_id)
    row.revoked_at = row.revoked_at or at


def revoke_sent_by(session: Session, user_id: str, *, at: datetime) -> None:
    """End all links of a sender at once."""
    end(session, Invitation.invited_by == user_id, at=at)


def revoke_beyond(session: Session, user_id: str, *, at: datetime) -> None:
    """End the links of a sender to roles that the sender no longer holds, for good."""
    sender = callers.of_user(session, user_id)
    sent = select(Invitation.project_id, Invitation.role).distinct()
    open_ = sent.where(Invitation.invited_by == user_id, _is_in(InvitationState.OPEN, at))
    lost = [
        (project_id, role)
        for project_id, role in session.execute(open_)
        if sender is None or not sender.holds_in(project_id, Role(role))
    ]
    if lost:
        asked = given.rows(session, {"project_id": String(), "role": String()}, lost)
        is_lost = tuple_(Invitation.project_id, Invitation.role).in_(select(*asked.c))
        end(session, and_(Invitation.invited_by == user_id, is_lost), at=at)


def end(session: Session, which: ColumnElement[bool], *, at: datetime) -> None:
    """End those of the open links that a condition picks, at once."""
    session.execute(
        update(Invitation)
        .where(which, _is_in(InvitationState.OPEN, at))
        .values(revoked_at=at)
        .execution_options(synchronize_session=False)
    )


def listing(
    session: Session,
    project_id: str,
    page: Page,
    *,
    states: Collection[InvitationState] | None,
    at: datetime,
) -> Listing[InvitationAnswer]:
    """The invitations to a project, in these states or in all."""
    statement: Select[Invitation] = select(Invitation).where(Invitation.project_id == project_id)
    if states is not None:
        statement = statement.where(or_(*(_is_in(state, at) for state in states)))
    rows, cursor = page_of(session, statement, Invitation.number, page)
    senders = {user_id: _sender(session, user_id) for user_id in {row.invited_by for row in rows}}
    items = []
    for row in rows:
        name, sender = senders[row.invited_by]
        items.append(_answer(row, name, _state(row, sender, at)))
    return Listing(items=items, next_cursor=cursor)


def opened(session: Session, token_sha256: str, *, at: datetime) -> OpenedInvitation:
    """What the link with this token is to. Raises NotFound unless it works."""
    row, _ = _open(session, token_sha256, at, is_held=False)
    project_name = session.scalar(select(Project.name).where(Project.id == row.project_id))
    return OpenedInvitation(
        name=row.name,
        email=row.email,
        role=Role(row.role),
        project_id=row.project_id,
        project_name=project_name or "",
        expires_at=row.expires_at,
    )


def accept(
    session: Session, token_sha256: str, *, email: str, password_hash: str, at: datetime
) -> UserAnswer:
    """Make the user who was invited, and use the link up.

    Raises NotFound unless the link works, Conflict for a taken e-mail address.
    """
    row, sender = _open(session, token_sha256, at)
    role = Role(row.role)
    user = users.create(
        session,
        name=row.name,
        role=sender.service_role_for(role),
        email=email,
        password_hash=password_hash,
        at=at,
    )
    if role is not Role.ADMIN:
        users.join(session, user.id, row.project_id, role)
    _use_up(session, row, user.id, at)
    return users.get(session, user.id)


def join(session: Session, caller: Caller, token_sha256: str, *, at: datetime) -> UserAnswer:
    """Give whoever is signed in what the link is to, and use the link up.

    Nobody loses anything by it: who may do as much already keeps the role that they have. Raises
    NotFound unless the link works, Conflict if its role would take away what the one held allows,
    and for whoever has roles in as many projects as one person may.
    """
    offered = select(Invitation.role).where(Invitation.token_sha256 == token_sha256)
    # Users before invitations, as whoever changes a user.
    if session.scalar(offered) == Role.ADMIN:
        users.hold_with_admins(session, caller.id)
    else:
        users.hold(session, caller.id)
    caller = callers.present(session, caller)
    row, _ = _open(session, token_sha256, at)
    role = Role(row.role)
    if not caller.holds_in(row.project_id, role):
        if role is Role.ADMIN:
            users.change(session, caller.id, role=role)
        elif caller.would_lose_in(row.project_id, role):
            raise Conflict(
                f"you have the role {caller.roles[row.project_id]} in this project, and the role "
                f"{role} of this link would take away what it allows",
                advice="Ask whoever sent the link to change your role on Settings, Members.",
            )
        else:
            users.join(session, caller.id, row.project_id, role)
    _use_up(session, row, caller.id, at)
    return users.get(session, caller.id)


def _renew(
    session: Session, sender: Caller, links: Mapping[Invitation, Link], at: datetime
) -> None:
    """Give these rows, which are held, other links.

    Raises Forbidden for a role above the sender's own, Conflict if the sender has sent too many.
    """
    now = callers.present(session, sender)
    for role, project_id in {(Role(row.role), row.project_id) for row in links}:
        for one in (sender, now):
            one.must_hand_out(role, project_id)
    _must_have_room(session, sender, len(links), at, but=[row.id for row in links])
    for row, link in links.items():
        row.token_sha256, row.expires_at = link
        row.invited_by, row.key_id = sender.id, sender.key.id if sender.key else None
        row.revoked_at = None
    session.flush()


def _use_up(session: Session, row: Invitation, user_id: str, at: datetime) -> None:
    row.used_at, row.user_id = at, user_id
    session.flush()


def _open(
    session: Session, token_sha256: str, at: datetime, *, is_held: bool = True
) -> tuple[Invitation, Caller]:
    """The invitation whose link works, held until the transaction ends, and its sender."""
    found = select(Invitation).where(Invitation.token_sha256 == token_sha256)
    row = session.scalar(found.with_for_update() if is_held else found)
    sender = None if row is None else _sender(session, row.invited_by)[1]
    if row is None or sender is None or _state(row, sender, at) is not InvitationState.OPEN:
        # One answer for all: who finds an old link learns nothing from it.
        raise NotFound(
            "this invitation link does not work: it was used, has expired, was revoked, or a part "
            "of it is missing",
            advice="Copy the whole link again, or ask whoever sent it for a new one.",
        )
    return row, sender


def _must_have_room(
    session: Session, sender: Caller, more: int, at: datetime, *, but: Collection[str] = ()
) -> None:
    """Raise Conflict unless the sender may have so many more open links; not counting `but`."""
    own = select(func.count()).where(
        Invitation.invited_by == sender.id,
        Invitation.id.not_in(but),
        _is_in(InvitationState.OPEN, at),
    )
    found = session.scalar(own) or 0
    if found + more > MOST_OPEN:
        raise Conflict(
            f"{found:,} of your invitations are open, and this would make {more:,} more; at most "
            f"{MOST_OPEN:,} are allowed",
            advice="Revoke those that nobody will use, on Settings, Members, or wait until they "
            "are used or expire.",
        )


def _unused(session: Session, project_id: str, invitation_id: str) -> Invitation:
    row = session.scalar(
        select(Invitation)
        .where(Invitation.id == invitation_id, Invitation.project_id == project_id)
        .with_for_update()
    )
    if row is None:
        raise NotFound(f"there is no invitation {invitation_id} to this project")
    if row.used_at is not None:
        raise Conflict(
            f"{row.name} has used this invitation already",
            advice="Change this person's role, or remove the person from the project.",
        )
    return row


def _sender(session: Session, user_id: str) -> tuple[str, Caller | None]:
    """Name and present rights of who sent an invitation; no rights for who is deactivated."""
    user = session.scalar(select(User).where(User.id == user_id))
    assert user is not None  # held by a foreign key
    return user.name, callers.of_user(session, user_id)


def _state(row: Invitation, sender: Caller | None, at: datetime) -> InvitationState:
    if row.used_at is not None:
        return InvitationState.USED
    may_send = sender is not None and sender.holds_in(row.project_id, Role(row.role))
    if row.revoked_at is not None or not may_send:
        return InvitationState.REVOKED
    return InvitationState.EXPIRED if row.expires_at <= at else InvitationState.OPEN


def _is_in(state: InvitationState, at: datetime) -> ColumnElement[bool]:
    """Whether the enclosing query's invitation is in this state, by its own row."""
    unused, unrevoked = Invitation.used_at.is_(None), Invitation.revoked_at.is_(None)
    match state:
        case InvitationState.USED:
            return Invitation.used_at.is_not(None)
        case InvitationState.REVOKED:
            return and_(unused, Invitation.revoked_at.is_not(None))
        case InvitationState.EXPIRED:
            return and_(unused, unrevoked, Invitation.expires_at <= at)
        case InvitationState.OPEN:
            return and_(unused, unrevoked, Invitation.expires_at > at)


def _answer(row: Invitation, sender: str, state: InvitationState) -> InvitationAnswer:
    return InvitationAnswer(
        id=row.id,
        name=row.name,
        email=row.email,
        role=Role(row.role),
        state=state,
        invited_by=row.invited_by,
        invited_by_name=sender,
        user_id=row.user_id,
        expires_at=row.expires_at,
        created_at=row.created_at,
    )
