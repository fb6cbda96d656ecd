"""From a prompt to its comparisons and who ranked them how; names for those who may see them."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.backend.test_assignments import take
from tests.backend.test_loop import comparison, upload
from tests.backend.test_own_judgments import NewUser, judge


@pytest.fixture
def project(api: TestClient) -> str:
    """Two comparisons that want two judgments each."""
    body = {"name": "P", "judgments_per_comparison": 2}
    made = api.post("/projects", json=body).json()["id"]
    upload(api, made, "comparisons", *(comparison(i) for i in range(2)))
    return str(made)


def rankings(client: TestClient, project: str, prompt_id: str) -> list[dict[str, Any]]:
    """The comparisons of a prompt."""
    answer = client.get(f"/projects/{project}/rankings", params={"prompt_id": prompt_id})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_a_prompt_leads_to_who_ranked_its_responses_how(
    api: TestClient, new_user: NewUser, project: str
) -> None:
    ann, _ = new_user("annotator", project)
    lease = take(ann, project)
    judgment = judge(ann, lease, comment="clear")
    prompt_id = lease["comparison"]["prompt"]["id"]

    (found,) = rankings(api, project, prompt_id)

    (given,) = found["judgments"]
    assert found["id"] == lease["comparison"]["id"]
    assert {one["id"]: one["content"] for one in found["responses"]} == {
        one["id"]: one["content"] for one in lease["comparison"]["responses"]
    }
    assert given["by"] == ann.get("/me").json()["name"]
    assert (given["tiers"], given["comment"], given["is_own"]) == (
        judgment["tiers"], "clear", False,
    )  # fmt: skip


def test_readers_are_told_what_was_flagged_and_why_it_cannot_be_judged(
    api: TestClient, new_user: NewUser, project: str
) -> None:
    ann, _ = new_user("annotator", project)
    lease = take(ann, project)
    flagged = lease["presented_order"][:1]
    said = {"verdict": "cannot_judge", "tiers": [], "unranked": lease["presented_order"]}
    judge(ann, lease, **said, reasons=["prompt unclear"], flags=flagged)

    ((given,),) = [
        one["judgments"] for one in rankings(api, project, lease["comparison"]["prompt"]["id"])
    ]

    assert (given["reasons"], given["flags"]) == (["prompt unclear"], flagged)


def test_a_revision_takes_the_place_of_what_was_said_before(
    api: TestClient, new_user: NewUser, project: str
) -> None:
    ann, _ = new_user("annotator", project)
    lease = take(ann, project)
    judge(ann, lease)
    turned = [[one] for one in reversed(lease["presented_order"])]
    judge(ann, lease, tiers=turned, revise=True)

    ((given,),) = [
        one["judgments"] for one in rankings(api, project, lease["comparison"]["prompt"]["id"])
    ]

    assert given["tiers"] == turned


def test_names_are_told_to_those_who_may_see_the_members(new_user: NewUser, project: str) -> None:
    ann, _ = new_user("annotator", project)
    lease = take(ann, project)
    judge(ann, lease)
    prompt_id = lease["comparison"]["prompt"]["id"]
    path = f"/projects/{project}/rankings"

    researcher, viewer = (new_user(role, project)[0] for role in ("researcher", "viewer"))

    ((named,), (unnamed,)) = (
        rankings(one, project, prompt_id)[0]["judgments"] for one in (researcher, viewer)
    )
    assert named["by"] == ann.get("/me").json()["name"]
    assert unnamed == named | {"by": None}
    assert ann.get(path, params={"prompt_id": prompt_id}).status_code == 403


def test_a_prompt_of_another_project_has_no_rankings_here(api: TestClient, project: str) -> None:
    other = str(api.post("/projects", json={"name": "Q"}).json()["id"])
    upload(api, other, "comparisons", comparison(7))
    prompt_id = api.get(f"/projects/{other}/prompts").json()["items"][0]["id"]

    assert rankings(api, project, prompt_id) == []
    assert len(rankings(api, other, prompt_id)) == 1


def test_a_long_response_is_cut(api: TestClient, project: str) -> None:
    long = {"prompt": "long", "responses": ["x" * 2001, "short"]}
    upload(api, project, "comparisons", long)
    (asked,) = api.get(f"/projects/{project}/comparisons").json()["items"][:1]

    (found,) = rankings(api, project, asked["prompt_id"])

    assert {(len(one["content"]), one["is_cut"]) for one in found["responses"]} == {
        (2000, True), (5, False),
    }  # fmt: skip


def test_one_comparison_is_read_whole(api: TestClient, project: str) -> None:
    turns = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi. " * 200},
    ]
    long = {"prompt": turns, "responses": ["x" * 5001, "short"]}
    upload(api, project, "comparisons", long)
    (asked,) = api.get(f"/projects/{project}/comparisons").json()["items"][:1]

    path = f"/projects/{project}/rankings"
    (found,) = api.get(path, params={"comparison_id": asked["id"]}).json()["items"]

    assert found["prompt"] == {"id": asked["prompt_id"], "messages": turns}
    assert [(one["content"], one["is_cut"]) for one in found["responses"]] == [
        ("x" * 5001, False), ("short", False),
    ]  # fmt: skip
    assert [one["prompt"] for one in rankings(api, project, asked["prompt_id"])] == [None]


def test_one_comparison_is_read_by_its_id_in_its_own_project_alone(
    api: TestClient, new_user: NewUser, project: str
) -> None:
    ann, _ = new_user("annotator", project)
    lease = take(ann, project)
    judge(ann, lease)
    comparison_id = lease["comparison"]["id"]
    by_prompt = rankings(api, project, lease["comparison"]["prompt"]["id"])
    other = str(api.post("/projects", json={"name": "Q"}).json()["id"])

    here, elsewhere = (
        api.get(f"/projects/{one}/rankings", params={"comparison_id": comparison_id}).json()
        for one in (project, other)
    )

    prompt = {"prompt": lease["comparison"]["prompt"]}
    assert here["items"] == [one | prompt for one in by_prompt if one["id"] == comparison_id]
    assert len(here["items"]) == 1
    assert elsewhere["items"] == []


def test_rankings_of_nothing_named_are_refused(api: TestClient, project: str) -> None:
    answer = api.get(f"/projects/{project}/rankings")

    assert answer.status_code == 422
    assert "found neither prompt_id nor comparison_id" in answer.json()["detail"]
