"""Half an hour of runs that start and stop: API and worker grow neither in memory nor in files.

PODIUM_SOAK_S says for how long (1800 s). The first third is for caches and pools to fill.
"""

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np
import psutil
import pytest

from tests import processes
from tests.chaos import laws
from tests.chaos.conftest import site_of
from tests.chaos.follower import Follower
from tests.chaos.site import SFT, SHORT, Site

pytestmark = pytest.mark.chaos

SOAK_S = float(os.environ.get("PODIUM_SOAK_S", "1800"))
LOOK_S = min(10.0, SOAK_S / 60)
AT_ONCE = 2
# More than all workers of a site have.
SLOTS = 6
# Between two runs of one stream of runs; memory is measured here, not speed.
REST_S = 4.0
MOST_MB_PER_MINUTE = 1.0
MOST_MORE_FILES = 5
TRAINER = (
    "worker.process.fake_trainer --steps 20 --step-s 0.05 --checkpoint-every 10 --noise-bytes 200"
)


class Look(NamedTuple):
    """What a process held at one moment."""

    minute: float
    megabytes: float
    files: int


def warm_up(site: Site) -> None:
    """Use every slot of every worker, for what they keep open from then on: connections."""
    with ThreadPoolExecutor(SLOTS) as people:
        for each in [people.submit(see_one_through, site, 0) for _ in range(SLOTS)]:
            each.result()


def see_one_through(site: Site, number: int) -> None:
    """One run as people use them: watched, some cancelled, some paused and resumed."""
    run_id = site.create_run(f"soak {number}", SFT)
    follower = Follower(site.url, site.key, run_id)
    follower.start()
    if number % 4 == 1:
        ask_when(site, run_id, "running", "cancel")
    elif number % 4 == 2:
        ask_when(site, run_id, "running", "pause")
        ask_when(site, run_id, "paused", "resume")
    run = site.floor.wait_for(run_id, *laws.ENDED, timeout_s=120)
    follower.stop()
    assert run.state in ("succeeded", "cancelled"), run.error
    for path in ("", "/samples", "/logs", "/checkpoints"):
        assert site.call("GET", f"/runs/{run_id}{path}") is not None
    assert site.call("GET", "/metrics", params={"runs": run_id, "names": "loss"}) is not None
    assert site.call("GET", "/runs", params={"project_id": "project_seed"}) is not None


def ask_when(site: Site, run_id: str, state: str, verb: str) -> None:
    """Ask for it as soon as the run is in this state, unless it has ended before."""
    if site.floor.wait_for(run_id, state, *laws.ENDED, timeout_s=120).state == state:
        headers = {"Authorization": f"Bearer {site.key}"}
        answer = httpx.post(
            f"{site.url}/api/v1/runs/{run_id}/{verb}", headers=headers, timeout=60, verify=False
        )
        # It may have ended in between; then the wish is refused, as it should be.
        assert answer.status_code in (200, 409), answer.text


def keep_busy(site: Site, until: float, numbers: Iterator[int]) -> None:
    while time.monotonic() < until:
        see_one_through(site, next(numbers))
        time.sleep(REST_S)


def look(pid: int, since: float) -> Look:
    process = psutil.Process(pid)
    minute = (time.monotonic() - since) / 60
    return Look(minute, process.memory_info().rss / 2**20, process.num_fds())


def watch(site: Site, is_over: Callable[[], bool]) -> dict[str, list[Look]]:
    since = time.monotonic()
    looks: dict[str, list[Look]] = {part.name: [] for part in site.parts()}
    while not is_over():
        for part in site.parts():
            looks[part.name].append(look(part.pid, since))
        time.sleep(LOOK_S)
    return looks


@pytest.mark.parametrize("backend", ["embedded", "servers"])
def test_a_long_use_leaves_memory_and_files_as_they_were(
    backend: str, tmp_path: Path, sqlite_template: Path
) -> None:
    with site_of(backend, tmp_path, sqlite_template, TRAINER, SHORT) as site:
        warm_up(site)
        started = {part.name: look(part.pid, 0).files for part in site.parts()}
        until = time.monotonic() + SOAK_S
        numbers = itertools.count(1)
        with ThreadPoolExecutor(AT_ONCE) as people:
            busy = [people.submit(keep_busy, site, until, numbers) for _ in range(AT_ONCE)]
            looks = watch(site, lambda: all(one.done() for one in busy))
            for one in busy:
                one.result()
        files: dict[str, int] = {}

        def are_closed() -> bool:
            files.update({part.name: look(part.pid, 0).files for part in site.parts()})
            return all(files[name] <= count + MOST_MORE_FILES for name, count in started.items())

        try:
            processes.wait_until(are_closed, "the files are closed", timeout_s=60)
        finally:
            tell(f"\n{backend}: {next(numbers) - 1} runs in {SOAK_S / 60:.1f} minutes\n")
            for name, seen in looks.items():
                tell(
                    f"{name}: {slope(seen):+.3f} MB a minute, {seen[0].megabytes:.1f} MB at first,"
                    f" {seen[-1].megabytes:.1f} MB at last; {started[name]} files at first,"
                    f" {max(one.files for one in seen)} at most, {files[name]} at last\n"
                )
        assert max(map(slope, looks.values())) < MOST_MB_PER_MINUTE


def slope(seen: list[Look]) -> float:
    """Megabytes a minute over the last two thirds."""
    last = seen[len(seen) // 3 :]
    return float(np.polyfit([one.minute for one in last], [one.megabytes for one in last], 1)[0])


def tell(text: str) -> None:
    """Say it even where the test passes; `pytest -s` shows it."""
    sys.stdout.write(text)
    sys.stdout.flush()
