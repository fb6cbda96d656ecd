"""Snapshots of preferences with several judgments of a comparison made into one record."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.backend.test_loop import upload

WAYS = ["ranked_pairs", "bradley_terry", "crowd_bradley_terry"]
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


def _row(number: int, annotator: str, order: str, **more: Any) -> dict[str, Any]:
    """A judgment that places these of three responses; `more` takes the place of its fields."""
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
        **more,
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


@pytest.mark.parametrize("aggregation", WAYS)
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


@pytest.mark.parametrize("aggregation", WAYS)
def test_no_pair_is_exported_that_no_vote_joins(api: TestClient, aggregation: str) -> None:
    """Ada ranks three of five responses and Ben the other two; then Cleo all of another five."""
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    five = {"responses": [{"id": one, "content": one} for one in "abcde"], "presented_order": []}
    report = upload(
        api, project, "preferences",
        _row(0, "ada", "abc", **five, unranked=["d", "e"]),
        _row(0, "ben", "de", **five, unranked=["a", "b", "c"]),
        _row(1, "cleo", "edcba", **five),
    )  # fmt: skip
    assert report["accepted"] == 3
    snapshot = freeze(api, project, aggregation=aggregation).json()

    # Parts come in order of their ids, which are drawn.
    *apart, last = orders(api, snapshot)
    assert (sorted(apart), last) == (["a>b>c", "d>e"], "e>d>c>b>a")
    assert snapshot["counts"]["train"] == {
        "records": 3, "prompts": 2, "pairs": 3 + 1 + 10, "ties": 0, "apart": 1, "outvoted": 0,
    }  # fmt: skip
    native = api.get(f"/snapshots/{snapshot['id']}/export", params={"format": "native"}).text
    first, second, whole = map(json.loads, native.splitlines())
    assert first["comparison_id"] == second["comparison_id"] != whole["comparison_id"]
    assert [one["judgment_id"] for one in (first, second, whole)] == [
        f"{first['comparison_id']}:1", f"{first['comparison_id']}:2", whole["comparison_id"],
    ]  # fmt: skip
    other = str(api.post("/projects", json={"name": "Q"}).json()["id"])
    again = upload(api, other, "preferences", first, second, whole)
    assert (again["accepted"], [one["line"] for one in again["rejected"]]) == (2, [2])

    rows = api.get(f"/snapshots/{snapshot['id']}/export", params={"format": "openrlhf"}).text
    found = [json.loads(one) for one in rows.splitlines()]
    pairs = {one["chosen"] + one["rejected"] for one in found if "0?" in str(one["prompt"])}
    assert pairs == {"ab", "ac", "bc", "de"}


@pytest.mark.parametrize("aggregation", WAYS)
def test_most_verdicts_decide_and_the_snapshot_counts_rankings_that_lost(
    api: TestClient, project: str, aggregation: str
) -> None:
    """Two find all of a question bad that Ada ranks; of another one does, and it stays."""
    bad = {"tiers": [], "unranked": ["a", "b", "c"], "verdict": "all_bad"}
    rows = [_row(number, "ada", "abc") for number in (20, 21)]
    rows += [_row(20, "ben", "", **bad), _row(20, "cleo", "", **bad), _row(21, "ben", "", **bad)]
    assert upload(api, project, "preferences", *rows)["accepted"] == 5
    snapshot = freeze(api, project, aggregation=aggregation).json()

    assert orders(api, snapshot)[-2:] == ["", "a>b>c"]
    assert snapshot["counts"]["train"]["outvoted"] == 1
    assert snapshot["counts"]["train"]["apart"] == 0


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
