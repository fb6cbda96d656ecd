"""Best of n, end to end: imported prompts are answered; the best answers teach a model."""

import json
from collections import defaultdict
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.auth import add_key
from backend.schemas.records import GeneratedRecord
from backend.store.tables.runs import Artifact
from tests.worker.floor import AT, PROMPTS, Floor
from tests.worker.test_backup import client
from tests.worker.test_real_trainer import ROLLOUT, SMALL
from tests.worker.tiny_floor import plant_tiny_model

PROJECT = "project_seed"
TERMS = [{"kind": "math", "weight": 1.0}, {"kind": "regex", "pattern": "[a-m]", "weight": 0.5}]


def graded(number: int) -> dict[str, Any]:
    """A prompt to import with its ground truth, tags and metadata."""
    of_it = {"tags": ["digits"], "metadata": {"odd": number % 2 == 1}}
    return {"prompt": f"Which digit is {number}?", "reference": str(number), **of_it}


def created(api: TestClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a POST has made."""
    made = api.post(path, json=body)
    assert made.status_code == 201, made.text
    return dict(made.json())


def imported(api: TestClient) -> str:
    """The prompts by the API, frozen as a snapshot; its id."""
    lines = "".join(json.dumps(graded(n)) + "\n" for n in range(PROMPTS))
    address = f"/projects/{PROJECT}/imports?kind=prompts"
    api.post(address, content=lines).raise_for_status()
    chosen = {"tags": ["digits"]}
    body = {"name": "graded", "kind": "prompts", "heldout_fraction": 0, "filter": chosen}
    made = created(api, f"/projects/{PROJECT}/snapshots", body)
    assert made["counts"]["train"]["prompts"] == PROMPTS
    return str(made["id"])


def check_what_came_along(answers: list[GeneratedRecord]) -> None:
    """Each answer has the reference, tags and metadata of its prompt, and was graded by it."""
    told = {(one.reference, *one.tags, one.metadata["odd"]) for one in answers}
    assert told == {(str(n), "digits", n % 2 == 1) for n in range(PROMPTS)}
    assert all(one.passed == (one.scores["math"] == 1.0) for one in answers)


def best_by_hand(answers: list[GeneratedRecord]) -> dict[str, list[int]]:
    """Of each prompt the ids of the answer with the highest sum; of equal ones the first."""
    by_prompt: dict[str, list[GeneratedRecord]] = defaultdict(list)
    for one in answers:
        by_prompt[one.prompt_id].append(one)

    def total(one: GeneratedRecord) -> float:
        return (one.scores["math"] or 0.0) + 0.5 * (one.scores["regex"] or 0.0)

    best = {prompt: max(own, key=total) for prompt, own in by_prompt.items()}
    return {prompt: one.token_ids.ids for prompt, one in best.items() if one.token_ids}


def started(api: TestClient, name: str, config: dict[str, Any]) -> str:
    """A run by the API; its id."""
    body = {"project_id": PROJECT, "name": name, "config": config}
    return str(created(api, "/runs", body)["id"])


@pytest.mark.slow
def test_a_model_learns_from_the_best_of_its_own_answers(
    sqlite_floor: Floor, warm_trainer: str
) -> None:
    floor = sqlite_floor
    plant_tiny_model(floor)
    with floor.database.write() as session:
        key = add_key(session, user_id="user_seed", name="key", expires_in_s=None, at=AT).key

    with (
        floor.worker(PODIUM_TRAINER_COMMAND=warm_trainer, PODIUM_STOP_GRACE_S="30"),
        client(floor.data_dir, floor.database.url, key) as api,
    ):
        model = {"id": "model_base"}
        generate = {"method": "generate", "model": model, "prompts": {"id": imported(api)}, **SMALL}
        of_answers = {"reward": TERMS, "samples_per_prompt": 8, "rollout": ROLLOUT}
        sampled = started(api, "sample", generate | of_answers)
        run = floor.wait_for(sampled, "succeeded", "failed", "crashed")
        assert run.state == "succeeded", run.error
        rule = {"run_id": sampled, "best": 1}
        body: dict[str, Any] = {"name": "best", "kind": "demonstrations"}
        body["filter"] = {"answers": rule}
        snapshot = created(api, f"/projects/{PROJECT}/snapshots", body)
        exported = api.get(f"/snapshots/{snapshot['id']}/export").text.splitlines()
        sft = {"method": "sft", "model": model, "demonstrations": {"id": snapshot["id"]}, **SMALL}
        trained = started(api, "best of n", sft)
        run = floor.wait_for(trained, "succeeded", "failed", "crashed")
        assert run.state == "succeeded", run.error

    (kept,) = floor.rows(select(Artifact).where(Artifact.run_id == sampled))
    lines = (floor.settings.data_dir / "artifacts" / kept.key).read_bytes().splitlines()
    answers = [GeneratedRecord.model_validate_json(line) for line in lines]
    check_what_came_along(answers)
    expected = best_by_hand(answers)
    assert len(expected) == PROMPTS
    demonstrations = [json.loads(line) for line in exported]
    found = {one["prompt_id"]: one["token_ids"]["ids"] for one in demonstrations}
    assert found == expected
    assert snapshot["filter"]["answers"] == rule | {"passed": False, "model_id": "model_base"}
    # Read as the ids that were sampled, and after the prompt that they were sampled after.
    alerts = {event.data["rule"]: event.data["message"] for event in floor.events(trained, "alert")}
    assert f"Read {PROMPTS} of {PROMPTS} responses as the token ids" in alerts["token_ids"]
    assert "other_prompt" not in alerts
