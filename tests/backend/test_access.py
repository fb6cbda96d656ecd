"""Who may call what: every route with real objects and valid bodies, by role and by project."""

import re
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.api import numbers
from backend.artifacts import ArtifactStore
from backend.domain.access import Caller
from backend.domain.operations import OPERATIONS, Of
from backend.errors import Forbidden
from backend.main import ROUTERS
from backend.schemas.models import ModelFacts
from backend.schemas.records import EvaluatedRecord, GeneratedRecord
from backend.schemas.run_directory.events import SampleLine
from backend.schemas.vocabulary import FinishReason, Role, Scope
from backend.settings import Settings
from backend.store import jobs
from backend.store.data import responses
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.models import registry
from backend.store.runs import outputs, runs, samples
from backend.store.runs.outputs import OutputFile
from backend.store.tables.data import Assignment, Prompt
from backend.store.tables.runs import Checkpoint, Run, Sample
from tests.backend.conftest import Service
from tests.backend.test_loop import Client, comparison, upload

ANY_ID = re.compile(r"\b[a-z]+_(?:[0-9a-z]{20}|(?:id_)?nothing)\b")
OF_A_REQUEST = {"x-request-id", "content-length", "date"}
NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
HOLDERS = {
    None: set(Role),
    Role.ADMIN: {Role.ADMIN},
    Role.RESEARCHER: {Role.ADMIN, Role.RESEARCHER},
    Role.ANNOTATOR: {Role.ADMIN, Role.RESEARCHER, Role.ANNOTATOR},
    Role.VIEWER: {Role.ADMIN, Role.RESEARCHER, Role.VIEWER},
}
# Their answers have no end; runs/test_stream.py asks for them as every role.
STREAMS = {"stream_run", "stream_runs", "stream_work"}
# They name runs, all of which have to be seen.
OF_SEVERAL_RUNS = {"read_metrics", "list_verdicts", "compare_runs", "read_group_curves",
                   "compare_environments", "compare_data", "list_shared_prompts",
                   "list_prompt_samples", "read_results"}  # fmt: skip
# What they show is filtered by project, and they name none.
LISTS = {"list_users", "list_projects", "list_models", "list_runs", "list_experiments",
         "list_methods", "list_workers"}  # fmt: skip
# In which state a run has to be for a verb; for the others it is queued.
STATES = {
    "resume_run": "paused",
    "retry_run": "failed",
    "archive_run": "succeeded",
    "restore_run": "succeeded",
}


def every_route() -> dict[str, APIRoute]:
    """The routes by the name of their operation: those below /api/v1, and what stands beside."""
    return {
        route.endpoint.__name__: route
        for router in (*ROUTERS, numbers.router)
        for route in router.routes
        if isinstance(route, APIRoute)
    }


def address_of(route: APIRoute, client: Client) -> str:
    """Where a client that stands below /api/v1 finds it."""
    is_beside = route.endpoint.__name__ == "scrape"
    return str(client.base_url.join(route.path)) if is_beside else route.path


def addresses() -> list[str]:
    """Method and path of every route."""
    return [f"{min(route.methods)} {route.path}" for route in every_route().values()]


@dataclass
class Site:
    """A project, and one more object of each kind as often as a call needs one."""

    admin: Client
    database: Database
    settings: Settings
    project: str
    # What is made once: what runs begin with, and what calls that change nothing are made on.
    kept: dict[str, str] = field(default_factory=dict)

    def once(self, what: str, make: Callable[[], str]) -> str:
        """The id of what is made when it is asked for first."""
        if what not in self.kept:
            self.kept[what] = make()
        return self.kept[what]

    def of(self, path: str, **body: Any) -> str:
        """Create something as the administrator; returns its id."""
        answer = self.admin.post(path, json=body)
        assert answer.is_success, answer.text
        return str(answer.json()["id"])

    def run(self, state: str = "queued") -> str:
        """A run that has come to this state, with a checkpoint."""
        run_id = self.of("/runs", **self.run_body())
        with self.database.write() as session:
            at = datetime.now(UTC)
            session.add(Checkpoint(run_id=run_id, step=1, attempt=1, path="step-1", created_at=at))
            session.query(Run).filter_by(id=run_id).update({"state": state})
        return run_id

    def sampled_run(self) -> str:
        """A run with two samples of a prompt of the project."""
        run_id, prompt_id = self.run(), self.comparison_body()["prompt_id"]
        lines = [
            SampleLine(step=1, prompt="p", response=text, prompt_id=prompt_id) for text in "ab"
        ]
        with self.database.write() as session:
            samples.append(session, run_id, 1, lines, at=datetime.now(UTC))
        return run_id

    def answered_run(self) -> str:
        """A run whose answers have come home."""
        run_id, folder = self.run(), self.settings.data_dir / "answered"
        folder.mkdir(exist_ok=True)
        answered = EvaluatedRecord(
            prompt_id="prompt_x", index=0, content="c", finish_reason=FinishReason.STOP, n_tokens=1
        )
        (folder / outputs.ANSWERS).write_text(f"{answered.model_dump_json()}\n")
        store = ArtifactStore(self.settings.resolved_artifact_url)
        (kept,) = store.put_folder(folder, f"runs/{run_id}/answers-1")
        with self.database.write() as session:
            outputs.keep_files(session, run_id, [OutputFile(*astuple(kept))])
        return run_id

    def generated_run(self) -> str:
        """A generate run that succeeded, with one response to the project's first prompt."""
        run_id = self.run("succeeded")
        with self.database.write() as session:
            run = runs.get(session, run_id)
            run.method, run.config = "generate", {"method": "generate"}
            prompt = select(Prompt.id).where(Prompt.project_id == self.project).limit(1)
            answered = GeneratedRecord(
                prompt_id=session.scalars(prompt).one(), index=0, content=run_id,
                finish_reason=FinishReason.STOP, n_tokens=1, logp_sum=-1.0,
            )  # fmt: skip
            responses.insert_generated(session, run, [answered], at=datetime.now(UTC))
        return run_id

    def two_samples(self) -> dict[str, Any]:
        """The numbers of the newest two samples, which `sampled_run` has made."""
        with self.database.read() as session:
            newest = session.scalars(select(Sample.number).order_by(Sample.number.desc()).limit(2))
            return {"numbers": list(newest)}

    def run_body(self) -> dict[str, Any]:
        """A run that can be created."""
        model = self.once("model of runs", self.model)
        data = self.once("data of runs", lambda: self.snapshot("demonstrations"))
        config = {"method": "sft", "model": {"id": model}, "demonstrations": {"id": data}}
        return {"project_id": self.project, "name": "r", "config": config}

    def comparison_body(self) -> dict[str, Any]:
        """A comparison of responses that the project has."""
        known = self.admin.get(f"/projects/{self.project}/comparisons").json()["items"][0]
        return {name: known[name] for name in ("prompt_id", "response_ids")}

    def model(self) -> str:
        """A model of the project."""
        source = {"hub_id": "owner/name"}
        return self.of("/models", name="m", source=source, project_id=self.project)

    def snapshot(self, kind: str = "prompts") -> str:
        """A snapshot of the project's records."""
        return self.of(f"/projects/{self.project}/snapshots", name="s", kind=kind)

    def invitation(self, project: str | None = None) -> dict[str, Any]:
        """An invitation to the project, or to another one."""
        # A role that nothing asks for outside of a project.
        body = {"people": [{"name": "n"}], "role": "annotator"}
        path = f"/projects/{project or self.project}/invitations"
        made: dict[str, Any] = self.admin.post(path, json=body).json()["items"][0]
        return made

    def guidelines(self) -> dict[str, int]:
        """The version of the project's guidelines, which everybody acknowledges once."""
        text = {"guidelines": "Be kind."}
        changed = self.admin.patch(f"/projects/{self.project}", json=text).json()
        return {"version": changed["guidelines_version"]}

    def joined(self) -> str:
        """A project that people join."""
        return self.once("joined", lambda: self.of("/projects", name="joined"))

    def member(self) -> str:
        """Somebody who belongs to the project."""
        return self.of("/users", name="m", role="viewer", project_ids=[self.project])

    def job(self, user_id: str) -> str:
        """A job of this user."""
        job_id = new_id("job")
        with self.database.write() as session:
            jobs.add(
                session,
                job_id=job_id,
                kind="agreement",
                project_id=self.project,
                user_id=user_id,
                cache_key=None,
                owner="api_nobody",
                at=datetime.now(UTC),
            )
        return job_id

    def experiment(self) -> str:
        """An experiment of the project."""
        return self.of("/experiments", name="e", project_id=self.project)

    def view(self) -> str:
        """A saved view of the project."""
        body = {"page": "compare", "name": new_id("n"), "query": "runs=a"}
        return self.of(f"/projects/{self.project}/views", **body)

    def practice(self) -> tuple[str, list[str]]:
        """A comparison for practice, and its responses as they are expected."""
        upload(self.admin, self.project, "comparisons", comparison(hash(new_id("x"))))
        listed = self.admin.get(f"/projects/{self.project}/comparisons").json()["items"][0]
        path = f"/projects/{self.project}/practice/comparisons/{listed['id']}"
        body = {"expected": ranked_as(listed["response_ids"]), "explanation": "e"}
        self.admin.put(path, json=body).raise_for_status()
        return listed["id"], listed["response_ids"]

    def end_practice(self) -> None:
        """Nothing is left for practice: whoever has not passed may try again."""
        path = f"/projects/{self.project}/practice/comparisons"
        for one in self.admin.get(path).json()["items"]:
            self.admin.delete(f"{path}/{one['comparison']['id']}").raise_for_status()

    def assignment(self, user_id: str) -> tuple[str, list[str]]:
        """A lease of this user, whatever role the user has now, and its responses."""
        upload(self.admin, self.project, "comparisons", comparison(hash(new_id("x"))))
        listed = self.admin.get(f"/projects/{self.project}/comparisons").json()["items"][0]
        with self.database.write() as session:
            lease = Assignment(
                id=new_id("assignment"),
                project_id=self.project,
                comparison_id=listed["id"],
                user_id=user_id,
                state="leased",
                presented_order=listed["response_ids"],
                created_at=datetime.now(UTC),
                expires_at=datetime.now(UTC) + timedelta(minutes=10),
            )
            session.add(lease)
        return lease.id, listed["response_ids"]


def ranked_as(order: Sequence[str]) -> dict[str, Any]:
    """A ranking in this order."""
    return {"verdict": "ranked", "tiers": [[one] for one in order]}


@dataclass
class Person:
    """Somebody who calls, with a role in one project."""

    role: Role
    client: Client
    id: str


def site_of(service: Service, name: str) -> Site:
    """A project with records of each kind."""
    admin = service.client()
    state = service.app.state
    site = Site(admin, state.database, state.settings, "")
    plant(site, name)
    return site


def plant(site: Site, name: str) -> None:
    """Make the site's project, with records of each kind."""
    site.project = site.of("/projects", name=name)
    for kind, row in {
        "prompts": {"prompt": "hello"},
        "demonstrations": {"prompt": "hello", "completion": "hi"},
        "comparisons": comparison(1),
    }.items():
        upload(site.admin, site.project, kind, row)


def people_of(service: Service, site: Site) -> list[Person]:
    """One person of each role in the project."""
    people = []
    for role in Role:
        body = {"name": role, "role": role, "project_ids": [site.project]}
        user = site.of("/users", **body)
        key = service.client().post(f"/users/{user}/keys", json={"name": "k"}).json()["key"]
        people.append(Person(role, service.client(key), user))
    return people


def call(name: str, person: Person, site: Site) -> int:
    """The status of a call with everything it needs, on objects of this site."""
    return answer_of(name, person, site).status_code


def answer_of(name: str, person: Person, site: Site, *, is_missing: bool = False) -> httpx.Response:
    """The answer to a call with everything it needs, on objects of this site or on none."""
    route = every_route()[name]
    names = re.findall(r"{(\w+)}", route.path)
    if is_missing:
        named = {one: f"{one}_nothing" if one != "step" else "1" for one in names}
    else:
        named = {one: _named(name, one, person, site) for one in names}
    body, query = body_of(name, person, site), dict(_QUERIES.get(name, {}))
    if name == "judge":
        lease, order = site.assignment(person.id)
        named = named if is_missing else {"assignment_id": lease}
        body = {"verdict": "cannot_judge", "tiers": [], "unranked": order}
    if name == "set_practice_comparison":
        known, order = site.practice()
        named = named if is_missing else {**named, "comparison_id": known}
        body = {"expected": ranked_as(order)}
    if name == "remove_experiment_run" and not is_missing:
        body = {"run_ids": [named["run_id"]]}
        path = f"/experiments/{named['experiment_id']}/runs"
        site.admin.post(path, json=body).raise_for_status()
        body = None
    if name == "try_practice_again":
        site.end_practice()
    if name == "read_versus":
        query["other_run_id"] = site.once("run against", site.generated_run)
    if name in OF_SEVERAL_RUNS:
        query["names"] = "loss"
        query["runs"] = "run_nothing" if is_missing else site.once("run_id", site.run)
    if is_missing and isinstance(body, dict) and "project_id" in body:
        body["project_id"] = "project_nothing"
    if is_missing and name == "change_runs":
        body["run_ids"] = ["run_nothing"]
    path = address_of(route, person.client).format(**named)
    sent: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
    return person.client.request(min(route.methods), path, params=query, **sent)


def shown_of(answer: httpx.Response) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers, without what differs between two requests and two ids."""
    text = re.sub(r'"request_id": "[^"]*"', "", answer.text)
    # Whose length an id changes.
    headers = {k: v for k, v in answer.headers.items() if k not in OF_A_REQUEST}
    return answer.status_code, ANY_ID.sub("ID", text), headers


_QUERIES: dict[str, dict[str, Any]] = {
    "import_file": {"kind": "prompts"},
    "list_prompt_samples": {"prompt_id": "prompt_x"},
    "list_rankings": {"prompt_id": "prompt_x"},
}


def _named(operation: str, name: str, person: Person, site: Site) -> str:
    """The id that stands for this name in the address of an operation."""
    if operation in ("change_member", "remove_member") and name == "user_id":
        return site.member()
    if name == "user_id":
        return person.id
    if name == "comparison_id":
        return site.practice()[0]
    if operation in ("download_answers", "list_answers", "count_answers"):
        return site.once("answered run", site.answered_run)
    if operation in ("put_up_pairs", "read_versus"):
        return site.once("run that is judged", site.generated_run)
    if name == "view_id":
        return site.view()
    # A job and a lease are somebody's.
    if OPERATIONS[operation].scope is not Scope.READ or name in ("job_id", "assignment_id"):
        return _object(operation, name, person, site)
    return site.once(name, lambda: _object(operation, name, person, site))


def _object(operation: str, name: str, person: Person, site: Site) -> str:
    match name:
        case "key_id":
            return site.of(f"/users/{person.id}/keys", name="k")
        case "project_id":
            return site.project
        case "step":
            return "1"
        case "assignment_id":
            return site.assignment(person.id)[0]
        case "invitation_id":
            return site.invitation()["id"]
        case "run_id":
            is_sampled = operation == "send_to_ranking"
            return site.sampled_run() if is_sampled else site.run(STATES.get(operation, "queued"))
        case "snapshot_id":
            return site.snapshot()
        case "model_id":
            return site.model()
        case "job_id":
            return site.job(person.id)
        case _:
            return site.experiment()


def body_of(name: str, person: Person, site: Site) -> Any:
    """A valid body of an operation, of objects that are there."""
    bodies: dict[str, Callable[[], Any]] = {
        "create_user": lambda: {"name": "n", "role": "viewer"},
        "change_user": lambda: {"name": "n"},
        "create_key": lambda: {"name": "n"},
        "change_member": lambda: {"role": "annotator"},
        "create_invitations": lambda: {"people": [{"name": "n"}], "role": "annotator"},
        "renew_invitation": dict,
        "renew_invitations": lambda: {"invitation_ids": [site.invitation()["id"]]},
        "join_by_invitation": lambda: {"token": site.invitation(site.joined())["token"]},
        "change_project": lambda: {"name": "n"},
        "acknowledge_guidelines": site.guidelines,
        "create_project": lambda: {"name": "n"},
        "import_file": lambda: b'{"prompt": "x"}',
        "make_problem_set": lambda: {"set": "arithmetic", "levels": [1], "count": 1},
        "create_comparison": site.comparison_body,
        "change_comparisons": lambda: {"judgments_required": 1},
        "send_to_ranking": site.two_samples,
        "put_up_pairs": lambda: {"other_run_id": site.once("run against", site.generated_run)},
        "create_snapshot": lambda: {"name": "n", "kind": "prompts"},
        "skip": lambda: {"reason": "other"},
        "release": lambda: {"leases": []},
        "answer_practice": lambda: {"verdict": "cannot_judge"},
        "change_practice_comparison": lambda: {"explanation": "e"},
        "register_model": lambda: {
            "name": "n",
            "source": {"hub_id": "a/b"},
            "project_id": site.project,
        },
        "create_run": site.run_body,
        "validate_run": site.run_body,
        "clone_run": lambda: {},
        "create_view": lambda: {"page": "compare", "name": new_id("n"), "query": "runs=a"},
        "change_view": lambda: {"revision": 1, "query": "runs=b"},
        "change_experiment": lambda: {"revision": 1, "question": "q"},
        "add_experiment_runs": lambda: {"run_ids": [site.once("run_id", site.run)]},
        "change_run": lambda: {"name": "n"},
        "change_runs": lambda: {"run_ids": [site.run()], "add_tags": ["t"]},
        "create_experiment": lambda: {"name": "n", "project_id": site.project},
        "add_outside_metrics": lambda: {"points": [{"step": 1, "values": {"gold/x": 1.0}}]},
    }
    return bodies[name]() if name in bodies else None


def called() -> list[str]:
    """The operations that need to know who calls."""
    return [
        name
        for name, operation in OPERATIONS.items()
        if operation.of is not Of.NOBODY and name not in STREAMS
    ]


def test_every_row_of_the_table_is_a_route() -> None:
    assert set(every_route()) == set(OPERATIONS)


def parts_of(document: dict[str, Any], answer: Any) -> set[str]:
    """The fields of all objects that an answer of the OpenAPI document may have in it."""
    schemas, todo, seen = document["components"]["schemas"], [answer], set()
    fields: set[str] = set()
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            named = one.get("$ref", "").rpartition("/")[2]
            if named and named not in seen:
                seen.add(named)
                fields |= set(schemas[named].get("properties", {}))
                todo.append(schemas[named])
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
    return fields


def test_every_read_of_the_votes_of_others_is_traced(light_service: Service) -> None:
    """Rankings have `tiers`, agreement has `annotators`, a line of a snapshot is any `record`."""
    document = light_service.client().get("/openapi.json").json()
    shows_votes = {
        name
        for name, route in every_route().items()
        if name != "scrape"
        and route.methods == {"GET"}
        and parts_of(document, document["paths"][f"/api/v1{route.path}"]["get"]["responses"]["200"])
        & {"tiers", "annotators", "record"}
    }
    of_nobody_else = {"list_own_judgments", "list_practice_comparisons"}
    traced = {name for name, operation in OPERATIONS.items() if operation.is_traced}

    assert shows_votes >= {"list_judgments", "list_rankings", "agreement", "list_lines"}
    assert shows_votes - of_nobody_else <= traced
    # Files have no schema.
    assert traced >= {"export_snapshot", "download_answers"}


def test_each_role_may_do_in_its_project_what_the_table_says_and_nothing_else(
    service: Service,
) -> None:
    site = site_of(service, "mine")
    people = people_of(service, site)
    wrong = []
    for name in called():
        holders = HOLDERS[OPERATIONS[name].role]
        for person in people:
            status = call(name, person, site)
            if not (200 <= status < 300 if person.role in holders else status == 403):
                wrong.append((name, person.role, status))
    assert wrong == []


def test_what_belongs_to_another_project_is_missing(light_service: Service) -> None:
    """A foreign object has the same 404 as none, to the last byte but for the ids."""
    site, foreign = site_of(light_service, "mine"), site_of(light_service, "foreign")
    people = people_of(light_service, site)
    wrong = []
    for name in called():
        of = OPERATIONS[name].of
        if of in (Of.SERVICE, Of.ONESELF) or name in LISTS:
            continue
        for person in people:
            theirs = answer_of(name, person, foreign)
            nothing = answer_of(name, person, site, is_missing=True)
            statuses = [theirs.status_code, nothing.status_code]
            # Without a project in the address, the role is looked at before the body.
            lacks = of is Of.ANYWHERE and person.role not in HOLDERS[OPERATIONS[name].role]
            status = 403 if lacks else 404
            foreign_is_right = (
                200 <= statuses[0] < 300 if person.role is Role.ADMIN else statuses[0] == status
            )
            if not foreign_is_right or statuses[1] != status:
                wrong.append((name, person.role, statuses))
            if person.role is not Role.ADMIN:
                assert shown_of(theirs) == shown_of(nothing), (name, person.role)
    assert wrong == []


def test_a_foreign_object_and_a_missing_one_have_the_same_answer(light_service: Service) -> None:
    site, foreign = site_of(light_service, "mine"), site_of(light_service, "foreign")
    *_, viewer = people_of(light_service, site)
    for path, foreign_id in {
        "/projects/{}": foreign.project,
        "/runs/{}": foreign.run(),
        "/runs/{}/logs": foreign.run(),
        "/snapshots/{}": foreign.snapshot(),
        "/models/{}": foreign.model(),
        "/experiments/{}": foreign.experiment(),
        "/metrics?runs={}": foreign.run(),
    }.items():
        missing_id = foreign_id[:-4] + "2222"
        answers = []
        for one in (foreign_id, missing_id):
            answer = viewer.client.get(path.format(one))
            said = {**answer.json(), "request_id": None}
            headers = {k: v for k, v in answer.headers.items() if k != "x-request-id"}
            answers.append((answer.status_code, str(said).replace(one, "ID"), headers))
        assert answers[0] == answers[1]
        assert answers[0][0] == 404


def test_of_several_runs_the_first_unseen_one_is_named_whether_it_exists_or_not(
    light_service: Service,
) -> None:
    site, foreign = site_of(light_service, "mine"), site_of(light_service, "foreign")
    _, researcher, *_ = people_of(light_service, site)
    own, theirs, missing = site.run(), foreign.run(), "run_nothing"

    def told(name: str, run_ids: list[str]) -> tuple[int, str]:
        route = every_route()[name]
        if name == "change_runs":
            sent: dict[str, Any] = {"json": {"run_ids": run_ids, "add_tags": ["t"]}}
        else:
            sent = {"params": {**_QUERIES.get(name, {}), "runs": ",".join(run_ids), "names": "x"}}
        answer = researcher.client.request(min(route.methods), route.path, **sent)
        said = {**answer.json(), "request_id": None}
        return answer.status_code, str(said).replace(run_ids[-2], "ID")

    for name in sorted({*OF_SEVERAL_RUNS, "stream_runs", "change_runs"}):
        for before in ([], [own]):
            answers = [
                told(name, [*before, one, missing]) for one in (theirs, theirs[:-4] + "2222")
            ]
            assert answers[0] == answers[1], name
            assert answers[0][0] == 404, name
            assert "no run ID" in answers[0][1], name


def test_names_of_a_project_that_somebody_does_not_see_stay_in_it(
    light_service: Service,
) -> None:
    site, foreign = site_of(light_service, "mine"), site_of(light_service, "foreign")
    *_, viewer = people_of(light_service, site)
    secret = "the name of nobody else"
    data = [
        foreign.of(f"/projects/{foreign.project}/snapshots", name=secret, kind="demonstrations"),
        site.snapshot("demonstrations"),
    ]
    source = {"hub_id": "owner/name"}
    model = foreign.of("/models", name=secret, source=source, project_id=foreign.project)
    run_ids = []
    for number, one in enumerate((data[0], data[1])):
        config = {"method": "sft", "model": {"id": model}, "demonstrations": {"id": one}}
        body = {**site.run_body(), "config": {**config, "seed": number}}
        run_ids.append(site.of("/runs", **body))
    with site.database.write() as session:
        made = registry.register_output(
            session, runs.get(session, run_ids[0]), name="out", kind="causal_lm",
            artifact="runs/x/model-1", facts=ModelFacts(), sha256="0" * 64, step=1,
            at=datetime.now(UTC),
        ).id  # fmt: skip
    experiment = site.experiment()
    site.admin.post(f"/experiments/{experiment}/runs", json={"run_ids": run_ids})
    together = ",".join(run_ids)

    paths = [
        f"/models/{made}",
        f"/data-differences?runs={together}",
        f"/seed-groups?runs={together}",
        f"/seed-groups/results?runs={together}",
        f"/experiments/{experiment}/results",
        *(f"/runs/{one}/sets" for one in run_ids),
    ]
    shown = {path: site.admin.get(path).raise_for_status().text for path in paths}
    assert sum(secret in text for text in shown.values()) >= 3, "who sees both projects is told"
    for path in paths:
        assert secret not in viewer.client.get(path).raise_for_status().text, path
    (lineage,) = viewer.client.get(f"/models/{made}").json()["lineage"]
    assert lineage["snapshot_names"] == [data[0]]


def test_nobody_is_nobody_on_every_route(light_service: Service) -> None:
    nobody, stranger = light_service.anonymous(), light_service.client("pk_unknown")
    nobody.base_url = stranger.base_url
    for name in OPERATIONS:
        if OPERATIONS[name].of is Of.NOBODY:
            continue
        route = every_route()[name]
        for client in (nobody, stranger):
            answer = client.request(min(route.methods), address_of(route, client), content=b"{")
            assert answer.status_code == 401, name


def test_people_and_keys_of_others_are_an_administrators(light_service: Service) -> None:
    site = site_of(light_service, "mine")
    admin, *others = people_of(light_service, site)
    target = others[-1].id
    paths = [("GET", "keys"), ("POST", "keys"), ("GET", "sessions"), ("DELETE", "sessions")]
    for method, part in paths:
        for person in others[:-1]:
            answer = person.client.request(method, f"/users/{target}/{part}", json={"name": "x"})
            assert answer.status_code == 403
        answer = admin.client.request(method, f"/users/{target}/{part}", json={"name": "x"})
        assert answer.is_success
        answer = admin.client.request(method, f"/users/user_nothing/{part}", json={"name": "x"})
        assert answer.status_code == 404


def test_a_role_in_one_project_is_no_role_in_another(light_service: Service) -> None:
    site, other = site_of(light_service, "mine"), site_of(light_service, "other")
    user = site.of("/users", name="n", role="viewer")
    roles = [
        {"project_id": site.project, "role": "researcher"},
        {"project_id": other.project, "role": "annotator"},
    ]
    changed = site.admin.patch(f"/users/{user}", json={"memberships": roles}).json()
    assert sorted(changed["project_ids"]) == sorted([site.project, other.project])
    key = site.admin.post(f"/users/{user}/keys", json={"name": "k"}).json()["key"]
    client = light_service.client(key)

    mine, theirs = site.run(), other.run()
    assert client.post(f"/runs/{mine}/cancel").status_code == 200
    assert client.post(f"/runs/{theirs}/cancel").status_code == 403
    assert client.get(f"/runs/{theirs}").status_code == 403
    assert [one["id"] for one in client.get("/runs").json()["items"]] == [mine]
    for path in ("/metrics", "/runs", "/verdicts", "/seed-groups", "/seed-groups/curves",
                 "/seed-groups/results"):  # fmt: skip
        asked = {"runs": f"{mine},{theirs}", "names": "loss"}
        assert client.get(path, params=asked).status_code == 403
    assert client.post(f"/projects/{other.project}/assignments").status_code == 201
    assert client.post("/projects", json={"name": "new"}).status_code == 403
    people = [one["id"] for one in client.get("/users").json()["items"]]
    assert people == [user]


def test_a_model_of_all_projects_is_an_administrators(light_service: Service) -> None:
    site = site_of(light_service, "mine")
    admin, researcher, *_ = people_of(light_service, site)
    body = {"name": "shared", "source": {"hub_id": "a/b"}}
    assert researcher.client.post("/models", json=body).status_code == 403
    shared = admin.client.post("/models", json=body).json()["id"]
    assert researcher.client.get(f"/models/{shared}").status_code == 200
    assert researcher.client.post(f"/models/{shared}/archive").status_code == 403
    assert admin.client.post(f"/models/{shared}/archive").status_code == 200


def test_who_lacks_a_role_is_sent_to_those_who_can_give_it() -> None:
    ann = Caller("user_1", "ann", Role.ANNOTATOR, {"project_1": Role.ANNOTATOR})

    with pytest.raises(Forbidden) as in_project:
        ann.needing(Role.RESEARCHER).must_see("project_1", "run run_1")
    with pytest.raises(Forbidden) as in_service:
        ann.must_hold(Role.RESEARCHER)
    with pytest.raises(Forbidden) as of_administrators:
        ann.must_hand_out(Role.ADMIN, "project_1")

    assert in_project.value.advice == (
        "Ask a researcher of the project or an administrator for another role, or use another key."
    )
    for refused in (in_service, of_administrators):
        assert refused.value.advice == "Ask an administrator for another role, or use another key."


def test_a_researcher_sees_the_project_it_creates(api: TestClient, new_user: NewUser) -> None:
    client, _ = new_user("researcher")
    project = client.post("/projects", json={"name": "mine"}).json()
    assert client.get(f"/projects/{project['id']}").status_code == 200
    me = client.get("/me").json()
    assert me["project_ids"] == [project["id"]]
    assert me["memberships"] == [{"project_id": project["id"], "role": "researcher"}]
