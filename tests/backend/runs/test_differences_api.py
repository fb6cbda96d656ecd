"""GET /environment-differences and /data-differences: what the store knows of several runs."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from backend.store.db import Database
from backend.store.differences import data
from backend.store.runs import events
from backend.store.runs.events import NewEvent
from backend.store.tables.data import Snapshot, SnapshotLine
from backend.store.tables.runs import Run
from tests.backend.runs.conftest import AT, Seed


def started(database: Database, run_id: str, *environments: dict[str, Any]) -> None:
    """The run has begun as often, each time in one of these environments."""
    with database.write() as session:
        for number, environment in enumerate(environments, 1):
            told = {"attempt": number, "step": 0, "environment": environment}
            events.append(session, run_id, [NewEvent("start", told)], at=AT)
            events.append(session, run_id, [NewEvent("alert", {"message": "m"})], at=AT)
        last = {"environment": environments[-1], "attempt": len(environments)}
        session.execute(update(Run).where(Run.id == run_id).values(**last))


def frozen(database: Database, seed: Seed, name: str, prompts: Mapping[str, str]) -> str:
    """A snapshot of these prompts, each with its side of the split."""
    snapshot_id = f"snapshot_{name}"
    counts = {
        side: {"records": sum(one == side for one in prompts.values())}
        for side in ("train", "heldout")
    }
    with database.write() as session:
        session.add(
            Snapshot(
                id=snapshot_id, created_at=AT, project_id=seed.project, name=name, kind="prompts",
                sha256=name[0] * 64, heldout_fraction=0.5, seed=0, filter={}, counts=counts,
            )
        )  # fmt: skip
        session.flush()
        for position, (prompt, side) in enumerate(prompts.items()):
            messages = [{"role": "user", "content": prompt}]
            line = {"prompt_id": f"{name}_{position}", "messages": messages, "split": side}
            session.add(
                SnapshotLine(
                    snapshot_id=snapshot_id, position=position, split=side, line=json.dumps(line)
                )
            )
    return snapshot_id


@pytest.fixture
def runs(api: TestClient, seed: Seed) -> list[str]:
    """Two runs of one config."""
    body = seed.body(seed.policy_gradient())
    return [str(api.post("/runs", json=body).json()["id"]) for _ in range(2)]


def test_each_attempt_of_a_run_counts(api: TestClient, database: Database, runs: list[str]) -> None:
    started(database, runs[0], {"device": "cpu"}, {"device": "H200"}, {"device": "cpu"})
    started(database, runs[1], {"device": "cpu"})

    query = {"runs": ",".join(runs)}
    answer = api.get("/environment-differences", params=query).raise_for_status().json()

    (device,) = answer["items"]
    assert device == {
        "path": "device",
        "values": [{"value": "cpu", "runs": runs}, {"value": "H200", "runs": runs[:1]}],
    }
    assert answer["unrecorded"]["code.commit"] == runs


def test_runs_that_never_began_recorded_nothing(api: TestClient, runs: list[str]) -> None:
    answer = api.get("/environment-differences", params={"runs": ",".join(runs)}).json()

    assert answer == {"items": [], "unrecorded": {"environment": runs}}


def test_the_same_data_is_only_named(api: TestClient, runs: list[str]) -> None:
    answer = api.get("/data-differences", params={"runs": ",".join(runs)}).json()

    assert (answer["items"], answer["same"]) == ([], ["prompts"])


@pytest.fixture
def other(api: TestClient, database: Database, seed: Seed) -> list[str]:
    """Two runs on snapshots that share b and c; c is held out in the first alone."""
    first = frozen(database, seed, "one", {"a": "train", "b": "heldout", "c": "heldout"})
    second = frozen(database, seed, "two", {"d": "train", "c": "train", "b": "heldout"})
    made = []
    for snapshot in (first, second):
        config = seed.policy_gradient(prompts={"id": snapshot})
        made.append(str(api.post("/runs", json=seed.body(config)).json()["id"]))
    return made


def test_snapshots_are_compared_by_the_text_of_their_prompts(
    api: TestClient, runs: list[str], other: list[str]
) -> None:
    answer = api.get("/data-differences", params={"runs": ",".join(other)}).json()

    (found,) = answer["items"]
    assert (found["field"], found["without"]) == ("prompts", [])
    assert [one["is_trained_on"] for one in found["snapshots"]] == [True, True]
    assert [(one["name"], one["runs"]) for one in found["snapshots"]] == [
        ("one", other[:1]),
        ("two", other[1:]),
    ]
    assert found["overlaps"] == [
        {
            "in_both": 2,
            "added": 1,
            "removed": 1,
            "heldout_in_both": 1,
            "is_heldout_equal": False,
            "trained_on_heldout": 1,
            "heldout_from_training": 0,
        }
    ]


def test_nobody_trains_on_what_only_an_evaluation_names(
    api: TestClient, seed: Seed, other: list[str]
) -> None:
    config = seed.policy_gradient(prompts={"id": "snapshot_two"})
    sampler = {"method": "evaluate", "model": config["model"], "prompts": config["prompts"]}
    sampler["reward"] = {"terms": [{"kind": "finished"}]}
    run = str(api.post("/runs", json=seed.body(sampler)).raise_for_status().json()["id"])

    answer = api.get("/data-differences", params={"runs": f"{other[0]},{run}"}).json()

    (found,) = answer["items"]
    assert [(one["name"], one["is_trained_on"]) for one in found["snapshots"]] == [
        ("one", True),
        ("two", False),
    ]


def test_what_is_too_large_is_not_read(
    api: TestClient, other: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One record less than both have: the second is compared by hash and counts alone."""
    monkeypatch.setattr(data, "MOST_RECORDS", 5)

    answer = api.get("/data-differences", params={"runs": ",".join(other)}).json()

    (found,) = answer["items"]
    assert found["overlaps"] == [None]
    assert [one["counts"]["heldout"]["records"] for one in found["snapshots"]] == [2, 1]
    assert answer["most_records"] == 5


def test_evaluation_sets_and_texts_are_compared_by_name(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """Wherever a set stands in the list; nobody trains on it, whatever its snapshot's split is."""
    near = frozen(database, seed, "near", {"a": "train", "b": "heldout"})
    far = frozen(database, seed, "far", {"a": "heldout", "c": "heldout"})
    old, young = (written(database, seed, name) for name in ("old", "young"))
    ood = {"name": "ood", "prompts": {"id": near}}
    configs = [
        {"evaluation_sets": [ood, {"name": "hard", "prompts": {"id": near}}], "texts": {"id": old}},
        {
            "evaluation_sets": [{"name": "hard", "prompts": {"id": far}}, ood],
            "texts": {"id": young},
        },
    ]
    runs = [made(api, seed, **config) for config in configs]

    answer = api.get("/data-differences", params={"runs": ",".join(runs)}).json()

    assert answer["same"] == ["prompts", "evaluation_sets.ood.prompts"]
    texts, hard = answer["items"]
    assert (texts["field"], hard["field"]) == ("texts", "evaluation_sets.hard.prompts")
    assert [one["name"] for one in texts["snapshots"]] == ["old", "young"]
    assert [(one["name"], one["runs"]) for one in hard["snapshots"]] == [
        ("near", runs[:1]),
        ("far", runs[1:]),
    ]
    assert not any(one["is_trained_on"] for one in texts["snapshots"] + hard["snapshots"])
    (overlap,) = hard["overlaps"]
    assert (overlap["in_both"], overlap["added"], overlap["removed"]) == (1, 1, 1)


def test_a_set_that_one_run_lacks_is_not_the_same_for_all(
    api: TestClient, database: Database, seed: Seed
) -> None:
    near = frozen(database, seed, "near", {"a": "heldout"})
    runs = [
        made(api, seed, evaluation_sets=[{"name": "hard", "prompts": {"id": near}}]),
        made(api, seed),
    ]

    answer = api.get("/data-differences", params={"runs": ",".join(runs)}).json()

    assert answer["same"] == ["prompts"]
    (hard,) = answer["items"]
    assert (hard["overlaps"], hard["without"]) == ([], runs[1:])
    assert [one["runs"] for one in hard["snapshots"]] == [runs[:1]]


def made(api: TestClient, seed: Seed, **more: Any) -> str:
    """A run of a policy with these parts of a config."""
    return str(api.post("/runs", json=seed.body(seed.policy_gradient(**more))).json()["id"])


def written(database: Database, seed: Seed, name: str) -> str:
    """A snapshot of one demonstration."""
    snapshot_id = frozen(database, seed, name, {name: "train"})
    with database.write() as session:
        session.execute(
            update(Snapshot).where(Snapshot.id == snapshot_id).values(kind="demonstrations")
        )
    return snapshot_id
