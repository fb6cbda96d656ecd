"""Lists of records say what was asked, answered and judged, and by whom, in first words."""

from fastapi.testclient import TestClient

from tests.backend.test_assignments import take
from tests.backend.test_loop import upload
from tests.backend.test_own_judgments import NewUser, judge

PROMPT = "Why is the sky blue? " * 20
ODD = '"ß" \\u0041 \\ \n\t👩🏽‍🚀 e\u0301 ' * 20


def test_judgments_are_listed_in_words(api: TestClient, new_user: NewUser) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, project, "comparisons", {"prompt": PROMPT, "responses": ["Because.", "x" * 500]})
    ann, _ = new_user("annotator", project)
    lease = take(ann, project)
    judge(ann, lease)
    viewer, _ = new_user("viewer", project)

    by_all, by_viewer, by_ann = (
        client.get(f"/projects/{project}/judgments").json()["items"][0]
        for client in (api, viewer, ann)
    )

    assert by_all["prompt"] == PROMPT[:200]
    assert set(by_all["responses"]) == set(lease["presented_order"])
    assert set(by_all["responses"].values()) == {"Because.", "x" * 80}
    assert by_all["by"] == ann.get("/me").json()["name"]
    assert by_viewer == by_all | {"by": None}
    assert by_ann == by_all
    (comparison,) = api.get(f"/projects/{project}/comparisons").json()["items"]
    assert comparison["prompt"] == PROMPT[:200]
    answers = api.get(f"/projects/{project}/responses").json()["items"]
    assert {one["content"] for one in answers} == {"Because.", "x" * 500}
    assert {one["prompt"] for one in answers} == {PROMPT[:200]}
    assert {one["run_name"] for one in answers} == {None}


def test_a_flagged_response_is_listed_in_words_also_where_it_has_no_place(
    api: TestClient, new_user: NewUser
) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, project, "comparisons", {"prompt": "p", "responses": ["fine", "rude"]})
    ann, _ = new_user("annotator", project)
    lease = take(ann, project)
    texts = {one["id"]: one["content"] for one in lease["comparison"]["responses"]}
    (rude,) = [one for one, text in texts.items() if text == "rude"]
    said = {"verdict": "cannot_judge", "tiers": [], "unranked": list(texts)}
    judge(ann, lease, **said, reasons=["unsafe content"], flags=[rude])

    (listed,) = api.get(f"/projects/{project}/judgments").json()["items"]

    assert (listed["flags"], listed["reasons"]) == ([rude], ["unsafe content"])
    assert listed["responses"] == {rude: "rude"}


def test_a_prompt_begins_as_its_last_turn_whatever_it_is_made_of(api: TestClient) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    said = [("system", "Be brief."), ("user", "Hi."), ("assistant", "Ho."), ("user", ODD)]
    turns = [{"role": role, "content": content} for role, content in said]
    upload(api, project, "comparisons", {"prompt": turns, "responses": ["a", "b"]})
    upload(api, project, "comparisons", {"prompt": "short", "responses": ["a", "b"]})

    listed = api.get(f"/projects/{project}/comparisons").json()["items"]

    assert [one["prompt"] for one in listed] == ["short", ODD[:200]]
