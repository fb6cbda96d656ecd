"""Waking workers: many processes at one filesystem broker, a real Redis, and no broker at all."""

import json
import multiprocessing
import os
import sys
import time
from multiprocessing.synchronize import Event as Signal
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from fastapi.testclient import TestClient
from kombu import Consumer

from backend import broker
from backend.errors import Unavailable
from backend.main import create_app
from backend.settings import Settings
from tests.backend.runs.conftest import plant
from tests.conftest import Database

PROCESSES = 4
DEAD_REDIS = "redis://127.0.0.1:1/0"


def drain(settings: Settings, wanted: int, *, timeout_s: float = 30) -> list[str]:
    """The run ids of this many messages, as a worker of Celery would receive them."""
    app = Celery("listener", set_as_current=False)
    app.conf.update(broker.broker_settings(settings))
    heard: list[str] = []

    def hear(body: Any, message: Any) -> None:
        heard.append(body[0][0])
        message.ack()

    ends_at = time.monotonic() + timeout_s
    with app.connection_for_read() as connection:
        bound = app.amqp.queues[broker.QUEUE]
        with Consumer(connection, [bound], callbacks=[hear], accept=["json"]):
            while len(heard) < wanted and time.monotonic() < ends_at:
                try:
                    connection.drain_events(timeout=0.5)
                except TimeoutError:
                    continue
    return heard


def _wake_and_listen(data_dir: Path, number: int, share: int, all_sent: Signal, out: Path) -> None:
    settings = Settings(data_dir=data_dir)
    heard: list[str] = []
    for index in range(share):
        assert broker.wake(settings, f"run_{number}_{index}")
        if index % 50 == 49:
            heard += drain(settings, 25, timeout_s=0.5)
    (out / f"{number}.sent").touch()
    if len(list(out.glob("*.sent"))) == PROCESSES:
        all_sent.set()
    assert all_sent.wait(300)
    # Nobody sends any more; what another process has taken and not heard, it puts back.
    while os.listdir(data_dir / "broker" / "queue"):
        heard += drain(settings, 100, timeout_s=0.5)
    (out / f"{number}.json").write_text(json.dumps(heard))


@pytest.mark.slow
@pytest.mark.parametrize("n_sent", [2_000, pytest.param(10_000, marks=pytest.mark.chaos)])
def test_four_processes_send_and_hear_and_none_dies(tmp_path: Path, n_sent: int) -> None:
    share = n_sent // PROCESSES
    data_dir = tmp_path / "data"
    context = multiprocessing.get_context("spawn")
    all_sent = context.Event()
    processes = [
        context.Process(target=_wake_and_listen, args=(data_dir, number, share, all_sent, tmp_path))
        for number in range(PROCESSES)
    ]

    for process in processes:
        process.start()
    try:
        for process in processes:
            process.join(600)
    finally:
        for process in processes:
            process.kill()

    assert [process.exitcode for process in processes] == [0] * PROCESSES
    heard = [
        run_id
        for number in range(PROCESSES)
        for run_id in json.loads((tmp_path / f"{number}.json").read_text())
    ]
    expected = {f"run_{number}_{index}" for number in range(PROCESSES) for index in range(share)}
    assert len(heard) == n_sent
    assert set(heard) == expected
    assert os.listdir(data_dir / "broker" / "queue") == []


def test_a_message_arrives_once_and_in_order(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)

    for name in "abc":
        assert broker.wake(settings, name)

    assert drain(settings, 3) == ["a", "b", "c"]
    assert drain(settings, 1, timeout_s=0.5) == []


def test_a_message_arrives_through_redis(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever wakes a run gives Redis a second; here it is to arrive.
    monkeypatch.setattr(broker, "CONNECT_TIMEOUT_S", 60.0)
    settings = Settings(data_dir=tmp_path, broker_url=redis_url)

    assert broker.wake(settings, "a")

    assert drain(settings, 1) == ["a"]


def test_every_file_of_the_broker_lies_in_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    settings = Settings(data_dir=tmp_path / "data")

    broker.wake(settings, "a")
    drain(settings, 1)

    assert os.listdir(elsewhere) == []
    folders = sorted(path.name for path in (tmp_path / "data" / "broker").iterdir())
    assert folders == ["control", "processed", "queue"]


def test_what_is_no_message_is_left_aside(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    broker.wake(settings, "first")
    (tmp_path / "broker" / "queue" / f"0_torn.{broker.QUEUE}.msg").write_text('{"body": ')

    assert drain(settings, 1) == ["first"]


def test_processed_messages_are_cleaned_by_age(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    broker.wake(settings, "a")
    drain(settings, 1)

    assert broker.clean_processed(settings, older_than_s=3600) == 0
    assert broker.clean_processed(settings, older_than_s=-1) == 1


def test_a_dead_broker_is_no_error_of_a_new_run(sqlite_url: str, tmp_path: Path) -> None:
    database = Database(sqlite_url)
    seed = plant(database)
    settings = Settings(data_dir=tmp_path / "data", database_url=sqlite_url, broker_url=DEAD_REDIS)

    with TestClient(create_app(settings), base_url="http://localhost/api/v1") as client:
        key = (tmp_path / "data" / "admin.key").read_text().strip()
        answer = client.post(
            "/runs", json=seed.body(seed.sft()), headers={"Authorization": f"Bearer {key}"}
        )

    assert answer.status_code == 201
    assert answer.json()["state"] == "queued"
    database.close()


@pytest.mark.parametrize("missing", ["celery", "kombu", "redis.exceptions"])
def test_a_broker_whose_client_cannot_be_loaded_is_away(
    missing: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while an update replaces it: the store has the run, and a sweep finds it."""
    monkeypatch.setitem(sys.modules, missing, None)
    settings = Settings(data_dir=tmp_path, broker_url=DEAD_REDIS)

    assert broker.wake(settings, "run_x") is False
    with pytest.raises(Unavailable, match="broker"):
        broker.require_broker(settings)

    assert "queue.wake_failed" in caplog.messages


def test_waking_through_a_dead_broker_takes_no_time_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(data_dir=tmp_path, broker_url=DEAD_REDIS)
    started = time.monotonic()

    assert broker.wake(settings, "run_x") is False

    assert time.monotonic() - started < 10
    assert "queue.wake_failed" in caplog.messages
