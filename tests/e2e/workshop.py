"""The running server as the browser tests see it: its API as a client, and what they put in."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.schemas.models import ModelFacts
from backend.schemas.records import GeneratedRecord
from backend.schemas.run_directory.events import (
    DistributionLine,
    MetricLine,
    PromptScoresLine,
    SampleLine,
)
from backend.schemas.runs import RunBody
from backend.schemas.vocabulary import FinishReason, ModelKind
from backend.store.data import responses
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.metrics import distributions, points, prompt_scores
from backend.store.models import registry
from backend.store.runs import events, logs, runs, samples
from backend.store.runs.events import NewEvent
from backend.store.runs.logs import Printed
from backend.store.runs.runs import NewRun
from backend.store.tables.data import Judgment
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
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
            base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=120
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
            content="\n".join(json.dumps(record, ensure_ascii=False) for record in records),
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

    def date_judgments(self, project_id: str, made: Sequence[tuple[datetime, float]]) -> None:
        """Store when each judgment of a project was made and the seconds it took, oldest first."""
        of_project = select(Judgment).where(Judgment.project_id == project_id)
        with self._writing() as session:
            stored = session.scalars(of_project.order_by(Judgment.number)).all()
            for judgment, (at, active_s) in zip(stored, made, strict=True):
                judgment.created_at, judgment.active_ms = at, round(1000 * active_s)

    def base_model(self, project_id: str) -> str:
        """The id of a registered model."""
        source = {"path": str(self.data_dir / "models" / "base")}
        body = {"name": "base", "kind": "causal_lm", "source": source, "project_id": project_id}
        return str(self.post("/models", body)["id"])

    def descend(self, model_id: str, project_id: str, count: int) -> None:
        """Store models that were made from this one."""
        with self._writing() as session:
            session.add_all(
                Model(
                    id=new_id("model"), created_at=datetime.now(UTC), name=f"child {number}",
                    kind=ModelKind.CAUSAL_LM, source={"hub_id": "owner/name"}, facts={},
                    parent_id=model_id, project_id=project_id,
                )
                for number in range(count)
            )  # fmt: skip

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
        return str(self.post("/runs", self._sft(project_id))["id"])

    def _sft(self, project_id: str) -> dict[str, Any]:
        config = {
            "method": "sft",
            "model": {"id": self.base_model(project_id)},
            "demonstrations": {"id": self.demonstrations(project_id)},
        }
        return {"project_id": project_id, "name": "sft-1", "config": config}

    def behave(self, run_id: str, **how: Any) -> None:
        """Tell the fake trainer of this run how to behave from its next start."""
        folder = self.data_dir / "runs" / run_id
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / "behaviour.part"
        unfinished.write_text(json.dumps({"step_s": 0.01} | how))
        unfinished.replace(folder / "behaviour.json")

    def prepare_run(self, project_id: str, **how: Any) -> str:
        """The id of a cancelled run whose trainer is told how to behave when it is retried."""
        body = RunBody.model_validate(self._sft(project_id))
        config = self.post("/runs/validate", body.model_dump())["config"]
        new = NewRun.of(body, config, self.get("/me")["id"])
        # Created and cancelled in one transaction: a worker would start it in between.
        with self._writing() as session:
            run = runs.create(session, new, at=datetime.now(UTC)).id
            runs.cancel(session, run, at=datetime.now(UTC))
        self.behave(run, **how)
        return run

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        url = f"sqlite:///{self.data_dir / 'podium.sqlite3'}"
        with closing(Database(url)) as database, database.write() as session:
            yield session

    def print_lines(self, run_id: str, *texts: str) -> None:
        """Store lines as if the trainer of this run had printed them."""
        with self._writing() as session:
            printed = [Printed("stdout", text) for text in texts]
            logs.append(session, run_id, 1, printed, at=datetime.now(UTC))

    def succeeded_runs(self, project_id: str, count: int) -> None:
        """Store runs that have succeeded, with a loss each and no curve."""
        self._numbered_runs(self.prepare_run(project_id), count, "succeeded")

    def paused_runs(self, like: str, count: int) -> list[str]:
        """The ids of stored runs like this one that may go on, and have no trainer to do so."""
        return self._numbered_runs(like, count, "paused")

    def _numbered_runs(self, run_id: str, count: int, state: str) -> list[str]:
        like = self.get(f"/runs/{run_id}")
        configs = {f"run {number}": like["config"] for number in range(count)}
        summaries = [{"loss": number / count} for number in range(count)]
        return self.runs_like(like, configs, summaries, state=state)

    def runs_like(
        self,
        like: dict[str, Any],
        configs: Mapping[str, dict[str, Any]],
        summaries: Sequence[dict[str, float]] = (),
        *,
        state: str = "succeeded",
    ) -> list[str]:
        """Ids of runs that are stored in this state, one for each name with its config."""
        me, version = self.get("/me")["id"], like["schema_version"]
        made = []
        with self._writing() as session:
            for number, (name, config) in enumerate(configs.items()):
                new = NewRun(like["project_id"], me, name, like["method"], config, version)
                run = runs.create(session, new, at=datetime.now(UTC))
                run.state, run.summary = state, summaries[number] if summaries else {}
                made.append(run.id)
        return made

    def left_by(self, run_id: str, project_id: str) -> str:
        """The id of the model that a run has left, as if its worker had taken it in."""
        with self._writing() as session:
            run = session.scalars(select(Run).where(Run.id == run_id)).one()
            return registry.register_output(
                session, run, name=f"of {run.name}", kind=ModelKind.CAUSAL_LM, artifact="none",
                facts=ModelFacts(), sha256="0" * 64, step=1, at=datetime.now(UTC),
            ).id  # fmt: skip

    def policy_run(self, project_id: str, name: str = "policy") -> str:
        """The id of a stored run of policy_gradient that has succeeded."""
        self.comparisons(project_id, 8)
        body = {"name": "asked", "kind": "prompts", "heldout_fraction": 0.25, "seed": 1}
        prompts = self.post(f"/projects/{project_id}/snapshots", body)["id"]
        config = {
            "method": "policy_gradient",
            "model": {"id": self.base_model(project_id)},
            "prompts": {"id": prompts},
            "reward": {"terms": [{"kind": "length"}]},
        }
        asked = {"project_id": project_id, "name": name, "config": config}
        config = self.post("/runs/validate", asked)["config"]
        like = {"project_id": project_id, "method": "policy_gradient", "schema_version": 1}
        return self.runs_like(like, {name: config})[0]

    def respond(self, run_id: str, said: Mapping[str, str]) -> None:
        """Store a response by prompt id as if this generate run had sampled it."""
        records = [
            GeneratedRecord(
                prompt_id=prompt, index=0, content=content, finish_reason=FinishReason.STOP,
                n_tokens=3, logp_sum=-1.0,
            )
            for prompt, content in said.items()
        ]  # fmt: skip
        with self._writing() as session:
            run = runs.get(session, run_id)
            responses.insert_generated(session, run, records, at=datetime.now(UTC))

    def spread(self, run_id: str, *lines: DistributionLine) -> None:
        """Store how values are spread as if the trainer of this run had told it."""
        with self._writing() as session:
            distributions.append(session, run_id, lines)

    def score(self, run_id: str, *lines: PromptScoresLine) -> None:
        """Store what prompts scored as if the trainer of this run had told it."""
        with self._writing() as session:
            prompt_scores.append(session, run_id, lines)

    def open_streams(self) -> int:
        """How many streams of runs the server has open, for all browsers together."""
        answer = self.client.get(f"{self.url}/metrics").raise_for_status()
        (line,) = re.findall(r"^podium_streams_open\S* (\S+)$", answer.text, re.MULTILINE)
        return int(float(line))

    def report(self, run_id: str, *lines: MetricLine) -> None:
        """Store metrics as if the trainer of this run had reported them."""
        for first in range(0, len(lines), 5000):
            with self._writing() as session:
                at = datetime.now(UTC)
                points.append(session, run_id, 1, lines[first : first + 5000], at=at)

    def sample(self, run_id: str, *, step: int, prompt_id: str, response: str) -> None:
        """Store a sample as if the trainer of this run had logged it."""
        line = SampleLine(step=step, prompt=PROMPT, prompt_id=prompt_id, response=response)
        with self._writing() as session:
            samples.append(session, run_id, 1, [line], at=datetime.now(UTC))

    def tell(self, run_id: str, *said: tuple[str, dict[str, Any]]) -> None:
        """Store events as if the trainer of this run had told them."""
        with self._writing() as session:
            new = [NewEvent(kind, data) for kind, data in said]
            events.append(session, run_id, new, at=datetime.now(UTC))

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
        return int(self._api().pid)

    @contextmanager
    def killed_api(self) -> Iterator[None]:
        """The API is killed, and stays dead as long as this lasts."""
        launcher = self._launcher()
        api = self._api()
        # A launcher at work would have another one ready before a page may speak of it.
        launcher.suspend()
        try:
            api.kill()
            yield
        finally:
            launcher.resume()

    def _api(self) -> psutil.Process:
        children = self._launcher().children()
        (api,) = [one for one in children if "backend.ops.serve" in one.cmdline()]
        return api

    def _launcher(self) -> psutil.Process:
        return psutil.Process(json.loads((self.data_dir / "server.json").read_text())["pid"])

    def wait_for_run(self, run_id: str, *states: str) -> None:
        """Wait until a run is in one of these states."""
        processes.wait_until(
            lambda: self._state(run_id) in states, f"{run_id} is {states}", timeout_s=300
        )

    def cancel_live_runs(self) -> None:
        """Cancel every run that waits or is at work, and wait until none is."""
        for run in self._live_runs() or []:
            self.client.post(f"/runs/{run['id']}/cancel", json={})
        processes.wait_until(lambda: self._live_runs() == [], "no run is left", timeout_s=120)

    def _live_runs(self) -> list[dict[str, Any]] | None:
        found = self._told("/runs", state=["queued", "running", "stopping"])
        return None if found is None else found["items"]

    def _state(self, run_id: str) -> str | None:
        found = self._told(f"/runs/{run_id}")
        return None if found is None else str(found["state"])

    def _told(self, path: str, **params: Any) -> Any:
        """An answer; None while the server is too busy to give one."""
        try:
            answer = self.client.get(path, params=params)
        except httpx.TransportError:
            return None
        if answer.status_code == 503:
            return None
        assert answer.status_code == 200, answer.text
        return answer.json()
