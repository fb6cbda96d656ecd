"""What a request may hold: every schema is bounded, bombs are refused early, answers stay short."""

import gc
import json
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.api.problems import MOST_BYTES, MOST_ERRORS
from backend.main import create_app
from backend.pressure.json_text import MOST_KEYS_IN_ALL, check_text
from backend.pressure.turns import REFUSE_AFTER_S
from backend.schemas.paging import MOST_DEPTH, MOST_KEYS, check_value
from backend.settings import Settings
from tests.backend.conftest import Service

# Bounded by the form of what they hold.
_SHORT_FORMATS = {"date-time", "uuid", "binary"}


def document() -> dict[str, Any]:
    found: dict[str, Any] = create_app(Settings(data_dir=Path("/nowhere"))).openapi()
    return found


def resolved(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return components[name] if name else schema


def unbounded(
    schema: dict[str, Any], place: str, components: dict[str, Any], seen: frozenset[str]
) -> Iterator[str]:
    """The places in a schema at which something may be as large as one likes."""
    name = schema.get("$ref", "")
    if name in seen:
        return
    seen |= {name} - {""}
    schema = resolved(schema, components)
    for part in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(part, []):
            yield from unbounded(one, place, components, seen)
    kind = schema.get("type")
    if kind == "string":
        is_closed = "enum" in schema or "const" in schema
        is_short = schema.get("format") in _SHORT_FORMATS
        if not is_closed and not is_short and "maxLength" not in schema:
            yield f"{place}: a text without maxLength"
    elif kind == "array":
        if "maxItems" not in schema:
            yield f"{place}: a list without maxItems"
        yield from unbounded(schema.get("items", {}), f"{place}[]", components, seen)
    elif kind == "object":
        yield from _unbounded_object(schema, place, components, seen)
    elif kind is None and not any(part in schema for part in ("anyOf", "oneOf", "allOf", "const")):
        yield f"{place}: anything"


def _unbounded_object(
    schema: dict[str, Any], place: str, components: dict[str, Any], seen: frozenset[str]
) -> Iterator[str]:
    for field, inner in schema.get("properties", {}).items():
        yield from unbounded(inner, f"{place}.{field}", components, seen)
    further = schema.get("additionalProperties", True)
    if further is False:
        return
    if "maxProperties" not in schema:
        yield f"{place}: an object without maxProperties"
    # What stands inside of free JSON is counted by `check_value`.
    if isinstance(further, dict) and further:
        yield from unbounded(further, f"{place}.*", components, seen)


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_everything_in_a_request_has_a_largest_size() -> None:
    components = document()["components"]["schemas"]
    found: list[str] = []
    for name, operation in operations():
        content = operation.get("requestBody", {}).get("content", {})
        for media in content.values():
            found += unbounded(media["schema"], name, components, frozenset())
        for parameter in operation.get("parameters", []):
            # The edge bounds the path as a whole.
            if parameter["in"] != "path":
                place = f"{name} ?{parameter['name']}"
                found += unbounded(parameter["schema"], place, components, frozenset())
    assert found == []


def test_the_walk_finds_what_is_unbounded() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "text": {"type": "string"},
            "list": {"type": "array", "items": {"type": "string", "maxLength": 3}},
            "free": {"type": "object", "additionalProperties": True},
            "any": {},
            "fine": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
        },
    }
    found = [place.partition(":")[0] for place in unbounded(schema, "", {}, frozenset())]
    assert found == [".text", ".list", ".free", ".any"]


BOMBS = {
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "never closed": b"[" * 1_000_000,
    "very many keys": b"{" + b",".join(b'"%d":%d' % (n, n) for n in range(200_000)) + b"}",
    "very many lists": b"[" + b"[]," * 400_000 + b"[]]",
    "very many items": b"[" + b"1," * 1_000_000 + b"1]",
    "texts never closed": b'"\\"' * 300_000,
    "only backslashes": b'"' + b"\\" * 1_000_001,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_is_parsed(light_service: Service, name: str) -> None:
    api = light_service.client()
    headers = {"Content-Type": "application/json"}
    tracemalloc.start()
    began = time.process_time()
    answer = api.post("/projects", content=BOMBS[name], headers=headers)
    took_s = time.process_time() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert answer.status_code in (400, 413, 422), answer.text
    assert len(answer.content) <= MOST_BYTES
    # The text is there several times over on both sides of a connection in one process; a dict of
    # so many keys would be ten times as large as its text.
    assert peak < 8 * len(BOMBS[name]) + 20e6
    assert took_s < 20  # Measuring memory makes it many times as slow.


REFUSED = {
    "too many keys": BOMBS["very many keys"][:700_000],
    "no JSON": b'{"name": "' + b"x" * 700_000,
    "too large": b" " * (2 << 20),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_large_body_that_is_refused_is_answered_late_and_not_kept(
    light_service: Service, name: str
) -> None:
    api = light_service.client()
    headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}

    def send() -> float:
        began = time.monotonic()
        answer = api.post("/projects", content=iter([REFUSED[name]]), headers=headers)
        assert answer.status_code in (413, 422), answer.text
        return time.monotonic() - began

    send()
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        assert min(send() for _ in range(10)) >= REFUSE_AFTER_S
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert kept < 2 * len(REFUSED[name])


@pytest.mark.parametrize("name", ["deep lists", "very many keys", "very many lists"])
def test_the_text_of_a_bomb_says_enough(name: str) -> None:
    with pytest.raises(ValueError, match=r"at most|levels deep"):
        check_text(BOMBS[name])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32-le"])
def test_only_utf_8_is_looked_at(light_service: Service, encoding: str) -> None:
    body = json.dumps({"name": "p"}).encode(encoding)
    headers = {"Content-Type": "application/json"}
    answer = light_service.client().post("/projects", content=body, headers=headers)
    assert answer.status_code == 400
    assert "UTF-8" in answer.json()["detail"]


def test_commas_and_brackets_in_texts_do_not_count() -> None:
    check_text(json.dumps({"text": '[{":,' * 300_000}).encode())
    check_text(json.dumps({"text": '\\"[{":,' * 100_000}).encode())
    check_text(json.dumps([{"a": [n]} for n in range(20_000)]).encode())
    with pytest.raises(ValueError, match="keys"):
        check_text(json.dumps({str(n): n for n in range(MOST_KEYS_IN_ALL + 1)}).encode())


@pytest.mark.parametrize("depth", [MOST_DEPTH - 1, MOST_DEPTH + 1])
def test_a_value_is_as_deep_as_it_may_be(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    if depth < MOST_DEPTH:
        check_value(value)
        return
    with pytest.raises(ValueError, match="levels deep"):
        check_value(value)


def test_an_object_has_at_most_so_many_keys(api: TestClient) -> None:
    body = {"name": "p"} | {f"k{n}": n for n in range(MOST_KEYS)}
    answer = api.post("/projects", json=body)
    assert answer.status_code == 422
    assert f"{MOST_KEYS + 1} keys" in answer.json()["detail"]


def test_ten_thousand_wrong_fields_give_a_short_answer_soon(light_service: Service) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "p"}).json()["id"]
    bodies: list[tuple[str, Any]] = [
        ("/projects", {f"k{n}": n for n in range(10_000)}),
        ("/projects", {"name": "n", "guidelines": "g" * 60_000}),
        ("/projects", {"x" * 60_000: 1}),
        ("/projects", {"name": ["long" * 10_000]}),
        (f"/projects/{project}/snapshots", {"filter": {"prompt_ids": [0] * 10_000}}),
        (f"/projects/{project}/snapshots", {"kind": "\u00e9" * 10_000, "name": "\ud83d" * 9}),
        ("/runs", {"project_id": project, "name": "r", "config": {"method": "sft" * 9000}}),
        (
            "/runs",
            {
                "project_id": project,
                "name": "r",
                "config": {"method": "sft", **{f"{n}" * 30: n for n in range(900)}},
            },
        ),
    ]
    headers = {"Content-Type": "application/json"}
    for path, body in bodies:
        began = time.process_time()
        answer = api.post(path, content=json.dumps(body), headers=headers)
        assert time.process_time() - began < 5
        assert answer.status_code == 422, (path, answer.text[:200])
        assert len(answer.content) <= MOST_BYTES
        found = answer.json()
        assert len(found.get("errors", [])) <= MOST_ERRORS
        assert "long" * 100 not in answer.text
        assert "x" * 300 not in answer.text


def test_an_error_names_its_first_twenty_places_and_how_many_there_are(api: TestClient) -> None:
    answer = api.post("/projects", json={f"k{n}": n for n in range(100)}).json()
    assert len(answer["errors"]) == MOST_ERRORS
    assert answer["errors_total"] == 101


@pytest.mark.parametrize(
    "path", ["/projects/" + "x" * 5000, "/runs?q=" + "x" * 40_000, "/users/" + "%41" * 2000]
)
def test_an_address_is_not_longer_than_it_may_be(api: TestClient, path: str) -> None:
    answer = api.get(path)
    assert answer.status_code == 414
    assert len(answer.content) < 1000
