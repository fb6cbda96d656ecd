"""How long a free slot stands idle while runs wait: from the end of one to the next one's curve."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.chaos.queue_of_runs import gaps_s, work_off
from tests.worker.floor import Floor

pytestmark = pytest.mark.benchmark

RUNS = int(os.environ.get("PODIUM_BENCH_RUNS", "200"))
# Beyond it a person who waits for the first point of a curve asks what is wrong.
MOST_S = 1.0


def measure(floor: Floor, *, workers: int) -> float:
    """The 95th percentile in seconds, and print it beside median and most."""
    runs = work_off(floor, count=RUNS, workers=workers)
    gaps = gaps_s(floor, runs, workers=workers)
    median, p95, most = np.percentile(gaps, [50, 95, 100])
    sys.stdout.write(
        f"\n{RUNS} runs, {workers} workers: free slot to first metric "
        f"median {median:.2f} s, p95 {p95:.2f} s, most {most:.2f} s\n"
    )
    return float(p95)


def test_one_worker_on_files(sqlite_url: str, tmp_path: Path) -> None:
    floor = Floor(tmp_path / "data", sqlite_url)
    assert measure(floor, workers=1) < MOST_S
    floor.database.close()


def test_three_workers_on_servers(postgres_url: str, redis_url: str, tmp_path: Path) -> None:
    floor = Floor(tmp_path / "data", postgres_url, redis_url)
    assert measure(floor, workers=3) < MOST_S
    floor.database.close()
