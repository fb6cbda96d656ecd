"""The audit log: which changes leave a line, what it says, and what leaves none."""

from collections.abc import Callable
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import func, select

from backend.store.db import Database
from backend.store.tables.people import AuditEntry
from tests.backend.conftest import Service
from tests.backend.runs.conftest import plant
from tests.backend.test_loop import comparison, upload

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]


def lines(api: TestClient, **wanted: str) -> list[dict[str, Any]]:
    """The audit lines of changes that the administrator sees, oldest first."""
    query = {"oldest_first": "true", "limit": "500", **wanted}
    items: list[dict[str, Any]] = api.get("/audit", params=query).raise_for_status().json()["items"]
    # Traces of what changes nothing come a second later; see test_audit_chain.py.
    return [one for one in items if "outcome" not in one["data"]]


def actions(api: TestClient, **wanted: str) -> list[str]:
    return [line["action"] for line in lines(api, **wanted)]


def test_each_verb_of_a_run_leaves_one_line_with_who_what_and_which_request(
    api: TestClient, new_user: NewUser, database: Database
) -> None:
    seed = plant(database)
    researcher, user = new_user("researcher", seed.project, name="Rosa")

    named = {"X-Request-Id": "my-request"}
    run_id = researcher.post("/runs", json=seed.body(seed.sft()), headers=named).json()["id"]
    for verb in ("pause", "resume", "cancel", "retry", "cancel", "archive", "restore"):
        researcher.post(f"/runs/{run_id}/{verb}").raise_for_status()
    child = researcher.post(f"/runs/{run_id}/clone", json={}).json()["id"]

    found = lines(api, user_id=user["id"])
    assert [line["action"].removesuffix("_run") for line in found] == [
        "create", "pause", "resume", "cancel", "retry", "cancel", "archive", "restore", "clone"
    ]  # fmt: skip
    assert {line["user_name"] for line in found} == {"Rosa"}
    assert found[0]["object_id"] == run_id
    assert (found[0]["request_id"], found[0]["data"]) == ("my-request", {})
    assert (found[-1]["object_id"], found[-1]["data"]) == (child, {"run_id": run_id})
    assert all(line["created_at"].endswith("Z") for line in found)


def test_people_keys_data_and_models_leave_lines_too(service: Service, new_user: NewUser) -> None:
    api = service.client()
    _, user = new_user("annotator")
    project = api.post("/projects", json={"name": "p"}).json()["id"]
    upload(api, project, "prompts", {"prompt": "Why?"})
    frozen = {"name": "s", "kind": "prompts", "heldout_fraction": 0, "seed": 0}
    snapshot = api.post(f"/projects/{project}/snapshots", json=frozen).raise_for_status().json()
    hub = {"name": "m", "kind": "causal_lm", "source": {"hub_id": "owner/name"}}
    model = api.post("/models", json=hub).raise_for_status().json()
    for kind, one in (("snapshots", snapshot), ("models", model), ("projects", {"id": project})):
        api.post(f"/{kind}/{one['id']}/archive").raise_for_status()
        api.post(f"/{kind}/{one['id']}/restore").raise_for_status()

    assert actions(api, object_id=user["id"]) == ["create_user"]
    (key,) = lines(api, action="create_key")
    assert key["data"]["user_id"] == user["id"]
    assert "pk_" not in str(lines(api)), "no secret is in it"
    assert actions(api, object_id=snapshot["id"])[1:] == ["archive_snapshot", "restore_snapshot"]
    assert actions(api, object_id=model["id"])[1:] == ["archive_model", "restore_model"]
    assert {"create_project", "archive_project", "restore_project"} <= set(
        actions(api, object_id=project)
    )


def test_a_sign_in_says_who_and_a_refused_one_says_nothing(service: Service) -> None:
    api, browser = service.client(), service.anonymous()
    body = {"name": "Ada", "role": "viewer", "email": "a@b.de", "password": "correct horse"}
    user = api.post("/users", json=body).raise_for_status().json()
    credentials = {"email": "a@b.de", "password": "correct horse"}

    wrong = browser.post("/api/v1/session", json=credentials | {"password": "wrong"})
    browser.post("/api/v1/session", json=credentials).raise_for_status()

    assert wrong.status_code == 401
    (line,) = lines(api, action="sign_in")
    assert (line["user_id"], line["object_id"], line["user_name"]) == (user["id"],) * 2 + ("Ada",)


def test_what_is_refused_repeated_or_only_read_leaves_no_line(
    api: TestClient, database: Database
) -> None:
    seed = plant(database)
    body, once = seed.body(seed.sft()), {"Idempotency-Key": "once"}
    for _ in range(2):
        api.post("/runs", json=body, headers=once).raise_for_status()
    api.post("/runs/validate", json=body).raise_for_status()
    assert api.post("/runs", json=seed.body({"method": "sft"})).status_code == 422
    api.get("/runs").raise_for_status()

    assert actions(api) == ["create_run"]


def test_ranking_leaves_no_line_for_a_judgment_is_a_record_of_its_own(
    api: TestClient, database: Database
) -> None:
    project = api.post("/projects", json={"name": "p"}).json()["id"]
    upload(api, project, "comparisons", comparison(1))
    with database.read() as session:
        before = session.scalar(select(func.count(AuditEntry.number)))
    given = api.post(f"/projects/{project}/assignments").raise_for_status().json()
    ids = [one["id"] for one in given["comparison"]["responses"]]
    ranking = {"tiers": [[one] for one in ids], "verdict": "ranked"}
    api.post(f"/assignments/{given['id']}/judgment", json=ranking).raise_for_status()

    with database.read() as session:
        assert session.scalar(select(func.count(AuditEntry.number))) == before


def test_pages_of_the_log_follow_one_another(api: TestClient) -> None:
    for number in range(5):
        api.post("/projects", json={"name": f"p{number}"}).raise_for_status()

    first = api.get("/audit?limit=3").json()
    rest = api.get("/audit", params={"limit": 3, "cursor": first["next_cursor"]}).json()

    assert [len(first["items"]), len(rest["items"]), rest["next_cursor"]] == [3, 2, None]
    numbers = [line["number"] for line in first["items"] + rest["items"]]
    assert numbers == sorted(numbers, reverse=True)
