"""Health for anybody: it tells no stranger why, and however many ask, one looks."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from fastapi.testclient import TestClient

from backend.api.health import Readiness
from backend.main import create_app
from backend.ops.migration import migrate
from backend.settings import Settings
from backend.store.db import Database
from tests.loops import looped

AWAY = "redis://127.0.0.1:1/0"
ASKERS = 30


class Silent:
    """A broker that takes connections and says nothing."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._taken: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"

    @property
    def n_taken(self) -> int:
        return len(self._taken)

    def take(self) -> None:
        while True:
            try:
                self._taken.append(self._listener.accept()[0])
            except OSError:
                return

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for one in self._taken:
            one.close()


@contextmanager
def silent_broker() -> Iterator[Silent]:
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        broker = Silent(listener)
        thread = threading.Thread(target=broker.take)
        thread.start()
        try:
            yield broker
        finally:
            broker.close()
            thread.join()


def settings_of(folder: Path, broker_url: str, *, min_free_gb: float = 0) -> Settings:
    settings = Settings(
        data_dir=folder / "data",
        database_url=f"sqlite:///{folder / 'podium.sqlite3'}",
        broker_url=broker_url,
        min_free_gb=min_free_gb,
    )
    settings.data_dir.mkdir()
    migrate(settings)
    return settings


def test_a_stranger_learns_which_part_is_away_and_the_log_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_of(tmp_path, AWAY, min_free_gb=1_000_000)
    with TestClient(create_app(settings), base_url="http://localhost") as api:
        ready = api.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {
        "status": "ok",
        "checks": {
            "database": "ok",
            "data_dir": "ok",
            "broker": "unavailable",
            "disk": "unavailable",
        },
    }
    told = [vars(one) for one in caplog.records if one.message == "health.unavailable"]
    assert [one["check"] for one in told] == ["broker", "disk"]
    assert "127.0.0.1:1" in told[0]["error"]
    assert "are free" in told[1]["error"]


def test_however_many_ask_one_looks(tmp_path: Path) -> None:
    with silent_broker() as broker:
        app = create_app(settings_of(tmp_path, broker.url))
        with (
            TestClient(app, base_url="http://localhost") as api,
            ThreadPoolExecutor(ASKERS) as all_,
        ):
            answers = list(all_.map(lambda _: api.get("/readyz"), range(ASKERS)))
        n_taken = broker.n_taken
    assert {one.json()["checks"]["broker"] for one in answers} == {"unavailable"}
    # A look may try twice, and a second one may begin if some came late.
    assert 1 <= n_taken <= 6


@looped
async def test_what_was_found_is_kept_for_a_second_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    times = [0.0]
    settings = settings_of(tmp_path, AWAY)
    database = Database(settings.sqlalchemy_url)
    readiness = Readiness(database, settings, clock=lambda: times[0])
    try:
        assert (await readiness.reasons())["data_dir"] is None
        settings.data_dir.rename(tmp_path / "elsewhere")
        times[0] = 0.9
        assert (await readiness.reasons())["data_dir"] is None
        times[0] = 1.0
        assert (await readiness.reasons())["data_dir"] is not None
        # All together after the second: each gets what one of them has found.
        times[0] = 2.0
        async with anyio.create_task_group() as group:
            for _ in range(ASKERS):
                group.start_soon(readiness.reasons)
    finally:
        database.close()
    told = [vars(one)["check"] for one in caplog.records if one.message == "health.unavailable"]
    assert sorted(told) == ["broker", "data_dir", "disk"]
