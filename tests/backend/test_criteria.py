"""Criteria: ranked one after the other, stored and exported as typed, and compared one by one."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.schemas.comparisons import JudgmentBody
from backend.store.data.judgments import _body_hash
from tests.backend.conftest import Service
from tests.backend.test_assignments import ranked, take
from tests.backend.test_audit import lines
from tests.backend.test_loop import comparison, upload
from tests.conftest import migrate, migrate_back

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]

HELPFUL = {"name": "helpful", "question": "Which response helps more?"}
HARMLESS = {"name": "harmless", "question": "Which response does less harm?"}


@pytest.fixture
def project(api: TestClient) -> str:
    """A project with ten comparisons of four, ranked by two criteria."""
    return new_project(api, criteria=[HELPFUL, HARMLESS], judgments_per_comparison=2)


def new_project(api: TestClient, comparisons: int = 10, **more: Any) -> str:
    """A project with comparisons of four."""
    made = api.post("/projects", json={"name": "P", **more}).raise_for_status().json()["id"]
    upload(api, made, "comparisons", *(comparison(number) for number in range(comparisons)))
    return str(made)


def by(criterion: str, *tiers: list[str], **more: Any) -> dict[str, Any]:
    """A ranking under a criterion."""
    return {"criterion": criterion, "verdict": "ranked", "tiers": list(tiers), **more}


def texts(lease: Any) -> list[str]:
    """The ids of the responses in the order of their texts."""
    shown = sorted(lease["comparison"]["responses"], key=lambda one: one["content"])
    return [one["id"] for one in shown]


def judge(client: TestClient, lease: Any, **body: Any) -> Any:
    """Judge a comparison; returns the answer."""
    return client.post(f"/assignments/{lease['id']}/judgment", json=body)


def test_what_is_ranked_by_each_criterion_is_what_is_stored_listed_and_exported(
    api: TestClient, project: str
) -> None:
    lease = take(api, project)
    assert lease["criteria"] == [HELPFUL, HARMLESS]
    a, b, c, d = texts(lease)
    rankings = [
        by("harmless", [b, a], [d], unranked=[c]),  # in any order
        by("helpful", [a], [b], [c], [d]),
    ]
    said = judge(api, lease, rankings=rankings, comment="n", flags=[d]).json()

    helpful = {"criterion": "helpful", "question": HELPFUL["question"], "verdict": "ranked",
               "tiers": [[a], [b], [c], [d]], "unranked": [], "reasons": []}  # fmt: skip
    harmless = {"criterion": "harmless", "question": HARMLESS["question"], "verdict": "ranked",
                "tiers": [[b, a], [d]], "unranked": [c], "reasons": []}  # fmt: skip
    assert said["rankings"] == [helpful, harmless]
    assert (said["tiers"], said["verdict"], said["flags"]) == (helpful["tiers"], "ranked", [d])
    (listed,) = api.get(f"/projects/{project}/judgments").json()["items"]
    assert said.items() <= listed.items()
    again = judge(api, lease, rankings=rankings, comment="n", flags=[d]).json()
    assert again["id"] == said["id"], "the same body again is the same judgment"

    for criterion, expected in ((None, helpful), ("harmless", harmless)):
        body = {"name": "s", "kind": "preferences", "criterion": criterion}
        snapshot = api.post(f"/projects/{project}/snapshots", json=body).json()
        assert snapshot["criterion"] == expected["criterion"]
        (line,) = exported(api, snapshot)
        without_reasons = [
            {name: one[name] for name in one if name != "reasons"} for one in (helpful, harmless)
        ]
        assert line["rankings"] == without_reasons
        assert line["criterion"] == expected["criterion"]
        for name in ("tiers", "unranked", "verdict"):
            assert line[name] == expected[name]
    # Pair formats hold the pairs of the snapshot's criterion: b = a > d.
    rows = exported(api, snapshot, format="openrlhf")
    contents = {one["id"]: one["content"] for one in lease["comparison"]["responses"]}
    assert {(row["chosen"], row["rejected"]) for row in rows} == {
        (contents[a], contents[d]), (contents[b], contents[d])
    }  # fmt: skip


def exported(api: TestClient, snapshot: Any, **query: str) -> list[dict[str, Any]]:
    """The rows of a snapshot."""
    answer = api.get(f"/snapshots/{snapshot['id']}/export", params=query).raise_for_status()
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_native_export_is_an_import_that_says_the_same(api: TestClient, project: str) -> None:
    lease = take(api, project)
    a, b, c, d = texts(lease)
    rankings = [by("helpful", [a, b], [c], unranked=[d]), by("harmless", [d], [c], [b], [a])]
    judge(api, lease, rankings=rankings).raise_for_status()
    body = {"name": "s", "kind": "preferences", "criterion": "harmless"}
    snapshot = api.post(f"/projects/{project}/snapshots", json=body).json()
    (row,) = exported(api, snapshot)

    other = api.post("/projects", json={"name": "Q"}).json()["id"]
    assert upload(api, other, "preferences", row)["accepted"] == 1
    assert upload(api, other, "preferences", row)["duplicates"] == 1

    (kept,) = api.get(f"/projects/{other}/judgments").json()["items"]
    # The first criterion stands for a judgment, whichever was frozen.
    assert [len(tier) for tier in kept["tiers"]] == [2, 1]
    copy = api.post(f"/projects/{other}/snapshots", json=body).json()
    (line,) = exported(api, copy)
    assert by_text(line) == by_text(row)
    reversed_row = {**row, "rankings": [{**row["rankings"][0], "tiers": [[c], [a, b]]},
                                        row["rankings"][1]]}  # fmt: skip
    told = upload(api, other, "preferences", reversed_row)
    assert "already judged" in told["rejected"][0]["reason"]
    # As code, for a letter in two parts looks like the one that it is to be.
    decomposed = [{**row["rankings"][0], "criterion": "cafe\u0301"}, row["rankings"][1]]
    for wrong, why in (
        ({"rankings": decomposed}, r"'cafe\u0301' must have no spaces around it"),
        ({"criterion": "honest"}, "has no ranking by it"),
        ({"tiers": [[a], [b], [c], [d]]}, "differ from the ranking by 'harmless'"),
        ({"rankings": [row["rankings"][1]] * 2}, "names a criterion twice"),
    ):
        assert why in upload(api, other, "preferences", row | wrong)["rejected"][0]["reason"]


def by_text(line: dict[str, Any]) -> Any:
    """A line with texts instead of ids, which differ from project to project."""
    content = {one["id"]: one["content"] for one in line["responses"]}
    said = [line, *line["rankings"]]
    return line["criterion"], [
        (one.get("question"), one["verdict"], [[content[i] for i in t] for t in one["tiers"]],
         [content[i] for i in one["unranked"]]) for one in said
    ]  # fmt: skip


def test_a_judgment_answers_every_criterion_or_is_refused_whole(
    api: TestClient, project: str
) -> None:
    lease = take(api, project)
    order = texts(lease)
    each = [[one] for one in order]
    helpful, harmless = by("helpful", *each), by("harmless", *each)
    refused = {
        "ranks by helpful, but not by harmless": {"rankings": [helpful]},
        "has no `rankings`": ranked(lease),
        "the criterion 'honest'": {"rankings": [helpful, by("honest", *each)]},
        "'helpful' twice": {"rankings": [helpful, helpful, harmless]},
        "`verdict` beside them": {"rankings": [helpful, harmless], "verdict": "ranked"},
        "under the criterion 'harmless': response": {
            "rankings": [helpful, by("harmless", *each[:3])]
        },
    }
    for why, body in refused.items():
        answer = judge(api, lease, **body)
        assert answer.status_code == 422, why
        assert why in answer.json()["detail"]
        assert answer.json()["advice"]
    assert api.get(f"/projects/{project}/judgments").json()["items"] == []
    bad = {"criterion": "harmless", "verdict": "cannot_judge", "reasons": ["unreadable"]}
    said = judge(api, lease, rankings=[helpful, bad]).json()
    assert sorted(said["rankings"][1]["unranked"]) == sorted(order)
    assert said["rankings"][1]["reasons"] == ["unreadable"]
    assert said["reasons"] == []


def test_a_judgment_keeps_the_criteria_that_it_was_asked_for(api: TestClient, project: str) -> None:
    first, second = take(api, project), take(api, project)
    each = [[one] for one in texts(first)]
    judge(api, first, rankings=[by("helpful", *each), by("harmless", *each)]).raise_for_status()
    honest = {"name": "honest", "question": "Which response is true?"}
    changed = api.patch(f"/projects/{project}", json={"criteria": [honest, HELPFUL]}).json()
    assert changed["criteria"] == [honest, HELPFUL]

    # What is at hand is answered as it was asked; what is leased from now on, as it is now.
    late = [[one] for one in texts(second)]
    told = judge(api, second, rankings=[by("helpful", *late), by("harmless", *late)])
    assert told.status_code == 201
    third = take(api, project)
    assert third["criteria"] == [honest, HELPFUL]
    mixed = judge(api, third, rankings=[by("helpful", *late), by("harmless", *late)])
    assert "this comparison is ranked by honest, helpful" in mixed.json()["detail"]
    new = [[one] for one in texts(third)]
    judge(api, third, rankings=[by("honest", *new), by("helpful", *new)]).raise_for_status()

    kept = api.get(f"/projects/{project}/judgments?oldest_first=true").json()["items"]
    names = [[one["criterion"] for one in judgment["rankings"]] for judgment in kept]
    assert names == [["helpful", "harmless"], ["helpful", "harmless"], ["honest", "helpful"]]
    frozen = {}
    for criterion in (None, "helpful", "harmless"):
        body = {"name": "s", "kind": "preferences", "criterion": criterion}
        made = api.post(f"/projects/{project}/snapshots", json=body).json()
        frozen[made["criterion"]] = made["counts"]["train"]["records"]
    assert frozen == {"honest": 1, "helpful": 3, "harmless": 2}
    counts = api.get(f"/projects/{project}/judgments/counts").json()
    assert counts == {
        "judgments": 3,
        "reviews": 0,
        "criteria": [
            {"criterion": "honest", "judgments": 1},
            {"criterion": "helpful", "judgments": 3},
            {"criterion": "harmless", "judgments": 2},
            {"criterion": "", "judgments": 0},
        ],
    }
    body = {"name": "s", "kind": "preferences", "criterion": ""}
    none = api.post(f"/projects/{project}/snapshots", json=body)
    assert none.status_code == 422
    body["criterion"] = "kind"
    answer = api.post(f"/projects/{project}/snapshots", json=body).json()
    assert "no judgment was given under the criterion 'kind'" in answer["detail"]
    (line,) = lines(api, action="change_project")
    assert [one["name"] for one in line["data"]["after"]["criteria"]] == ["honest", "helpful"]


def test_a_project_that_drops_its_criteria_asks_for_one_ranking(
    api: TestClient, project: str
) -> None:
    api.patch(f"/projects/{project}", json={"criteria": []}).raise_for_status()
    lease = take(api, project)
    assert lease["criteria"] == []
    each = [[one] for one in texts(lease)]
    told = judge(api, lease, rankings=[by("helpful", *each)])
    assert "without criteria" in told.json()["detail"]
    assert "has no `verdict`" in judge(api, lease, tiers=each).json()["detail"]
    assert judge(api, lease, **ranked(lease)).json()["rankings"] == []


def test_agreement_is_measured_under_each_criterion(
    api: TestClient, project: str, new_user: NewUser
) -> None:
    people = [new_user("annotator", project, name=name)[0] for name in ("Ada", "Bela")]
    for number, client in enumerate(people):
        for _ in range(10):
            lease = take(client, project)
            order = [[one] for one in texts(lease)]
            other = order if number == 0 else order[::-1]
            body = [by("helpful", *order), by("harmless", *other)]
            judge(client, lease, rankings=body).raise_for_status()
    path = f"/projects/{project}/agreement"
    found = {
        asked: api.get(path, params={"criterion": asked} if asked is not None else {}).json()
        for asked in (None, "helpful", "harmless", "")
    }
    value = {asked: one["everybody"]["agreement"]["value"] for asked, one in found.items()}
    # Both say the same of helpful; of harmless the one says the opposite of the other, where
    # chance says the same of half of the pairs: (0 - 1/2) / (1 - 1/2).
    assert value == {None: 1.0, "helpful": 1.0, "harmless": -1.0, "": None}
    assert found[None]["criterion"] == "helpful"
    assert found[""]["everybody"]["judgments"] == 0


def test_several_judgments_become_one_record_of_the_criterion(
    api: TestClient, new_user: NewUser
) -> None:
    project = new_project(api, 1, criteria=[HELPFUL, HARMLESS], judgments_per_comparison=2)
    people = [new_user("annotator", project, name=name)[0] for name in ("Ada", "Bela")]
    for client in people:
        lease = take(client, project)
        order = [[one] for one in texts(lease)]
        body = [by("helpful", *order), by("harmless", *order[::-1])]
        judge(client, lease, rankings=body).raise_for_status()
    body = {"name": "s", "kind": "preferences", "criterion": "harmless",
            "aggregation": "ranked_pairs"}  # fmt: skip
    snapshot = api.post(f"/projects/{project}/snapshots", json=body).json()
    (line,) = exported(api, snapshot)
    assert line["tiers"] == order[::-1]
    (ranking,) = line["rankings"]
    assert (ranking["criterion"], ranking["tiers"]) == ("harmless", order[::-1])
    other = api.post("/projects", json={"name": "Q"}).json()["id"]
    assert upload(api, other, "preferences", line)["accepted"] == 1


@pytest.mark.parametrize(
    ("criteria", "why"),
    [
        ([HELPFUL, {**HARMLESS, "name": "Helpful"}], "two criteria are called"),
        ([{"name": f"c{n}", "question": "q"} for n in range(6)], "at most 5 items"),
        ([{"name": "x" * 41, "question": "q"}], "at most 40 characters"),
        ([{"name": "x", "question": "q" * 301}], "at most 300 characters"),
        ([{"name": " ", "question": "q"}], "name is empty"),
        ([{"name": "a\u200bb", "question": "q"}], "cannot be seen"),
    ],
)
def test_criteria_are_five_names_that_differ(
    light_service: Service, criteria: list[Any], why: str
) -> None:
    api = light_service.client()
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    for answer in (
        api.patch(f"/projects/{project}", json={"criteria": criteria}),
        api.post("/projects", json={"name": "Q", "criteria": criteria}),
    ):
        assert answer.status_code == 422
        assert why in answer.text
    assert api.get(f"/projects/{project}").json()["criteria"] == []


def test_only_preferences_have_a_criterion(light_service: Service) -> None:
    api = light_service.client()
    project = new_project(api, criteria=[HELPFUL])
    body = {"name": "s", "kind": "prompts"}
    assert api.post(f"/projects/{project}/snapshots", json=body).json()["criterion"] == ""
    body["criterion"] = "helpful"
    answer = api.post(f"/projects/{project}/snapshots", json=body)
    assert "does not fit a snapshot of prompts" in answer.json()["detail"]


def test_without_criteria_hashes_of_bodies_and_lines_are_what_they_were(
    light_service: Service,
) -> None:
    body = JudgmentBody.model_validate({"verdict": "ranked", "tiers": [["a"], ["b"]]})
    # Computed before there were criteria.
    assert _body_hash(body) == "1b13c7b4f10a6047985a1c70ff7b76925dfe4c829d0c1153bcc80c6656ab4115"
    api = light_service.client()
    project = new_project(api)
    lease = take(api, project)
    judge(api, lease, **ranked(lease)).raise_for_status()
    made = {"name": "s", "kind": "preferences"}
    snapshot = api.post(f"/projects/{project}/snapshots", json=made).json()
    (line,) = exported(api, snapshot)
    assert list(line) == ["judgment_id", "comparison_id", "prompt_id", "messages", "responses",
                          "tiers", "unranked", "verdict", "annotator", "presented_order",
                          "split"]  # fmt: skip


def test_what_was_judged_before_there_were_criteria_stays(service: Service, store_url: str) -> None:
    api = service.client()
    project = new_project(api)
    first, second = take(api, project), take(api, project)
    judge(api, first, **ranked(first)).raise_for_status()
    service.app.state.database.close()
    migrate_back(store_url, "0017")
    migrate(store_url)
    assert api.get(f"/projects/{project}").json()["criteria"] == []
    api.patch(f"/projects/{project}", json={"criteria": [HELPFUL]}).raise_for_status()
    judge(api, second, **ranked(second)).raise_for_status()
    body = {"name": "s", "kind": "preferences", "criterion": ""}
    snapshot = api.post(f"/projects/{project}/snapshots", json=body).json()
    assert snapshot["counts"]["train"]["records"] == 2


def test_judgments_are_counted_as_a_snapshot_takes_them(api: TestClient) -> None:
    project = new_project(api)
    counts = f"/projects/{project}/judgments/counts"
    assert api.get(counts).json() == {
        "judgments": 0,
        "reviews": 0,
        "criteria": [{"criterion": "", "judgments": 0}],
    }
    first, second = take(api, project), take(api, project)
    path = f"/assignments/{first['id']}/judgment"
    api.post(path, json=ranked(first)).raise_for_status()
    # A revision replaces what it revises; what differs without saying so is kept for review.
    other = ranked(first) | {"tiers": [[one] for one in reversed(texts(first))]}
    api.post(path, json=other | {"comment": "again", "revise": True}).raise_for_status()
    kept = api.post(path, json=other | {"comment": "once more"}).json()
    assert kept["review_reason"] == "differs"
    api.patch(f"/projects/{project}", json={"criteria": [HELPFUL]}).raise_for_status()
    asked = take(api, project)
    judge(api, asked, rankings=[by("helpful", *[[one] for one in texts(asked)])]).raise_for_status()
    judge(api, second, **ranked(second)).raise_for_status()

    found = api.get(counts).json()
    assert (found["judgments"], found["reviews"]) == (3, 1)
    assert found["criteria"] == [
        {"criterion": "helpful", "judgments": 1},
        {"criterion": "", "judgments": 2},
    ]
    for one in found["criteria"]:
        body = {"name": "s", "kind": "preferences", "criterion": one["criterion"]}
        made = api.post(f"/projects/{project}/snapshots", json=body).json()
        assert made["counts"]["train"]["records"] == one["judgments"]
