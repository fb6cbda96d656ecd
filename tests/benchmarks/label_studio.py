"""Label Studio beside us: its own server on a fresh SQLite, and people who judge pairs by its API.

pip installs it into an environment of its own. `PODIUM_BENCH_LABEL_STUDIO` names its program where
there is one already, or is `none`: then it is not asked, and the comparison is skipped with a word.
A round trip is the next task and its annotation.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests import processes, servers
from tests.benchmarks import installed

GIVEN = os.environ.get("PODIUM_BENCH_LABEL_STUDIO")
IS_ASKED = GIVEN != "none"
PEER = "label-studio==1.23.2"
TOKEN = "0123456789abcdef" * 2 + "01234567"
LABELS = """<View>
  <Text name="asked" value="$asked"/>
  <Pairwise name="better" toName="a,b"/><Text name="a" value="$a"/><Text name="b" value="$b"/>
</View>"""
JUDGED = {"from_name": "better", "to_name": "a", "type": "pairwise", "value": {"selected": "left"}}
HEADERS = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    """Its server; gives the port."""
    folder.mkdir(parents=True)
    program = GIVEN or str(installed.programs(folder / "env", PEER) / "label-studio")
    port, log = servers.free_port(), folder / "server.log"
    command = [
        program, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port),
        "--username", "a@b.test", "--password", "long enough 1", "--user-token", TOKEN,
        "--data-dir", str(folder / "data"),
    ]  # fmt: skip
    settings = {
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "DJANGO_DB": "sqlite",
        "DEBUG": "false",
        "collect_analytics": "false",
        "latest_version_check": "false",
    }
    with processes.running(command, {**os.environ, **settings}, log) as process:
        processes.wait_until(
            lambda: processes.answers(f"http://127.0.0.1:{port}/health"),
            "Label Studio answers",
            process=process,
            log=log,
            timeout_s=300,
        )
        yield port


def new_project(port: int, tasks: int) -> int:
    """A project with so many pairs of responses, of the length of ours."""
    data = [
        {"data": {"asked": f"Question {n}?"}
         | {side: f"Answer {side} to question {n}. " * 8 for side in "ab"}}
        for n in range(tasks)
    ]  # fmt: skip
    with httpx.Client(
        base_url=f"http://127.0.0.1:{port}/api", headers=HEADERS, timeout=300
    ) as client:
        body = {"title": "pairs", "label_config": LABELS}
        project = int(client.post("/projects/", json=body).raise_for_status().json()["id"])
        client.post(f"/projects/{project}/import", json=data).raise_for_status()
    return project


def round_trip(ask: Any, project: int) -> bool:
    """Get a task and annotate it; False if it refused, as it does while its database is locked."""
    status, task = ask("GET", f"/api/projects/{project}/next", None)
    if status != 200:
        return False
    body = {"result": [JUDGED], "lead_time": 3.2}
    status, _ = ask("POST", f"/api/tasks/{task['id']}/annotations/", body)
    return bool(status == 201)
