"""Who is asking: API keys, sign-in links, invitations and browser sessions.

Called by `backend.phases`, the session, user and invitation routes and the command line. Only
hashes reach the store; roles and visibility are `backend.domain.access`.
"""

import hashlib
import os
import secrets
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from backend.domain.access import EVERY_SCOPE, ApiKeyUsed, Caller
from backend.domain.own_address import OwnAddress
from backend.errors import Forbidden, NotFound, NotSignedIn
from backend.schemas.people import KeyAnswer, UserAnswer
from backend.schemas.projects.members import (
    InvitationAnswer,
    InvitationsAnswer,
    InvitationsBody,
    OpenedInvitation,
    RenewalsBody,
)
from backend.schemas.vocabulary import Role, Scope
from backend.store.owners import Asked
from backend.store.people import invitations, keys, sign_ins, users
from backend.store.people.callers import Sender
from backend.store.people.credentials import Secret
from backend.store.people.invitations import Link, Offer

COOKIE = "podium_session"
SESSION_LIFE = timedelta(days=14)
SIGN_IN_LINK_LIFE = timedelta(minutes=10)
ADMIN_KEY_FILE = "admin.key"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True)
class Credentials:
    """What a request brings to say who it is, and where it says it comes from."""

    method: str
    authorization: str | None
    cookie: str | None
    origin: str | None
    host: str | None
    scheme: str
    # The user whose page sends it: in a shared browser another may have signed in since.
    page_of: str | None = None


def add_key(
    session: Session,
    *,
    user_id: str,
    name: str,
    expires_in_s: int | None,
    scopes: Collection[Scope] | None = None,
    maker: Caller | None = None,
    at: datetime,
) -> KeyAnswer:
    """A new API key; its text is in the answer and nowhere else.

    One that is made with a key has no scope that this one lacks and lives no longer. Raises
    Forbidden for a scope beyond that, NotSignedIn if the maker may do nothing any more; `scopes`
    None: all that are allowed.
    """
    made_with = maker.key if maker else None
    allowed = EVERY_SCOPE if made_with is None else made_with.scopes
    beyond = set(scopes or ()) - allowed
    if beyond:
        raise Forbidden(
            f"the key that sends this request has no scope {sorted(beyond)[0]}, so a key that it "
            "creates cannot have it",
            advice="Leave the scope out, or sign in to create the key.",
        )
    key = f"pk_{secrets.token_urlsafe(32)}"
    answer = keys.add(
        session,
        user_id=user_id,
        name=name,
        prefix=key[:9],
        key_sha256=_sha256(key),
        scopes=sorted(allowed if scopes is None else set(scopes)),
        maker=maker,
        expires_at=min(_ends(expires_in_s, made_with, at), default=None),
        at=at,
    )
    return answer.model_copy(update={"key": key})


def authenticate(
    session: Session,
    credentials: Credentials,
    *,
    at: datetime,
    own: OwnAddress,
    asked: Asked | None = None,
) -> Sender:
    """Who is asking, by bearer key or by cookie, and whose the object is that is asked for.

    Raises NotSignedIn without valid credentials or from the page of another user, Forbidden for a
    cookie from a foreign origin.
    """
    if credentials.authorization is not None:
        scheme, _, key = credentials.authorization.partition(" ")
        sender = (
            keys.sender_of(session, _sha256(key.strip()), at=at, asked=asked)
            if scheme.lower() == "bearer"
            else None
        )
    elif credentials.cookie is not None:
        check_origin(credentials, own)
        sender = sign_ins.sender_of(session, _sha256(credentials.cookie), at=at, asked=asked)
    else:
        raise NotSignedIn(
            "the request has neither a key nor a session",
            advice="Send `Authorization: Bearer KEY`, or sign in first.",
        )
    if sender is None:
        raise NotSignedIn(
            "the key or session is unknown, expired or revoked",
            advice="Sign in again or ask an administrator for a new key.",
        )
    check_page(sender.caller, credentials.page_of)
    return sender


def check_page(caller: Caller, page_of: str | None) -> None:
    """Raise NotSignedIn if the request comes from the page of another user; None: of no page."""
    if page_of not in (None, caller.id):
        raise NotSignedIn(
            "this page belongs to another user than the one who is signed in now",
            advice="Reload the page, or sign in again as its user.",
        )


def secret_of(credentials: Credentials) -> Secret | None:
    """What `authenticate` looks at, by its hash; None if the request brings nothing."""
    if credentials.authorization is not None:
        return Secret("key", _sha256(credentials.authorization.partition(" ")[2].strip()))
    if credentials.cookie is not None:
        return Secret("cookie", _sha256(credentials.cookie))
    return None


def check_origin(credentials: Credentials, own: OwnAddress) -> None:
    """Refuse what another site makes a signed-in browser send.

    Raises Forbidden if a changing request has no Origin, or any request a foreign one.
    """
    if credentials.origin is None:
        if credentials.method in SAFE_METHODS:
            return
        raise Forbidden(
            "a request with a session cookie needs an Origin header",
            advice="Programs should send `Authorization: Bearer KEY` instead of the cookie.",
        )
    if not own.is_own(credentials.origin, scheme=credentials.scheme, host=credentials.host):
        raise Forbidden(
            f"the Origin header is {credentials.origin[:200]}, but this service is "
            f"{credentials.scheme}://{credentials.host}",
            advice="Open Podium at its own address, or set PODIUM_PUBLIC_URL to the address that "
            "browsers use.",
        )


def new_cookie() -> str:
    """The value of a session cookie: 256 random bits."""
    return secrets.token_urlsafe(32)


def open_session(
    session: Session, user_id: str, cookie: str, *, replaces: str | None, at: datetime
) -> None:
    """Start the browser session of this cookie.

    `replaces` is the cookie that the browser had before: it ends, so that nobody who knew it is
    signed in as somebody else now.
    """
    sign_out(session, replaces)
    sign_ins.add_session(
        session,
        user_id=user_id,
        cookie_sha256=_sha256(cookie),
        expires_at=at + SESSION_LIFE,
        at=at,
    )


def use_link(session: Session, token: str, *, at: datetime) -> str:
    """The user whom the token of a sign-in link signs in, once.

    Raises NotSignedIn for a token that is unknown, used or expired.
    """
    user_id = sign_ins.use_token(session, _sha256(token), at=at)
    if user_id is None:
        raise NotSignedIn(
            "the sign-in link is unknown, was used before or is older than 10 minutes",
            advice="Make a new one with `podium sign-in`, or sign in with e-mail and password.",
        )
    return user_id


def invite(
    session: Session, sender: Caller, project_id: str, body: InvitationsBody, *, at: datetime
) -> InvitationsAnswer:
    """One invitation for each person; its token is in the answer and nowhere else.

    Raises Forbidden for a role above the sender's own, Conflict if they would be too many.
    """
    links = [_new_link(sender, body.expires_in_s, at) for _ in body.people]
    offers = [
        Offer(person.name, person.email, link)
        for person, (_, link) in zip(body.people, links, strict=True)
    ]
    made = invitations.add(session, sender, project_id, offers, role=body.role, at=at)
    items = [
        one.model_copy(update={"token": token}) for one, (token, _) in zip(made, links, strict=True)
    ]
    return InvitationsAnswer(items=items)


def renew_invitation(
    session: Session,
    sender: Caller,
    project_id: str,
    invitation_id: str,
    *,
    expires_in_s: int,
    at: datetime,
) -> InvitationAnswer:
    """Another link for an invitation; the one before ends.

    Raises NotFound, Conflict if it was used, Forbidden for a role above the sender's own.
    """
    token, link = _new_link(sender, expires_in_s, at)
    answer = invitations.renew(session, sender, project_id, invitation_id, link=link, at=at)
    return answer.model_copy(update={"token": token})


def renew_invitations(
    session: Session, sender: Caller, project_id: str, body: RenewalsBody, *, at: datetime
) -> InvitationsAnswer:
    """Other links for these invitations, but for those that were used; the ones before end.

    Raises NotFound, and Forbidden for a role above the sender's own.
    """
    made = {one: _new_link(sender, body.expires_in_s, at) for one in body.invitation_ids}
    links = {one: link for one, (_, link) in made.items()}
    renewed = invitations.renew_unused(session, sender, project_id, links, at=at)
    return InvitationsAnswer(
        items=[one.model_copy(update={"token": made[one.id][0]}) for one in renewed]
    )


def opened_invitation(session: Session, token: str, *, at: datetime) -> OpenedInvitation:
    """What the link with this token is to. Raises NotFound unless it works."""
    return invitations.opened(session, _sha256(token), at=at)


def accept_invitation(
    session: Session, token: str, *, email: str, password_hash: str, at: datetime
) -> UserAnswer:
    """Make the user who was invited. Raises NotFound, and Conflict for a taken e-mail address."""
    return invitations.accept(
        session, _sha256(token), email=email, password_hash=password_hash, at=at
    )


def join_by_invitation(session: Session, caller: Caller, token: str, *, at: datetime) -> UserAnswer:
    """Give whoever is signed in what the link is to. Raises NotFound unless it works."""
    return invitations.join(session, caller, _sha256(token), at=at)


def sign_out(session: Session, cookie: str | None) -> bool:
    """End a browser session; returns whether there was one."""
    return cookie is not None and sign_ins.end_session(session, _sha256(cookie))


def end_sessions(session: Session, user_id: str, *, but: str | None = None) -> None:
    """End the browser sessions of a user, except that of the cookie `but`."""
    sign_ins.end_sessions(session, user_id, but=None if but is None else _sha256(but))


def ensure_admin(session: Session, data_dir: Path, *, at: datetime) -> Path:
    """Create the first administrator and write its key to `admin.key` (mode 0600), once.

    Returns the file's path; with an administrator there, nothing is changed.
    """
    path = data_dir / ADMIN_KEY_FILE
    if users.has_no_admin(session):
        admin = users.create(session, name="Administrator", role=Role.ADMIN, at=at)
        key = add_key(session, user_id=admin.id, name="admin.key", expires_in_s=None, at=at)
        _write_secret(path, f"{key.key}\n")
    return path


def new_sign_in_link(
    session: Session, url: str, *, at: datetime, admin_id: str | None = None
) -> str:
    """A link that signs a browser in as an administrator, the first one if none is given, once, for
    10 minutes.

    The token stands in the fragment, which browsers keep out of requests and logs. Raises NotFound
    before the first administrator exists.
    """
    user_id = admin_id or administrator(session)
    token = secrets.token_urlsafe(32)
    sign_ins.add_token(
        session,
        user_id=user_id,
        token_sha256=_sha256(token),
        expires_at=at + SIGN_IN_LINK_LIFE,
        at=at,
    )
    return f"{url.rstrip('/')}/sign-in#token={token}"


def administrator(session: Session, email: str | None = None) -> str:
    """The id of the first active administrator, or of the one with this address.

    Raises NotFound.
    """
    found = users.find_admin(session, email)
    if found is not None:
        return found
    if email is not None:
        raise NotFound(
            f"no active administrator has the e-mail address {email}",
            advice="Name another address, or leave --user out for the first administrator.",
        )
    raise NotFound(
        "the database has no administrator yet",
        advice="Start the service once with `podium up`: the first start creates the "
        "administrator.",
    )


def _new_link(sender: Caller, expires_in_s: int, at: datetime) -> tuple[str, Link]:
    """A token of 256 random bits and its link, which ends with the key that it is made with."""
    token = secrets.token_urlsafe(32)
    return token, Link(_sha256(token), min(_ends(expires_in_s, sender.key, at)))


def _ends(expires_in_s: int | None, made_with: ApiKeyUsed | None, at: datetime) -> list[datetime]:
    """List when a credential ends at the latest: by its own life, and with the key that made it."""
    ends = [] if expires_in_s is None else [at + timedelta(seconds=expires_in_s)]
    if made_with is not None and made_with.expires_at is not None:
        ends.append(made_with.expires_at)
    return ends


def _sha256(secret: str) -> str:
    # Keys and tokens are 256 random bits: a slow hash would add nothing but time.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _write_secret(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp creates with mode 0600; the rename makes the file appear whole.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".key-")
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
    os.replace(name, path)
