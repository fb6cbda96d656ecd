"""Samples of a run become a comparison: of one prompt of its project, each in its own words."""

from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.schemas.run_directory.events import SampleLine
from backend.store.db import Database
from backend.store.runs import samples
from tests.backend.runs.conftest import Seed
from tests.backend.test_loop import comparison, upload

AT = datetime(2026, 9, 23, tzinfo=UTC)


@pytest.fixture
def place(api: TestClient, database: Database, seed: Seed) -> dict[str, Any]:
    """A run with samples, and the prompt of its project that the first three answer."""
    run_id = api.post("/runs", json=seed.body(seed.sft())).json()["id"]
    upload(api, seed.project, "comparisons", comparison("Say something"))
    (known,) = api.get(f"/projects/{seed.project}/comparisons").json()["items"]
    prompt = known["prompt_id"]
    lines = [
        SampleLine(step=1, prompt="p", response="<b>one</b>", prompt_id=prompt, scores={"kl": 2.0}),
        SampleLine(step=1, prompt="p", response="two", prompt_id=prompt, finish_reason="length"),
        SampleLine(step=1, prompt="p", response="two", prompt_id=prompt),
        SampleLine(step=1, prompt="p", response="three", prompt_id="prompt_of_nobody"),
        SampleLine(step=1, prompt="p", response="four", prompt_id="prompt_of_nobody"),
        SampleLine(step=1, prompt="p", response="five"),
    ]
    with database.write() as session:
        samples.append(session, run_id, 1, lines, at=AT)
    items = api.get(f"/runs/{run_id}/samples").json()["items"]
    numbers = [item["number"] for item in items]
    return {"run": run_id, "prompt": prompt, "numbers": numbers, "project": seed.project}


def test_samples_are_ranked_like_any_other_responses(
    api: TestClient, place: dict[str, Any]
) -> None:
    path = f"/runs/{place['run']}/samples/comparisons"
    made = api.post(path, json={"numbers": place["numbers"][1::-1]})

    assert made.status_code == 201, made.text
    found = made.json()
    assert (found["prompt_id"], found["judgments"]) == (place["prompt"], 0)
    query = {"prompt_id": place["prompt"], "run_id": place["run"]}
    kept = api.get(f"/projects/{place['project']}/responses", params=query).json()["items"]
    told = {one["id"]: (one["content"], one["finish_reason"]) for one in kept}
    assert [told[one] for one in found["response_ids"]] == [("two", "length"), ("<b>one</b>", None)]
    open_ones = api.get(f"/projects/{place['project']}/comparisons?is_open=true").json()["items"]
    assert found["id"] in [one["id"] for one in open_ones]


@pytest.mark.parametrize(
    ("chosen", "status", "words"),
    [
        ([1, 2], 422, "say the same"),
        ([0, 0], 422, "say the same"),
        ([0, 3], 422, "2 different prompts"),
        ([3, 4], 422, "not in the project"),
        ([0, 5], 422, "2 different prompts"),
        ([5, 5], 422, "has no id"),
        ([0], 422, "at least 2"),
        ([0, 99], 404, "no sample"),
    ],
)
def test_what_cannot_be_ranked_is_refused_whole(
    api: TestClient, place: dict[str, Any], chosen: list[int], status: int, words: str
) -> None:
    numbers = [place["numbers"][i] if i < 6 else 10**6 for i in chosen]
    answer = api.post(f"/runs/{place['run']}/samples/comparisons", json={"numbers": numbers})

    assert (answer.status_code, words in answer.text) == (status, True), answer.text
    kept = api.get(f"/projects/{place['project']}/responses?run_id={place['run']}").json()
    assert kept["items"] == []
