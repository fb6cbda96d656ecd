"""Two lists of roles that are set at once: one of them counts, never both together."""

from datetime import UTC, datetime

from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role
from backend.store.data import projects
from backend.store.db import Database
from backend.store.people import users
from tests.backend.at_once.beside import Beside

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def test_the_second_list_replaces_the_first(postgres: Database) -> None:
    with postgres.write() as session:
        first, second = (
            projects.create(session, ProjectBody(name=name), at=AT).id for name in "PQ"
        )
        user = users.create(session, name="Ada", role=Role.ANNOTATOR, at=AT).id
    with postgres.write() as session:
        users.set_memberships(session, user, {first: Role.ANNOTATOR})
        other = Beside(
            postgres,
            lambda beside: users.set_memberships(beside, user, {second: Role.VIEWER}),
        )
    other.result()

    with postgres.read() as session:
        held = users.get(session, user).memberships
    assert [(one.project_id, one.role) for one in held] == [(second, Role.VIEWER)]
