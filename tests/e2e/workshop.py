"""The running server as the browser tests see it: its API as a client, and what they put in."""

import json
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil

from backend.schemas.events import MetricLine
from backend.store.db import Database
from backend.store.metrics import points
from backend.store.runs import logs, runs
from backend.store.runs.logs import Printed
from backend.store.runs.runs import NewRun
from tests import processes

PROMPT = "How do I get a coffee stain out of wool?"
RESPONSES = ("Cold water first.", "Bleach it.", "Soap and **patience**.", "Buy a new one.")

# Answers 503 in the browser to each request whose address has this part, until it is null.
REFUSE = """(part) => {
  const ask = window.fetch;
  window.refused = part;
  window.fetch = (...asked) => {
    const isMeant = window.refused !== null && String(asked[0]).includes(window.refused);
    if (!isMeant) return ask(...asked);
    const problem = { title: "Busy", detail: "the store is away" };
    return Promise.resolve(Response.json(problem, { status: 503 }));
  };
}"""


class Workshop:
    """A server, its data directory and an administrator's key."""

    def __init__(self, data_dir: Path, env: dict[str, str]) -> None:
        self.data_dir = data_dir
        self._env = env
        self.url = str(json.loads((data_dir / "server.json").read_text())["url"])
        key = (data_dir / "admin.key").read_text().strip()
        self.client = httpx.Client(
            base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=30
        )

    def close(self) -> None:
        """Close the client."""
        self.client.close()

    def sign_in_link(self) -> str:
        """A fresh one-time link, made as an operator makes one."""
        done = processes.run(["podium", "sign-in"], self._env)
        assert done.returncode == 0, done.stderr
        return next(word for word in done.stdout.split() if "#token=" in word)

    def get(self, path: str, **query: Any) -> Any:
        """The answer to a GET."""
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: object) -> Any:
        """The answer to a POST that must succeed."""
        answer = self.client.post(path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def new_project(self, name: str, guidelines: str = "Prefer what **helps**.") -> str:
        """The id of a new project; its annotators begin with the guidelines, if there are any."""
        body = {"name": name, "guidelines": guidelines}
        return str(self.post("/projects", body)["id"])

    def take_in(self, project_id: str, kind: str, records: Sequence[dict[str, Any]]) -> None:
        """Import records; every one must be taken."""
        answer = self.client.post(
            f"/projects/{project_id}/imports",
            params={"kind": kind},
            content="\n".join(json.dumps(record) for record in records),
            headers={"Content-Type": "application/x-ndjson"},
        )
        assert answer.status_code == 201, answer.text
        assert answer.json()["accepted"] == len(records), answer.text

    def comparisons(
        self, project_id: str, count: int, responses: Sequence[str] = RESPONSES
    ) -> None:
        """Import comparisons with prompts of their own."""
        records = [
            {"prompt": f"{PROMPT} ({number})", "responses": list(responses)}
            for number in range(count)
        ]
        self.take_in(project_id, "comparisons", records)

    def base_model(self, project_id: str) -> str:
        """The id of a registered model."""
        source = {"path": str(self.data_dir / "models" / "base")}
        body = {"name": "base", "kind": "causal_lm", "source": source, "project_id": project_id}
        return str(self.post("/models", body)["id"])

    def demonstrations(self, project_id: str) -> str:
        """The id of a snapshot of demonstrations."""
        records = [{"prompt": f"{PROMPT} {n}", "response": RESPONSES[0]} for n in range(8)]
        self.take_in(project_id, "demonstrations", records)
        body = {"name": "answers", "kind": "demonstrations", "heldout_fraction": 0.25, "seed": 1}
        return str(self.post(f"/projects/{project_id}/snapshots", body)["id"])

    def solutions(self, project_id: str) -> None:
        """Import three solutions, of which the newest says something hostile."""
        hostile = {"content": "<img src=x onerror=alert(1)>", "label": 1}
        more = {"content": "5 + 4 = 8", "label": 0}
        unsure = {"content": "Take half of it.", "label": 0.75}
        records: list[dict[str, Any]] = [
            {"prompt": "1 + 1?", "steps": [{"content": "2", "label": 1}]},
            {"prompt": "3 + 3?", "steps": [unsure], "is_finished": False},
            {"prompt": "2 + 3 + 4?", "steps": [hostile, more]},
        ]
        self.take_in(project_id, "solutions", records)

    def start_sft(self, project_id: str) -> str:
        """The id of a queued fine-tuning run."""
        config = {
            "method": "sft",
            "model": {"id": self.base_model(project_id)},
            "demonstrations": {"id": self.demonstrations(project_id)},
        }
        body = {"project_id": project_id, "name": "sft-1", "config": config}
        return str(self.post("/runs", body)["id"])

    def behave(self, run_id: str, **how: Any) -> None:
        """Tell the fake trainer of this run how to behave from its next start."""
        folder = self.data_dir / "runs" / run_id
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / "behaviour.part"
        unfinished.write_text(json.dumps({"step_s": 0.01} | how))
        unfinished.replace(folder / "behaviour.json")

    def prepare_run(self, project_id: str, **how: Any) -> str:
        """The id of a cancelled run whose trainer is told how to behave when it is retried."""
        run = self.start_sft(project_id)
        self.post(f"/runs/{run}/cancel", {})
        self.wait_for_run(run, "cancelled")
        self.behave(run, **how)
        return run

    def print_lines(self, run_id: str, *texts: str) -> None:
        """Store lines as if the trainer of this run had printed them."""
        database = Database(f"sqlite:///{self.data_dir / 'podium.sqlite3'}")
        with database.write() as session:
            printed = [Printed("stdout", text) for text in texts]
            logs.append(session, run_id, 1, printed, at=datetime.now(UTC))
        database.close()

    def succeeded_runs(self, project_id: str, count: int) -> None:
        """Store runs that have succeeded, with a loss each and no curve."""
        like = self.get(f"/runs/{self.prepare_run(project_id)}")
        me = self.get("/me")["id"]
        config, version = like["config"], like["schema_version"]
        url = f"sqlite:///{self.data_dir / 'podium.sqlite3'}"
        with closing(Database(url)) as database, database.write() as session:
            for number in range(count):
                new = NewRun(project_id, me, f"run {number}", "sft", config, version)
                run = runs.create(session, new, at=datetime.now(UTC))
                run.state, run.summary = "succeeded", {"loss": number / count}

    def report(self, run_id: str, *lines: MetricLine) -> None:
        """Store metrics as if the trainer of this run had reported them."""
        database = Database(f"sqlite:///{self.data_dir / 'podium.sqlite3'}")
        for first in range(0, len(lines), 5000):
            with database.write() as session:
                at = datetime.now(UTC)
                points.append(session, run_id, 1, lines[first : first + 5000], at=at)
        database.close()

    def retry(self, run_id: str) -> None:
        """Queue a run again, from its beginning."""
        self.post(f"/runs/{run_id}/retry", {"from": "start"})

    def start_behaving(self, project_id: str, **how: Any) -> str:
        """The id of a run whose trainer was told how to behave before it began."""
        run = self.prepare_run(project_id, **how)
        self.retry(run)
        return run

    def api_pid(self) -> int:
        """The process that answers; the launcher starts another one when it dies."""
        launcher = psutil.Process(json.loads((self.data_dir / "server.json").read_text())["pid"])
        (api,) = [one for one in launcher.children() if "backend.ops.serve" in one.cmdline()]
        return int(api.pid)

    def wait_for_run(self, run_id: str, *states: str) -> None:
        """Wait until a run is in one of these states."""
        processes.wait_until(
            lambda: self._state(run_id) in states, f"{run_id} is {states}", timeout_s=300
        )

    def cancel_live_runs(self) -> None:
        """Cancel every run that waits or is at work, and wait until none is."""
        for run in self._live_runs():
            self.client.post(f"/runs/{run['id']}/cancel", json={})
        processes.wait_until(lambda: not self._live_runs(), "no run is left", timeout_s=120)

    def _live_runs(self) -> list[dict[str, Any]]:
        runs: list[dict[str, Any]] = self.get("/runs", state=["queued", "running", "stopping"])[
            "items"
        ]
        return runs

    def _state(self, run_id: str) -> str | None:
        """The state of a run; None while the server is too busy to tell."""
        try:
            answer = self.client.get(f"/runs/{run_id}")
        except httpx.TransportError:
            return None
        if answer.status_code == 503:
            return None
        assert answer.status_code == 200, answer.text
        return str(answer.json()["state"])
