"""What the route answers about judgments that are really in the store, on both databases."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.store.db import Database
from backend.store.tables.data import Response
from backend.store.tables.runs import Run
from tests import processes
from tests.backend.conftest import Service
from tests.backend.test_loop import upload

NOW = datetime(2026, 12, 1, tzinfo=UTC)
COMPARISONS = 25
ALIKE = 15


def row(number: int, annotator: str, *, best: str) -> dict[str, Any]:
    """A native preference; the response `long` is longer and is shown first."""
    return {
        "judgment_id": f"j{number}{annotator}",
        "comparison_id": f"c{number}",
        "prompt_id": f"p{number}",
        "messages": [{"role": "user", "content": f"Question {number}?"}],
        "responses": [
            {"id": "long", "content": f"a longer answer {number}"},
            {"id": "short", "content": f"answer {number}"},
        ],
        "tiers": [[best], ["long" if best == "short" else "short"]],
        "unranked": [],
        "verdict": "ranked",
        "annotator": annotator,
        "presented_order": ["long", "short"],
    }


@pytest.fixture
def project(api: TestClient) -> str:
    """Anna always takes the longer one; Ben does so in the first fifteen of 25 comparisons."""
    made = str(api.post("/projects", json={"name": "P"}).json()["id"])
    anna = (row(n, "anna", best="long") for n in range(COMPARISONS))
    ben = (row(n, "ben", best="long" if n < ALIKE else "short") for n in range(COMPARISONS))
    report = upload(api, made, "preferences", *anna, *ben)
    assert report["accepted"] == 2 * COMPARISONS
    return made


def test_the_answer_holds_the_numbers_worked_by_hand(api: TestClient, project: str) -> None:
    """15 of 25 alike without ties: 0.6 observed, 0.5 by chance, 0.2 beyond it."""
    answer = api.get(f"/projects/{project}/agreement").json()

    headline = answer["everybody"]["agreement"]
    low, high = headline.pop("interval")
    assert headline == {
        "value": pytest.approx(0.2), "observed": pytest.approx(0.6), "expected": 0.5,
        "comparisons": COMPARISONS,
    }  # fmt: skip
    # Wilson's interval of 10 in 25 with t = 2.064, from disagreement to agreement.
    assert (1 - high, 1 - low) == pytest.approx((2 * 0.2265, 2 * 0.6019), abs=0.02)
    assert answer["judged_twice"] == COMPARISONS

    anna, ben = answer["annotators"]
    assert (anna["name"], ben["name"]) == ("anna (imported)", "ben (imported)")
    assert (anna["longer"]["value"], ben["longer"]["value"]) == (1, 0.6)
    assert anna["first_shown"]["interval"][0] > anna["first_shown"]["by_chance"] == 0.5
    assert anna["agreement"] == answer["everybody"]["agreement"] | {"interval": [low, high]}
    assert (anna["tie_rate"], anna["median_active_s"]) == (0, None)
    assert anna["self_consistency"]["comparisons"] == 0

    (ranks,) = answer["ranks"]
    assert ranks.pop("alpha_interval") == pytest.approx([low, high], abs=0.02)
    assert ranks.pop("kendalls_w_interval") == pytest.approx([(1 + low) / 2, (1 + high) / 2])
    assert [ranks] == [
        {
            "responses": 2, "comparisons": COMPARISONS, "alpha": pytest.approx(0.208),
            "kendalls_w": pytest.approx(0.6), "kendalls_w_by_chance": 0.5,
        }
    ]  # fmt: skip
    assert len(answer["disputes"]) == COMPARISONS - ALIKE
    assert {one["agreement"] for one in answer["disputes"]} == {-1}
    questions = {f"Question {n}?" for n in range(ALIKE, COMPARISONS)}
    assert {one["prompt"] for one in answer["disputes"]} == questions
    assert len(answer["weeks"]) == 1
    assert answer["weeks"][0]["judgments"] == 2 * COMPARISONS


def test_an_annotator_who_changes_their_name_is_called_by_it_at_once(
    api: TestClient, project: str
) -> None:
    address = f"/projects/{project}/agreement"
    anna = api.get(address).json()["annotators"][0]

    api.patch(f"/users/{anna['user_id']}", json={"name": "Zoe"}).raise_for_status()

    names = {one["name"] for one in api.get(address).json()["annotators"]}
    assert names == {"Zoe", "ben (imported)"}


def test_a_viewer_is_not_told_who_the_annotators_are(
    api: TestClient, project: str, new_user: Callable[..., tuple[TestClient, dict[str, Any]]]
) -> None:
    """Neither while the answer for researchers is kept, nor the other way round."""
    viewer, _ = new_user("viewer", project)
    researcher, _ = new_user("researcher", project)

    def names(client: TestClient) -> list[str | None]:
        answer = client.get(f"/projects/{project}/agreement").json()
        return [one["name"] for one in answer["annotators"]]

    for _ in range(2):
        assert names(researcher) == ["anna (imported)", "ben (imported)"]
        assert names(viewer) == [None, None]


def test_who_is_a_researcher_no_longer_reads_no_names_from_an_earlier_job(
    api: TestClient,
    service: Service,
    project: str,
    new_user: Callable[..., tuple[TestClient, dict[str, Any]]],
) -> None:
    person, user = new_user("researcher", project)
    asked = person.get(f"/projects/{project}/agreement", headers={"Prefer": "respond-async"})
    address = f"/jobs/{asked.json()['id']}"

    def names() -> list[str | None]:
        result = person.get(address).raise_for_status().json()["result"]
        return [one["name"] for one in result["annotators"]]

    processes.wait_until(lambda: api.get(address).json()["result"] is not None, "it has ended")
    assert names() == ["anna (imported)", "ben (imported)"]
    service.app.state.traces.write()
    before = len(api.get("/audit", params={"action": "get_job"}).json()["items"])
    memberships = [{"project_id": project, "role": "viewer"}]
    change = {"role": "viewer", "memberships": memberships}
    api.patch(f"/users/{user['id']}", json=change).raise_for_status()

    assert names() == [None, None]
    ended = person.delete(address).raise_for_status().json()
    assert [one["name"] for one in ended["result"]["annotators"]] == [None, None]
    service.app.state.traces.write()
    reads = api.get("/audit", params={"action": "get_job"}).json()["items"]
    assert len(reads) == before + 1
    assert (reads[0]["user_id"], reads[0]["object_id"]) == (user["id"], asked.json()["id"])
    assert reads[0]["data"]["outcome"] == "done"


def test_one_judgment_each_is_no_agreement(api: TestClient) -> None:
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    upload(api, project, "preferences", *(row(n, "anna", best="long") for n in range(3)))
    answer = api.get(f"/projects/{project}/agreement").json()

    assert answer["everybody"]["agreement"] == {
        "value": None, "interval": None, "observed": None, "expected": None, "comparisons": 0,
    }  # fmt: skip
    assert (answer["judged_twice"], answer["ranks"], answer["disputes"]) == (0, [], [])
    assert answer["annotators"][0]["judgments"] == 3


def scored(database: Database, project: str, user: str, reward: Any, better: str) -> None:
    """One run sampled all responses: this term gave the longer more, all others gave it less."""
    run = Run(
        id="run_scored", project_id=project, user_id=user, name="scored", method="generate",
        config={"method": "generate", "reward": reward}, schema_version=1, tags=[],
        state="succeeded", environment={}, summary={}, created_at=NOW,
    )  # fmt: skip
    with database.write() as session:
        session.add(run)
        session.flush()
        for response in session.scalars(select(Response).where(Response.project_id == project)):
            score = 1.0 if response.content.startswith("a longer") else -1.0
            others = dict.fromkeys(("model", "model_2", "polite", "regex"), -score)
            response.run_id, response.scores = run.id, others | {better: score}


NAMED = {"kind": "model", "name": "polite"}


@pytest.mark.parametrize(
    ("reward", "term"),
    [
        ([NAMED], "polite"),
        ({"terms": [{"kind": "regex"}, NAMED]}, "polite"),
        ([{"kind": "model"}, {"kind": "model"}, NAMED], "model"),
        ([{"kind": "regex", "name": "model"}, NAMED], "polite"),
    ],
    ids=["named", "terms of a reward", "the first of several", "another kind called model"],
)
def test_the_reward_model_is_the_first_term_of_its_kind_whatever_its_name(
    api: TestClient, database: Database, project: str, reward: Any, term: str
) -> None:
    scored(database, project, api.get("/me").json()["id"], reward, term)

    anna, ben = api.get(f"/projects/{project}/agreement").json()["annotators"]

    assert (anna["reward_accuracy"]["value"], ben["reward_accuracy"]["value"]) == (1, 0.6)


@pytest.mark.parametrize("reward", [[{"kind": "regex", "name": "model"}], [], None])
def test_scores_of_other_terms_are_no_rewards_of_a_model(
    api: TestClient, database: Database, project: str, reward: Any
) -> None:
    scored(database, project, api.get("/me").json()["id"], reward, "model")

    answer = api.get(f"/projects/{project}/agreement").json()

    assert answer["everybody"]["reward_accuracy"]["value"] is None
