"""A backup of an installation at work, restored elsewhere: the same rows, bytes and answers."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Table, select

from backend.auth import add_key, new_sign_in_link
from backend.main import create_app
from backend.schemas.run_directory.events import DistributionLine, Histogram, PromptScoresLine
from backend.settings import Settings
from backend.store.db import Database
from backend.store.metrics import distributions, prompt_scores
from backend.store.runs import runs
from backend.store.tables.columns import Base
from backend.store.tables.metrics import MetricCurve
from backend.store.tables.models import Model
from backend.store.tables.runs import Artifact, Run
from tests import processes
from tests.backend.commanded_site import Site
from tests.worker.floor import AT, Floor

# Of another process: whether they answer the same is not ours to say.
_ELSEWHERE = ("stream", "/healthz", "/readyz", "/workers", "/version", "/methods")
Row = dict[str, Any]
SCORES = PromptScoresLine(
    step=1, prompt_ids=["prompt_0"], responses=[4], scored=[4], score=[0.5], passed=[2]
)


@pytest.fixture
def empty_url(store_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """An empty database of the same kind as the floor's."""
    if store_url.startswith("sqlite"):
        return f"sqlite:///{tmp_path / 'restored' / 'podium.sqlite3'}"
    create: Callable[[], str] = request.getfixturevalue("create_postgres_database")
    return create()


def podium(data_dir: Path, url: str, *arguments: str) -> str:
    """What a verb of the command line says; it must succeed."""
    code, said = Site(data_dir, url, {"PODIUM_DATABASE_URL": url}).podium(*arguments)
    assert code == 0, said
    return said


@contextmanager
def client(data_dir: Path, url: str, key: str) -> Iterator[TestClient]:
    """The API over an installation, for whom the key belongs to."""
    app = create_app(Settings(data_dir=data_dir, database_url=url))
    with TestClient(app, base_url="http://localhost/api/v1") as made:
        made.headers["Authorization"] = f"Bearer {key}"
        yield made


def annotate(api: TestClient) -> dict[str, str]:
    """A project with people, data, a ranking and a snapshot; ids by the names in paths."""

    def post(path: str, **more: Any) -> Any:
        answer = api.post(path, **more)
        assert answer.status_code == 201, f"{path}: {answer.text}"
        return answer.json()

    def add(kind: str, *lines: Mapping[str, Any]) -> None:
        body = "".join(f"{json.dumps(line)}\n" for line in lines)
        post(f"/projects/{project}/imports", params={"kind": kind}, content=body)

    once = {"Idempotency-Key": "a key"}
    body = {"name": "Short answers", "guidelines": "Say it briefly."}
    project = post("/projects", json=body, headers=once)["id"]
    read = api.post(f"/projects/{project}/guidelines/acknowledgement", json={"version": 1})
    assert read.is_success, read.text
    invited = {"people": [{"name": "Ben"}], "role": "annotator"}
    post(f"/projects/{project}/invitations", json=invited)
    secret = {"email": "anna@example.org", "password": "correct horse battery"}
    person = {"name": "Anna", "role": "annotator", "project_ids": [project], **secret}
    user = post("/users", json=person)["id"]
    post(f"/users/{user}/keys", json={"name": "laptop"})
    post("/session", json=secret)
    api.cookies.clear()
    pairs = [{"prompt": f"Question {n}?", "responses": ["yes \u00fc", "no"]} for n in range(3)]
    add("comparisons", *pairs)
    add("demonstrations", {"prompt": "Question 1?", "response": "yes"})
    add("solutions", {"prompt": "1 + 1?", "steps": [{"content": "2", "label": 1}]})
    assignment = post(f"/projects/{project}/assignments")
    best, worst = assignment["presented_order"]
    judgment = {"verdict": "ranked", "tiers": [[best], [worst]], "unranked": []}
    post(f"/assignments/{assignment['id']}/judgment", json=judgment)
    practice, judged = f"/projects/{project}/practice", assignment["comparison"]["id"]
    expected = {"expected": judgment, "explanation": "Yes says more."}
    api.put(f"{practice}/comparisons/{judged}", json=expected).raise_for_status()
    api.post(f"{practice}/{judged}/answer", json=judgment).raise_for_status()
    snapshot = {"name": "first", "kind": "preferences", "heldout_fraction": 0, "seed": 1}
    frozen = post(f"/projects/{project}/snapshots", json=snapshot)["id"]
    experiment = {"project_id": project, "name": "What helps?"}
    made = post("/experiments", json=experiment)["id"]
    view = {"page": "compare", "name": "all", "query": "runs=a,b"}
    saved = post(f"/projects/{project}/views", json=view)["id"]
    asked = api.get(f"/projects/{project}/agreement", headers={"Prefer": "respond-async"})
    job = asked.json()["id"]
    processes.wait_until(
        lambda: api.get(f"/jobs/{job}").json()["state"] == "succeeded", "the job has ended"
    )
    return {
        "project_id": project,
        "user_id": user,
        "snapshot_id": frozen,
        "experiment_id": made,
        "view_id": saved,
        "job_id": job,
    }


def rows_of(database: Database, live: str) -> dict[str, list[Row]]:
    """Every row of every table but those of the run at work and of workers, in a fixed order."""
    found = {}
    with database.read() as session:
        curves = select(MetricCurve.number).where(MetricCurve.run_id == live)
        of_live = set(session.scalars(curves))
        number = session.scalar(select(Run.number).where(Run.id == live))
        for table in Base.metadata.sorted_tables:
            if table.name == "workers":
                continue
            every = select(table).order_by(*table.primary_key)
            options = {"podium_sees_unfinished_imports": True}
            rows = session.execute(every, execution_options=options).mappings()
            found[table.name] = [
                dict(row)
                for row in rows
                if not _is_of(table, row, live)
                and row.get("curve") not in of_live
                and not (table.name == "run_facts" and row["run"] == number)
            ]
    return found


def _is_of(table: Table, row: Mapping[Any, Any], run_id: str) -> bool:
    return run_id in (row.get("run_id"), row["id"] if table.name == "runs" else None)


def answers(api: TestClient, ids: Mapping[str, str], live: str) -> dict[str, str]:
    """What every GET of the API says, by path."""
    said = {}
    for path, operations in api.app.openapi()["paths"].items():  # type: ignore[attr-defined]
        if "get" not in operations or any(word in path for word in _ELSEWHERE):
            continue
        parameters = operations["get"].get("parameters", [])
        told = {
            "runs": ids["run_id"],
            "names": "loss",
            "prompt_id": "prompt_x",
            "other_run_id": ids["rival_id"],
        }
        asked = {
            p["name"]: told[p["name"]] for p in parameters if p["required"] and p["in"] == "query"
        }
        if path.endswith("/metrics"):
            asked = told
        if path.endswith("/rankings"):
            asked = {"prompt_id": told["prompt_id"]}
        if path.endswith("/runs"):
            asked = {"state": "succeeded"}
        # A run that samples leaves answers, and people compare two of these.
        is_of_sampler = "/answers" in path or path.endswith("/versus")
        run_id = ids["sampled_id" if is_of_sampler else "run_id"]
        path = path.removeprefix("/api/v1").format(**{**ids, "run_id": run_id})
        answer = api.get(path, params=asked)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        said[path] = answer.text if path != "/audit" else _changes(answer.json())
    return said


def _changes(audit: Any) -> str:
    """The lines of changes: what is asked here leaves lines of its own."""
    return json.dumps([one for one in audit["items"] if "outcome" not in one["data"]])


@pytest.mark.slow
def test_a_restored_installation_is_the_one_that_was_backed_up_and_works(
    floor: Floor, store_url: str, empty_url: str, tmp_path: Path
) -> None:
    second, folder = tmp_path / "restored", tmp_path / "backup"
    with floor.database.write() as session:
        key = add_key(session, user_id="user_seed", name="key", expires_in_s=None, at=AT).key
        new_sign_in_link(session, "http://localhost", at=AT)
    with client(floor.data_dir, store_url, key) as api, floor.worker(slots=3):
        ids = annotate(api)
        trained = floor.new_run(behaviour={"steps": 6, "checkpoint_every": 2, "noise_bytes": 100})
        sampled, rival = (floor.new_run("generate", behaviour={}) for _ in range(2))
        failed = floor.new_run(behaviour={"exit": 2, "message": "no such thing"})
        for run_id in (trained, sampled, rival):
            floor.wait_for(run_id, "succeeded")
        floor.wait_for(failed, "failed")
        (model,) = floor.rows(select(Model).where(Model.run_id == trained))
        ids |= {"run_id": trained, "sampled_id": sampled, "rival_id": rival, "model_id": model.id}
        spread = {"reward": Histogram(bins=[4064], counts=[3])}
        with floor.database.write() as session:
            line = DistributionLine(step=1, time=1.0, values=spread)
            distributions.append(session, trained, [line])
            prompt_scores.append(session, trained, [SCORES])
        paused = floor.new_run(behaviour={"steps": 4, "checkpoint_every": 2, "hang": True})
        live = floor.new_run(behaviour={"steps": 100_000, "step_s": 0.01, "checkpoint_every": 50})
        floor.wait_for_step(paused, 4)
        floor.ask(runs.pause, paused)
        floor.wait_for(paused, "paused")
        floor.wait_for_step(live, 1)

        step = floor.run(live).step
        podium(floor.data_dir, store_url, "backup", str(folder))
        floor.wait_for_step(live, step + 100)  # It went on meanwhile, and still does.
        podium(second, empty_url, "restore", str(folder))

        restored = Database(empty_url)
        before, after = rows_of(floor.database, live), rows_of(restored, live)
        assert after == before
        # Of the runs here, only the one at work is long enough for levels.
        empty = {name for name, rows in before.items() if not rows}
        assert empty - {"metric_levels"} == set()
        with client(second, empty_url, key) as other:
            first_said = answers(api, ids, live)
            assert answers(other, ids, live) == first_said
        floor.ask(runs.cancel, live)
        floor.wait_for(live, "cancelled")
    assert_artifacts_are_the_same(floor, second)

    restored.close()
    go_on(floor, second, empty_url, paused=paused, live=live, model_id=model.id)


def assert_artifacts_are_the_same(floor: Floor, second: Path) -> None:
    files = floor.rows(select(Artifact))
    assert len(files) >= 4
    for file in files:
        was, now = (data / "artifacts" / file.key for data in (floor.data_dir, second))
        assert was.read_bytes() == now.read_bytes()


def go_on(floor: Floor, second: Path, url: str, *, paused: str, live: str, model_id: str) -> None:
    """Work in the restored installation: something new, what slept, and what was at work."""
    roots = {"PODIUM_MODEL_ROOTS": f"{floor.data_dir}:{second}"}
    old = floor.database
    floor.database, floor.data_dir = Database(url), second
    floor.settings = Settings(data_dir=second, database_url=url)
    for run_id in (paused, live):
        floor.behave(run_id, steps=6, checkpoint_every=2)
    fresh = floor.new_run(model={"id": model_id})
    # The owner of what was at work is another installation's; nobody can tell that it is dead.
    with floor.worker(slots=3, PODIUM_STALE_S="3", **roots):
        floor.ask(runs.resume, paused)
        for run_id in (fresh, paused, live):
            run = floor.wait_for(run_id, "succeeded", "failed")
            assert run.state == "succeeded", run.error

    # Run directories are no part of a backup: it says that it begins again, and does.
    assert [event.data["step"] for event in floor.events(paused, "start")] == [0, 0]
    (alert,) = floor.events(paused, "alert")
    assert alert.data["rule"] == "checkpoint_lost"
    assert "step 4 is neither on this machine nor in the artifact store" in alert.data["message"]
    assert "from the beginning" in alert.data["message"]
    old.close()
