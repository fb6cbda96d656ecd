"""Practice: annotators agree with what is expected before they judge what counts."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.domain.practice import Score, passes, score
from backend.domain.ranking import Ranking
from backend.schemas.vocabulary import Verdict
from backend.store.data.practice import MOST_COMPARISONS
from tests.backend.conftest import Service
from tests.backend.test_assignments import ranked, take
from tests.backend.test_criteria import HARMLESS, HELPFUL, by, new_project, texts
from tests.backend.test_members import members
from tests.conftest import migrate, migrate_back

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]


def ranking(*tiers: str, unranked: str = "") -> Ranking:
    """Each letter is a response: `ranking("a", "bc")` is a > b = c."""
    return Ranking(tuple(tuple(tier) for tier in tiers), tuple(unranked), Verdict.RANKED)


@pytest.mark.parametrize(
    ("expected", "answer", "found"),
    [
        (ranking("a", "b", "c"), ranking("a", "b", "c"), (3, 3)),
        (ranking("a", "b", "c"), ranking("c", "b", "a"), (0, 3)),
        (ranking("a", "b", "c"), ranking("b", "a", "c"), (2, 3)),
        (ranking("a", "bc"), ranking("a", "b", "c"), (2, 3)),  # the tie is a pair, too
        (ranking("ab"), ranking("ab"), (1, 1)),
        (ranking("a", "b", unranked="c"), ranking("c", "a", "b"), (1, 1)),  # c is not asked for
        (ranking("a", "b", "c"), ranking("a", "b", unranked="c"), (1, 3)),
        (ranking("a", "b"), Ranking((), ("a", "b"), Verdict.ALL_BAD), (0, 1)),
    ],
)
def test_the_pairs_that_agree_are_counted(
    expected: Ranking, answer: Ranking, found: tuple[int, int]
) -> None:
    assert score(expected, answer) == Score(*found)


def test_a_bar_is_reached_by_its_share_exactly() -> None:
    for hundredths in range(101):
        assert passes(Score(hundredths, 100), hundredths / 100)
        assert hundredths == 0 or not passes(Score(hundredths - 1, 100), hundredths / 100)


class Class:
    """A project in which the first comparisons are for practice, expected as their texts sort."""

    def __init__(self, api: TestClient, *, practice: int, comparisons: int = 4, **more: Any):
        self.api = api
        self.project = new_project(api, comparisons, **more)
        self.path = f"/projects/{self.project}/practice"
        listed = api.get(f"/projects/{self.project}/comparisons?oldest_first=true&limit=200").json()
        self.ids = [one["id"] for one in listed["items"]]
        self.orders = {one["id"]: one["response_ids"] for one in listed["items"]}
        for comparison in self.ids[:practice]:
            self.mark(comparison).raise_for_status()

    def mark(self, comparison: str, **expected: Any) -> Any:
        """Have a comparison expected in the order of its responses."""
        order = self.orders[comparison]
        told = expected or {"verdict": "ranked", "tiers": [[one] for one in order]}
        body = {"expected": told, "explanation": f"Because of {comparison}."}
        return self.api.put(f"{self.path}/comparisons/{comparison}", json=body)

    def answer(self, client: TestClient, *, right: bool) -> Any:
        """Answer what comes next as expected, or the other way round."""
        task = client.get(self.path).raise_for_status().json()["next"]
        order = self.orders[task["comparison"]["id"]]
        tiers = [[one] for one in (order if right else order[::-1])]
        body = {"verdict": "ranked", "tiers": tiers}
        path = f"{self.path}/{task['comparison']['id']}/answer"
        return client.post(path, json=body).raise_for_status().json()


def test_an_annotator_passes_practice_before_the_first_comparison(
    api: TestClient, new_user: NewUser
) -> None:
    room = Class(api, practice=2)
    ada, _ = new_user("annotator", room.project, name="Ada")
    state = ada.get(room.path).json()
    assert (state["is_required"], state["comparisons"], state["bar"]) == (True, 2, 0.8)
    assert (state["attempt"], state["answered"], state["passed_at"]) == (1, 0, None)
    assert "expected" not in str(state["next"])
    assert "Because" not in str(state), "the explanation comes after the answer"
    refused = ada.post(f"/projects/{room.project}/assignments")
    assert (refused.status_code, refused.json()["is_practice_required"]) == (409, True)

    first = room.answer(ada, right=True)
    assert (first["agreed"], first["pairs"]) == (6, 6)
    assert first["explanation"] == f"Because of {room.ids[0]}."
    (expected,) = first["expected"]
    assert expected["tiers"] == [[one] for one in room.orders[room.ids[0]]]
    assert first["state"]["next"]["comparison"]["id"] == room.ids[1]
    second = room.answer(ada, right=True)["state"]

    assert second["passed_at"] is not None
    assert (second["is_required"], second["next"]) == (False, None)
    lease = take(ada, room.project)
    assert lease["comparison"]["id"] in room.ids[2:]
    assert members(api, room.project)["Ada"]["practice_passed_at"] == second["passed_at"]
    again = ada.post(f"{room.path}/attempt")
    assert (again.status_code, "have passed" in again.json()["detail"]) == (409, True)
    # Passing stays, whatever is added or changed afterwards.
    room.mark(room.ids[3]).raise_for_status()
    api.patch(f"/projects/{room.project}", json={"practice_bar": 1.0}).raise_for_status()
    assert not ada.get(room.path).json()["is_required"]


def test_whoever_misses_the_bar_tries_again(api: TestClient, new_user: NewUser) -> None:
    room = Class(api, practice=2, practice_bar=0.5)
    ada, _ = new_user("annotator", room.project, name="Ada")
    orders = [ada.get(room.path).json()["next"]["presented_order"]]
    task = room.answer(ada, right=False)
    early = ada.post(f"{room.path}/attempt")
    assert (early.status_code, "is not over" in early.json()["detail"]) == (409, True)
    # The first answer counts: who has read what is expected cannot mend it.
    path = f"{room.path}/{room.ids[0]}/answer"
    right = {"verdict": "ranked", "tiers": [[one] for one in room.orders[room.ids[0]]]}
    mended = ada.post(path, json=right).json()
    assert (mended["agreed"], mended["expected"]) == (0, task["expected"])
    failed = room.answer(ada, right=False)["state"]
    assert (failed["agreed"], failed["pairs"], failed["answered"]) == (0, 12, 2)
    assert (failed["is_required"], failed["next"], failed["passed_at"]) == (True, None, None)
    assert ada.post(f"/projects/{room.project}/assignments").status_code == 409
    assert members(api, room.project)["Ada"]["practice_attempt"] == 1

    fresh = ada.post(f"{room.path}/attempt").json()
    assert (fresh["attempt"], fresh["answered"]) == (2, 0)
    orders.append(fresh["next"]["presented_order"])
    assert sorted(orders[0]) == sorted(orders[1])
    room.answer(ada, right=False)
    half = room.answer(ada, right=True)["state"]
    assert (half["agreed"], half["pairs"]) == (6, 12)
    assert half["passed_at"] is not None, "6 of 12 pairs are the half that is asked for"
    assert take(ada, room.project) is not None
    assert members(api, room.project)["Ada"]["practice_attempt"] == 2


def test_practice_counts_nowhere(api: TestClient, new_user: NewUser) -> None:
    room = Class(api, practice=2)
    ada, _ = new_user("annotator", room.project)
    before = {"mine": 0, "mine_today": 0, "done": 0, "wanted": 2, "available": 2}
    before |= {"open": 2, "passed": 0, "held": 0, "held_by_others": 0}
    assert ada.get(f"/projects/{room.project}/annotation").json() == before
    for right in (True, True):
        room.answer(ada, right=right)
    assert ada.get(f"/projects/{room.project}/annotation").json() == before
    assert api.get(f"/projects/{room.project}/judgments").json()["items"] == []
    agreement = api.get(f"/projects/{room.project}/agreement").json()
    assert agreement["everybody"]["judgments"] == 0
    body = {"name": "s", "kind": "preferences"}
    assert api.post(f"/projects/{room.project}/snapshots", json=body).status_code == 422
    # Nobody is given practice to judge, not even whoever leads.
    leased = [take(ada, room.project)["comparison"]["id"] for _ in range(2)]
    assert sorted(leased) == sorted(room.ids[2:])
    assert take(api, room.project) is None


def test_a_comparison_that_is_no_practice_any_more_wants_its_judgments_again(
    api: TestClient, new_user: NewUser
) -> None:
    room = Class(api, practice=0, comparisons=2, judgments_per_comparison=2)
    lease = take(api, room.project)
    comparison = lease["comparison"]["id"]
    api.post(f"/assignments/{lease['id']}/judgment", json=ranked(lease)).raise_for_status()
    ada, _ = new_user("annotator", room.project)
    where = f"/projects/{room.project}/annotation"
    before = ada.get(where).json()
    assert (before["wanted"], before["done"], before["available"]) == (4, 1, 2)

    room.mark(comparison).raise_for_status()
    closed = ada.get(where).json()
    assert (closed["wanted"], closed["done"], closed["available"]) == (3, 1, 1)
    path = f"{room.path}/comparisons/{comparison}"
    assert api.delete(path).status_code == 204
    assert api.delete(path).status_code == 404

    assert ada.get(where).json() == before
    mine = api.get(where).json()
    assert mine["available"] == 1, "whoever has judged it does not get it again"
    leased = {take(ada, room.project)["comparison"]["id"] for _ in range(2)}
    assert leased == set(room.ids)


def test_what_is_expected_is_changed_and_kept_within_limits(
    api: TestClient, new_user: NewUser
) -> None:
    room = Class(api, practice=1, comparisons=MOST_COMPARISONS + 1)
    a, b, *rest = room.orders[room.ids[0]]
    changed = room.mark(room.ids[0], verdict="ranked", tiers=[[b, a]], unranked=rest).json()
    assert changed["expected"][0]["tiers"] == [[b, a]]
    (listed,) = api.get(f"{room.path}/comparisons").json()["items"]
    assert listed == changed
    for wrong in (
        {"verdict": "all_bad"},
        {"verdict": "ranked", "tiers": [[a]], "unranked": [b, *rest]},
    ):
        refused = room.mark(room.ids[0], **wrong)
        assert refused.status_code == 422
        assert "places fewer than two responses" in refused.json()["detail"]
    for comparison in room.ids[1:MOST_COMPARISONS]:
        room.mark(comparison).raise_for_status()
    full = room.mark(room.ids[MOST_COMPARISONS])
    assert (full.status_code, "50 are allowed" in full.json()["detail"]) == (409, True)
    rosa, _ = new_user("researcher", room.project)
    ada, _ = new_user("annotator", room.project)
    assert rosa.get(f"{room.path}/comparisons").status_code == 200
    assert not rosa.get(room.path).json()["is_required"]
    assert ada.get(f"{room.path}/comparisons").status_code == 403
    other = new_project(api)
    assert api.delete(f"/projects/{other}/practice/comparisons/{room.ids[0]}").status_code == 404
    assert ada.post(f"{room.path}/{room.ids[50]}/answer", json=ranked_as(a)).status_code == 404


def test_an_explanation_is_changed_and_what_is_expected_stays(
    api: TestClient, new_user: NewUser
) -> None:
    room = Class(api, practice=1)
    before = api.get(f"{room.path}/comparisons").json()["items"][0]
    # The project may have asked for something else when the comparison was chosen.
    api.patch(f"/projects/{room.project}", json={"criteria": [HELPFUL]}).raise_for_status()
    path = f"{room.path}/comparisons/{room.ids[0]}"
    changed = api.patch(path, json={"explanation": "In **other** words."})
    assert changed.json() == {**before, "explanation": "In **other** words."}
    ada, _ = new_user("annotator", room.project)
    assert room.answer(ada, right=True)["explanation"] == "In **other** words."

    assert api.patch(path, json={"explanation": "x" * 10_001}).status_code == 422
    assert ada.patch(path, json={"explanation": "mine"}).status_code == 403
    none = api.patch(f"{room.path}/comparisons/{room.ids[1]}", json={"explanation": "e"})
    assert (none.status_code, "not a practice comparison" in none.json()["detail"]) == (404, True)


def ranked_as(*order: str) -> dict[str, Any]:
    """A ranking in this order."""
    return {"verdict": "ranked", "tiers": [[one] for one in order]}


def test_practice_asks_for_every_criterion(api: TestClient, new_user: NewUser) -> None:
    project = new_project(api, 2, criteria=[HELPFUL, HARMLESS])
    lease = take(api, project)
    comparison, order = lease["comparison"]["id"], texts(lease)
    each = [[one] for one in order]
    path = f"/projects/{project}/practice"
    expected = {"rankings": [by("helpful", *each), by("harmless", *each[::-1])]}
    told = api.put(f"{path}/comparisons/{comparison}", json={"expected": ranked_as(*order)})
    assert told.status_code == 422
    api.put(f"{path}/comparisons/{comparison}", json={"expected": expected}).raise_for_status()
    ada, _ = new_user("annotator", project)
    assert ada.get(path).json()["next"]["criteria"] == [HELPFUL, HARMLESS]
    answer = {"rankings": [by("helpful", *each), by("harmless", *each)]}
    feedback = ada.post(f"{path}/{comparison}/answer", json=answer).json()
    assert (feedback["agreed"], feedback["pairs"]) == (6, 12)
    assert [one["criterion"] for one in feedback["expected"]] == ["helpful", "harmless"]


def test_a_project_goes_back_to_before_there_was_practice(service: Service, store_url: str) -> None:
    room = Class(service.client(), practice=1)
    service.app.state.database.close()
    migrate_back(store_url, "0018")
    migrate(store_url)
    state = room.api.get(room.path).json()
    assert (state["comparisons"], state["bar"]) == (0, 0.8)
    assert room.api.get(f"/projects/{room.project}/annotation").json()["available"] == 3
