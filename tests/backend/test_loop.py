"""From a file to a frozen snapshot through the REST API, on both databases."""

import hashlib
import json
import random
from typing import Any

import httpx
from fastapi.testclient import TestClient

from tests.backend.conftest import Service

# Of the application in this process, or of one in a process of its own.
Client = TestClient | httpx.Client


def ndjson(*rows: object) -> bytes:
    """Rows as the body of an import."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def upload(api: Client, project: str, kind: str, *rows: object, **params: Any) -> Any:
    """Import rows; returns the report."""
    answer = api.post(
        f"/projects/{project}/imports", params={"kind": kind, **params}, content=ndjson(*rows)
    )
    assert answer.status_code == 201, answer.text
    return answer.json()


def comparison(number: int, k: int = 4) -> dict[str, Any]:
    """A row with k distinct responses."""
    return {"prompt": f"question {number}", "responses": [f"answer {number}.{i}" for i in range(k)]}


def random_ranking(draw: random.Random, ids: list[str]) -> dict[str, Any]:
    """Any legal judgment: ties, partial, all verdicts."""
    verdict = draw.choices(["ranked", "all_bad", "cannot_judge"], [8, 1, 1])[0]
    if verdict != "ranked":
        return {"verdict": verdict, "tiers": [], "unranked": ids}
    order = draw.sample(ids, len(ids))
    placed = order[: draw.randint(1, len(order))]
    tiers: list[list[str]] = [[placed[0]]]
    for one in placed[1:]:
        if draw.random() < 0.3:
            tiers[-1].append(one)
        else:
            tiers.append([one])
    return {"verdict": "ranked", "tiers": tiers, "unranked": order[len(placed) :]}


def test_every_tier_of_500_random_judgments_reaches_the_native_file(
    api: TestClient, service: Service
) -> None:
    project = api.post("/projects", json={"name": "P", "judgments_per_comparison": 1}).json()["id"]
    draw = random.Random(7)
    upload(api, project, "comparisons", *(comparison(i, draw.randint(2, 9)) for i in range(500)))
    said: dict[str, dict[str, Any]] = {}

    while (taken := api.post(f"/projects/{project}/assignments")).status_code == 201:
        assignment = taken.json()
        ids = [one["id"] for one in assignment["comparison"]["responses"]]
        assert ids == assignment["presented_order"]
        ranking = random_ranking(draw, ids)
        answer = api.post(f"/assignments/{assignment['id']}/judgment", json=ranking)
        assert answer.status_code == 201, answer.text
        said[answer.json()["id"]] = ranking | {"order": assignment["presented_order"]}
    assert taken.status_code == 204
    assert len(said) == 500

    body = {"name": "all", "kind": "preferences", "heldout_fraction": 0.2, "seed": 3}
    snapshot = api.post(f"/projects/{project}/snapshots", json=body).json()
    exported = api.get(f"/snapshots/{snapshot['id']}/export")

    assert hashlib.sha256(exported.content).hexdigest() == snapshot["sha256"]
    lines = [json.loads(line) for line in exported.content.splitlines()]
    assert {line["judgment_id"] for line in lines} == set(said)
    for line in lines:
        ranking = said[line["judgment_id"]]
        assert line["tiers"] == ranking["tiers"]
        assert line["verdict"] == ranking["verdict"]
        assert sorted(line["unranked"]) == sorted(ranking["unranked"])
        assert line["presented_order"] == ranking["order"]
    counts = snapshot["counts"]
    assert counts["train"]["records"] + counts["heldout"]["records"] == 500
    assert counts["heldout"]["prompts"] == sum(line["split"] == "heldout" for line in lines)
