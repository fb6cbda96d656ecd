"""Metrics over HTTP beside MLflow, and a chart of 100,000 points beside MLflow's and trackio's.

`PODIUM_BENCH_TRACKING` is a folder with the others: `pip install --target FOLDER mlflow==3.17.*
trackio`. Server against server, each on a fresh SQLite, requests in turns, one client. The others
are asked for the whole history of a metric, and for the samples of it that their dashboards draw.
"""

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

import httpx
import pytest

from backend.schemas.run_directory.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import points
from tests import processes, servers
from tests.backend.runs.conftest import AT, plant
from tests.benchmarks.metric_speed import add_run
from tests.served import Server

FOLDER = os.environ.get("PODIUM_BENCH_TRACKING")

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.skipif(FOLDER is None, reason="PODIUM_BENCH_TRACKING names no folder"),
]

BATCHES, BATCH = 20, 1000  # as much as MLflow takes in a request
LONG, CHARTS = 100_000, 7
ENOUGH_FASTER = {"write": 10, "chart": 20}

_TRACKIO = """
import sys
import trackio
from trackio.sqlite_storage import SQLiteStorage as Storage
n, port = int(sys.argv[1]), int(sys.argv[2])
for first in range(0, n, 10_000):
    steps = list(range(first, first + 10_000))
    Storage.bulk_log("bench", "long", [{"loss": 1 / (1 + step)} for step in steps], steps=steps)
trackio.show("bench", host="127.0.0.1", server_port=port, open_browser=False, block_thread=True)
"""


@contextmanager
def mlflow(folder: Path) -> Iterator[httpx.Client]:
    """Its server, as `mlflow server` starts it, with a client."""
    folder.mkdir()
    port, log = servers.free_port(), folder / "server.log"
    command = [
        sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
        "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}", "--workers", "1",
        "--default-artifact-root", str(folder / "artifacts"),
    ]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(FOLDER), "MLFLOW_DISABLE_TELEMETRY": "true"}
    with answering(command, env, log, f"http://127.0.0.1:{port}", "/health") as client:
        yield client


@contextmanager
def trackio(folder: Path) -> Iterator[httpx.Client]:
    """Its dashboard over a run with the long curve, with a client."""
    folder.mkdir()
    port = servers.free_port()
    command = [sys.executable, "-c", _TRACKIO, str(LONG), str(port)]
    env = {**os.environ, "PYTHONPATH": str(FOLDER), "TRACKIO_DIR": str(folder / "data")}
    url = f"http://127.0.0.1:{port}"
    with answering(command, env, folder / "server.log", url, "/version") as client:
        yield client


@contextmanager
def answering(
    command: list[str], env: dict[str, str], log: Path, url: str, path: str
) -> Iterator[httpx.Client]:
    """A client of a server that has begun to answer at this path."""
    with processes.running(command, env, log) as process:
        processes.wait_until(
            lambda: processes.answers(url + path),
            f"{url} answers",
            process=process,
            log=log,
            timeout_s=300,
        )
        with httpx.Client(base_url=url, timeout=300) as client:
            yield client


def new_mlflow_run(client: httpx.Client) -> str:
    """The id of a run."""
    body = {"experiment_id": "0", "start_time": 0}
    answer = client.post("/api/2.0/mlflow/runs/create", json=body).raise_for_status()
    return str(answer.json()["run"]["info"]["run_id"])


def seconds_of(ask: Callable[[], httpx.Response]) -> float:
    """How long an answer takes, which must be a good one."""
    began = time.perf_counter()
    ask().raise_for_status()
    return time.perf_counter() - began


def batch_of_ours(client: httpx.Client, run: str, first: int) -> httpx.Response:
    """So many values in as many points as one request takes."""
    told = [
        {"step": first + step, "values": {"gold/a": step / 7, "gold/b": step / 9}}
        for step in range(BATCH // 2)
    ]
    return client.post(f"/runs/{run}/metrics", json={"points": told})


def batch_of_mlflow(client: httpx.Client, run: str, first: int) -> httpx.Response:
    """The same values."""
    told = [
        {"key": name, "value": step / 7, "timestamp": 1_700_000_000_000 + step, "step": step}
        for step in range(first, first + BATCH // 2)
        for name in ("a", "b")
    ]
    return client.post("/api/2.0/mlflow/runs/log-batch", json={"run_id": run, "metrics": told})


def test_writing_and_charts(sqlite_url: str, tmp_path: Path) -> None:
    with closing(Database(sqlite_url)) as database:
        ours = add_run(database, plant(database))
    server = Server(sqlite_url, tmp_path / "podium")
    try:
        with mlflow(tmp_path / "mlflow") as other:
            theirs = new_mlflow_run(other)
            times_as_fast = compare_writing(server.client, ours, other, theirs)
            fill_ours(sqlite_url, ours)
            fill_mlflow(tmp_path / "mlflow" / "mlflow.db", theirs)
            with trackio(tmp_path / "trackio") as third:
                compare_charts(server.client, ours, other, theirs, third)
    finally:
        server.close()
    assert times_as_fast >= ENOUGH_FASTER["write"]


def compare_writing(client: httpx.Client, ours: str, other: httpx.Client, theirs: str) -> float:
    """Batches in turns; how many times as fast ours are."""
    seconds: dict[str, list[float]] = {"ours": [], "mlflow": []}
    for number in range(BATCHES):
        first = number * BATCH // 2

        def our_turn(first: int = first) -> httpx.Response:
            return batch_of_ours(client, ours, first)

        def their_turn(first: int = first) -> httpx.Response:
            return batch_of_mlflow(other, theirs, first)

        seconds["ours"].append(seconds_of(our_turn))
        seconds["mlflow"].append(seconds_of(their_turn))
    times = median(seconds["mlflow"]) / median(seconds["ours"])
    for name, took in seconds.items():
        print(f"\n{name}: {BATCH / median(took):,.0f} values/s by REST (median of {BATCHES})")
    print(f"writing: {times:.1f} times as fast as log-batch, goal {ENOUGH_FASTER['write']}")
    return times


def fill_ours(url: str, run: str) -> None:
    """A long curve."""
    with closing(Database(url)) as database:
        for first in range(0, LONG, 2000):
            lines = [
                MetricLine(step=step, time=1.7e9 + step, tokens=step, values={"loss": 1 / step})
                for step in range(first + 1, first + 2001)
            ]
            with database.write() as session:
                points.append(session, run, 1, lines, at=AT)


def fill_mlflow(path: Path, run: str) -> None:
    """The same, into its table: by its API it takes a minute."""
    rows = [("loss", 1 / step, 1_700_000_000_000 + step, run, step, 0) for step in range(1, LONG)]
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        connection.executemany(
            "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            rows,
        )
        connection.execute(
            "INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            ("loss", rows[-1][1], rows[-1][2], rows[-1][4], 0, run),
        )
        connection.commit()


def compare_charts(
    client: httpx.Client, ours: str, other: httpx.Client, theirs: str, third: httpx.Client
) -> None:
    """A chart of the long curve: our 1,000 buckets, their whole history, and their sampled one."""
    of_mlflow = "/api/2.0/mlflow/metrics/get-history"
    sampled = "/ajax-api/2.0/mlflow/metrics/get-history-bulk-interval"
    of_trackio = {"project": "bench", "run": "long"}
    asks: dict[str, Callable[[], httpx.Response]] = {
        "ours": lambda: client.get(
            "/metrics", params={"runs": ours, "names": "loss", "points": 1000}
        ),
        "mlflow get-history": lambda: other.get(
            of_mlflow, params={"run_id": theirs, "metric_key": "loss"}
        ),
        "mlflow bulk-interval": lambda: other.get(
            sampled, params={"run_ids": theirs, "metric_key": "loss", "max_results": 1000}
        ),
        "trackio get_metric_values": lambda: third.post(
            "/api/get_metric_values", json=of_trackio | {"metric_name": "loss"}
        ),
        "trackio get_logs": lambda: third.post("/api/get_logs", json=of_trackio),
    }
    assert len(asks["trackio get_metric_values"]().json()["data"]) == LONG
    seconds: dict[str, list[float]] = {name: [] for name in asks}
    for _ in range(CHARTS):
        for name, ask in asks.items():
            seconds[name].append(seconds_of(ask))
    own = median(seconds["ours"])
    for name, took in seconds.items():
        times = median(took) / own
        print(f"\nchart of {LONG:,}: {name} {median(took) * 1000:.0f} ms ({times:.1f} of ours)")
    for history in ("mlflow get-history", "trackio get_metric_values"):
        assert median(seconds[history]) >= ENOUGH_FASTER["chart"] * own
