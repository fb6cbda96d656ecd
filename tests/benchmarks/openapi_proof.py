"""The OpenAPI document beside the running API: Schemathesis asks, as every role and as nobody.

Each answer is compared with the document: no 5xx, no status, content type or schema that it does
not have. Every operation succeeds once for each role that may use it. Schemathesis is no part of
the product's environment: pip installs it for this proof, unless it is on `PYTHONPATH`.
"""

import importlib.util
import json
import os
import random
import re
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from backend import auth
from backend.domain.operations import OPERATIONS, Of
from backend.main import PREFIX
from backend.schemas.vocabulary import Role
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import users
from tests import processes, servers
from tests.backend.test_access import (
    HOLDERS,
    STREAMS,
    Person,
    Site,
    body_of,
    call,
    every_route,
    plant,
)
from tests.benchmarks import installed

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(0)]

SCHEMATHESIS = "schemathesis==4.32.5"
# Requests of one caller; the 50,000 are those of five.
CASES = int(os.environ.get("PODIUM_BENCH_CASES", "10000"))
CALLERS = (*Role, None)
# After so many requests there is a new project with new objects and a new person: what was
# archived, revoked and removed meanwhile stays so.
RENEWED_AFTER = 1000
# How often a generated id or body makes place for one that exists.
REAL_IDS, REAL_BODIES = 0.75, 0.3
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "response_headers_conformance")  # fmt: skip
_ID = re.compile(r"\b([a-z]+)_[a-km-np-z2-9]{20}\b")
_METHOD_AND_PATH = {
    (min(route.methods), ("" if name == "scrape" else PREFIX) + route.path): name
    for name, route in every_route().items()
}


class Library(NamedTuple):
    """Schemathesis, and its module that asks."""

    schemathesis: Any
    engine: Any


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Schemathesis, installed where it is not."""
    if importlib.util.find_spec("schemathesis") is None:
        folder = installed.libraries(tmp_path_factory.mktemp("schemathesis"), SCHEMATHESIS)
        sys.path.append(str(folder))
        importlib.invalidate_caches()
    return Library(*map(importlib.import_module, ("schemathesis", "schemathesis.engine")))


class Stage:
    """A served store, the person who calls, and the ids of what there is."""

    def __init__(
        self, library: Library, address: str, url: str, folder: Path, role: Role | None
    ) -> None:
        self.library = library
        self.address = address
        self.admin = httpx.Client(base_url=f"{address}{PREFIX}", timeout=60)
        self.database = Database(url)
        self.settings = Settings(data_dir=folder, database_url=url)
        self.role = role
        self.random = random.Random(7)
        self.ids: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=40))
        self.answers: Counter[tuple[str, int]] = Counter()
        self.sent = 0
        self.keeper = ""
        self.renew()

    def renew(self) -> None:
        """A new project with objects, and a new person of the role in it."""
        self._renew_keeper()
        self.ids.clear()
        self.site = Site(self.admin, self.database, self.settings, "")
        plant(self.site, f"stage {self.sent}")
        role = self.role or Role.VIEWER
        body = {"name": "caller", "role": role, "project_ids": [self.site.project]}
        user = self.site.of("/users", **body)
        made = self.site.admin.post(f"/users/{user}/keys", json={"name": "k"}).json()
        self.key = made["key"]
        if hasattr(self, "person"):
            self.person.client.close()
        client = httpx.Client(
            base_url=f"{self.address}{PREFIX}",
            headers=self.headers,
            timeout=60,
            event_hooks={"response": [lambda answer: (answer.read(), self.learn(answer.text))]},
        )
        self.person = Person(role, client, user)
        self._plant_each_kind()

    @property
    def headers(self) -> dict[str, str]:
        """What the caller's requests say of who it is."""
        return {"Authorization": f"Bearer {self.key}"} if self.role else {}

    def learn(self, text: str) -> None:
        """Remember the ids in an answer."""
        for found in _ID.finditer(text[:20_000]):
            if found.group() not in self.ids[found.group(1)]:
                self.ids[found.group(1)].append(found.group())

    def known(self, name: str) -> str | None:
        """The id of something that exists, for a field such as `run_id`, `other_run_id`, `runs`."""
        kind = {"view": "view"}.get(name, re.sub(r"^(other|parent)_|_ids?$|s$", "", name))
        some = [one for one in self.ids.get(kind, ()) if one != self.keeper]
        return self.random.choice(some) if some else None

    def close(self) -> None:
        """Give back the connections."""
        self.admin.close()
        self.person.client.close()
        self.database.close()

    def _renew_keeper(self) -> None:
        """An administrator who makes the objects, whatever has become of the last one."""
        at = datetime.now(UTC)
        with self.database.write() as session:
            user = users.create(session, name="keeper", role=Role.ADMIN, project_ids=[], at=at)
            key = auth.add_key(session, user_id=user.id, name="k", expires_in_s=None, at=at)
        self.keeper = user.id
        self.admin.headers["Authorization"] = f"Bearer {key.key}"

    def _plant_each_kind(self) -> None:
        site = self.site
        made = [site.project, site.sampled_run(), site.answered_run(), site.generated_run()]
        made += [site.run(state) for state in ("running", "paused", "failed", "succeeded")]
        made += [site.snapshot(), site.snapshot("demonstrations"), site.model()]
        made += [site.experiment(), site.view(), site.member(), self.person.id]
        made += [site.invitation()["id"], site.job(self.person.id), site.practice()[0]]
        made += [site.assignment(self.person.id)[0] for _ in range(3)]
        self.learn(json.dumps(made))
        for kind in ("prompts", "responses", "comparisons"):
            self.learn(site.admin.get(f"/projects/{site.project}/{kind}").text)


class Guide:
    """Leads what Schemathesis generates to objects that exist, and counts the answers."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def follow(self) -> None:
        """Be asked before and after each call."""

        hook = self.stage.library.schemathesis.hook

        @hook("before_call")
        def _lead(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
            self.lead(case)

        @hook("after_call")
        def _count(context: Any, case: Any, response: Any) -> None:
            self.count(case, response)

    def lead(self, case: Any) -> None:
        """Send the case as the caller, with some ids and bodies replaced."""
        stage, draw = self.stage, self.stage.random
        stage.sent += 1
        if stage.sent % RENEWED_AFTER == 0:
            stage.renew()
        for name in list(case.path_parameters or {}):
            known = "1" if name == "step" else stage.known(name)
            is_keepers = case.path_parameters[name] == stage.keeper
            if known and (is_keepers or draw.random() < REAL_IDS):
                case.path_parameters[name] = known
        for name in list(case.query or {}):
            known = stage.known(name)
            if known and draw.random() < REAL_IDS:
                case.query[name] = known
        operation = _METHOD_AND_PATH.get((case.method.upper(), case.operation.path))
        case.body = self._body(operation, case.body)
        case.headers = {**(case.headers or {}), **stage.headers}
        if stage.role is None:
            case.headers.pop("Authorization", None)

    def _body(self, operation: str | None, generated: Any) -> Any:
        draw = self.stage.random
        if isinstance(generated, dict | list) and operation and draw.random() < REAL_BODIES:
            real = body_of(operation, self.stage.person, self.stage.site)
            if isinstance(real, dict) and isinstance(generated, dict) and generated:
                name = draw.choice(list(generated))
                return real if draw.random() < 0.5 else {**real, name: generated[name]}
            return generated if real is None else real
        return self._with_ids(generated)

    def _with_ids(self, value: Any, name: str = "") -> Any:
        """The value in which what should be an id often is one."""
        if isinstance(value, dict):
            return {key: self._with_ids(one, str(key)) for key, one in value.items()}
        if isinstance(value, list):
            return [self._with_ids(one, name) for one in value]
        is_id = isinstance(value, str) and name.endswith(("_id", "_ids"))
        known = self.stage.known(name) if is_id else None
        return known if known and self.stage.random.random() < REAL_IDS else value

    def count(self, case: Any, response: Any) -> None:
        """Count the answer by operation and status."""
        name = _METHOD_AND_PATH.get((case.method.upper(), case.operation.path), case.operation.path)
        self.stage.answers[name, response.status_code] += 1
        self.stage.learn(response.content[:20_000].decode(errors="replace"))


def document(stage: Stage, examples: int = 1) -> Any:
    """The document of the running API, as Schemathesis uses it."""
    generation = {"max-examples": examples, "no-shrink": True, "with-security-parameters": False}
    schemathesis = stage.library.schemathesis
    config = schemathesis.Config.from_dict(
        {
            "base-url": stage.address,
            "continue-on-failure": True,
            "request-timeout": 60,
            "generation": generation,
            "phases": {
                "fuzzing": {"generation": generation},
                "stateful": {"generation": generation, "max-steps": 12},
            },
            "checks": {"enabled": False, **{name: {"enabled": True} for name in CHECKS}},
        }
    )
    address = f"{stage.address}{PREFIX}/openapi.json"
    schema = schemathesis.openapi.from_url(address, config=config, headers=stage.headers)
    streams = [every_route()[name].path for name in STREAMS]
    return schema.exclude(path=[PREFIX + path for path in streams])


@pytest.fixture(params=CALLERS, ids=str)
def stage(
    request: pytest.FixtureRequest, library: Library, sqlite_url: str, tmp_path: Path
) -> Iterator[Stage]:
    """A served SQLite store with a caller of each role, and with nobody."""
    folder, port = tmp_path / "data", servers.free_port()
    address = f"http://127.0.0.1:{port}"
    env = processes.environment(folder, PODIUM_DATABASE_URL=sqlite_url, PODIUM_PORT=str(port))
    env.pop("PYTHONPATH", None)  # the service has its own libraries
    log, command = tmp_path / "api.log", [sys.executable, "-m", "backend.ops.serve"]
    with processes.running(command, env, log) as process:
        processes.wait_until(
            lambda: processes.answers(f"{address}/healthz"),
            "the API answers",
            process=process,
            log=log,
        )
        stage = Stage(library, address, sqlite_url, folder, request.param)
        yield stage
        library.schemathesis.hooks.unregister_all()
        stage.close()
    assert "request.failed" not in log.read_text()


def test_what_is_generated_meets_no_bug_and_nothing_that_is_not_in_the_document(
    stage: Stage,
) -> None:
    guide, began, turn = Guide(stage), time.monotonic(), 0
    wrong: dict[tuple[str, str], str] = {}
    guide.follow()
    while stage.sent < CASES:
        turn += 1
        schema = document(stage, examples=10 * turn)
        for event in stage.library.engine.from_schema(schema).execute():
            _note(event, wrong)
    seconds = time.monotonic() - began
    print(f"\n{stage.role}: {stage.sent} requests, {stage.sent / seconds:.0f} a second; {turn=}")
    by_status = Counter[int]()
    for (_, status), count in stage.answers.items():
        by_status[status] += count
    print(dict(sorted(by_status.items())))
    assert not wrong, "\n\n".join(f"{key}: {text}" for key, text in wrong.items())


def _note(event: Any, wrong: dict[tuple[str, str], str]) -> None:
    """Keep the first failure of each kind for each operation, with the call that shows it."""
    if type(event).__name__ in ("NonFatalError", "FatalError"):
        wrong[type(event).__name__, str(getattr(event, "label", ""))] = repr(event)
    recorder = getattr(event, "recorder", None)
    for case_id, checks in recorder.checks.items() if recorder else ():
        for check in checks:
            if check.failure_info is not None:
                failure = check.failure_info.failure
                case = recorder.cases[case_id].value
                key = (f"{case.method} {case.operation.path}", failure.title)
                if key not in wrong:
                    print(f"{key}: {failure.message[:500]}", flush=True)
                wrong.setdefault(key, f"{failure.message}\n{check.failure_info.code_sample}"[:3000])


def test_each_operation_succeeds_as_the_document_says_for_each_role_that_may_use_it(
    stage: Stage,
) -> None:
    if stage.role is None:
        pytest.skip("what nobody may do has a test of its own")
    schema, wrong = document(stage), []
    stage.site.end_practice()  # Else nobody gets anything else before it is passed.

    def _compare(answer: httpx.Response) -> None:
        answer.read()
        for (method, path), operation in operations.items():
            if method == answer.request.method and path.fullmatch(answer.request.url.path):
                operation.validate_response(answer)
                return

    operations = {
        (method.upper(), re.compile(re.sub(r"{\w+}", "[^/]+", path))): schema[path][method.upper()]
        for (method, path), name in _METHOD_AND_PATH.items()
        if name not in STREAMS
    }
    stage.person.client.event_hooks = {"response": [_compare]}
    for name, operation in OPERATIONS.items():
        if operation.of is Of.NOBODY or name in STREAMS:
            continue
        if stage.role not in HOLDERS[operation.role]:
            continue
        status = call(name, stage.person, stage.site)
        if not 200 <= status < 300:
            wrong.append((name, status))
    assert wrong == []


# What stands in the place of a number, an id, a user or a time.
NONSENSE = ("", "x", "-1", "1e9", str(2**70), "\U0001f600", "' OR 1=1", "a" * 500, "null")


def test_streams_open_or_refuse_as_the_document_says(stage: Stage) -> None:
    paths, statuses = document_of_streams(stage), Counter[tuple[str, int]]()
    for path, described in paths.items():
        asked = [one["name"] for one in described["parameters"] if one["in"] == "query"]
        address = stage.address + path.format(
            run_id=stage.known("run_id"), project_id=stage.site.project
        )
        runs = {"runs": stage.known("run_id") or ""} if "runs" in asked else {}
        for params in [runs, *({**runs, name: text} for name in asked for text in NONSENSE)]:
            with httpx.stream("GET", address, params=params, headers=stage.headers) as answer:
                declared = described["responses"][str(answer.status_code)]["content"]
                assert answer.headers["content-type"].split(";")[0] in declared
                assert answer.status_code < 500
                statuses[path, answer.status_code] += 1
    print(f"\n{stage.role}: {dict(statuses)}")
    for name in STREAMS:
        path = PREFIX + every_route()[name].path
        may = stage.role is not None and stage.role in HOLDERS[OPERATIONS[name].role]
        assert (statuses[path, 200] > 0) == may, path


def document_of_streams(stage: Stage) -> dict[str, Any]:
    """How the document describes each stream, by its path."""
    paths = stage.admin.get("/openapi.json").json()["paths"]
    return {path: paths[path]["get"] for path in (PREFIX + every_route()[n].path for n in STREAMS)}
