"""A project is edited: guidelines in versions that annotators acknowledge, and judgments per
comparison.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi.testclient import TestClient

from backend.schemas.projects.project import CANNOT_JUDGE_REASONS
from backend.store.data import guidelines
from tests.backend.conftest import Service
from tests.backend.test_assignments import ranked, take
from tests.backend.test_audit import lines
from tests.backend.test_loop import comparison, upload
from tests.backend.test_members import members
from tests.conftest import migrate, migrate_back

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]


def new_project(api: TestClient, **more: Any) -> str:
    """A project with ten comparisons."""
    project = api.post("/projects", json={"name": "P", **more}).raise_for_status().json()["id"]
    upload(api, project, "comparisons", *(comparison(number) for number in range(10)))
    return str(project)


def acknowledge(client: TestClient, project: str, version: int) -> int:
    """The status of an acknowledgement."""
    path = f"/projects/{project}/guidelines/acknowledgement"
    return client.post(path, json={"version": version}).status_code


def test_an_annotator_acknowledges_each_version_before_the_next_comparison(
    api: TestClient, new_user: NewUser
) -> None:
    project = new_project(api, guidelines="Be kind.")
    ada, _ = new_user("annotator", project, name="Ada")
    path = f"/projects/{project}/guidelines"
    first = ada.get(path).json()
    assert (first["version"], first["guidelines"]) == (1, "Be kind.")
    assert (first["acknowledged"], first["is_acknowledged"]) == (None, False)
    refused = ada.post(f"/projects/{project}/assignments")
    assert (refused.status_code, refused.json()["guidelines_version"]) == (409, 1)
    assert "have not acknowledged version 1" in refused.json()["detail"]

    assert acknowledge(ada, project, 1) == 200
    assert acknowledge(ada, project, 1) == 200
    lease = take(ada, project)
    api.patch(f"/projects/{project}", json={"guidelines": "Be kind and brief."})

    # What is at hand may be ended; the next one has to wait.
    answer = ada.post(f"/assignments/{lease['id']}/judgment", json=ranked(lease))
    assert answer.status_code == 201
    assert ada.post(f"/projects/{project}/assignments").status_code == 409
    assert acknowledge(ada, project, 1) == 409, "what was read is not what holds"
    second = ada.get(path).json()
    assert (second["version"], second["is_acknowledged"]) == (2, False)
    assert second["acknowledged"]["guidelines"] == "Be kind."
    assert acknowledge(ada, project, 2) == 200
    assert take(ada, project) is not None
    assert members(api, project)["Ada"]["guidelines_version"] == 2
    versions = api.get(f"{path}/versions").json()["items"]
    assert [(one["version"], one["acknowledgements"]) for one in versions] == [(2, 1), (1, 1)]
    assert {one["user_name"] for one in versions} == {"Administrator"}
    assert ada.get(f"{path}/versions").status_code == 403, "who wrote them is not theirs to see"


def test_nobody_else_and_nothing_unwritten_has_to_be_acknowledged(
    api: TestClient, new_user: NewUser
) -> None:
    project = new_project(api, guidelines="Be kind.")
    rosa, _ = new_user("researcher", project)
    for client in (api, rosa):
        assert client.get(f"/projects/{project}/guidelines").json()["is_acknowledged"]
        assert take(client, project) is not None
    empty = new_project(api)
    ada, _ = new_user("annotator", empty, project)
    assert ada.get(f"/projects/{empty}/guidelines").json()["version"] == 0
    assert take(ada, empty) is not None
    api.patch(f"/projects/{project}", json={"guidelines": " \n\u2003"})
    assert take(ada, project) is not None


def test_who_may_not_see_the_members_is_not_told_who_wrote_the_guidelines(
    api: TestClient, new_user: NewUser
) -> None:
    project = new_project(api, guidelines="Be kind.")
    viewer, rosa = (new_user(role, project)[0] for role in ("viewer", "researcher"))
    path = f"/projects/{project}/guidelines/versions"

    (seen,) = viewer.get(path).json()["items"]
    assert (seen["guidelines"], seen["user_name"]) == ("Be kind.", None)
    assert rosa.get(path).json()["items"] == [{**seen, "user_name": "Administrator"}]


def test_two_who_write_at_once_lose_nothing_of_each_other(
    service: Service, api: TestClient
) -> None:
    project = new_project(api, guidelines="one")
    body = {"guidelines": "two", "guidelines_version": 1}
    assert api.patch(f"/projects/{project}", json=body).json()["guidelines_version"] == 2
    late = api.patch(f"/projects/{project}", json={**body, "guidelines": "three"})
    assert late.status_code == 409
    assert "changed meanwhile" in late.json()["detail"]
    same = api.patch(f"/projects/{project}", json={"guidelines": "two"})
    assert same.json()["guidelines_version"] == 2

    def write(number: int) -> int:
        text = {"guidelines": f"text {number}"}
        return service.client().patch(f"/projects/{project}", json=text).status_code

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(write, range(6))) == {200}
    versions = api.get(f"/projects/{project}/guidelines/versions").json()["items"]
    assert [one["version"] for one in versions] == list(range(8, 0, -1))
    newest = api.get(f"/projects/{project}").json()["guidelines"]
    assert versions[0]["guidelines"] == newest


def test_a_change_says_what_was_there_before(api: TestClient) -> None:
    project = new_project(api, guidelines="secret of the trade")
    change = {"name": "New", "judgments_per_comparison": 3, "guidelines": "more"}
    changed = api.patch(f"/projects/{project}", json=change).json()
    assert (changed["name"], changed["judgments_per_comparison"]) == ("New", 3)
    (line,) = lines(api, action="change_project")
    before, after = line["data"]["before"], line["data"]["after"]
    assert (before["name"], after["name"]) == ("P", "New")
    assert (before["guidelines_version"], after["guidelines_version"]) == (1, 2)
    assert "secret" not in str(line)


def test_reasons_are_the_projects_own(api: TestClient) -> None:
    project = new_project(api)
    usual = api.get(f"/projects/{project}").json()["cannot_judge_reasons"]
    assert usual == list(CANNOT_JUDGE_REASONS)
    own = {"cannot_judge_reasons": ["not my language", "needs a lawyer"]}
    changed = api.patch(f"/projects/{project}", json=own).json()
    assert changed["cannot_judge_reasons"] == own["cannot_judge_reasons"]
    for wrong in ([], [""], [f"reason {n}" for n in range(10)]):
        refused = api.patch(f"/projects/{project}", json={"cannot_judge_reasons": wrong})
        assert refused.status_code == 422


def test_votes_count_for_comparisons_that_are_made_from_then_on(api: TestClient) -> None:
    project = new_project(api)
    wanted = {"judgments_per_comparison": 3}
    assert api.patch(f"/projects/{project}", json=wanted).status_code == 200
    upload(api, project, "comparisons", *(comparison(number) for number in range(10, 13)))
    listed = api.get(f"/projects/{project}/comparisons").json()["items"]
    assert sorted(one["judgments_required"] for one in listed) == [1] * 10 + [3] * 3
    assert api.get(f"/projects/{project}/annotation").json()["wanted"] == 19


def test_the_overlap_is_off_unless_it_is_asked_for(api: TestClient) -> None:
    plain = api.get(f"/projects/{new_project(api)}").json()
    assert (plain["overlap_first"], plain["overlap_share"]) == (0, 0.0)
    project = new_project(api, overlap_first=4, overlap_share=0)
    listed = api.get(f"/projects/{project}/comparisons", params={"oldest_first": True}).json()
    assert [one["judgments_required"] for one in listed["items"]] == [2] * 4 + [1] * 6
    assert api.get(f"/projects/{project}/annotation").json()["wanted"] == 14
    # Whoever says it for one comparison has the last word.
    known = listed["items"][0]
    body = {name: known[name] for name in ("prompt_id", "response_ids")}
    made = api.post(f"/projects/{project}/comparisons", json={**body, "judgments_required": 1})
    assert made.json()["judgments_required"] == 1


def test_guidelines_of_before_become_the_first_version(service: Service, store_url: str) -> None:
    api = service.client()
    with_text = api.post("/projects", json={"name": "P", "guidelines": "old"}).json()["id"]
    without = api.post("/projects", json={"name": "Q"}).json()["id"]
    service.app.state.database.close()

    migrate_back(store_url, "0015")
    migrate(store_url)

    kept = api.get(f"/projects/{with_text}/guidelines").json()
    assert (kept["version"], kept["guidelines"]) == (1, "old")
    assert kept["created_at"] is not None
    assert api.get(f"/projects/{without}/guidelines").json()["version"] == 0
    reasons = api.get(f"/projects/{without}").json()["cannot_judge_reasons"]
    # Those of that time; other ones are for new projects.
    assert reasons == [
        "needs expertise", "unreadable", "unsafe content", "duplicate", "prompt unclear"
    ]  # fmt: skip


def test_a_change_made_from_an_older_revision_undoes_nothing(api: TestClient) -> None:
    project = new_project(api, guidelines="one")
    path = f"/projects/{project}"
    read = api.get(path).json()
    theirs = {
        "judgments_per_comparison": 3,
        "criteria": [{"name": "helpful", "question": "Which helps more?"}],
        "revision": read["revision"],
    }
    changed = api.patch(path, json=theirs).json()
    assert (read["revision"], changed["revision"]) == (1, 2)

    stale = {"name": "Mine", "judgments_per_comparison": 1, "criteria": [], "revision": 1}
    refused = api.patch(path, json=stale)
    assert refused.status_code == 409
    assert "made from revision 1, and the newest is revision 2" in refused.json()["detail"]
    now = api.get(path).json()
    assert (now["name"], now["judgments_per_comparison"]) == ("P", 3)
    assert [one["name"] for one in now["criteria"]] == ["helpful"]

    # Guidelines and the practice bar are changes, too; scripts may leave the revision out.
    for change in ({"guidelines": "two"}, {"practice_bar": 0.5}):
        api.patch(path, json=change).raise_for_status()
    assert api.patch(path, json={"name": "Mine", "revision": 2}).status_code == 409
    assert api.patch(path, json={"name": "Mine", "revision": 4}).json()["revision"] == 5


def test_of_two_changes_at_once_made_from_one_revision_one_is_refused(
    service: Service, api: TestClient
) -> None:
    project = new_project(api)

    def change(number: int) -> int:
        body = {"name": f"Name {number}", "revision": 1}
        return service.client().patch(f"/projects/{project}", json=body).status_code

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(change, range(6))) == [200] + [409] * 5
    assert api.get(f"/projects/{project}").json()["revision"] == 2


def test_what_counts_as_blank_is_all_that_python_strips() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert sorted(guidelines._BLANK) == [one for one in everything if one.isspace()]
