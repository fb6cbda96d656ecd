"""What every answer carries, what no request may bring, and how the service starts."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict

from backend import main, routes
from backend.api import edge, openapi, static
from backend.errors import Unavailable
from backend.main import create_app
from backend.routes import ApiRoute
from backend.settings import Settings
from backend.store.revision import head_revision, is_known
from tests.backend.conftest import Service

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/me", "/api/v1/nothing", "/anything"])
def test_every_answer_has_a_request_id_and_a_policy_without_inline_script(
    light_service: Service, path: str
) -> None:
    headers = light_service.anonymous().get(path).headers
    assert headers["X-Request-Id"]
    assert "script-src 'self';" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"


def test_a_request_id_is_taken_over_if_it_is_one(light_service: Service) -> None:
    client = light_service.anonymous()
    sent = {"X-Request-Id": "trace-12345678"}
    assert client.get("/api/v1/me", headers=sent).json()["request_id"] == "trace-12345678"
    bad = {"X-Request-Id": "<script>"}
    assert client.get("/healthz", headers=bad).headers["X-Request-Id"] != "<script>"


def test_errors_are_problems_with_advice(light_service: Service) -> None:
    answer = light_service.anonymous().get("/api/v1/me")
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert {"type", "title", "status", "detail", "advice", "request_id"} <= set(problem)
    assert problem["request_id"] == answer.headers["X-Request-Id"]

    api = light_service.client()
    invalid = api.post("/projects", json={"name": 1, "nmae": "x"}).json()
    assert [one["path"] for one in invalid["errors"]] == ["name", "nmae"]
    wrong = api.request("PATCH", "/projects")
    assert wrong.status_code == 405
    assert wrong.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"[" * 200_000, 400),
        (b'{"name": ' * 50_000, 400),
        (b"{", 422),
        (b'{"name": "\\ud800"}', 422),
        (b'{"name": "\\u0000"}', 422),
        (b"\xff\xfe", 422),
        (b'{"name": "x"}' + b" " * edge.BODY_LIMIT, 413),
    ],
)
def test_a_hostile_body_is_the_senders_error(
    light_service: Service, content: bytes, status: int
) -> None:
    answer = light_service.client().post(
        "/projects", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_without_a_length_is_counted(light_service: Service) -> None:
    def endless() -> object:
        for _ in range(edge.BODY_LIMIT // edge.MIB + 2):
            yield b" " * edge.MIB

    answer = light_service.client().post("/projects", content=endless())  # type: ignore[arg-type]
    assert answer.status_code == 413


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize(
    "body", [b" " * (edge.BODY_LIMIT + 1), json.dumps({"name": [{}] * 60_000}).encode()]
)
def test_whatever_is_too_large_is_answered_with_advice(
    light_service: Service, body: bytes, is_chunked: bool
) -> None:
    answer = light_service.client().post(
        "/projects",
        content=iter([body]) if is_chunked else body,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 413
    assert answer.json()["advice"] == "Send large data in parts, or through an import."


@pytest.mark.parametrize("path", ["/projects/%00", "/projects?cursor=%00", "/models/..%2f..%2fetc"])
def test_hostile_addresses_reach_nothing(light_service: Service, path: str) -> None:
    assert light_service.client().get(path).status_code in (400, 404)


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fx", "//x"]
)
def test_static_files_end_at_their_folder(light_service: Service, path: str) -> None:
    answer = light_service.anonymous().get(path)
    assert "root:" not in answer.text
    assert answer.status_code in (200, 404)


def test_a_script_of_another_build_is_not_found_rather_than_a_page(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>Podium</title>")
    app = FastAPI()
    static.mount(app, tmp_path)
    client = TestClient(app, base_url="http://localhost")

    assert client.get("/runs/run_1").text == "<title>Podium</title>"
    assert client.get("/assets/run-page-old.js").status_code == 404


def test_a_bug_says_its_request_id_and_nothing_else(
    light_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    @light_service.app.post("/bug")
    def bug() -> None:
        raise RuntimeError("secret of the inside")

    client = light_service.anonymous()
    calm = TestClient(light_service.app, base_url="http://localhost", raise_server_exceptions=False)
    calm.portal = client.portal
    answer = calm.post("/bug")
    assert answer.status_code == 500
    assert answer.json()["request_id"] == answer.headers["X-Request-Id"]
    # The advice sends its reader to the log with this id.
    assert answer.headers["X-Request-Id"] in caplog.text
    assert "secret" not in answer.text
    assert answer.json()["request_id"] in caplog.text, "the answer says to look for it in the log"
    assert "POST" in caplog.text
    assert "/bug" in caplog.text


def test_a_database_that_fails_is_unavailable_and_not_a_bug(light_service: Service) -> None:
    url = light_service.app.state.settings.sqlalchemy_url
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.execute("ALTER TABLE projects RENAME TO elsewhere")
    answer = light_service.client().get("/projects")
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"


def test_lists_are_paged_in_order_of_creation(api: TestClient) -> None:
    names = [f"P{i}" for i in range(5)]
    for name in names:
        api.post("/projects", json={"name": name})

    for oldest_first, expected in (("false", names[::-1]), ("true", names)):
        seen: list[str] = []
        params = {"limit": "2", "oldest_first": oldest_first}
        while True:
            page = api.get("/projects", params=params).json()
            seen += [one["name"] for one in page["items"]]
            if page["next_cursor"] is None:
                break
            params["cursor"] = page["next_cursor"]
        assert seen == expected
    for cursor in ("x", "n", "n-1", "n99999999999999999999", "nÉ"):
        assert api.get("/projects", params={"cursor": cursor}).status_code == 422


def test_an_archived_project_leaves_the_list_and_comes_back(api: TestClient) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    api.post(f"/projects/{project}/archive")
    assert api.get("/projects").json()["items"] == []
    assert api.get("/projects?archived=true").json()["items"][0]["id"] == project
    api.post(f"/projects/{project}/restore")
    assert api.get("/projects").json()["items"][0]["id"] == project


def test_ready_names_each_dependency(light_service: Service) -> None:
    ready = light_service.anonymous().get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["checks"] == dict.fromkeys(("database", "data_dir", "disk", "broker"), "ok")


def test_the_service_refuses_another_schema_and_names_the_command(tmp_path: Path) -> None:
    tmp_path.joinpath("data").mkdir()
    app = create_app(Settings(data_dir=tmp_path / "data"))
    with pytest.raises(Unavailable, match=head_revision()) as refused, TestClient(app):
        pass
    assert "podium migrate" in str(refused.value.advice)
    assert not (tmp_path / "data" / "admin.key").exists()


def test_the_code_that_runs_wants_the_revision_it_began_with(tmp_path: Path) -> None:
    """An update brings files for code that is not loaded before the next start."""
    (tmp_path / "0001.py").write_text('revision = "0001"\ndown_revision = None\n')
    assert head_revision(tmp_path) == "0001"
    (tmp_path / "0002.py").write_text('revision = "0002"\ndown_revision = "0001"\n')
    assert head_revision(tmp_path) == "0001"
    assert not is_known("0002", tmp_path)


def test_the_application_loads_no_heavy_library_and_takes_little_time() -> None:
    # Promised are 2 s, which `make bench` shows; this machine may be a slow one.
    program = (
        "import sys, time; start = time.process_time()\n"
        "import backend.main; backend.main.create_app()\n"
        "heavy = {'torch', 'transformers', 'numpy', 'pyarrow', 'worker'}\n"
        "print(sorted(heavy & set(sys.modules)), time.process_time() - start < 8)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=180
    )
    assert found.stdout.strip() == "[] True"


def test_a_route_that_many_ask_at_once_is_looked_at_once() -> None:
    def me() -> dict[str, str]:
        return {}

    route = ApiRoute("/me", me, methods=["GET"])
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: route.dependant, range(8)))

    assert all(one is route.dependant for one in found)
    assert not hasattr(route, "nothing")


def test_a_route_that_could_not_be_looked_at_is_looked_at_again() -> None:
    class BrokenOnce(ApiRoute):
        n_tries = 0

        def get_route_handler(self) -> Handler:
            self.n_tries += 1
            if self.n_tries == 1:
                raise AttributeError("broken")
            return super().get_route_handler()

    def me() -> dict[str, str]:
        return {}

    route = BrokenOnce("/me", me, methods=["GET"])

    with pytest.raises(RuntimeError, match=r"/me .*broken"):
        _ = route.app
    assert callable(route.app)


def test_a_route_that_can_be_asked_has_built_what_it_asks_for_and_answers() -> None:
    """Else requests would do so, of those that write in the write turn."""

    class Late(BaseModel):
        model_config = ConfigDict(defer_build=True)
        name: str

    class Part(Late):
        pass

    class Answer(Late):
        id: str
        parts: list[Part] | None = None

    is_built = dict[str, bool]()

    class Noted(ApiRoute):
        def get_route_handler(self) -> Handler:
            handler = super().get_route_handler()
            assert self.body_field is not None
            is_built["body"] = bool(self.body_field._type_adapter.pydantic_complete)
            is_built["answer"] = Answer.__pydantic_complete__
            is_built["part"] = Part.__pydantic_complete__
            return handler

    def create_project(body: Late) -> Answer | None:
        return Answer(id="1", name=body.name)

    route = Noted("/projects", create_project, methods=["POST"], response_model=Answer | None)
    assert not Answer.__pydantic_complete__
    assert not Part.__pydantic_complete__

    assert callable(route.app)
    assert is_built == {"body": True, "answer": True, "part": True}


def test_while_the_document_is_made_requests_may_go_before_each_route() -> None:
    """Whoever waits wakes a little later than the thread that makes it could go on."""
    looked_at, free_after = list[str](), set[int]()

    class Me(BaseModel):
        name: str

    class Slow(ApiRoute):
        def get_route_handler(self) -> Handler:
            looked_at.append(self.path)
            time.sleep(0.01)
            return super().get_route_handler()

    def me() -> Me:
        return Me(name="a")

    app = FastAPI()
    found = [Slow(f"/me{n}", me, methods=["GET"], response_model=Me) for n in range(40)]
    app.router.routes.extend(found)
    with ThreadPoolExecutor(1) as threads:
        made = threads.submit(openapi.Description("", found).document, app)
        while not made.done() and len(looked_at) < len(found):
            if routes._looking.acquire(blocking=False):
                free_after.add(len(looked_at))
                routes._looking.release()
        assert len(made.result(60)["paths"]) == len(found)

    assert len(free_after) > len(found) / 4


def test_a_route_that_admits_anybody_is_not_served() -> None:
    with pytest.raises(TypeError, match="/open is no ApiRoute"):
        main._below(APIRoute("/open", lambda: None))


def test_every_operation_says_who_may_use_it_and_how_it_refuses(light_service: Service) -> None:
    paths = light_service.anonymous().get("/api/v1/openapi.json").json()["paths"]
    described = [
        (f"{method} {path}", one)
        for path, methods in paths.items()
        for method, one in methods.items()
        if not path.endswith("z")  # The process itself: /healthz and /readyz.
    ]

    assert [name for name, one in described if "security" not in one] == []
    assert [name for name, one in described if not one["security"]] == [
        "post /api/v1/session",
        "post /api/v1/invitation",
        "post /api/v1/invitation/accept",
    ]
    refusals = [one["responses"]["403"]["content"] for _, one in described]
    assert {tuple(one) for one in refusals} == {("application/problem+json",)}


def test_an_address_names_all_its_methods(light_service: Service) -> None:
    wrong = light_service.client().put("/runs")

    assert wrong.status_code == 405
    assert wrong.headers["Allow"] == "GET, PATCH, POST"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/api/v1/openapi.json", "/"])
def test_what_is_allowed_is_answered(
    light_service: Service, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = light_service.anonymous()
    allowed = client.post(path).headers["Allow"].split(", ")
    assert allowed == ["GET", "HEAD"]
    answers = [client.request(method, path) for method in allowed]
    # Without a build the pages are not found, whatever the method.
    assert {one.status_code for one in answers} <= {200, 404}
    assert answers[0].status_code == answers[1].status_code


def test_the_document_is_made_and_encoded_once(
    light_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, address = light_service.anonymous(), "/api/v1/openapi.json"
    packed = client.get(address)
    plain = client.get(address, headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert packed.json() == plain.json() == light_service.app.openapi()
    assert int(packed.headers["Content-Length"]) < len(plain.content) / 5
    assert packed.headers["Vary"] == "Accept-Encoding"

    tag = packed.headers["ETag"]
    known = client.get(address, headers={"If-None-Match": f'"x", {tag}'})
    assert (known.status_code, known.content, known.headers["ETag"]) == (304, b"", tag)
    for name in ("get_openapi", "_Prepared"):
        monkeypatch.setattr(openapi, name, None)
    assert client.get(address).content == packed.content
    # Another application of this process says the same.
    again = create_app(Settings(data_dir=Path("/nowhere")))
    assert again.openapi() == plain.json()


def test_health_says_how_it_refuses(light_service: Service) -> None:
    paths = light_service.app.openapi()["paths"]
    for path in ("/healthz", "/readyz"):
        answers = paths[path]["get"]["responses"]
        assert sorted(answers) == ["200", "400", "408", "414", "500", "503"]
        assert "application/problem+json" in answers["503"]["content"]
    assert "application/json" in paths["/readyz"]["get"]["responses"]["503"]["content"]
