"""How long a transaction holds the writer is told to whoever asks, and a long one is logged."""

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from backend.store import db
from backend.store.db import Database
from tests.backend.conftest import Service


@contextmanager
def told(database: Database) -> Iterator[list[tuple[str, float]]]:
    """Who held the writer, and for how long."""
    found: list[tuple[str, float]] = []
    database.on_hold = lambda by, seconds: found.append((by, seconds))
    yield found
    database.on_hold = None


def test_a_hold_lasts_from_begin_to_the_end_of_commit(database: Database) -> None:
    with told(database) as holds:
        began = time.monotonic()
        with database.write("somebody") as session:
            session.execute(text("SELECT 1"))
        took = time.monotonic() - began

    ((by, seconds),) = holds
    assert by == "somebody"
    assert 0 < seconds <= took


def test_a_hold_that_is_undone_counts_and_is_named_by_its_function(database: Database) -> None:
    with told(database) as holds, pytest.raises(KeyError), database.write():
        raise KeyError

    assert [by for by, _ in holds] == [
        "test_a_hold_that_is_undone_counts_and_is_named_by_its_function"
    ]


def test_nobody_waits_for_a_write_that_only_reads(database: Database) -> None:
    with told(database) as holds, database.read() as session:
        session.execute(text("SELECT 1"))

    assert holds == []


def test_a_long_hold_is_logged_with_its_name(
    database: Database, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts as long is set and not waited for: on a busy machine every write takes long."""
    with caplog.at_level(logging.WARNING, "podium.store"):
        for name, long_s in (("quick_route", math.inf), ("slow_route", 0.0)):
            monkeypatch.setattr(db, "LONG_HOLD_S", long_s)
            with database.write(name) as session:
                session.execute(text("SELECT 1"))

    (record,) = caplog.records
    assert record.getMessage().startswith("store.write_held_long by=slow_route ms=")


def test_a_route_is_told_by_its_name(service: Service, api: TestClient) -> None:
    with told(service.app.state.database) as holds:
        api.post("/projects", json={"name": "P"}).raise_for_status()

    assert [by for by, _ in holds] == ["create_project"]


def test_what_a_job_ends_with_is_told_by_its_kind(service: Service, api: TestClient) -> None:
    project = api.post("/projects", json={"name": "P"}).raise_for_status().json()["id"]
    with told(service.app.state.database) as holds:
        api.get(f"/projects/{project}/agreement").raise_for_status()

    # What the service does beside it, such as to write the traces of requests, may fall in between.
    assert [by for by, _ in holds].count("agreement") == 1
