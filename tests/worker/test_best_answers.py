"""Best of n, end to end: a model answers, the best become a snapshot, the model learns from it."""

import json
from collections import defaultdict
from typing import Any

import pytest
from sqlalchemy import select

from backend.auth import add_key
from backend.schemas.records import GeneratedRecord
from backend.store.tables.runs import Artifact
from tests.worker.floor import AT, PROMPTS, Floor
from tests.worker.test_backup import client
from tests.worker.test_real_trainer import ROLLOUT, SMALL, TRAINER
from tests.worker.tiny_floor import plant_tiny_model

TERMS = [{"kind": "math", "weight": 1.0}, {"kind": "regex", "pattern": "[a-m]", "weight": 0.5}]


def graded(number: int) -> str:
    """A prompt with its ground truth."""
    turns = [{"role": "user", "content": f"Question {number}?"}]
    record = {"prompt_id": f"prompt_{number}", "messages": turns, "reference": str(number)}
    return json.dumps(record | {"split": "train"})


def best_by_hand(answers: list[GeneratedRecord]) -> dict[str, list[int]]:
    """Of each prompt the ids of the answer with the highest sum; of equal ones the first."""
    by_prompt: dict[str, list[GeneratedRecord]] = defaultdict(list)
    for one in answers:
        by_prompt[one.prompt_id].append(one)

    def total(one: GeneratedRecord) -> float:
        return (one.scores["math"] or 0.0) + 0.5 * (one.scores["regex"] or 0.0)

    best = {prompt: max(own, key=total) for prompt, own in by_prompt.items()}
    return {prompt: one.token_ids.ids for prompt, one in best.items() if one.token_ids}


@pytest.mark.slow
def test_a_model_learns_from_the_best_of_its_own_answers(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    plant_tiny_model(floor)
    with floor.database.write() as session:
        key = add_key(session, user_id="user_seed", name="key", expires_in_s=None, at=AT).key
        floor.add_snapshot(session, "prompts", [graded(n) for n in range(PROMPTS)], name="graded")

    with floor.worker(PODIUM_TRAINER_COMMAND=TRAINER, PODIUM_STOP_GRACE_S="30"):
        sampled = floor.new_run(
            "generate",
            prompts={"id": "snapshot_graded"},
            reward=TERMS,
            samples_per_prompt=8,
            rollout=ROLLOUT,
            **SMALL,
        )
        run = floor.wait_for(sampled, "succeeded", "failed", "crashed")
        assert run.state == "succeeded", run.error
        rule = {"run_id": sampled, "best": 1}
        with client(floor.data_dir, floor.database.url, key) as api:
            body: dict[str, Any] = {"name": "best", "kind": "demonstrations"}
            body["filter"] = {"answers": rule}
            made = api.post("/projects/project_seed/snapshots", json=body)
            assert made.status_code == 201, made.text
            snapshot = made.json()
            exported = api.get(f"/snapshots/{snapshot['id']}/export").text.splitlines()
            config = {"method": "sft", "model": {"id": "model_base"}, **SMALL}
            config |= {"demonstrations": {"id": snapshot["id"]}}
            wanted = {"project_id": "project_seed", "name": "best of n", "config": config}
            accepted = api.post("/runs", json=wanted)
            assert accepted.status_code == 201, accepted.text
        trained = accepted.json()["id"]
        run = floor.wait_for(trained, "succeeded", "failed", "crashed")
        assert run.state == "succeeded", run.error

    (kept,) = floor.rows(select(Artifact).where(Artifact.run_id == sampled))
    lines = (floor.settings.data_dir / "artifacts" / kept.key).read_bytes().splitlines()
    expected = best_by_hand([GeneratedRecord.model_validate_json(line) for line in lines])
    assert len(expected) == PROMPTS
    demonstrations = [json.loads(line) for line in exported]
    found = {one["prompt_id"]: one["token_ids"]["ids"] for one in demonstrations}
    assert found == expected
    assert snapshot["filter"]["answers"] == rule | {"passed": False, "model_id": "model_base"}
    # Read as the ids that were sampled, and after the prompt that they were sampled after.
    alerts = {event.data["rule"]: event.data["message"] for event in floor.events(trained, "alert")}
    assert f"{PROMPTS} of {PROMPTS} responses are read as the token ids" in alerts["token_ids"]
    assert "other_prompt" not in alerts
