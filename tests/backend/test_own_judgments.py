"""One's own judgments: the texts as they were shown, their history, and nothing of others."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event

from backend.pressure.turns import Turns
from backend.store.data.judgments import MOST_EARLIER
from backend.store.tables.data import Judgment
from tests.backend.conftest import Service
from tests.backend.test_assignments import ranked, take
from tests.backend.test_loop import comparison, upload
from tests.processes import wait_until

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]


@pytest.fixture
def project(api: TestClient) -> str:
    """Three comparisons that want two judgments each."""
    body = {"name": "P", "judgments_per_comparison": 2}
    made = api.post("/projects", json=body).json()["id"]
    upload(api, made, "comparisons", *(comparison(i) for i in range(3)))
    return str(made)


def own(client: TestClient, project: str, **query: Any) -> list[dict[str, Any]]:
    """The caller's own judgments, one page."""
    answer = client.get(f"/projects/{project}/judgments/own", params=query)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def judge(client: TestClient, lease: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Submit the shown order, or what is said otherwise."""
    answer = client.post(f"/assignments/{lease['id']}/judgment", json=ranked(lease, **more))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_they_come_newest_first_with_the_texts_in_the_order_that_was_shown(
    api: TestClient, new_user: NewUser, project: str
) -> None:
    mine, _ = new_user("annotator", project)
    leases = [take(mine, project) for _ in range(3)]
    made = [judge(mine, lease, comment=f"note {n}") for n, lease in enumerate(leases)]
    judge(api, take(api, project), comment="not yours")

    listed = own(mine, project)

    assert [one["comment"] for one in listed] == ["note 2", "note 1", "note 0"]
    for one, lease, judgment in zip(listed, reversed(leases), reversed(made), strict=True):
        assert one["comparison"] == lease["comparison"]
        assert [[each["id"]] for each in one["comparison"]["responses"]] == one["tiers"]
        assert (one["id"], one["assignment_id"]) == (judgment["id"], lease["id"])
        assert (one["revision"], one["earlier"], one["review_reason"]) == (1, [], None)


def test_pages_follow_each_other_without_a_gap(new_user: NewUser, project: str) -> None:
    mine, _ = new_user("annotator", project)
    for _ in range(3):
        judge(mine, take(mine, project))
    first = mine.get(f"/projects/{project}/judgments/own", params={"limit": 2}).json()
    rest = own(mine, project, limit=2, cursor=first["next_cursor"])
    assert [*first["items"], *rest] == own(mine, project)
    assert len(rest) == 1


def test_a_revision_stands_for_those_before_it(new_user: NewUser, project: str) -> None:
    mine, _ = new_user("annotator", project)
    leases = [take(mine, project) for _ in range(2)]
    for lease in leases:
        judge(mine, lease, comment="first")
    upside_down = [[one] for one in reversed(leases[0]["presented_order"])]
    judge(mine, leases[0], comment="second", revise=True, tiers=upside_down)
    judge(mine, leases[0], comment="third", revise=True)

    newest, other = own(mine, project)

    assert (newest["assignment_id"], newest["revision"]) == (leases[0]["id"], 3)
    assert [(one["revision"], one["comment"]) for one in newest["earlier"]] == [
        (2, "second"),
        (1, "first"),
    ]
    assert newest["earlier"][0]["tiers"] == upside_down
    assert (other["assignment_id"], other["earlier"]) == (leases[1]["id"], [])
    assert own(mine, project, assignment_id=leases[1]["id"]) == [other]


def test_of_many_revisions_the_last_twenty_are_read(new_user: NewUser, project: str) -> None:
    mine, _ = new_user("annotator", project)
    lease, other = (take(mine, project) for _ in range(2))
    judge(mine, other)
    judge(mine, lease, comment="1")
    for number in range(2, MOST_EARLIER + 11):
        judge(mine, lease, comment=str(number), revise=True)
    loaded: list[int] = []

    def note(judgment: Judgment, _: object) -> None:
        loaded.append(judgment.revision)

    event.listen(Judgment, "load", note)
    try:
        newest = own(mine, project)[0]
    finally:
        event.remove(Judgment, "load", note)

    assert newest["comment"] == "30"
    assert [one["revision"] for one in newest["earlier"]] == list(range(29, 9, -1))
    assert [one["comment"] for one in newest["earlier"]] == [str(n) for n in range(29, 9, -1)]
    assert sorted(loaded) == [1, *range(10, 31)]


def test_what_is_kept_for_review_is_among_them_and_says_so(new_user: NewUser, project: str) -> None:
    mine, _ = new_user("annotator", project)
    lease = take(mine, project)
    judge(mine, lease, comment="counts")
    judge(mine, lease, comment="differs")
    judge(mine, lease, comment="revised", revise=True)

    listed = own(mine, project)

    assert [(one["comment"], one["review_reason"], one["revision"]) for one in listed] == [
        ("revised", None, 2),
        ("differs", "differs", 1),
    ]
    assert [one["comment"] for one in listed[0]["earlier"]] == ["counts"]
    assert listed[1]["earlier"] == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("МОСТ", {"bridge"}),  # in the prompt, of another case
        ("arched", {"bridge"}),  # in a response
        ("reason why", {"tree"}),  # in a note
        ("100%", {"tree"}),
        ("%", {"tree"}),
        ("_", set()),
        ("user", set()),  # who speaks is no word of the prompt
        ('"', {"bridge"}),
        ("hidden", set()),  # a response to the same prompt that was not shown
        ("   ", {"bridge", "tree"}),
    ],
)
def test_they_are_searched_in_what_was_seen_and_written(
    api: TestClient, new_user: NewUser, words: str, found: set[str]
) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    rows = (
        {"prompt": 'Какой "мост"?', "responses": ["an Arched one", "another"]},
        {"prompt": "Which tree?", "responses": ["100% oak", "lime"]},
    )
    upload(api, project, "comparisons", *rows)
    mine, _ = new_user("annotator", project)
    leases = [take(mine, project) for _ in rows]
    upload(api, project, "comparisons", {**rows[0], "responses": ["hidden", "more"]})
    for lease in leases:
        is_tree = "tree" in lease["comparison"]["prompt"]["messages"][0]["content"]
        judge(mine, lease, comment="The reason why" if is_tree else "")

    listed = own(mine, project, q=words)

    said = {one["comparison"]["prompt"]["messages"][0]["content"] for one in listed}
    assert said == {{"bridge": rows[0]["prompt"], "tree": rows[1]["prompt"]}[one] for one in found}


def test_nobody_reads_those_of_others_there(
    api: TestClient, new_user: NewUser, project: str
) -> None:
    mine, _ = new_user("annotator", project)
    other, _ = new_user("annotator", project, name="other")
    lease = take(other, project)
    judge(other, lease, comment="secret")

    assert own(mine, project) == own(api, project) == []
    assert own(mine, project, assignment_id=lease["id"]) == []
    assert own(mine, project, q="secret") == []
    stranger, _ = new_user("annotator")
    assert stranger.get(f"/projects/{project}/judgments/own").status_code in (403, 404)
    assert mine.get(f"/projects/{project}/judgments/own?q={'x' * 201}").status_code == 422


def test_they_say_how_long_they_took_so_that_a_revision_adds_to_it(
    api: TestClient, new_user: NewUser, project: str
) -> None:
    mine, _ = new_user("annotator", project)
    lease = take(mine, project)
    judge(mine, lease, active_ms=40_000)
    judge(mine, take(mine, project))
    assert [one["active_ms"] for one in own(mine, project)] == [None, 40_000]

    judge(mine, lease, active_ms=52_000, comment="again", revise=True)
    (revised,) = own(mine, project, assignment_id=lease["id"])
    assert (revised["revision"], revised["active_ms"]) == (2, 52_000)


def test_a_search_waits_among_what_takes_long(light_service: Service) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "p"}).json()["id"]
    own = f"/projects/{project}/judgments/own"
    turns: Turns = light_service.app.state.turns
    found = list[int]()
    searching = threading.Thread(target=lambda: found.append(api.get(f"{own}?q=x").status_code))
    with light_service.portal.wrap_async_context_manager(turns.reading_much("user_other")):
        searching.start()
        wait_until(lambda: turns.waiting()["read much"] == 1, "the search waits")
        assert api.get(own).status_code == 200
    searching.join()
    assert found == [200]
