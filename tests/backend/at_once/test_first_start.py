"""Two processes that start on an empty database make one administrator."""

from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from backend import auth
from backend.store.db import Database
from backend.store.tables.credentials import ApiKey
from backend.store.tables.people import User
from tests.backend.at_once.beside import Beside

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def test_one_administrator_is_made(postgres: Database, tmp_path: Path) -> None:
    with postgres.write() as session:
        file = auth.ensure_admin(session, tmp_path, at=AT)
        other = Beside(postgres, lambda beside: auth.ensure_admin(beside, tmp_path, at=AT))
    assert other.result() == file

    with postgres.read() as session:
        (admin,) = session.scalars(select(User.id))
        (prefix,) = session.scalars(select(ApiKey.prefix).where(ApiKey.user_id == admin))
    assert file.read_text().startswith(prefix)
