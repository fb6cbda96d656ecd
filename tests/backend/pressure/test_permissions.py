"""Long answers: asked for all together, cut off within a second, never on a stale permission."""

import asyncio
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, update
from sqlalchemy.exc import OperationalError

from backend import auth
from backend.domain.access import Caller
from backend.pressure import permissions as permissions_module
from backend.pressure.permissions import FRESH_S, Claim, NoLongerPermitted, Permissions
from backend.reading.calls import Call, Made
from backend.schemas.vocabulary import Role
from backend.store.data import snapshots
from backend.store.db import Database
from backend.store.people import users
from backend.store.people.credentials import Secret, callers_of
from backend.store.tables.credentials import ApiKey
from backend.store.tables.people import User
from backend.transactions import Transactions
from tests.backend.conftest import Service
from tests.loops import in_a_loop
from tests.processes import wait_until

AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
# Promised is one second; the machine of a test run has other things to do.
PATIENCE_S = 20.0


def claim(database: Database, name: str, may: Callable[[Caller], bool] = lambda _: True) -> Claim:
    """Of a new person with a key."""
    with database.write() as session:
        user = users.create(session, name=name, role=Role.VIEWER, at=AT)
        key = auth.add_key(session, user_id=user.id, name="key", expires_in_s=None, at=AT).key
    credentials = auth.Credentials("GET", f"Bearer {key}", None, None, None, "http")
    secret = auth.secret_of(credentials)
    assert secret is not None
    return Claim(user.id, secret, may)


# Of SQLite alone, before the first query of a transaction.
_LOOK = "SELECT EXISTS (SELECT 1 FROM imports"


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """What is asked of the database in the block, but for the look at unfinished imports."""
    seen: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("SELECT", "WITH")) and not statement.startswith(_LOOK):
            seen.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(database.engine, "before_cursor_execute", note)


def test_one_query_asks_for_all(database: Database) -> None:
    claims = [claim(database, f"person {n}") for n in range(20)]

    async def check() -> None:
        permissions = Permissions(database)
        kept = [permissions.open(one) for one in claims for _ in range(10)]
        with statements(database) as seen:
            for _ in range(3):
                await permissions.next_answer()
        assert len(seen) == 3
        assert not any(one.is_over for one in kept)
        permissions.close()
        assert all(one.is_over for one in kept)

    in_a_loop(check())


def end_key(database: Database, of: Claim) -> None:
    with database.write() as session:
        session.execute(
            update(ApiKey).where(ApiKey.key_sha256 == of.secret.sha256).values(revoked_at=AT)
        )


def end_user(database: Database, of: Claim) -> None:
    with database.write() as session:
        session.execute(update(User).where(User.id == of.user_id).values(is_active=False))


def change_role(database: Database, of: Claim) -> None:
    with database.write() as session:
        session.execute(update(User).where(User.id == of.user_id).values(role="annotator"))


@pytest.mark.parametrize("end", [end_key, end_user, change_role])
def test_what_is_taken_away_ends_and_nothing_else(
    database: Database, end: Callable[[Database, Claim], None]
) -> None:
    mine, other = (
        claim(database, name, lambda caller: caller.role is Role.VIEWER) for name in ("a", "b")
    )

    async def check() -> None:
        permissions = Permissions(database)
        ended = asyncio.Event()
        cut, kept = permissions.open(mine), permissions.open(other)
        cut.on_end = ended.set
        assert await cut.holds()
        await asyncio.to_thread(end, database, mine)
        async with asyncio.timeout(PATIENCE_S):
            await ended.wait()
        assert not await cut.holds()
        assert await kept.holds()
        permissions.close()

    in_a_loop(check())


def test_nothing_is_sent_on_an_answer_older_than_a_second(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = claim(database, "a")
    is_away = True

    def answered(*arguments: Any) -> dict[Secret, Caller]:
        if is_away:
            raise OperationalError("SELECT", {}, Exception("the store is away"))
        return callers_of(*arguments)

    monkeypatch.setattr(permissions_module, "callers_of", answered)

    async def check() -> None:
        nonlocal is_away
        permissions = Permissions(database)
        permission = permissions.open(mine)
        assert await permission.holds()  # It was just given.
        permission.asked_at = time.monotonic() - FRESH_S - 0.1
        waiting = asyncio.create_task(permission.holds())
        done, _ = await asyncio.wait([waiting], timeout=2.5 * FRESH_S)
        assert not done
        is_away = False
        async with asyncio.timeout(PATIENCE_S):
            assert await waiting
        permissions.close()

    in_a_loop(check())


def test_who_is_gone_without_a_word_is_asked_for_no_more(database: Database) -> None:
    mine = claim(database, "a")

    async def check() -> None:
        permissions = Permissions(database)
        for _ in range(60):
            permissions.open(mine, most=20)
            gc.collect(1)
        permissions.close()

    in_a_loop(check())


def test_a_running_export_is_cut_off_and_not_ended(
    service: Service,
    new_user: Callable[..., tuple[TestClient, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    admin = service.client()
    project = admin.post("/projects", json={"name": "p"}).json()["id"]
    lines = "\n".join(f'{{"prompt": "question {n}"}}' for n in range(40))
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"/projects/{project}/imports?kind=prompts"
    admin.post(path, content=lines, headers=headers).raise_for_status()
    body = {"name": "s", "kind": "prompts"}
    snapshot = admin.post(f"/projects/{project}/snapshots", json=body).json()["id"]
    viewer, user = new_user("viewer", project)
    monkeypatch.setattr(snapshots, "BATCH", 10)
    whole = viewer.get(f"/snapshots/{snapshot}/export").raise_for_status().text
    assert len(whole.splitlines()) == 40

    batches = 0
    made = Transactions._made

    def slow(self: Transactions, call: Call) -> Made:
        nonlocal batches
        batches += 1
        if batches == 2:
            database: Database = service.app.state.database
            with database.write() as session:
                session.execute(update(User).where(User.id == user["id"]).values(is_active=False))
            opened: Permissions = service.app.state.permissions
            held = list(opened._open)
            assert held
            wait_until(lambda: all(one.is_over for one in held), "it was asked again")
        return made(self, call)

    # The file is read outside of what counts a request's sessions: its own is closed by then.
    monkeypatch.setattr(Transactions, "_made", slow)
    with pytest.raises(NoLongerPermitted):
        viewer.get(f"/snapshots/{snapshot}/export")
    assert batches == 2
