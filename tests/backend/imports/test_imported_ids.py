"""Token ids in files: the way out and back in, and ids that are none."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from backend.schemas.records import MAX_TOKEN_IDS, TokenIds
from tests.backend.conftest import Service
from tests.backend.test_loop import ndjson, upload
from tests.backend.test_snapshots import freeze, judge_all

TOKENIZER, PROMPT = "a" * 64, "b" * 64


def ids_of(*ids: int, **more: Any) -> dict[str, Any]:
    """Token ids as a record holds them."""
    return {"tokenizer": TOKENIZER, "prompt": PROMPT, "ids": list(ids)} | more


def row(token_ids: Any) -> dict[str, Any]:
    """A comparison of what a model has sampled with what somebody has written."""
    sampled = {"content": "sampled", "finish_reason": "stop", "token_ids": token_ids}
    return {"prompt": "q", "responses": [sampled, "written"]}


def frozen(api: TestClient, project: str) -> tuple[bytes, list[dict[str, Any]]]:
    """A snapshot of preferences as it is exported, and the responses of its one record."""
    snapshot = freeze(api, project, "preferences").json()
    exported = api.get(f"/snapshots/{snapshot['id']}/export").content
    (line,) = exported.splitlines()
    return exported, json.loads(line)["responses"]


def test_ids_go_from_file_to_ranking_to_snapshot_to_file_and_back(api: TestClient) -> None:
    first, second = (
        str(api.post("/projects", json={"name": name}).json()["id"]) for name in ("one", "two")
    )
    assert upload(api, first, "comparisons", row(ids_of(7, 0, 70_000)))["accepted"] == 1
    judge_all(api, first, lambda ids: [[one] for one in ids])
    exported, responses = frozen(api, first)
    assert [one.get("token_ids") for one in responses] == [ids_of(7, 0, 70_000), None]
    assert "token_ids" not in responses[1], "records without ids stay what they were"

    params = {"kind": "preferences", "format": "native"}
    made = api.post(f"/projects/{second}/imports", params=params, content=exported)

    assert made.json()["accepted"] == 1, made.text
    _, again = frozen(api, second)
    assert [one.get("token_ids") for one in again] == [ids_of(7, 0, 70_000), None]
    for project in (first, second):
        url = f"/projects/{project}/responses"
        for asked in ({}, {"token_ids": True}):
            kept = {one["content"]: one for one in api.get(url, params=asked).json()["items"]}
            told = ids_of(7, 0, 70_000) if asked else None
            assert (kept["sampled"]["token_ids"], kept["sampled"]["n_tokens"]) == (told, 3)
            assert (kept["written"]["token_ids"], kept["written"]["n_tokens"]) == (None, None)


@pytest.mark.parametrize(
    ("token_ids", "words"),
    [
        (ids_of(), "token_ids.ids: List should have at least 1 item"),
        (ids_of(5, -1), "token_ids.ids.1: Input should be greater than or equal to 0"),
        (ids_of(2**31), "token_ids.ids.0: Input should be less than 2147483648"),
        (ids_of(10**30), "token_ids.ids.0: "),
        (ids_of(ids=["5"]), "token_ids.ids.0: Input should be a valid integer"),
        (ids_of(ids=[True]), "token_ids.ids.0: Input should be a valid integer"),
        (ids_of(ids=[1.5]), "token_ids.ids.0: Input should be a valid integer"),
        (ids_of(1, tokenizer="gpt2"), "token_ids.tokenizer: String should match"),
        (ids_of(1, prompt="../x"), "token_ids.prompt: String should match"),
        (ids_of(1, more=1), "token_ids.more: Extra inputs are not permitted"),
        ([1, 2], "token_ids: Input should be"),
        ({"ids": [1]}, "token_ids.tokenizer: Field required"),
    ],
)
def test_ids_that_are_none_are_refused_with_their_place(
    light_service: Service, token_ids: Any, words: str
) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    body = ndjson(row(token_ids), row(ids_of(1)))

    report = api.post(f"/projects/{project}/imports?kind=comparisons", content=body).json()

    assert (report["accepted"], report["rejected_total"]) == (1, 1)
    assert words in report["rejected"][0]["reason"]


def test_more_ids_than_a_response_can_have_are_none() -> None:
    with pytest.raises(ValidationError, match=f"at most {MAX_TOKEN_IDS} items"):
        TokenIds.model_validate(ids_of(*range(MAX_TOKEN_IDS + 1)))
