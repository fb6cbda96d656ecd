"""What has expired is forgotten a little at a time, so that no transaction has much to do."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, insert, select

from backend.main import create_app
from backend.schemas.vocabulary import Role
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import idempotency, sign_ins, users
from backend.store.tables.credentials import BrowserSession, IdempotencyKey

NOW = datetime.now(UTC)
LONG_AGO = NOW - idempotency.KEPT_FOR - timedelta(days=1)


@pytest.fixture
def person(database: Database) -> str:
    """Somebody to whom answers and browsers belong."""
    with database.write() as session:
        return users.create(session, name="a", role=Role.RESEARCHER, at=NOW).id


def answers(database: Database, person: str, count: int, at: datetime) -> None:
    """Kept answers of some time."""
    row = {"user_id": person, "route": "r", "body_sha256": "b", "status": 201, "answer": {}}
    rows = [{**row, "key": f"{at} {n}", "created_at": at} for n in range(count)]
    with database.write() as session:
        session.execute(insert(IdempotencyKey), rows)


def left(database: Database, table: type[IdempotencyKey] | type[BrowserSession]) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_each_answer_that_is_kept_makes_some_old_ones_forgotten(
    database: Database, person: str
) -> None:
    answers(database, person, 25, LONG_AGO)
    counts = []
    for n in range(4):
        with database.write() as session:
            idempotency.keep(
                session, user_id=person, key=f"new {n}", route="r", body_sha256="b", status=201,
                answer={}, at=NOW,
            )  # fmt: skip
        counts.append(left(database, IdempotencyKey))

    assert counts == [16, 7, 3, 4]


def test_the_oldest_answers_are_forgotten_first(database: Database, person: str) -> None:
    for age in (3, 1, 2):
        answers(database, person, 1, LONG_AGO - timedelta(hours=age))
    with database.write() as session:
        assert idempotency.forget(session, before=NOW - idempotency.KEPT_FOR, most=2) == 2

    with database.read() as session:
        (kept,) = session.scalars(select(IdempotencyKey.created_at)).all()
    assert kept == LONG_AGO - timedelta(hours=1)


def test_a_start_forgets_old_answers_in_short_transactions_and_keeps_the_others(
    store_url: str, database: Database, person: str, tmp_path: Path
) -> None:
    answers(database, person, 450, LONG_AGO)
    answers(database, person, 3, NOW)
    app = create_app(Settings(data_dir=tmp_path / "data", database_url=store_url, min_free_gb=0))
    writers: list[str] = []
    app.state.database.on_hold = lambda by, _: writers.append(by)
    with TestClient(app):
        assert left(database, IdempotencyKey) == 3

    assert writers.count("_forget_old_answers") == 3


def test_a_sign_in_forgets_some_expired_browsers(database: Database, person: str) -> None:
    rows = [
        {"cookie_sha256": f"{n}", "user_id": person, "created_at": LONG_AGO, "expires_at": LONG_AGO}
        for n in range(150)
    ]
    with database.write() as session:
        session.execute(insert(BrowserSession), rows)
    counts = []
    for n in range(2):
        with database.write() as session:
            sign_ins.add_session(
                session, user_id=person, cookie_sha256=f"new {n}",
                expires_at=NOW + timedelta(days=1), at=NOW,
            )  # fmt: skip
        counts.append(left(database, BrowserSession))

    assert counts == [51, 2]
