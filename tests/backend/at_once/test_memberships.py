"""Roles that are given to one person at once: none is decided by what was before the other."""

from datetime import UTC, datetime, timedelta

import pytest

from backend.domain.access import Caller
from backend.schemas.projects.project import ProjectBody
from backend.schemas.vocabulary import Role
from backend.store.data import projects
from backend.store.db import Database
from backend.store.people import invitations, users
from backend.store.people.invitations import Link, Offer
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


@pytest.mark.parametrize("order", ["researcher annotator", "annotator researcher"])
def test_who_opens_two_links_keeps_the_role_that_allows_more(
    postgres: Database, order: str
) -> None:
    with postgres.write() as session:
        admin = users.create(session, name="Admin", role=Role.ADMIN, at=AT)
        project = projects.create(session, ProjectBody(name="P"), at=AT).id
        user = users.create(session, name="Ada", role=Role.ANNOTATOR, at=AT)
        sender = Caller(id=admin.id, name=admin.name, role=Role.ADMIN)
        for role in (Role.RESEARCHER, Role.ANNOTATOR):
            offer = Offer("Ada", None, Link(role.value, AT + timedelta(days=1)))
            invitations.add(session, sender, project, [offer], role=role, at=AT)
    # As both requests were admitted: before either of them.
    caller = Caller(id=user.id, name=user.name, role=Role.ANNOTATOR)
    first, second = order.split()
    with postgres.write() as session:
        invitations.join(session, caller, first, at=AT)
        other = Beside(postgres, lambda beside: invitations.join(beside, caller, second, at=AT))

    held = other.result().memberships
    assert [(one.project_id, one.role) for one in held] == [(project, Role.RESEARCHER)]
