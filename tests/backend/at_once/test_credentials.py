"""What lets somebody in ends with its maker, also if it is made while the maker is shut out."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend import auth
from backend.api import session as session_routes
from backend.api.session import _Proven
from backend.domain.access import Caller
from backend.errors import Conflict, Forbidden, NotSignedIn
from backend.schemas.projects.members import InvitationsBody
from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role
from backend.store.data import projects
from backend.store.db import Database
from backend.store.people import invitations, keys, members, sign_ins, users
from backend.store.tables.credentials import ApiKey, BrowserSession, Invitation
from tests.backend.at_once.beside import Beside

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
LATER = AT + timedelta(days=1)
EMAIL = "ada@example.org"


class Place(NamedTuple):
    """A researcher with a key, beside an administrator, in one project."""

    database: Database
    project_id: str
    user_id: str
    key_id: str
    caller: Caller

    def key(self, session: Session) -> None:
        auth.add_key(
            session, user_id=self.user_id, name="k", expires_in_s=None, maker=self.caller, at=AT
        )

    def invitation(self, session: Session) -> None:
        body = InvitationsBody.model_validate({"role": "annotator", "people": [{"name": "Grace"}]})
        auth.invite(session, self.caller, self.project_id, body, at=AT)

    def revoke(self, session: Session) -> None:
        keys.revoke(session, self.user_id, self.key_id, at=AT)

    def deactivate(self, session: Session) -> None:
        """What PATCH /users/{id} does with `is_active: false`."""
        users.change(session, self.user_id, is_active=False)
        keys.revoke_all(session, self.user_id, at=AT)
        invitations.revoke_sent_by(session, self.user_id, at=AT)
        auth.end_sessions(session, self.user_id)

    def demote(self, session: Session) -> None:
        """What PATCH /projects/{id}/members/{id} does."""
        members.change(session, self.project_id, self.user_id, Role.VIEWER)
        invitations.revoke_beyond(session, self.user_id, at=AT)

    def change_password(self, session: Session) -> None:
        """What PATCH /users/{id} does with `password`."""
        users.change(session, self.user_id, password_hash="new")
        auth.end_sessions(session, self.user_id)

    def sign_in(self, session: Session) -> None:
        """Open a session with the old password, which has fitted before."""
        user_id = session_routes._still(session, _Proven(EMAIL, self.user_id, "old", "renewed"))
        auth.open_session(session, user_id, "cookie", replaces=None, at=AT)

    def use_link(self, session: Session) -> None:
        """Open a session with a link."""
        user_id = sign_ins.use_token(session, "t", at=AT)
        if user_id is not None:
            auth.open_session(session, user_id, "cookie", replaces=None, at=AT)

    def left(self) -> tuple[int, int, int]:
        """How many keys, invitations and browser sessions would let somebody in."""
        with self.database.read() as session:
            tables = (ApiKey, Invitation)
            counts = [
                len(session.scalars(select(one).where(one.revoked_at.is_(None))).all())
                for one in tables
            ]
            return counts[0], counts[1], len(session.scalars(select(BrowserSession)).all())


@pytest.fixture
def place(postgres: Database) -> Place:
    """A project, its researcher, and the researcher as the caller of a key."""
    with postgres.write() as session:
        admin = users.create(session, name="Admin", role=Role.ADMIN, at=AT)
        body = ProjectBody(name="P")
        project = projects.create(session, body, user_id=admin.id, at=AT)
        user = users.create(
            session,
            name="Ada",
            role=Role.RESEARCHER,
            project_ids=[project.id],
            email=EMAIL,
            password_hash="old",
            at=AT,
        )
        made = auth.add_key(session, user_id=user.id, name="first", expires_in_s=None, at=AT)
    with postgres.read() as session:
        (sha256,) = session.scalars(select(ApiKey.key_sha256))
        sender = keys.sender_of(session, sha256, at=AT)
    assert sender is not None
    return Place(postgres, project.id, user.id, made.id, sender.caller)


MAKES = pytest.mark.parametrize("make", [Place.key, Place.invitation], ids=["key", "invitation"])
ENDS = pytest.mark.parametrize("end", [Place.revoke, Place.deactivate], ids=["revoke", "shut-out"])
CHANGES = pytest.mark.parametrize(
    "change", [Place.change_password, Place.deactivate], ids=["password", "shut-out"]
)
LINKED = pytest.mark.parametrize("is_first", [True, False], ids=["link-first", "end-first"])
Step = Callable[[Place, Session], None]


@MAKES
@ENDS
def test_what_is_made_before_the_end_ends_too(place: Place, make: Step, end: Step) -> None:
    with place.database.write() as session:
        make(place, session)
        other = Beside(place.database, lambda beside: end(place, beside))
    other.result()

    assert place.left() == (0, 0, 0)


def test_no_invitation_outlives_the_role_that_it_hands_out(place: Place) -> None:
    with place.database.write() as session:
        place.invitation(session)
        other = Beside(place.database, place.demote)
    other.result()
    assert place.left()[1] == 0

    with place.database.write() as session:
        members.change(session, place.project_id, place.user_id, Role.RESEARCHER)
    with place.database.write() as session:
        place.demote(session)
        other = Beside(place.database, place.invitation)
    with pytest.raises(Forbidden):
        other.result()
    assert place.left()[1] == 0


@MAKES
def test_two_at_once_make_no_more_than_one_person_may_have(
    place: Place, make: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "MOST_KEYS", 2)
    monkeypatch.setattr(invitations, "MOST_OPEN", 1)
    with place.database.write() as session:
        make(place, session)
        other = Beside(place.database, lambda beside: make(place, beside))
    with pytest.raises(Conflict, match="at most"):
        other.result()


@MAKES
@ENDS
def test_nothing_is_made_after_the_end(place: Place, make: Step, end: Step) -> None:
    with place.database.write() as session:
        end(place, session)
        other = Beside(place.database, lambda beside: make(place, beside))
    with pytest.raises(NotSignedIn, match="revoked"):
        other.result()

    assert place.left() == (0, 0, 0)


def test_a_chain_of_keys_that_grows_meanwhile_is_revoked_to_its_end(place: Place) -> None:
    with place.database.write() as session:
        place.key(session)
        (second,) = session.scalars(select(ApiKey.key_sha256).where(ApiKey.id != place.key_id))
        child = keys.sender_of(session, second, at=AT)
        assert child is not None
        grown = place._replace(caller=child.caller)
        grown.key(session)
        other = Beside(place.database, place.revoke)
    other.result()

    assert place.left() == (0, 0, 0)


@CHANGES
def test_who_signs_in_before_a_change_is_signed_out_by_it(place: Place, change: Step) -> None:
    with place.database.write() as session:
        place.sign_in(session)
        other = Beside(place.database, lambda beside: change(place, beside))
    other.result()

    assert place.left()[2] == 0


@CHANGES
def test_nobody_signs_in_with_the_old_password_after_a_change(place: Place, change: Step) -> None:
    with place.database.write() as session:
        change(place, session)
        other = Beside(place.database, place.sign_in)
    with pytest.raises((NotSignedIn, Forbidden), match=r"password is wrong|is deactivated"):
        other.result()

    assert place.left()[2] == 0


@LINKED
def test_a_sign_in_link_opens_no_session_beside_the_end(place: Place, is_first: bool) -> None:
    with place.database.write() as session:
        link = {"user_id": place.user_id, "token_sha256": "t"}
        sign_ins.add_token(session, **link, expires_at=LATER, at=AT)
    first, second = (place.use_link, place.deactivate)[:: 1 if is_first else -1]
    with place.database.write() as session:
        first(session)
        other = Beside(place.database, second)
    other.result()

    assert place.left()[2] == 0
