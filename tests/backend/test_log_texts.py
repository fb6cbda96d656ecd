"""What an unexpected error of the database tells the log: never what people or models wrote."""

import logging
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import IntegrityError

from backend.store.db import Database
from backend.store.tables.data import Project, Prompt
from backend.traces.json_log import JsonLines

SECRET = "what nobody else may read"


def test_an_error_of_the_database_tells_the_log_no_text(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.setFormatter(JsonLines())
    at = datetime.now(UTC)
    with database.write() as session:
        session.add(Project(id="project_x", created_at=at, name="x"))
    try:
        with database.write() as session:
            session.add(
                Prompt(
                    id="prompt_x",
                    project_id="project_x",
                    created_at=at,
                    messages=[{"role": "user", "content": SECRET}],
                    tags=[],
                    # The row is refused, and PostgreSQL's own message has all of it.
                    content_sha256=None,
                )
            )
    except IntegrityError:
        logging.getLogger("podium.api").exception("request.failed")
    assert "content_sha256" in caplog.text, "the log says what was wrong"
    assert "INSERT INTO prompts" in caplog.text
    assert SECRET not in caplog.text
