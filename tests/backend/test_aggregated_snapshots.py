"""Snapshots of preferences with several judgments of a comparison made into one record."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.backend.test_loop import upload

ORDERS = {"ada": "abc", "ben": "abc", "cleo": "cba"}


@pytest.fixture
def project(api: TestClient) -> str:
    """Twelve comparisons: Ada and Ben agree, Cleo turns all round; of the last she is alone."""
    made = str(api.post("/projects", json={"name": "P"}).json()["id"])
    rows = [
        _row(number, annotator, order)
        for number in range(12)
        for annotator, order in ORDERS.items()
        if number < 11 or annotator == "cleo"
    ]
    assert upload(api, made, "preferences", *rows)["accepted"] == 34
    return made


def _row(number: int, annotator: str, order: str) -> dict[str, Any]:
    return {
        "judgment_id": "j",
        "comparison_id": "c",
        "prompt_id": "p",
        "messages": [{"role": "user", "content": f"Question {number}?"}],
        "responses": [{"id": one, "content": one} for one in "abc"],
        "tiers": [[one] for one in order],
        "unranked": [],
        "verdict": "ranked",
        "annotator": annotator,
        "presented_order": ["a", "b", "c"],
    }


def freeze(api: TestClient, project: str, **more: Any) -> Any:
    """The answer to freezing all preferences."""
    body = {"name": "s", "kind": "preferences", **more}
    return api.post(f"/projects/{project}/snapshots", json=body)


def orders(api: TestClient, snapshot: Any) -> list[str]:
    """Each record's ranking in the letters of its responses, tiers apart."""
    text = api.get(f"/snapshots/{snapshot['id']}/export", params={"format": "native"}).text
    found = []
    for line in text.splitlines():
        record = json.loads(line)
        letters = {one["id"]: one["content"] for one in record["responses"]}
        found.append(">".join("".join(letters[one] for one in tier) for tier in record["tiers"]))
    return found


@pytest.mark.parametrize("aggregation", ["ranked_pairs", "bradley_terry", "crowd_bradley_terry"])
def test_a_comparison_becomes_one_record(api: TestClient, project: str, aggregation: str) -> None:
    answer = freeze(api, project, aggregation=aggregation)
    assert answer.status_code == 201, answer.text
    snapshot = answer.json()

    assert snapshot["aggregation"] == aggregation
    assert snapshot["counts"]["train"]["records"] == 12
    assert snapshot["counts"]["train"]["pairs"] == 36
    # Crowd-BT has learned from the others that Cleo turns everything round.
    alone = "a>b>c" if aggregation == "crowd_bradley_terry" else "c>b>a"
    assert orders(api, snapshot) == ["a>b>c"] * 11 + [alone]
    line = api.get(f"/snapshots/{snapshot['id']}/export", params={"format": "native"}).text
    record = json.loads(line.splitlines()[0])
    assert (record["annotator"], record["presented_order"]) == (aggregation, [])
    assert record["judgment_id"] == record["comparison_id"]


def test_without_an_aggregation_every_judgment_is_kept(api: TestClient, project: str) -> None:
    snapshot = freeze(api, project).json()
    assert snapshot["aggregation"] == "none"
    assert snapshot["counts"]["train"]["records"] == 34
    assert orders(api, snapshot).count("c>b>a") == 12


def test_only_what_the_filter_lets_through_is_merged(api: TestClient, project: str) -> None:
    chosen = api.get(f"/projects/{project}/comparisons").json()["items"][0]["id"]
    more = {"filter": {"comparison_ids": [chosen]}, "aggregation": "ranked_pairs"}
    snapshot = freeze(api, project, **more).json()
    assert len(orders(api, snapshot)) == 1


def test_both_sides_of_a_split_hold_whole_comparisons(api: TestClient, project: str) -> None:
    more = {"heldout_fraction": 0.5, "seed": 3}
    counts = freeze(api, project, **more, aggregation="ranked_pairs").json()["counts"]
    every = freeze(api, project, **more).json()["counts"]
    assert counts["train"]["prompts"] == counts["train"]["records"] == every["train"]["prompts"]
    assert counts["heldout"]["prompts"] == every["heldout"]["prompts"] > 0


def test_an_aggregation_of_prompts_is_refused(api: TestClient, project: str) -> None:
    answer = freeze(api, project, kind="prompts", aggregation="ranked_pairs")
    assert answer.status_code == 422
    assert "does not fit a snapshot of prompts" in answer.json()["detail"]
