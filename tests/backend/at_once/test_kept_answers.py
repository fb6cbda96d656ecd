"""A request with an Idempotency-Key and a change of its user never wait for each other."""

from datetime import UTC, datetime

from backend.store.people import audit, users
from tests.backend.at_once.beside import Request
from tests.backend.conftest import Service

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def test_a_kept_answer_and_a_change_of_its_user(postgres_service: Service) -> None:
    """The answer's row waits for the user's, whose change waits for the audit log."""
    client, database = postgres_service.client(), postgres_service.app.state.database
    me = client.get("/me").json()["id"]
    headers = {"Idempotency-Key": "one"}
    with database.write() as session:
        users.change(session, me, email="ada@example.org")
        other = Request(
            database, lambda: client.post("/projects", json={"name": "P"}, headers=headers)
        )
        audit.record(
            session, user_id=me, action="change", object_id=me, data={}, request_id=None, at=AT
        )

    assert other.result().status_code == 201
    assert client.get("/me").json()["email"] == "ada@example.org"


def test_whoever_keeps_a_row_of_an_administrator_does_not_wait_for_changes_of_others(
    postgres_service: Service,
) -> None:
    client, database = postgres_service.client(), postgres_service.app.state.database
    body = {"name": "R", "role": "researcher"}
    theirs = client.post("/users", json=body).raise_for_status().json()["id"]
    with database.write() as session:
        users.change(session, theirs, name="Ada")
        headers = {"Idempotency-Key": "one"}
        made = client.post("/projects", json={"name": "P"}, headers=headers)

    assert made.status_code == 201
