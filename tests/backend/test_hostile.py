"""No request, however wrong, meets a bug: every route with ids, queries and bodies of nonsense."""

import gzip
import math
import random
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.backend.conftest import Service
from tests.backend.runs.conftest import plant
from tests.backend.test_access import addresses

NONSENSE: list[Any] = [
    None, True, -1, 0, 1.5, 2**63, 1e308, "", "x", "\U0001f600 é", "'; DROP TABLE users; --",
    "../../etc/passwd", "<script>", "a" * 5000, [], [[]], {}, {"id": "run_x"}, ["x", "x"],
]  # fmt: skip
IDS = ["x", "..", "project_nothing", "%F0%9F%98%80", "'%20OR%201=1", "%2e%2e%2f", "a" * 2000, "%ff"]


def fields(openapi: dict[str, Any], operation: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Names of the query parameters and of the body's properties."""
    query = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    while "$ref" in schema or "anyOf" in schema:
        schema = schema["anyOf"][0] if "anyOf" in schema else schema
        name = schema.get("$ref", "/").rsplit("/", 1)[-1]
        schema = openapi["components"]["schemas"].get(name, {})
    return query, list(schema.get("properties", {}))


@pytest.mark.parametrize("seed", range(3))
def test_nonsense_is_the_senders_error_on_every_route(service: Service, seed: int) -> None:
    client = service.client()
    calm = TestClient(
        service.app, base_url=client.base_url, headers=client.headers, raise_server_exceptions=False
    )
    calm.portal = service.portal
    openapi = client.get("/openapi.json").json()
    draw = random.Random(seed)
    project = client.post("/projects", json={"name": "P"}).json()["id"]

    wrong = []
    for rule in addresses():
        method, path = rule.split()
        operation = openapi["paths"][f"/api/v1{path}"][method.lower()]
        query, properties = fields(openapi, operation)
        # A stream of what is there would never end.
        known = [] if path.endswith("/stream") else [project]
        for _ in range(4):
            place = path.replace("{project_id}", draw.choice([*known, *IDS]))
            while "{" in place:
                start, end = place.index("{"), place.index("}")
                place = place[:start] + draw.choice(IDS) + place[end + 1 :]
            params = {name: str(draw.choice(NONSENSE)) for name in query if draw.random() < 0.5}
            body = {name: draw.choice(NONSENSE) for name in properties if draw.random() < 0.7}
            json = body if method in ("POST", "PATCH") else None
            answer = calm.request(method, place, params=params, json=json)
            if answer.status_code >= 500:
                wrong.append((rule, place, params, body, answer.text))
    assert wrong == []


def test_a_whole_number_that_no_column_holds_is_refused(
    service: Service,
) -> None:
    client = service.client()
    calm = TestClient(
        service.app, base_url=client.base_url, headers=client.headers, raise_server_exceptions=False
    )
    calm.portal = service.portal
    seed = plant(service.app.state.database)
    run = client.post("/runs", json=seed.body(seed.sft())).json()["id"]
    ids = {"{run_id}": run, "{project_id}": seed.project, "{snapshot_id}": seed.demonstrations}
    ids |= {"{user_id}": seed.user, "/api/v1": ""}
    answered = {}
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for method, operation in operations.items():
            for name in numbers_of(operation):
                place = path.replace(f"{{{name}}}", str(10**20))
                for held, real in ids.items():
                    place = place.replace(held, real)
                answer = calm.request(method, place, params={"runs": run, name: 10**20})
                answered[method, path, name] = answer.status_code

    point = {"step": 10**20, "values": {"gold/x": 1.0}}
    answer = calm.post(f"/runs/{run}/metrics", json={"points": [point]})
    answered["post", "/api/v1/runs/{run_id}/metrics", "step"] = answer.status_code
    for number in 10**20, -(10**20):
        sent = calm.post(f"/runs/{run}/samples/comparisons", json={"numbers": [1, number]})
        answered["post", "samples/comparisons", f"numbers {number}"] = sent.status_code
    clone = calm.post(f"/runs/{run}/clone", json={"from_checkpoint": 10**20})
    answered["post", "clone", "from_checkpoint"] = clone.status_code

    assert ("get", "/api/v1/runs/{run_id}/logs", "after") in answered
    assert {one: status for one, status in answered.items() if status != 422} == {}


def test_each_whole_number_of_a_body_has_the_bounds_of_a_column(service: Service) -> None:
    openapi = service.client().get("/openapi.json").json()
    bodies = [
        operation["requestBody"]
        for operations in openapi["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    ]
    schemas = {name: openapi["components"]["schemas"][name] for name in names_in(bodies, openapi)}
    found = {
        f"{name}.{path}": (kind.get("minimum", -math.inf), kind.get("maximum", math.inf))
        for name, schema in schemas.items()
        for path, kind in whole_numbers(schema)
    }

    assert {"RankedSamples.numbers", "CloneBody.priority", "OutsidePoint.step"} <= set(found)
    assert {one: ends for one, ends in found.items() if max(map(abs, ends)) > 2**63} == {}


def names_in(schema: Any, openapi: dict[str, Any]) -> set[str]:
    """The schemas that one refers to, and those that they do."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        waiting += one if isinstance(one, list) else one.values() if isinstance(one, dict) else []
        name = str(one.get("$ref", "")).rsplit("/", 1)[-1] if isinstance(one, dict) else ""
        if name and name not in found:
            found.add(name)
            waiting.append(openapi["components"]["schemas"][name])
    return found


def whole_numbers(schema: dict[str, Any], path: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Each whole number that stands in a schema itself, with its path."""
    found = [(path, schema)] if schema.get("type") == "integer" else []
    inner = [*schema.get("anyOf", []), schema.get("items"), schema.get("additionalProperties")]
    for one in inner:
        found += whole_numbers(one, path) if isinstance(one, dict) else []
    for name, one in schema.get("properties", {}).items():
        found += whole_numbers(one, f"{path}.{name}" if path else name)
    return found


def numbers_of(operation: dict[str, Any]) -> list[str]:
    """Names of the whole numbers in the path and the query."""
    found = []
    for one in operation.get("parameters", []):
        kinds = [one["schema"], *one["schema"].get("anyOf", [])]
        if any(kind.get("type") == "integer" for kind in kinds):
            found.append(one["name"])
    return found


GOOD = b'{"name": "P"}'


@pytest.mark.parametrize(
    ("content", "content_type", "status", "detail", "advice"),
    [
        (GOOD, None, 422, "the body has no Content-Type", "`Content-Type: application/json`"),
        (
            GOOD,
            "application/x-www-form-urlencoded",
            422,
            "the body has the Content-Type application/x-www-form-urlencoded",
            "`Content-Type: application/json`",
        ),
        (
            b'{\n "name": P}',
            "application/json",
            422,
            "the body is not valid JSON: line 2, column 10: Expecting value",
            "Correct the JSON at this place",
        ),
        (
            gzip.compress(GOOD),
            "application/json",
            400,
            "the body cannot be read: it is compressed with gzip; send it as it is, in UTF-8",
            "",
        ),
        (
            GOOD.decode().encode("utf-16"),
            "application/json",
            400,
            "the body cannot be read: it has NUL bytes, as UTF-16 and UTF-32 do; send it in UTF-8",
            "",
        ),
    ],
    ids=["no type", "form", "broken", "gzip", "utf-16"],
)
def test_a_body_that_cannot_be_read_is_told_in_words(
    light_service: Service,
    content: bytes,
    content_type: str | None,
    status: int,
    detail: str,
    advice: str,
) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}

    answer = light_service.client().post("/projects", content=content, headers=headers)

    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    assert advice in (answer.json()["advice"] or "")


def test_no_error_names_parts_of_python(light_service: Service) -> None:
    admin = light_service.client()
    seed = plant(light_service.app.state.database)
    project, run = seed.project, admin.post("/runs", json=seed.body(seed.sft())).json()["id"]

    role = {"people": [{"name": "A"}], "role": "owner"}
    wrong_role = admin.post(f"/projects/{project}/invitations", json=role)
    user = admin.post("/users", json={"name": "A", "role": "viewer"}).json()["id"]
    roles = {"memberships": [{"project_id": project, "role": "owner"}]}
    wrong_membership = admin.patch(f"/users/{user}", json=roles)
    points = {"judge": 5, "points": [{"step": 1, "values": {"gold/win": 0.5}}]}
    wrong_judge = admin.post(f"/runs/{run}/metrics", json=points)

    for answer in (wrong_role, wrong_membership, wrong_judge):
        assert answer.status_code == 422, answer.text
        assert "<" not in answer.json()["detail"], answer.text
        assert "constrained" not in answer.text
        assert "literal[" not in answer.text
    assert wrong_judge.json()["detail"].startswith("judge: ")
    assert "'researcher', 'annotator' or 'viewer'" in wrong_membership.json()["detail"]
