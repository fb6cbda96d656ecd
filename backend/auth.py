"""Who is asking: passwords, API keys, sign-in links and browser sessions.

Called by `backend.deps`, the session and user routes and the command line. Only hashes reach the
store; roles and visibility are `backend.domain.access`.
"""

import hashlib
import os
import secrets
import tempfile
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import Forbidden, NotFound, NotSignedIn, TooManyTries
from backend.schemas.people import KeyAnswer, SignIn
from backend.schemas.vocabulary import Role
from backend.store.people import users
from backend.store.people.users import Secret

COOKIE = "podium_session"
SESSION_LIFE = timedelta(days=14)
SIGN_IN_LINK_LIFE = timedelta(minutes=10)
ADMIN_KEY_FILE = "admin.key"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_hasher = PasswordHasher()
# Checked when there is no such user, so that the answer takes as long as for a wrong password.
_DUMMY_HASH = (
    "$argon2id$v=19$m=65536,t=3,p=4$0MOeKkxicaXqnNc1EZVtxw$"
    "Csm1SCtNjgC/0tuf8DKVK0JxF0NRUu+XXh0Ea1hvEF8"
)


@dataclass(frozen=True)
class Credentials:
    """What a request brings to say who it is, and where it says it comes from."""

    method: str
    authorization: str | None
    cookie: str | None
    origin: str | None
    host: str | None


class PasswordTries:
    """Counts wrong passwords per e-mail address in this process."""

    MOST = 10
    WINDOW = timedelta(minutes=15)
    # Past this many addresses all are forgotten: a flood of made-up ones must not fill the memory.
    MOST_ADDRESSES = 10_000

    def __init__(self) -> None:
        self._failures: dict[str, list[datetime]] = {}
        self._lock = threading.Lock()

    def check(self, email: str, *, at: datetime) -> None:
        """Raise TooManyTries after ten failures in 15 minutes."""
        with self._lock:
            recent = [one for one in self._failures.get(email, []) if one > at - self.WINDOW]
        if len(recent) >= self.MOST:
            raise TooManyTries(
                "ten wrong passwords were sent for this e-mail address within 15 minutes",
                advice="Wait 15 minutes, then try again.",
            )

    def failed(self, email: str, *, at: datetime) -> None:
        """Count a failure."""
        with self._lock:
            if len(self._failures) > self.MOST_ADDRESSES:
                self._failures.clear()
            recent = self._failures.get(email, [])[-self.MOST :]
            self._failures[email] = [*recent, at]


def hash_password(password: str) -> str:
    """argon2id with the library's parameters."""
    return _hasher.hash(password)


def add_key(
    session: Session, *, user_id: str, name: str, expires_in_s: int | None, at: datetime
) -> KeyAnswer:
    """A new API key; its text is in the answer and nowhere else."""
    key = f"pk_{secrets.token_urlsafe(32)}"
    expires_at = None if expires_in_s is None else at + timedelta(seconds=expires_in_s)
    answer = users.add_key(
        session,
        user_id=user_id,
        name=name,
        prefix=key[:9],
        key_sha256=_sha256(key),
        expires_at=expires_at,
        at=at,
    )
    return answer.model_copy(update={"key": key})


def authenticate(
    session: Session, credentials: Credentials, *, at: datetime, public_url: str | None
) -> Caller:
    """Who is asking, by bearer key or by cookie.

    Raises NotSignedIn without valid credentials, Forbidden for a cookie from a foreign origin.
    """
    if credentials.authorization is not None:
        scheme, _, key = credentials.authorization.partition(" ")
        caller = (
            users.by_key(session, _sha256(key.strip()), at=at)
            if scheme.lower() == "bearer"
            else None
        )
    elif credentials.cookie is not None:
        check_origin(credentials, public_url)
        caller = users.by_cookie(session, _sha256(credentials.cookie), at=at)
    else:
        raise NotSignedIn(
            "the request has neither a key nor a session",
            advice="Send `Authorization: Bearer KEY`, or sign in first.",
        )
    if caller is None:
        raise NotSignedIn(
            "the key or session is unknown, expired or revoked",
            advice="Sign in again or ask an administrator for a new key.",
        )
    return caller


def secret_of(credentials: Credentials) -> Secret | None:
    """What `authenticate` looks at, by its hash; None if the request brings nothing."""
    if credentials.authorization is not None:
        return Secret("key", _sha256(credentials.authorization.partition(" ")[2].strip()))
    if credentials.cookie is not None:
        return Secret("cookie", _sha256(credentials.cookie))
    return None


def check_origin(credentials: Credentials, public_url: str | None) -> None:
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
    ours = {credentials.host}
    if public_url:
        ours.add(urlsplit(public_url).netloc)
    if urlsplit(credentials.origin).netloc not in ours:
        raise Forbidden(
            f"the Origin header is {credentials.origin}, but this service is {credentials.host}",
            advice="Open Podium at its own address, or set PODIUM_PUBLIC_URL to the address that "
            "browsers use.",
        )


def sign_in(
    session: Session, body: SignIn, *, at: datetime, tries: PasswordTries
) -> tuple[str, str]:
    """Start a browser session; returns the user's id and the cookie's value.

    Raises NotSignedIn for a used, expired or unknown token, or a wrong e-mail or password,
    TooManyTries after ten of the latter.
    """
    if body.token:
        user_id = _by_token(session, body.token, at=at)
    else:
        user_id = _by_password(session, body, at=at, tries=tries)
    cookie = secrets.token_urlsafe(32)
    users.add_browser_session(
        session,
        user_id=user_id,
        cookie_sha256=_sha256(cookie),
        expires_at=at + SESSION_LIFE,
        at=at,
    )
    return user_id, cookie


def sign_out(session: Session, cookie: str | None) -> None:
    """End a browser session."""
    if cookie is not None:
        users.end_browser_session(session, _sha256(cookie))


def ensure_admin(session: Session, data_dir: Path, *, at: datetime) -> Path:
    """Create the first administrator and write its key to `admin.key` (mode 0600), once.

    Returns the file's path; with an administrator there, nothing is changed.
    """
    path = data_dir / ADMIN_KEY_FILE
    if users.find_admin(session) is None:
        admin = users.create(session, name="Administrator", role=Role.ADMIN, at=at)
        key = add_key(session, user_id=admin.id, name="admin.key", expires_in_s=None, at=at)
        _write_secret(path, f"{key.key}\n")
    return path


def new_sign_in_link(session: Session, url: str, *, at: datetime) -> str:
    """A link that signs a browser in as the administrator, once, for 10 minutes.

    The token stands in the fragment, which browsers keep out of requests and logs. Raises NotFound
    before the first administrator exists.
    """
    user_id = users.find_admin(session)
    if user_id is None:
        raise NotFound(
            "the database has no administrator yet",
            advice="Start the service once with `podium up`: the first start creates the "
            "administrator.",
        )
    token = secrets.token_urlsafe(32)
    users.add_sign_in_token(
        session, user_id=user_id, token_sha256=_sha256(token), expires_at=at + SIGN_IN_LINK_LIFE
    )
    return f"{url.rstrip('/')}/sign-in#token={token}"


def _by_token(session: Session, token: str, *, at: datetime) -> str:
    user_id = users.use_sign_in_token(session, _sha256(token), at=at)
    if user_id is None:
        raise NotSignedIn(
            "the sign-in link is unknown, was used before or is older than 10 minutes",
            advice="Make a new one with `podium sign-in`, or sign in with e-mail and password.",
        )
    return user_id


def _by_password(session: Session, body: SignIn, *, at: datetime, tries: PasswordTries) -> str:
    email = (body.email or "").lower()
    tries.check(email, at=at)
    found = users.password_hash(session, email)
    user_id, kept = found or (None, None)
    if not _password_fits(kept or _DUMMY_HASH, body.password or "") or user_id is None:
        tries.failed(email, at=at)
        raise NotSignedIn(
            "the e-mail address or the password is wrong",
            advice="Check both and try again.",
        )
    return user_id


def _password_fits(kept: str, password: str) -> bool:
    try:
        return _hasher.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


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
