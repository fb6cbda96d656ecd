"""How long each route that writes holds the writer, from BEGIN to COMMIT, in a large store.

Every writing route of the application is called; one that is missing here fails the benchmark. What
takes long by its nature is named in `LONG_JOBS`: the API's own part of it is held to the bars, and
each transaction of the work that it leaves to a child, which is done in this process here.
"""

import gc
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from sqlalchemy import Connection, event, select, update

from backend import auth
from backend.auth import SAFE_METHODS
from backend.jobs.freeze_snapshot import freeze_snapshot
from backend.jobs.import_file import import_file, settle_import
from backend.jobs.work import Cancelled
from backend.machine.wall_clock import now
from backend.main import ROUTERS, create_app
from backend.schemas.compared.versus import MOST_PAIRS
from backend.schemas.comparisons import MOST_COMPARISONS
from backend.schemas.people import MOST_MEMBERSHIPS
from backend.schemas.run_directory.events import SampleLine
from backend.settings import Settings
from backend.store import jobs
from backend.store.data import imports
from backend.store.data.import_rows import IMPORT_OUTCOME, NewImport
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.people.invitations import revoke_sent_by
from backend.store.runs import samples
from backend.store.tables.data import Comparison, Project, Response
from backend.store.tables.runs import Checkpoint, Run, Sample
from backend.traces.collector import MOST_REFUSALS, Trace, Traces
from tests.backend.jobs.test_freezing import Task
from tests.backend.runs.conftest import Seed, plant
from tests.large_store import NOW, PROJECT, RUN, TIRELESS, Size, fill

pytestmark = pytest.mark.benchmark

TIMES = int(os.environ.get("PODIUM_BENCH_TIMES", "100"))
COMPARISONS = int(os.environ.get("PODIUM_BENCH_COMPARISONS", "100000"))
POINTS = int(os.environ.get("PODIUM_BENCH_POINTS", "1000000"))
# Seconds: what 99 of 100 requests stay below, and what every one does.
P99_S, MOST_S = 0.1, 0.25
# Records of each import whose transactions are counted.
RECORDS = int(os.environ.get("PODIUM_BENCH_RECORDS", "20000"))
# A child does most of their work, in many short transactions.
LONG_JOBS = {"import_file", "create_snapshot", "make_problem_set"}
# No routes: what is written beside them.
BESIDE = {"traces"}
# Called like the others, but they write nothing.
READING = {"open_invitation", "validate_run"}
LEASING = "user_48271"
POINTS_AT_ONCE = 200
MOST_RUNS = 500
PASSWORD = "correct horse battery staple"


class Holds:
    """Seconds by who held the writer: by the clock, and of this process's processor time.

    On a busy machine the clock counts what others do; the time of a PostgreSQL server is not ours.
    """

    def __init__(self, database: Database) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.processor: defaultdict[str, list[float]] = defaultdict(list)
        self._begun = 0.0
        event.listen(database.engine, "begin", self._begin)
        database.on_hold = self._tell

    def _begin(self, _: Connection) -> None:
        self._begun = time.process_time()

    def _tell(self, by: str, seconds: float) -> None:
        self.seconds[by].append(seconds)
        self.processor[by].append(time.process_time() - self._begun)


class Caller:
    """Clients of one application, and requests that must succeed."""

    def __init__(self, app: FastAPI, client: TestClient, database: Database, seed: Seed) -> None:
        self.app = app
        self.client = client
        self.database = database
        self.seed = seed
        self.numbers = count()
        key = Path(app.state.settings.data_dir, "admin.key").read_text().strip()
        self.generated = two_runs(self)
        self.keys = {"admin": key, LEASING: self.key_of(LEASING), TIRELESS: self.key_of(TIRELESS)}

    def key_of(self, user_id: str) -> str:
        with self.database.write() as session:
            answer = auth.add_key(session, user_id=user_id, name="k", expires_in_s=None, at=NOW)
        return str(answer.key)

    def send(self, method: str, path: str, body: Any = None, by: str = "admin", **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.keys[by]}"}
        if method == "POST":
            headers["Idempotency-Key"] = f"bench-{next(self.numbers)}"
        answer = self.client.request(
            method, f"/api/v1{path}", json=body, headers=headers | more.pop("headers", {}), **more
        )
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def post(self, path: str, body: Any = None, by: str = "admin") -> Any:
        return self.send("POST", path, body, by)

    def run(self) -> str:
        """A fresh queued run."""
        return str(self.post("/runs", self.seed.body(self.seed.sft()))["id"])

    def set_state(self, run_id: str, state: str) -> None:
        with self.database.write() as session:
            session.execute(update(Run).where(Run.id == run_id).values(state=state))

    def lease(self, by: str = LEASING) -> Any:
        return self.post(f"/projects/{PROJECT}/assignments", by=by)


def sign_in_and_out(caller: Caller) -> None:
    with caller.database.write() as session:
        link = auth.new_sign_in_link(session, "http://x", at=now())
    token = link.partition("token=")[2]
    caller.client.cookies.clear()
    answer = caller.client.post("/api/v1/session", json={"token": token})
    assert answer.status_code == 201, answer.text
    headers = {"Origin": "http://localhost"}
    assert caller.client.delete("/api/v1/session", headers=headers).status_code == 204
    caller.client.cookies.clear()


def people(caller: Caller) -> None:
    """Members of as many projects as one person may be in, whose roles all change."""
    with caller.database.read() as session:
        others = select(Project.id).where(Project.id != PROJECT).limit(MOST_MEMBERSHIPS - 1)
        ids = [PROJECT, *session.scalars(others)]
    body = {"name": "n", "role": "annotator", "project_ids": ids}
    user = caller.post("/users", body)
    key = caller.post(f"/users/{user['id']}/keys", {"name": "k"})
    caller.send("DELETE", f"/users/{user['id']}/keys/{key['id']}")
    roles = [{"project_id": one, "role": "researcher"} for one in ids]
    caller.send("PATCH", f"/users/{user['id']}", {"name": "m", "memberships": roles})
    caller.send("DELETE", f"/users/{user['id']}/sessions")
    member = f"/projects/{PROJECT}/members/{user['id']}"
    caller.send("PATCH", member, {"role": "viewer"})
    caller.send("DELETE", member)


def invitations(caller: Caller) -> None:
    """As many as one request may make."""
    path = f"/projects/{PROJECT}/invitations"
    long = {"name": "n" * 200, "email": f"{'e' * 300}@x.test"}
    body = {"people": [{"name": "n"}] * 3 + [long] * 97, "role": "annotator"}
    withdrawn, accepted, joined, *others = caller.post(path, body)["items"]
    renewed = caller.post(f"{path}/{withdrawn['id']}/renew", {})
    caller.post("/invitation", {"token": renewed["token"]})
    caller.send("DELETE", f"{path}/{withdrawn['id']}")
    email = f"{next(caller.numbers)}@example.org"
    account = {"token": accepted["token"], "email": email, "password": PASSWORD}
    origin = {"Origin": "http://localhost"}
    caller.send("POST", "/invitation/accept", account, headers=origin)
    caller.client.cookies.clear()
    caller.post("/invitation/join", {"token": joined["token"]}, TIRELESS)
    caller.post(f"{path}/renew", {"invitation_ids": [one["id"] for one in others]})
    # Nobody has more than a thousand that are open.
    with caller.database.write() as session:
        revoke_sent_by(session, others[0]["invited_by"], at=now())


def projects(caller: Caller) -> None:
    made = caller.post("/projects", {"name": "P"})
    path = f"/projects/{made['id']}"
    changed = caller.send("PATCH", path, {"guidelines": "Be kind."})
    version = {"version": changed["guidelines_version"]}
    caller.post(f"{path}/guidelines/acknowledgement", version)
    for verb in ("archive", "restore"):
        caller.post(f"{path}/{verb}")


def withdrawn_jobs(caller: Caller) -> None:
    job = {"job_id": new_id("job"), "kind": "agreement", "project_id": None, "cache_key": None}
    with caller.database.write() as session:
        me = caller.send("GET", "/me")["id"]
        jobs.add(session, **job, user_id=me, owner="api_nobody", at=now())
    caller.send("DELETE", f"/jobs/{job['job_id']}")


def practice(caller: Caller) -> None:
    """In a project of its own: in the large one, everybody would have to practise first."""
    project = str(caller.post("/projects", {"name": "Practice"})["id"])
    record = {"prompt": "p", "responses": ["a", "b"]}
    imported = {"params": {"kind": "comparisons"}, "content": json.dumps(record).encode()}
    caller.send("POST", f"/projects/{project}/imports", **imported)
    (one,) = caller.send("GET", f"/projects/{project}/comparisons")["items"]
    path = f"/projects/{project}/practice"
    kept = f"{path}/comparisons/{one['id']}"
    ranked = {"verdict": "ranked", "tiers": [[each] for each in one["response_ids"]]}
    caller.send("PUT", kept, {"expected": ranked, "explanation": "e"})
    caller.send("PATCH", kept, {"explanation": "better"})
    wrong = {"verdict": "ranked", "tiers": ranked["tiers"][::-1]}
    caller.post(f"{path}/{one['id']}/answer", wrong)
    caller.post(f"{path}/attempt")
    caller.send("DELETE", kept)


def comparisons(caller: Caller) -> None:
    with caller.database.read() as session:
        number = next(caller.numbers)
        row = session.scalars(select(Comparison).order_by(Comparison.number).offset(number)).first()
        assert row is not None
        answers = session.scalars(select(Response.id).where(Response.prompt_id == row.prompt_id))
        body = {"prompt_id": row.prompt_id, "response_ids": answers.all()}
    caller.post(f"/projects/{PROJECT}/comparisons", body)


def more_judgments(caller: Caller) -> None:
    """As many as one request may name; most of the first ones are judged, and are open again."""
    number = next(caller.numbers)
    with caller.database.read() as session:
        ours = select(Comparison.id).where(Comparison.project_id == PROJECT)
        first = number * MOST_COMPARISONS % (COMPARISONS // 2)
        ids = session.scalars(
            ours.order_by(Comparison.number).offset(first).limit(MOST_COMPARISONS)
        )
        body = {"comparison_ids": ids.all(), "judgments_required": 2 + number % 99}
    caller.send("PATCH", f"/projects/{PROJECT}/comparisons", body)


def ranking(caller: Caller) -> None:
    for by in (LEASING, TIRELESS):
        taken = caller.lease(by)
        address = f"/assignments/{taken['id']}"
        caller.post(f"{address}/renew", by=by)
        tiers = [[one] for one in taken["presented_order"]]
        caller.post(f"{address}/judgment", {"verdict": "ranked", "tiers": tiers}, by)
    taken = caller.lease()
    caller.post(f"/assignments/{taken['id']}/skip", {"reason": "unsure"}, LEASING)
    taken = caller.lease()
    lease = {"assignment_id": taken["id"], "expires_at": taken["expires_at"]}
    caller.post(f"/projects/{PROJECT}/assignments/release", {"leases": [lease]}, LEASING)
    # A lease that was given back lasts a minute, and nobody has more than twenty.
    caller.post(f"/assignments/{taken['id']}/skip", {"reason": "unsure"}, LEASING)


def snapshots(caller: Caller) -> None:
    for verb in ("archive", "restore"):
        caller.post(f"/snapshots/{caller.seed.demonstrations}/{verb}")


def models(caller: Caller) -> None:
    body = {"name": "m", "kind": "causal_lm", "source": {"hub_id": "owner/name"}}
    made = caller.post("/models", {**body, "project_id": PROJECT})
    for verb in ("archive", "restore"):
        caller.post(f"/models/{made['id']}/{verb}")


def runs(caller: Caller) -> None:
    caller.post("/runs/validate", caller.seed.body(caller.seed.policy_gradient()))
    one = caller.run()
    for verb in ("pause", "resume", "cancel", "archive", "restore"):
        caller.post(f"/runs/{one}/{verb}")
    caller.post(f"/runs/{one}/retry", {"from": "checkpoint"})
    caller.post(f"/runs/{one}/clone", {})
    caller.send("PATCH", f"/runs/{one}", {"name": "m", "notes": "n", "tags": ["a"]})


def pins(caller: Caller) -> None:
    for verb in ("pin", "unpin"):
        caller.post(f"/runs/{RUN}/checkpoints/1/{verb}")


def many_runs(caller: Caller) -> None:
    """As many as one request may change, of those that the large store has."""
    with caller.database.read() as session:
        ids = session.scalars(select(Run.id).where(Run.project_id == PROJECT).limit(MOST_RUNS))
        body = {"run_ids": ids.all(), "add_tags": [f"t{next(caller.numbers) % 40}"]}
    caller.send("PATCH", "/runs", body)


def experiments(caller: Caller) -> None:
    made = caller.post("/experiments", {"project_id": PROJECT, "name": "e"})
    path = f"/experiments/{made['id']}"
    caller.send("PATCH", path, {"revision": 1, "question": "q"})
    caller.post(f"{path}/runs", {"run_ids": [RUN]})
    caller.send("DELETE", f"{path}/runs/{RUN}")
    for verb in ("archive", "restore"):
        caller.post(f"{path}/{verb}")


def views(caller: Caller) -> None:
    path = f"/projects/{PROJECT}/views"
    body = {"page": "compare", "name": new_id("n"), "query": "runs=a"}
    one = f"{path}/{caller.post(path, body)['id']}"
    caller.send("PATCH", one, {"revision": 1, "query": "runs=b"})
    caller.send("DELETE", one)


def sent_samples(caller: Caller) -> None:
    with caller.database.read() as session:
        own = select(Comparison.prompt_id).where(Comparison.project_id == PROJECT)
        prompt_id = session.scalars(own.limit(1)).one()
    lines = [SampleLine(step=1, prompt="p", response=one, prompt_id=prompt_id) for one in "ab"]
    with caller.database.write() as session:
        samples.append(session, RUN, 1, lines, at=now())
        newest = select(Sample.number).order_by(Sample.number.desc()).limit(2)
        numbers = session.scalars(newest).all()
    caller.post(f"/runs/{RUN}/samples/comparisons", {"numbers": numbers})


def two_runs(caller: Caller) -> tuple[str, str]:
    """Generate runs that succeeded, each with a response to half of all prompts."""
    with caller.database.write() as session:
        of_project = select(Run).where(Run.project_id == PROJECT, Run.id != RUN)
        made = session.scalars(of_project.order_by(Run.number).limit(2)).all()
        for index, run in enumerate(made):
            run.method, run.state = "generate", "succeeded"
            session.execute(
                update(Response)
                .where(Response.index == index, Response.number % 2 == 0)
                .values(run_id=run.id, index=0, content_sha256=Response.id)
            )
        return made[0].id, made[1].id


def pairs(caller: Caller) -> None:
    """As many as one may ask for, of runs with half a hundred thousand responses each."""
    ours, theirs = caller.generated
    caller.post(f"/runs/{ours}/versus", {"other_run_id": theirs, "pairs": MOST_PAIRS})


def outside_metrics(caller: Caller) -> None:
    """Points scattered over the whole run, of a curve that is there and of one that is new."""
    number = next(caller.numbers)
    last = POINTS // 10
    points = [
        {"step": (number * 7919 + n * last // POINTS_AT_ONCE) % last,
         "values": {"gold/score": 0.5, "outside/new": 1.0}}
        for n in range(POINTS_AT_ONCE)
    ]  # fmt: skip
    caller.post(f"/runs/{RUN}/metrics", {"points": points})


def refusals(caller: Caller) -> None:
    """As many as the audit log tells of four people within a second."""
    traces: Traces = caller.app.state.traces
    for number in range(4 * MOST_REFUSALS):
        who = f"user_{number % 4}"
        traces.add(Trace(who, "list_keys", f"user_{number}", "127.0.0.1", "403"))
    traces.write()


# Each calls some routes once, with whatever these need.
WORK: tuple[Callable[[Caller], None], ...] = (
    sign_in_and_out, people, invitations, projects, withdrawn_jobs, practice, comparisons, ranking,
    snapshots, models, runs, many_runs, pins, experiments, views, sent_samples, pairs,
    outside_metrics, more_judgments, refusals,
)  # fmt: skip


def writing_routes() -> set[str]:
    """The names of all routes that change something."""
    found = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    return {one.name for one in found if not set(one.methods) <= SAFE_METHODS}


@pytest.fixture(params=["sqlite", "postgres"])
def caller(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Caller]:
    """An application over a large store, once per kind of database."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'podium.sqlite3'}"
    else:
        url = request.getfixturevalue("empty_postgres_url")
    fill(url, Size(comparisons=COMPARISONS, points=POINTS, passed=COMPARISONS // 2,
                   judged=COMPARISONS // 5))  # fmt: skip
    app = create_app(Settings(data_dir=tmp_path / "data", database_url=url, min_free_gb=0))
    database: Database = app.state.database
    seed = plant(database)
    with database.write() as session:
        session.add(Checkpoint(run_id=RUN, step=1, attempt=1, path="c", created_at=NOW))
    with TestClient(app, base_url="http://localhost") as client:
        # As the server does: else each collection looks through all that the tests have imported.
        gc.collect()
        gc.freeze()
        yield Caller(app, client, database, seed)
        gc.unfreeze()


def told(holds: Holds, names: set[str]) -> list[str]:
    """Print how long each of these held the writer; those that held it too long."""
    print(f"\n{'ms':28} {'n':>5} {'p50':>8} {'p99':>8} {'most':>8} {'cpu p50':>8} {'cpu p99':>8}")
    slow = []
    for name in sorted(names & set(holds.seconds)):
        found = holds.seconds[name]
        p50, p99, most = np.percentile(found, [50, 99, 100])
        columns = [p50, p99, most, *np.percentile(holds.processor[name], [50, 99])]
        print(f"{name:28} {len(found):5} " + " ".join(f"{one * 1e3:8.2f}" for one in columns))
        if p99 > P99_S or most > MOST_S:
            slow.append(name)
    sys.stdout.flush()
    return slow


def test_no_route_holds_the_writer_for_long(caller: Caller) -> None:
    holds = Holds(caller.database)
    for work in WORK:
        for _ in range(TIMES):
            work(caller)

    names = writing_routes() | BESIDE
    slow = told(holds, names)
    rarely = {
        one for one in names - LONG_JOBS - READING if len(holds.seconds[one]) < min(TIMES, 30)
    }
    assert rarely == set(), "these routes were not measured; add them to WORK or to LONG_JOBS"
    assert slow == []


ROWS: dict[str, Callable[[int], Any]] = {
    "prompts": lambda n: {"prompt": f"Question {n}? " * 20, "tags": ["bench"]},
    "comparisons": lambda n: {"prompt": f"Asked {n}?", "responses": [f"{n} {one}" for one in "ab"]},
    # Every second judges a comparison that the import before has brought.
    "preferences": lambda n: {"prompt": f"Asked {n}?", "chosen": f"{n} a",
                              "rejected": f"{n} {'bc'[n % 2]}", "annotator": f"a{n % 40}"},
}  # fmt: skip


def imported(
    caller: Caller, kind: str, folder: Path, *, first: int = 0, ends_after: int | None = None
) -> None:
    """What the child of an import does with `RECORDS` rows; cancelled after so many looks."""
    file = folder / f"{next(caller.numbers)}.jsonl"
    rows = (ROWS[kind](n) for n in range(first, first + RECORDS))
    file.write_text("\n".join(map(json.dumps, rows)))
    user = caller.send("GET", "/me")["id"]
    arguments = {
        "import_id": new_id("import"), "path": str(file), "kind": kind, "format": "auto",
        "content_type": "application/x-ndjson", "project_id": PROJECT, "user_id": user,
        "strict": False,
    }  # fmt: skip
    task = Task(caller.database, arguments, folder)
    looks = count()

    def _look() -> None:
        if ends_after is not None and next(looks) >= ends_after:
            raise Cancelled

    task.on_check = _look
    outcome = IMPORT_OUTCOME.validate_python(import_file(task))
    assert outcome.accepted == RECORDS
    new = NewImport(arguments["import_id"], PROJECT, user, kind, "auto")
    with caller.database.write("import_file") as session:
        imports.complete(session, new, outcome)
    settle_import(task)


def frozen(caller: Caller, folder: Path) -> None:
    """What the child of a snapshot does with all comparisons and judgments of the store."""
    body = {"name": new_id("s"), "kind": "preferences"}
    job = {"job_id": Task.job_id, "kind": "freeze_snapshot", "project_id": PROJECT}
    user = caller.send("GET", "/me")["id"]
    with caller.database.write() as session:
        jobs.add(session, **job, cache_key=None, user_id=user, owner="api_nobody", at=now())
    arguments = {"project_id": PROJECT, "body": body, "at": now().isoformat()}
    freeze_snapshot(Task(caller.database, arguments, folder))


def test_no_child_holds_the_writer_for_long(caller: Caller, tmp_path: Path) -> None:
    slow: dict[str, list[str]] = {}
    work: dict[str, Callable[[], object]] = {
        **{f"import of {kind}": partial(imported, caller, kind, tmp_path) for kind in ROWS},
        "snapshot": partial(frozen, caller, tmp_path),
    }
    for name, do in work.items():
        holds = Holds(caller.database)
        do()
        print(f"\n{name}")
        slow[name] = told(holds, set(holds.seconds))
        assert sum(map(len, holds.seconds.values())) > 5, "the work was done elsewhere"
    holds = Holds(caller.database)
    with pytest.raises(Cancelled):
        imported(caller, "comparisons", tmp_path, first=RECORDS, ends_after=60)
    print("\nan import that is withdrawn")
    slow["withdrawn"] = told(holds, set(holds.seconds))
    assert {name: who for name, who in slow.items() if who} == {}
