"""Sets that share prompts with what a policy is trained on: warned of, and marked in results."""

from typing import Any

from fastapi.testclient import TestClient

from backend.store.db import Database
from backend.store.overlaps.counts import CommonPrompts
from backend.store.tables.models import Model
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.test_differences_api import frozen


def warned(api: TestClient, seed: Seed, config: dict[str, Any]) -> list[tuple[str, str]]:
    answer = api.post("/runs/validate", json=seed.body(config)).raise_for_status().json()
    assert answer["valid"], answer["problems"]
    assert {one["level"] for one in answer["problems"]} <= {"warning"}
    return [(one["path"], one["message"]) for one in answer["problems"]]


def test_a_set_with_prompts_of_another_snapshot_is_warned_of(
    api: TestClient, seed: Seed, database: Database
) -> None:
    own = frozen(database, seed, "own", {"a": "train", "b": "train", "c": "heldout"})
    same = frozen(database, seed, "same", {"a": "train", "c": "train", "d": "train"})
    other = frozen(database, seed, "other", {"d": "train", "e": "heldout"})
    sets = [
        {"name": "same", "prompts": {"id": same}},
        {"name": "other", "prompts": {"id": other}},
        {"name": "mine", "prompts": {"id": own}, "split": "train"},
    ]
    config = seed.policy_gradient(prompts={"id": own}, evaluation_sets=sets)

    assert warned(api, seed, config) == [
        (
            "evaluation_sets.0.prompts",
            "has 1 training prompt and 1 held-out prompt of this run among its 3 prompts",
        )
    ]
    run = api.post("/runs", json=seed.body(config)).raise_for_status().json()["id"]
    with database.write() as session:
        session.add(
            Model(
                id="model_made", created_at=AT, project_id=seed.project, name="made",
                kind="causal_lm", source={"artifact": "k"}, facts={}, run_id=run,
            )
        )  # fmt: skip
    evaluate = {
        "method": "evaluate", "model": {"id": "model_made"}, "prompts": {"id": same},
        "split": "train", "reward": {"terms": [{"kind": "finished"}]}, "evaluation_sets": sets[1:],
    }  # fmt: skip
    assert [path for path, _ in warned(api, seed, evaluate)] == ["prompts"]
    assert warned(api, seed, evaluate | {"model": {"id": seed.policy}}) == []


def test_a_request_reads_no_more_records_than_it_may(seed: Seed, database: Database) -> None:
    """Nothing is read of a pair that does not fit, and a count that is known needs no reading."""
    trained = frozen(database, seed, "trained", {"a": "train", "b": "heldout"})
    large = frozen(database, seed, "large", dict.fromkeys("abcdefg", "train"))
    small = frozen(database, seed, "small", {"b": "train"})
    with database.read() as session:
        few = CommonPrompts(session, 3)
        assert few.of(trained, large, "all") is None
        assert few.of(trained, small, "all") == (0, 1, 1)
        assert few.of(trained, "snapshot_none", "all") is None
        assert CommonPrompts(session, 9).of(trained, large, "train") == (1, 1, 7)
        assert CommonPrompts(session, 0).of(trained, large, "train") == (1, 1, 7)
