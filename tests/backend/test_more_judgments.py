"""Comparisons that are there are asked to have more judgments, and never fewer."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.api import comparisons as api_comparisons
from backend.store.db import Database
from tests.backend.conftest import Service
from tests.backend.test_assignments import ranked, take
from tests.backend.test_criteria import new_project
from tests.backend.test_loop import upload
from tests.backend.test_next_comparison import check_counts
from tests.backend.test_practice import Class
from tests.plans import sent_to

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
NONE = {"comparisons": 0, "judgments": 0}


def ask(client: TestClient, project: str, **body: Any) -> Any:
    """Ask for more judgments."""
    return client.patch(f"/projects/{project}/comparisons", json=body)


def listed(api: TestClient, project: str) -> list[dict[str, Any]]:
    """The comparisons of a project, the oldest first."""
    path = f"/projects/{project}/comparisons?oldest_first=true&limit=500"
    items: list[dict[str, Any]] = api.get(path).raise_for_status().json()["items"]
    return items


def wanted(api: TestClient, project: str) -> list[int]:
    """How many judgments each comparison wants, the oldest first."""
    return [one["judgments_required"] for one in listed(api, project)]


def standing(client: TestClient, project: str) -> dict[str, int]:
    """Where somebody stands in a project."""
    found: dict[str, int] = client.get(f"/projects/{project}/annotation").json()
    return found


def judge(client: TestClient, project: str) -> str:
    """Judge the next comparison; returns its id."""
    lease = take(client, project)
    client.post(f"/assignments/{lease['id']}/judgment", json=ranked(lease)).raise_for_status()
    return str(lease["comparison"]["id"])


def test_a_judged_comparison_that_is_asked_for_one_more_judgment_goes_to_a_second_annotator(
    api: TestClient, new_user: NewUser, database: Database
) -> None:
    project = new_project(api, 2)
    ada, ben = (new_user("annotator", project, name=name)[0] for name in ("Ada", "Ben"))
    done = [judge(ada, project), judge(ada, project)]
    assert take(ben, project) is None

    answer = ask(api, project, comparison_ids=done[:1], judgments_required=2)

    assert answer.json() == {"comparisons": 1, "judgments": 1}
    assert take(ada, project) is None, "she has judged it already"
    seen = standing(ada, project)
    assert (seen["wanted"], seen["done"], seen["open"], seen["passed"]) == (3, 2, 1, 1)
    assert standing(ben, project)["available"] == 1
    check_counts(database, project)
    assert judge(ben, project) == done[0]
    assert take(ben, project) is None
    agreement = api.get(f"/projects/{project}/agreement").json()
    assert agreement["judged_twice"] == 1
    check_counts(database, project)


def test_to_ask_twice_or_for_fewer_changes_nothing_more(
    api: TestClient, new_user: NewUser, database: Database
) -> None:
    project = new_project(api, 2, judgments_per_comparison=3)
    ids = [one["id"] for one in listed(api, project)]
    ada, _ = new_user("annotator", project)
    judge(ada, project)

    assert ask(api, project, comparison_ids=ids, judgments_required=2).json() == NONE
    assert ask(api, project, judgments_required=1).json() == NONE
    first = ask(api, project, comparison_ids=[*ids, *ids], judgments_required=5)
    before = standing(ada, project)
    again = ask(api, project, comparison_ids=ids, judgments_required=5)

    assert (first.json(), again.json()) == ({"comparisons": 2, "judgments": 4}, NONE)
    assert wanted(api, project) == [5, 5]
    assert standing(ada, project) == before
    check_counts(database, project)


def test_all_comparisons_are_asked_in_batches(
    api: TestClient, new_user: NewUser, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_comparisons, "AT_ONCE", 2)
    project, other = new_project(api, 7), new_project(api, 1)
    ada, _ = new_user("annotator", project)
    for _ in range(3):
        judge(ada, project)

    answer = ask(api, project, judgments_required=2)

    assert answer.json() == {"comparisons": 7, "judgments": 7}
    assert (wanted(api, project), wanted(api, other)) == ([2] * 7, [1])
    check_counts(database, project)
    lines = api.get("/audit", params={"action": "change_comparisons"}).json()["items"]
    assert [one["data"]["after"]["comparisons"] for one in lines] == [1, 2, 2, 2]
    assert {one["data"]["after"]["judgments_required"] for one in lines} == {2}


def test_existing_comparisons_are_asked_as_the_settings_say_of_new_ones(
    api: TestClient, new_user: NewUser, database: Database
) -> None:
    project = new_project(api, 40)
    ada, ben = (new_user("annotator", project, name=name)[0] for name in ("Ada", "Ben"))
    done = [judge(ada, project) for _ in range(5)]
    settings = {"overlap_first": 3, "overlap_share": 0.5}
    api.patch(f"/projects/{project}", json=settings).raise_for_status()

    answer = ask(api, project).raise_for_status().json()

    now = wanted(api, project)
    assert now[:3] == [2, 2, 2]
    assert set(now[3:]) == {1, 2}
    assert answer == {"comparisons": now.count(2), "judgments": now.count(2)}
    assert ask(api, project).json() == NONE, "the same ones are drawn again"
    # What is judged once comes before what nobody has judged, as of new comparisons that overlap.
    assert [judge(ben, project) for _ in range(3)] == done[:3]
    check_counts(database, project)


def test_practice_comparisons_are_left_out(
    api: TestClient, new_user: NewUser, database: Database
) -> None:
    room = Class(api, practice=1, comparisons=3)

    named = ask(api, room.project, comparison_ids=room.ids, judgments_required=2)
    every = ask(api, room.project, judgments_required=2)

    assert named.status_code == 409
    assert room.ids[0] in named.json()["detail"]
    assert every.json() == {"comparisons": 2, "judgments": 2}
    assert wanted(api, room.project) == [0, 2, 2]
    check_counts(database, room.project)
    api.delete(f"{room.path}/comparisons/{room.ids[0]}").raise_for_status()
    assert wanted(api, room.project) == [1, 2, 2], "it wants what it wanted before"
    check_counts(database, room.project)


def test_a_comparison_with_more_judgments_than_it_wanted_opens_only_beyond_these(
    api: TestClient, new_user: NewUser, database: Database
) -> None:
    """An import may bring more than were wanted."""
    project = str(api.post("/projects", json={"name": "P"}).raise_for_status().json()["id"])
    row = {"prompt": "p", "chosen": "a", "rejected": "b"}
    upload(api, project, "preferences", *({**row, "annotator": one} for one in ("x", "y")))
    (one,) = listed(api, project)
    assert (one["judgments"], one["judgments_required"]) == (2, 1)
    ada, _ = new_user("annotator", project)

    assert ask(api, project, judgments_required=2).json() == {"comparisons": 1, "judgments": 1}
    assert take(ada, project) is None
    check_counts(database, project)
    assert ask(api, project, judgments_required=3).json() == {"comparisons": 1, "judgments": 1}
    assert judge(ada, project) == one["id"]
    check_counts(database, project)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"comparison_ids": ["comparison_x"]}, 422, "judgments_required"),
        ({"comparison_ids": [], "judgments_required": 2}, 422, "comparison_ids"),
        ({"judgments_required": 0}, 422, "judgments_required"),
        ({"judgments_required": 101}, 422, "judgments_required"),
        ({"comparison_ids": ["comparison_x"], "judgments_required": 2}, 404, "comparison_x"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    api: TestClient, body: dict[str, Any], status: int, said: str
) -> None:
    answer = ask(api, new_project(api, 1), **body)

    assert answer.status_code == status
    assert said in answer.text


def test_a_comparison_of_another_project_is_not_found_here_whatever_it_is_for(
    api: TestClient, service: Service
) -> None:
    here, there = new_project(api, 1), Class(api, practice=1, comparisons=2)
    (own,) = listed(api, here)
    told: set[tuple[int, str, str | None]] = set()

    with sent_to(service.app.state.database) as sent:
        for one in (*there.ids, "comparison_x"):
            answer = ask(api, here, comparison_ids=[own["id"], one], judgments_required=2)
            said = answer.json()
            detail = said["detail"].replace(one, "ID")
            told.add((answer.status_code, detail, said.get("advice")))

    assert [status for status, *_ in told] == [404], told
    assert not [one for one in sent if "FOR UPDATE OF comparisons" in one.statement]
    assert (wanted(api, here), wanted(api, there.project)) == ([1], [0, 1])
