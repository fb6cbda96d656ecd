"""Problems with known answers, made by the service: as many as were asked for, or why not."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from fastapi.testclient import TestClient

from backend.errors import NoSpace, TooLarge
from backend.jobs import memory, problem_set
from backend.schemas.data import MadeLevel, ProblemSetAnswer
from backend.store.data import imports
from backend.store.data.import_rows import IMPORT_OUTCOME, NewImport
from backend.store.ids import new_id
from problems import making
from problems.problem import Problem
from tests.backend.conftest import Service, serve
from tests.backend.imports.work import AT, Order, Place, Stop, stop_after
from tests.backend.jobs.test_job_routes import ended
from tests.backend.test_loop import upload

ASYNC = {"Prefer": "respond-async"}
COUNTS = ("accepted", "duplicates", "rejected_total")


@pytest.fixture
def project(light_api: TestClient) -> str:
    """An empty project."""
    return str(light_api.post("/projects", json={"name": "P"}).json()["id"])


@pytest.fixture
def light_api(light_service: Service) -> TestClient:
    """The administrator's client."""
    return light_service.client()


def make(api: TestClient, project: str, **asked: Any) -> dict[str, Any]:
    answer = api.post(f"/projects/{project}/problem-sets", json=asked)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def counts(made: dict[str, Any]) -> tuple[int, ...]:
    return tuple(made[name] for name in COUNTS)


def order(place: Place, **body: Any) -> Order:
    """What a child is asked for, whose import has begun."""
    arguments = {"project_id": place.project, "user_id": place.user, "body": body}
    asked = Order(place.database, place.settings, arguments, job_id=new_id("job"))
    import_id = imports.of_job(asked.job_id)
    new = NewImport(import_id, place.project, place.user, "prompts", "native")
    with place.database.write() as session:
        assert imports.begin(session, new, at=AT)
    return asked


def done(place: Place, order: Order) -> ProblemSetAnswer:
    """What the route and its child do."""
    made = problem_set.problem_set(order)
    outcome = IMPORT_OUTCOME.validate_python(made["outcome"])
    with place.database.write() as session:
        answer = imports.complete(session, NewImport(**made["new"]), outcome)
    told = {"set": order.arguments["body"]["set"], "seed": 0, "split": "train"}
    return ProblemSetAnswer(**answer.model_dump(), **told, levels=made["levels"])


def test_the_service_makes_what_the_command_writes(api: TestClient) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    asked = {"set": "knights", "levels": [3, 2], "count": 3, "seed": 7, "split": "test"}

    made = make(api, project, **asked)

    assert counts(made) == (6, 0, 0)
    assert (made["set"], made["seed"], made["split"]) == ("knights", 7, "test")
    level = {"wanted": 3, "made": 3, "accepted": 3, "duplicates": 0, "rejected": 0, "reason": None}
    assert made["levels"] == [{"level": 2, **level}, {"level": 3, **level}]
    command = [sys.executable, "-m", "backend.cli", "problems", "make", "knights", "--levels"]
    command += ["2-3", "--count", "3", "--seed", "7", "--split", "test"]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told(api, project) == in_order(json.loads(line) for line in written.splitlines())

    again = make(api, project, **asked)
    assert counts(again) == (0, 6, 0)
    assert [one["duplicates"] for one in again["levels"]] == [3, 3]
    (line, _) = api.get("/audit", params={"action": "make_problem_set"}).json()["items"]
    assert line["object_id"] == project


def told(api: TestClient, project: str) -> list[dict[str, Any]]:
    """The prompts as the command writes them."""
    return in_order(
        {
            "prompt": one["messages"][0]["content"],
            **{name: one[name] for name in ("reference", "tags", "metadata")},
        }
        for one in api.get(f"/projects/{project}/prompts").json()["items"]
    )


def in_order(prompts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(prompts, key=lambda one: str(one["prompt"]))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "knights" else ())
        for name in making.MADE
    ],
)
def test_no_level_contradicts_another_and_all_that_was_made_is_there(
    light_place: Place, name: str
) -> None:
    # Puzzles take long to make: few of the larger ones. Of two people fewer than 400 are found.
    smallest, *larger = making.MADE[name].levels
    parts = [([smallest, *larger], 500)] if name != "knights" else [([smallest], 400), (larger, 40)]
    levels: list[MadeLevel] = []
    for asked, count in parts:
        found = done(light_place, order(light_place, set=name, levels=asked, count=count))
        assert (found.duplicates, found.rejected_total, found.rejected) == (0, 0, [])
        assert found.accepted == sum(one.made for one in found.levels)
        assert {one.wanted for one in found.levels} == {count}
        levels += found.levels

    assert [one.level for one in levels] == [smallest, *larger]
    assert sum(one.made for one in levels) == light_place.rows()["prompts"]
    for one in levels:
        assert one.accepted == one.made
        assert (one.made == one.wanted) == (one.reason is None)
        assert one.reason is None or f"only {one.made} different problems" in one.reason
    assert levels[-1].made == levels[-1].wanted


def test_a_level_with_fewer_problems_gives_all_and_says_so(
    light_api: TestClient, project: str
) -> None:
    """Sums of two digits: 55 up to their order, some of them of the test split."""
    made = make(light_api, project, set="arithmetic", levels=[1, 2])

    first, second = made["levels"]
    assert 30 < first["made"] < 55
    assert first["reason"] == (
        f"only {first['made']} different problems were found for the train split; "
        "all of them were made"
    )
    assert (second["made"], second["reason"]) == (100, None)
    assert counts(made) == (first["made"] + 100, 0, 0)


def test_what_contradicts_the_project_is_counted_where_it_belongs(
    light_api: TestClient, project: str
) -> None:
    [problem] = making.MADE["lists"].make(3, 1, seed=0)
    upload(light_api, project, "prompts", {**problem.record, "reference": "something else"})

    made = make(light_api, project, set="lists", levels=[2, 3], count=5)

    assert counts(made) == (9, 0, 1)
    assert [one["rejected"] for one in made["levels"]] == [0, 1]
    assert [one["line"] for one in made["rejected"]] == [6]
    assert "has this prompt already" in made["rejected"][0]["reason"]


@pytest.mark.parametrize(
    ("asked", "path", "said"),
    [
        ({"set": "knights", "levels": [3, 9]}, "levels", "there is no level 9 of knights; its "
         "levels are 2 to 8"),
        ({"set": "stories", "levels": []}, "levels", "at least 1 item"),
        ({"set": "sudoku"}, "set", "Input should be 'knights'"),
        ({"set": "lists", "count": 0}, "count", "greater than or equal to 1"),
        ({"set": "lists", "count": 5001}, "count", "less than or equal to 5000"),
        ({"set": "knights", "count": 3000}, "", "3000 problems of each of 7 levels are 21000; at "
         "most 20000"),
        ({"set": "lists", "seed": -1}, "seed", "greater than or equal to 0"),
        ({"set": "lists", "split": "heldout"}, "split", "'train' or 'test'"),
        ({"set": "lists", "colour": 1}, "colour", "not permitted"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for_is_said_at_once(
    light_api: TestClient, project: str, asked: dict[str, Any], path: str, said: str
) -> None:
    for headers in ({}, ASYNC):
        address = f"/projects/{project}/problem-sets"
        answer = light_api.post(address, json=asked, headers=headers)
        assert answer.status_code == 422
        [error] = answer.json()["errors"]
        assert error["path"] == path
        assert said in error["message"]


def test_a_body_has_at_most_64_kib(light_api: TestClient, project: str) -> None:
    asked = {"set": "lists", "levels": [1] * 40_000}
    answer = light_api.post(f"/projects/{project}/problem-sets", json=asked)
    assert answer.status_code == 413


def test_one_key_is_one_set_in_which_way_soever_it_is_sent(
    light_api: TestClient, project: str
) -> None:
    address = f"/projects/{project}/problem-sets"
    asked = {"set": "lists", "levels": [2], "count": 4}
    waiting = {"Idempotency-Key": "one"}
    first, second = (light_api.post(address, json=asked, headers=waiting) for _ in range(2))
    assert first.json() == second.json()
    assert counts(first.json()) == (4, 0, 0)
    assert second.headers["Idempotency-Replayed"] == "true"

    coming = {"Idempotency-Key": "two", **ASYNC}
    jobs = [
        light_api.post(address, json={**asked, "count": 6}, headers=coming).json()["id"]
        for _ in range(2)
    ]
    assert jobs[0] == jobs[1]
    job = ended(light_api, f"/jobs/{jobs[0]}")
    assert (job["kind"], job["state"]) == ("problem_set", "succeeded")
    assert job["progress"] == {"done": 12, "total": 12}
    assert counts(job["result"]) == (2, 4, 0)


def test_progress_counts_what_is_made_and_what_is_written(light_place: Place) -> None:
    counted: list[int] = []
    asked = order(light_place, set="stories", levels=[1, 2], count=60)

    def look(n_done: int, total: int | None) -> None:
        counted.append(n_done)
        assert total == 240
        # All are made before the first is written, and all are written before one is seen.
        assert light_place.rows()["prompts"] == max(0, n_done - 120)
        assert light_place.seen() == []

    asked.on_progress = look
    done(light_place, asked)

    assert counted == sorted(counted)
    assert (counted[0], counted[-1]) == (0, 240)
    assert 120 in counted
    assert len(light_place.seen()) == 120


def test_its_import_shows_life_while_problems_are_made(
    light_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making may take five minutes; an import without a sign of life for one is withdrawn."""
    monkeypatch.setattr(problem_set, "_LIVE_S", 0.0)
    beats: list[int] = []
    asked = order(light_place, set="stories", levels=[1], count=20)

    def look(n_done: int, total: int | None) -> None:
        with light_place.database.read() as session:
            (one,) = imports.unfinished(session, light_place.project)
        if n_done < 20:
            beats.append(one.beat)

    asked.on_progress = look
    assert done(light_place, asked).accepted == 20
    assert beats == sorted(set(beats))
    assert len(beats) >= 20


def test_progress_never_goes_back_where_a_level_runs_out(light_place: Place) -> None:
    counted: list[int] = []
    asked = order(light_place, set="arithmetic", levels=[1, 2], count=100)
    asked.on_progress = lambda done, total: counted.append(done)

    found = done(light_place, asked)

    assert found.levels[0].reason is not None
    assert counted == sorted(counted)
    assert counted[-1] == 2 * found.accepted


@pytest.mark.parametrize("after", [3, 150, 230])
def test_what_is_stopped_while_it_is_made_or_written_leaves_nothing(
    light_place: Place, after: int
) -> None:
    before = light_place.rows()
    asked = order(light_place, set="stories", levels=[1, 2], count=60)
    asked.on_progress = stop_after(after)

    with pytest.raises(Stop):
        problem_set.problem_set(asked)

    assert light_place.rows() == before


def test_making_has_a_limit_of_time_and_one_of_memory(
    light_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = light_place.rows()
    with monkeypatch.context() as patch:
        patch.setattr(problem_set, "LONGEST_S", 0.0)
        with pytest.raises(TooLarge, match="not made within 0 seconds") as late:
            problem_set.problem_set(order(light_place, set="lists"))
    assert late.value.advice == "Ask for fewer problems or levels at once."

    def greedy(*_: object, **__: object) -> list[Problem]:
        return [Problem(str(bytearray(2 * memory.MOST_MORE_BYTES)), "")]

    monkeypatch.setitem(making.MADE, "lists", making.Made(greedy, [1]))
    with pytest.raises(TooLarge, match="takes more memory"):
        problem_set.problem_set(order(light_place, set="lists", levels=[1]))
    assert light_place.rows() == before


@pytest.fixture
def full_api(sqlite_url: str, tmp_path: Path, children: Any) -> Iterator[TestClient]:
    """The client of a service that wants more room than any disk has."""
    for service in serve(sqlite_url, tmp_path / "data", children, min_free_gb=1_000_000):
        yield service.client()


def test_a_disk_that_is_full_while_problems_wait_on_it_is_said(
    light_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = light_place.rows()

    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, which this system does not have")

    def full(**_: object) -> IO[bytes]:
        return Path("/dev/full").open("r+b")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)

    with pytest.raises(NoSpace, match="disk of the service is full") as refused:
        problem_set.problem_set(order(light_place, set="lists", count=5))

    assert refused.value.advice is not None
    assert refused.value.advice.endswith("then ask for the problems again.")
    assert light_place.rows() == before


def test_too_little_free_space_is_said_in_words_of_what_was_asked_for(full_api: TestClient) -> None:
    project = full_api.post("/projects", json={"name": "P"}).json()["id"]
    refused = full_api.post(f"/projects/{project}/problem-sets", json={"set": "lists"})
    assert refused.status_code == NoSpace.status
    assert "PODIUM_MIN_FREE_GB" in refused.json()["detail"]
    assert refused.json()["advice"].endswith("then ask for the problems again.")
    assert full_api.get(f"/projects/{project}/prompts").json()["items"] == []
