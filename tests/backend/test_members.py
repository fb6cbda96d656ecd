"""Members of a project: roles, who leaves, and what they leave behind."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.backend.test_assignments import ranked, take
from tests.backend.test_audit import lines
from tests.backend.test_loop import comparison, upload

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]


def members(client: TestClient, project: str, **query: Any) -> dict[str, dict[str, Any]]:
    """The members of a project by name."""
    items = client.get(f"/projects/{project}/members", params=query).json()["items"]
    return {one["name"]: one for one in items}


def test_a_researcher_gives_roles_in_their_own_project(api: TestClient, new_user: NewUser) -> None:
    mine, other = (api.post("/projects", json={"name": n}).json()["id"] for n in "AB")
    rosa, _ = new_user("researcher", mine, name="Rosa")
    ada, user = new_user("annotator", mine, other, name="Ada")
    _, stranger = new_user("annotator", other, name="Bela")
    assert {name: one["role"] for name, one in members(rosa, mine).items()} == {
        "Administrator": "admin", "Rosa": "researcher", "Ada": "annotator"
    }  # fmt: skip

    path = f"/projects/{mine}/members"
    changed = rosa.patch(f"{path}/{user['id']}", json={"role": "viewer"}).json()

    assert changed["role"] == "viewer"
    assert ada.get(f"/projects/{mine}/prompts").status_code == 200
    assert ada.get(f"/projects/{other}/prompts").status_code == 403
    assert rosa.patch(f"{path}/{user['id']}", json={"role": "admin"}).status_code == 422
    # Nobody is made a member here: who is not one has to be invited.
    for unknown in (stranger["id"], "user_nothing"):
        assert rosa.patch(f"{path}/{unknown}", json={"role": "viewer"}).status_code == 404
        assert rosa.delete(f"{path}/{unknown}").status_code == 404
    (line,) = lines(api, action="change_member")
    assert line["data"]["before"] == {"role": "annotator"}
    assert line["data"]["after"] == {"role": "viewer"}


@pytest.mark.parametrize("how", ["removed", "viewer", "other memberships", "deactivated"])
def test_whoever_ranks_no_more_gives_comparisons_back_at_once(
    how: str, api: TestClient, new_user: NewUser
) -> None:
    mine, other = (api.post("/projects", json={"name": n}).json()["id"] for n in "AB")
    for number, project in enumerate((mine, other)):
        upload(api, project, "comparisons", comparison(number))
    ada, user = new_user("annotator", mine, other, name="Ada")
    bela, _ = new_user("annotator", mine, other, name="Bela")
    lease, kept = take(ada, mine), take(ada, other)
    assert take(bela, mine) is None, "somebody holds the only comparison"

    member, person = f"/projects/{mine}/members/{user['id']}", f"/users/{user['id']}"
    stays = [{"project_id": other, "role": "annotator"}]
    answer = {
        "removed": lambda: api.delete(member),
        "viewer": lambda: api.patch(member, json={"role": "viewer"}),
        "other memberships": lambda: api.patch(person, json={"memberships": stays}),
        "deactivated": lambda: api.patch(person, json={"is_active": False}),
    }[how]()
    answer.raise_for_status()

    assert take(bela, mine)["comparison"]["id"] == lease["comparison"]["id"]
    if how == "deactivated":
        assert take(bela, other)["comparison"]["id"] == kept["comparison"]["id"]
    else:
        assert take(bela, other) is None, "there Ada still ranks"
        assert ada.post(f"/assignments/{kept['id']}/renew").status_code == 200


def test_who_leaves_leaves_the_judgments(api: TestClient, new_user: NewUser) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, project, "comparisons", comparison(1), comparison(2))
    people = [new_user("annotator", project, name=name) for name in ("Ada", "Bela")]
    for client, _ in people:
        lease = take(client, project)
        client.post(f"/assignments/{lease['id']}/judgment", json=ranked(lease)).raise_for_status()
    (ada, ada_user), (bela, bela_user) = people

    assert api.delete(f"/projects/{project}/members/{ada_user['id']}").status_code == 204
    api.patch(f"/users/{bela_user['id']}", json={"is_active": False})

    assert ada.get(f"/projects/{project}").status_code == 404
    assert bela.get("/me").status_code == 401
    assert set(members(api, project)) == {"Administrator"}
    (out,) = members(api, project, is_active=False).values()
    assert (out["name"], out["judgments"], out["is_active"]) == ("Bela", 1, False)
    kept = api.get(f"/projects/{project}/judgments").json()["items"]
    assert {one["user_id"] for one in kept} == {ada_user["id"], bela_user["id"]}
