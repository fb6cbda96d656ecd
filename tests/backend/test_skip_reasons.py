"""Why annotators pass comparisons on: told to whoever leads them, by annotator and reason."""

from typing import Any

from fastapi.testclient import TestClient

from tests.backend.test_assignments import take
from tests.backend.test_criteria import new_project
from tests.backend.test_own_judgments import NewUser, judge


def skip(client: TestClient, project: str, reason: str) -> dict[str, Any]:
    """Skip the next comparison; returns its assignment."""
    lease: dict[str, Any] = take(client, project)
    body = {"reason": reason}
    client.post(f"/assignments/{lease['id']}/skip", json=body).raise_for_status()
    return lease


def skips(client: TestClient, project: str) -> Any:
    """What is told of the skips of a project."""
    return client.get(f"/projects/{project}/skips").raise_for_status().json()["items"]


def test_skips_are_counted_by_annotator_and_reason(api: TestClient, new_user: NewUser) -> None:
    project, other = new_project(api, 6), new_project(api, 1)
    (ada, her), (ben, him) = (new_user("annotator", project, name=one) for one in ("Ada", "Ben"))
    eve, _ = new_user("annotator", other, name="Eve")
    for reason in ("upsetting", "upsetting", "upsetting", "not my field"):
        skip(ada, project, reason)
    for _ in range(2):
        skip(ben, project, "upsetting")
    judge(ben, take(ben, project))
    skip(eve, other, "other")

    found = skips(api, project)

    assert found == [
        {"user_id": her["id"], "by": "Ada", "reason": "upsetting", "comparisons": 3},
        {"user_id": him["id"], "by": "Ben", "reason": "upsetting", "comparisons": 2},
        {"user_id": her["id"], "by": "Ada", "reason": "not my field", "comparisons": 1},
    ]
    viewer, _ = new_user("viewer", project)
    assert skips(viewer, project) == [one | {"by": None} for one in found]
    assert ada.get(f"/projects/{project}/skips").status_code == 403


def test_what_was_skipped_and_judged_after_all_is_no_skip(
    api: TestClient, new_user: NewUser
) -> None:
    project = new_project(api, 1)
    ada, _ = new_user("annotator", project)
    lease = skip(ada, project, "too long for now")
    assert len(skips(api, project)) == 1

    judge(ada, lease)

    assert skips(api, project) == []
