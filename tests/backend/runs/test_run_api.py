"""Runs through the REST API: created, listed, grouped; and what the form is made from."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from backend.schemas.methods import METHODS
from backend.schemas.rewards import REWARD_TERMS
from backend.store.db import Database
from backend.store.runs import outputs, supervision
from backend.store.runs.outputs import OutputFile
from backend.store.tables.runs import Run
from backend.store.workers import workers
from tests.backend.runs.conftest import Seed

HUB = {"hub_id": "owner/name"}


def test_a_run_is_queued_with_its_config_completed(api: TestClient, seed: Seed) -> None:
    body = seed.body(seed.sft(), tags=["first"], priority=3)

    run = api.post("/runs", json=body)

    assert run.status_code == 201
    made = run.json()
    assert (made["state"], made["method"], made["attempt"]) == ("queued", "sft", 0)
    assert (made["tags"], made["priority"]) == (["first"], 3)
    assert made["config"]["demonstrations"] == {"id": seed.demonstrations, "sha256": "e" * 64}
    assert made["config"]["model"] == {"id": seed.policy}
    assert made["config"]["optim"]["lr"] == 1e-4
    assert made["allowed"] == ["cancel", "pause", "clone"]
    assert api.get(f"/runs/{made['id']}").json() == made


def test_the_same_request_again_makes_no_second_run(api: TestClient, seed: Seed) -> None:
    body, headers = seed.body(seed.sft()), {"Idempotency-Key": "once"}

    first = api.post("/runs", json=body, headers=headers).json()
    second = api.post("/runs", json=body, headers=headers).json()

    assert first["id"] == second["id"]
    assert len(api.get("/runs").json()["items"]) == 1


def test_a_clone_merges_its_changes_and_names_its_parent(api: TestClient, seed: Seed) -> None:
    parent = api.post("/runs", json=seed.body(seed.policy_gradient(steps=7))).json()
    overrides = {"kl": {"coef": 0.2}, "model": HUB}

    child = api.post(f"/runs/{parent['id']}/clone", json={"overrides": overrides})

    assert child.status_code == 201
    made = child.json()
    assert (made["parent_id"], made["name"]) == (parent["id"], "a run (copy)")
    assert (made["config"]["steps"], made["config"]["kl"]["coef"]) == (7, 0.2)
    assert made["config"]["model"] == HUB
    assert made["config"]["prompts"] == parent["config"]["prompts"]


def test_runs_are_found_by_state_method_tag_and_name(api: TestClient, seed: Seed) -> None:
    a = api.post("/runs", json=seed.body(seed.sft(), name="SFT 100%", tags=["x"])).json()["id"]
    b = api.post("/runs", json=seed.body(seed.policy_gradient(), name="policy")).json()["id"]
    api.post(f"/runs/{b}/pause").raise_for_status()

    def ids(query: str) -> list[str]:
        return [run["id"] for run in api.get(f"/runs?{query}").raise_for_status().json()["items"]]

    assert ids("") == [b, a]
    assert ids("state=paused") == [b]
    assert ids("state=paused&state=queued") == [b, a]
    assert ids("method=sft") == [a]
    assert ids("tag=x") == [a]
    assert ids("tag=%25") == []
    assert ids("q=sft") == [a]
    assert ids("q=100%25") == [a]
    assert ids("q=%25%25") == []
    assert ids(f"project_id={seed.project}") == [b, a]
    assert api.get("/runs?state=asleep").status_code == 422


def test_pages_of_runs_follow_one_another(api: TestClient, seed: Seed) -> None:
    made = [api.post("/runs", json=seed.body(seed.sft())).json()["id"] for _ in range(5)]

    seen, cursor = [], None
    while True:
        page = api.get("/runs", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        seen += [run["id"] for run in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert seen == made[::-1]


def test_runs_of_unseen_projects_do_not_exist(api: TestClient, seed: Seed, new_user: Any) -> None:
    run_id = api.post("/runs", json=seed.body(seed.sft())).json()["id"]
    stranger, _ = new_user("researcher")
    member, _ = new_user("viewer", seed.project)
    annotator, _ = new_user("annotator", seed.project)

    for path in ("", "/events", "/samples", "/stream", "/logs"):
        assert stranger.get(f"/runs/{run_id}{path}").status_code == 404
    assert stranger.get(f"/metrics?runs={run_id}").status_code == 404
    assert stranger.get(f"/stream?runs={run_id}").status_code == 404
    assert stranger.get("/runs").json()["items"] == []
    assert stranger.post("/runs", json=seed.body(seed.sft())).status_code == 404
    assert member.get(f"/runs/{run_id}").json()["id"] == run_id
    assert member.post(f"/runs/{run_id}/cancel").status_code == 403
    assert annotator.get(f"/runs/{run_id}").status_code == 403


def test_an_experiment_groups_runs(api: TestClient, seed: Seed) -> None:
    body = {"project_id": seed.project, "name": "does it help?"}
    experiment = api.post("/experiments", json=body).json()
    grouped = seed.body(seed.sft(), experiment_id=experiment["id"])
    run_id = api.post("/runs", json=grouped).json()["id"]
    api.post("/runs", json=seed.body(seed.sft())).raise_for_status()

    assert api.get(f"/experiments/{experiment['id']}").json()["run_ids"] == [run_id]
    found = api.get(f"/runs?experiment_id={experiment['id']}").json()["items"]
    assert [run["id"] for run in found] == [run_id]
    lost = api.post("/runs", json=seed.body(seed.sft(), experiment_id="exp_gone"))
    assert lost.status_code == 422


def test_methods_say_everything_the_form_needs(api: TestClient) -> None:
    answer = api.get("/methods").json()

    methods = {method["method"]: method for method in answer["methods"]}
    assert set(methods) == set(METHODS)
    assert answer["reward_kinds"] == list(REWARD_TERMS)
    assert {"model", "process", "regex"} <= set(REWARD_TERMS)
    rollout = methods["policy_gradient"]["json_schema"]["$defs"]["Rollout"]["properties"]
    assert rollout["temperature"]["default"] == 1.0
    for method in methods.values():
        for section in [method["json_schema"], *method["json_schema"]["$defs"].values()]:
            for name, field in section.get("properties", {}).items():
                has_reference = "$ref" in field or "const" in field or "anyOf" in field
                assert "description" in field or has_reference or name == "lora", name


def test_methods_say_what_a_run_leaves_and_what_a_model_offers(api: TestClient, seed: Seed) -> None:
    methods = {method["method"]: method for method in api.get("/methods").json()["methods"]}

    results = {name: method["result"] for name, method in methods.items()}
    assert results["process_reward_model"] == "process_model"
    assert (results["dpo"], results["generate"]) == ("causal_lm", "responses")
    assert {"kind": "reward_model", "field": "reward.terms.0.model", "is_main": True} | {
        "label": "Train a policy with it"
    } in methods["policy_gradient"]["next_steps"]
    run = api.post("/runs", json=seed.body(seed.sft())).json()
    assert (run["result"], run["logs_samples"]) == ("causal_lm", False)


def test_methods_say_what_their_metrics_mean(api: TestClient) -> None:
    methods = {method["method"]: method for method in api.get("/methods").json()["methods"]}

    assert all(method["metrics"] for method in methods.values())
    reward, *others = methods["policy_gradient"]["metrics"]
    kl = next(metric for metric in others if metric["name"] == "kl/exact")
    assert (reward["name"], reward["title"]) == ("eval/reward", "Held-out reward")
    assert all(reward[fact] for fact in ("is_key", "is_evaluation", "has_interval"))
    assert kl["unit"] == "nats per response"


def test_methods_say_which_metrics_stand_for_a_run(api: TestClient) -> None:
    """Evaluations before what a run trains on; the loss of a policy says nothing."""
    methods = {method["method"]: method for method in api.get("/methods").json()["methods"]}

    assert {name: method["headlines"] for name, method in methods.items()} == {
        "sft": ["eval/loss", "loss"],
        "reward_model": ["eval/accuracy", "eval/loss", "accuracy", "loss"],
        "process_reward_model": ["eval/accuracy", "eval/loss", "accuracy", "loss"],
        "dpo": ["eval/accuracy", "eval/loss", "dpo/accuracy", "loss"],
        "policy_gradient": ["eval/reward", "reward/mean"],
        "generate": [],
        "evaluate": ["eval/win_rate", "eval/reward"],
    }


def test_a_run_says_how_much_it_has_left(api: TestClient, seed: Seed, database: Database) -> None:
    run_id, other = (api.post("/runs", json=seed.body(seed.sft())).json()["id"] for _ in range(2))
    files = [OutputFile("a", f"{run_id}/a", "e" * 64, 3_000_000_000), OutputFile("b", "b", "f", 5)]
    with database.write() as session:
        outputs.keep_files(session, run_id, files)

    listed = {run["id"]: run["output_bytes"] for run in api.get("/runs").json()["items"]}
    assert listed == {run_id: 3_000_000_005, other: 0}
    assert api.get(f"/runs/{run_id}").json()["output_bytes"] == 3_000_000_005


def test_version_and_workers_are_told(api: TestClient) -> None:
    assert api.get("/version").json()["broker"] == "filesystem"
    assert api.get("/workers").json() == {"items": [], "next_cursor": None, "queued_runs": 0}


def test_a_worker_counts_every_run_and_names_those_that_the_caller_may_see(
    api: TestClient, seed: Seed, database: Database, new_user: Any
) -> None:
    stranger, _ = new_user("researcher")
    with database.write() as session:
        at = datetime.now(UTC)
        worker_id = workers.register(
            session, host="box", pid=1, process="p", slots=2, report={"devices": []}, at=at
        )
    busy, _ = (api.post("/runs", json=seed.body(seed.sft())).json()["id"] for _ in range(2))
    with database.write() as session:
        supervision.claim(session, busy, worker_id, at=datetime.now(UTC))

    mine, theirs = (client.get("/workers").json() for client in (api, stranger))

    assert (mine["items"][0]["busy"], mine["items"][0]["run_ids"]) == (1, [busy])
    assert (theirs["items"][0]["busy"], theirs["items"][0]["run_ids"]) == (1, [])
    assert mine["queued_runs"] == theirs["queued_runs"] == 1


def test_a_device_tells_runs_at_work_from_those_that_are_leaving_it(
    api: TestClient, seed: Seed, database: Database, new_user: Any
) -> None:
    stranger, _ = new_user("researcher")
    body = seed.body(seed.sft())
    at_work, ended = (api.post("/runs", json=body).json()["id"] for _ in range(2))
    cpu = {"kind": "cpu", "cores": 2, "slots": 2, "run_ids": [at_work, ended]}
    with database.write() as session:
        at = datetime.now(UTC)
        worker_id = workers.register(
            session, host="box", pid=1, process="p", slots=2, report={"devices": [cpu]}, at=at
        )
        supervision.claim(session, at_work, worker_id, at=at)

    mine, theirs = (
        client.get("/workers").json()["items"][0]["devices"][0] for client in (api, stranger)
    )

    assert (mine["busy"], mine["leaving"], mine["run_ids"]) == (2, 1, [at_work])
    assert (theirs["busy"], theirs["leaving"], theirs["run_ids"]) == (2, 1, [])


def test_a_worker_that_beats_no_more_is_told_as_silent_whatever_its_clock_says(
    api: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = {"devices": [], "disk_free_bytes": 10**7, "disk_needed_bytes": 5 * 10**6}
    with database.write() as session:
        ahead = datetime.now(UTC) + timedelta(hours=1)
        worker_id = workers.register(
            session, host="box", pid=1, process="p", slots=1, report=report, at=ahead
        )
    now_s = time.monotonic()

    def told(after_s: float) -> Any:
        monkeypatch.setattr("backend.api.workers.monotonic", lambda: now_s + after_s)
        (worker,) = api.get("/workers").json()["items"]
        return worker

    def beat(**changes: Any) -> None:
        with database.write() as session:
            workers.report(session, worker_id, report | changes, at=ahead)

    assert told(0)["state"] == "ready"
    assert told(14)["state"] == "ready"
    assert (told(16)["state"], told(16)["is_alive"]) == ("silent", False)
    beat()
    assert told(17)["state"] == "ready"
    beat(is_draining=True)
    assert told(18)["state"] == "draining"
    beat(disk_free_bytes=4_000_000)
    low = told(19)
    assert low["state"] == "disk_low"
    assert "4.0 MB are free on its disk" in low["state_sentence"]
    with database.write() as session:
        workers.lose(session, worker_id, at=datetime.now(UTC))
    assert (told(20)["state"], told(20)["is_alive"]) == ("lost", False)
    beat()
    assert told(21)["state"] == "ready", "one that was only cut off is back"
    with database.write() as session:
        workers.stop(session, worker_id, at=datetime.now(UTC))
    assert api.get("/workers").json()["items"] == []


def test_runs_that_train_come_before_those_that_wait_in_the_list_of_active_runs(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """As the page Now asks: it shows one page, and a hundred may wait."""
    states = ["running", "paused", "stopping", "queued", "running", "queued"]
    ids = [str(api.post("/runs", json=seed.body(seed.sft())).json()["id"]) for _ in states]
    with database.write() as session:
        for run_id, state in zip(ids, states, strict=True):
            session.execute(update(Run).where(Run.id == run_id).values(state=state))

    asked = {"state": ["queued", "running", "stopping", "paused"], "sort": "-state", "limit": 3}
    page = api.get("/runs", params=asked).json()

    assert [one["id"] for one in page["items"]] == [ids[2], ids[4], ids[0]]
    assert page["next_cursor"] is not None
