"""PATCH /runs/{id} and PATCH /runs: names, notes, tags, experiments and the archive."""

from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from backend.domain.access import Caller
from backend.errors import Forbidden, NotFound
from backend.schemas.run_table.changes import RunsChange
from backend.schemas.vocabulary import Role
from backend.store.db import Database
from backend.store.runs import changes
from backend.store.tables.runs import Run
from tests.backend.conftest import Service
from tests.backend.runs.conftest import AT, Seed
from tests.plans import sent_to


def made(api: TestClient, seed: Seed, **more: Any) -> str:
    return str(api.post("/runs", json=seed.body(seed.sft(), **more)).json()["id"])


def ended(database: Database, *run_ids: str) -> None:
    with database.write() as session:
        session.query(Run).where(Run.id.in_(run_ids)).update({"state": "succeeded"})


def tags(api: TestClient, run_id: str) -> Any:
    return api.get(f"/runs/{run_id}").json()["tags"]


def experiment(api: TestClient, project: str) -> str:
    body = {"project_id": project, "name": "KL sweep"}
    return str(api.post("/experiments", json=body).json()["id"])


def lines(api: TestClient, run_id: str) -> list[dict[str, Any]]:
    """The audit log of a run, newest first, without the line of its creation."""
    found: list[dict[str, Any]] = api.get("/audit", params={"object_id": run_id}).json()["items"]
    return [line for line in found if line["action"] != "create_run"]


def test_a_run_keeps_what_is_left_out(api: TestClient, seed: Seed) -> None:
    run_id, of = made(api, seed, tags=["a"]), experiment(api, seed.project)

    api.patch(f"/runs/{run_id}", json={"notes": "**Good** run", "experiment_id": of})
    api.patch(f"/runs/{run_id}", json={"name": "  baseline ", "tags": ["b", "a", "b"]})
    run = api.get(f"/runs/{run_id}").json()

    assert (run["name"], run["notes"]) == ("baseline", "**Good** run")
    assert (run["tags"], run["experiment_id"]) == (["b", "a"], of)
    assert api.get("/runs").json()["items"][0]["notes"] is None
    api.patch(f"/runs/{run_id}", json={"experiment_id": None})
    assert api.get(f"/runs/{run_id}").json()["experiment_id"] is None


def test_a_change_that_was_made_from_other_values_is_refused(api: TestClient, seed: Seed) -> None:
    run_id = made(api, seed, name="first", tags=["a"])
    address, mine = f"/runs/{run_id}", {"notes": "mine", "before": {"notes": "", "tags": ["a"]}}
    api.patch(address, json={"notes": "theirs", "before": {"notes": ""}})

    refused = api.patch(address, json=mine)

    assert refused.status_code == 409
    assert refused.json()["detail"] == f"the notes of run {run_id} changed since they were read"
    assert "`before`" in refused.json()["advice"]
    assert api.get(address).json()["notes"] == "theirs"
    # Another field that somebody changed is no reason to refuse.
    renamed = {"name": "second", "before": {"name": "first"}}
    assert api.patch(address, json=renamed).json()["name"] == "second"
    assert api.patch(address, json=mine | {"before": {"notes": "theirs"}}).json()["notes"] == "mine"
    api.patch(address, json={"tags": ["b"], "name": "third"})
    both = api.patch(address, json={"tags": [], "before": {"tags": ["a"], "name": "second"}})
    assert both.json()["detail"].startswith("the name and the tags of run")


def test_the_audit_says_what_was_before_and_of_notes_how_long_they_are(
    api: TestClient, seed: Seed
) -> None:
    run_id = made(api, seed, name="first")

    api.patch(f"/runs/{run_id}", json={"name": "second", "notes": "secret?"})

    (line,) = lines(api, run_id)
    assert line["action"] == "change_run"
    assert line["data"]["before"] == {"name": "first", "notes": "0 characters"}
    assert line["data"]["after"] == {"name": "second", "notes": "7 characters"}


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "a\u202eb"},
        {"notes": "x" * 10_001},
        {"notes": "a\0b"},
        {"tags": ["x"] * 51},
        {"tags": [""]},
        {"tags": ["x" * 201]},
        {"experiment_id": "exp_nothing"},
        {"state": "succeeded"},
    ],
)
def test_what_does_not_fit_is_refused(api: TestClient, seed: Seed, body: dict[str, Any]) -> None:
    run_id = made(api, seed)
    before = api.get(f"/runs/{run_id}").json()

    assert api.patch(f"/runs/{run_id}", json=body).status_code == 422

    assert api.get(f"/runs/{run_id}").json() == before


def test_many_runs_get_and_lose_tags(api: TestClient, seed: Seed) -> None:
    first, second = made(api, seed, tags=["old", "a"]), made(api, seed, tags=["b"])
    third = made(api, seed, tags=["b", "new"])

    body = {"run_ids": [third, first, second, first], "add_tags": ["new"], "remove_tags": ["old"]}
    answer = api.patch("/runs", json=body)

    assert answer.json() == {"changed": [first, second]}
    assert tags(api, first) == ["a", "new"]
    assert tags(api, second) == tags(api, third) == ["b", "new"]
    assert [line["action"] for line in lines(api, first)] == ["change_runs"]
    assert lines(api, first)[0]["data"]["before"] == {"tags": ["old", "a"]}
    assert lines(api, third) == []


def test_a_tag_from_before_tags_were_held_to_rules_is_removed(
    api: TestClient, seed: Seed, database: Database
) -> None:
    hidden, run_id = "a\u200bb ", made(api, seed, tags=["caf\u00e9", "b"])
    with database.write() as session:
        session.query(Run).where(Run.id == run_id).update({"tags": [hidden, "caf\u00e9", "b"]})

    body = {"run_ids": [run_id], "remove_tags": [hidden, "cafe\u0301 "]}
    answer = api.patch("/runs", json=body)

    assert answer.json() == {"changed": [run_id]}
    assert tags(api, run_id) == ["b"]


def test_all_or_nothing_and_the_error_names_the_run(
    api: TestClient, seed: Seed, database: Database
) -> None:
    over, waiting = made(api, seed), made(api, seed)
    ended(database, over)

    body = {"run_ids": [over, waiting], "add_tags": ["t"], "archived": True}
    refused = api.patch("/runs", json=body)

    assert refused.status_code == 409
    assert f"run {waiting} is queued" in refused.json()["detail"]
    assert tags(api, over) == []
    assert lines(api, over) == []
    missing = api.patch("/runs", json={"run_ids": [over, "run_no"], "add_tags": ["t"]})
    assert missing.status_code == 404
    assert "run_no" in missing.json()["detail"]
    assert tags(api, over) == []


def test_archived_runs_leave_the_list_and_come_back(
    api: TestClient, seed: Seed, database: Database
) -> None:
    runs = [made(api, seed) for _ in range(3)]
    ended(database, *runs)

    assert api.patch("/runs", json={"run_ids": runs[:2], "archived": True}).status_code == 200
    assert [run["id"] for run in api.get("/runs").json()["items"]] == runs[2:]
    again = api.patch("/runs", json={"run_ids": runs, "archived": False})

    assert set(again.json()["changed"]) == set(runs[:2])
    assert len(api.get("/runs").json()["items"]) == 3


def test_runs_come_into_an_experiment_of_their_project_alone(api: TestClient, seed: Seed) -> None:
    run_id, of = made(api, seed), experiment(api, seed.project)
    other = experiment(api, str(api.post("/projects", json={"name": "other"}).json()["id"]))

    refused = api.patch("/runs", json={"run_ids": [run_id], "experiment_id": other})
    assert refused.status_code == 422
    assert run_id in refused.json()["detail"]
    api.patch("/runs", json={"run_ids": [run_id], "experiment_id": of})

    assert api.get(f"/experiments/{of}").json()["run_ids"] == [run_id]


def test_a_run_has_fifty_tags_at_most(api: TestClient, seed: Seed) -> None:
    run_id = made(api, seed, tags=[f"t{n}" for n in range(50)])

    refused = api.patch("/runs", json={"run_ids": [run_id], "add_tags": ["one more"]})

    assert refused.status_code == 422
    assert f"run {run_id} would have 51 tags" in refused.json()["detail"]


@pytest.mark.parametrize("body", [{"run_ids": []}, {"run_ids": ["r"] * 501}, {"run_ids": "all"}])
def test_the_number_of_runs_is_bounded(api: TestClient, body: dict[str, Any]) -> None:
    assert api.patch("/runs", json=body).status_code == 422


def test_each_run_keeps_its_own_tags_and_is_found_by_them(api: TestClient, seed: Seed) -> None:
    own = [["Größe", 'a "quoted" one'], [], ["back\\slash", "🙂", "$.tags"], ["both"]]
    ids = [made(api, seed, tags=one) for one in own]

    answer = api.patch("/runs", json={"run_ids": ids, "add_tags": ["both"], "remove_tags": ["🙂"]})

    assert answer.json()["changed"] == ids[:3]
    expected = [[*own[0], "both"], ["both"], ["back\\slash", "$.tags", "both"], ["both"]]
    assert [tags(api, one) for one in ids] == expected
    assert [line["data"]["after"] for one in ids[:3] for line in lines(api, one)] == [
        {"tags": one} for one in expected[:3]
    ]
    found = api.get("/runs", params={"filter": "tag:both"}).json()["items"]
    assert {run["id"] for run in found} == set(ids)


def test_a_change_of_many_is_the_change_of_each(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """Archived already, in an experiment already, neither: all three changes at once."""
    of = experiment(api, seed.project)
    ids = [made(api, seed), made(api, seed, experiment_id=of), made(api, seed, tags=["t"])]
    ended(database, *ids)
    api.patch("/runs", json={"run_ids": ids[:1], "archived": True})
    first = api.get(f"/runs/{ids[0]}").json()["archived_at"]

    body = {"run_ids": ids, "archived": True, "experiment_id": of, "add_tags": ["t"]}
    assert api.patch("/runs", json=body).json()["changed"] == ids

    rows = [api.get(f"/runs/{one}").json() for one in ids]
    assert [(run["experiment_id"], run["tags"]) for run in rows] == [(of, ["t"])] * 3
    assert rows[0]["archived_at"] == first
    assert all(run["archived_at"] for run in rows)
    assert api.patch("/runs", json=body).json()["changed"] == []
    back = {"run_ids": ids, "archived": False, "experiment_id": None}
    assert api.patch("/runs", json=back).json()["changed"] == ids
    assert {api.get(f"/runs/{one}").json()["archived_at"] for one in ids} == {None}


def test_whoever_lost_a_project_since_the_runs_were_looked_at_changes_none(
    api: TestClient, service: Service, seed: Seed
) -> None:
    database: Database = service.app.state.database
    run_id = made(api, seed)
    body = RunsChange(run_ids=[run_id], add_tags=["t"])
    for roles, error in (({seed.project: Role.VIEWER}, Forbidden), ({}, NotFound)):
        una = Caller("u", "Una", Role.RESEARCHER, roles, needed=Role.RESEARCHER)
        with pytest.raises(error), database.write() as session:
            changes.change_all(session, body, una, at=AT)
    assert tags(api, run_id) == []


def test_many_runs_are_changed_in_as_many_messages_as_two(
    api: TestClient, service: Service, seed: Seed
) -> None:
    """SQLite, for which a row is no message, takes rows one by one."""
    database: Database = service.app.state.database
    ids = [made(api, seed) for _ in range(7)]
    messages = []
    for some in (ids[:2], ids[2:]):
        with sent_to(database) as sent:
            body = {"run_ids": some, "add_tags": ["t"]}
            assert api.patch("/runs", json=body).json()["changed"] == some
        writes = [one for one in sent if not one.statement.startswith("SELECT")]
        messages.append([one.statement for one in writes])
        assert database.is_sqlite or {one.times for one in writes} == {1}

    assert messages[0] == messages[1] != []
    assert all(len(lines(api, one)) == 1 for one in ids)


def test_a_changed_run_stays_in_its_page_so_that_no_index_is_written(
    api: TestClient, service: Service, seed: Seed
) -> None:
    database: Database = service.app.state.database
    if database.is_sqlite:
        pytest.skip("SQLite changes a row where it is")
    ids = [made(api, seed) for _ in range(40)]

    def pages() -> set[tuple[str, str]]:
        with database.read() as session:
            found = session.execute(text("SELECT id, split_part(ctid::text, ',', 1) FROM runs"))
            return {(run_id, page) for run_id, page in found}

    before = pages()
    assert len({page for _, page in before}) > 2
    assert api.patch("/runs", json={"run_ids": ids, "add_tags": ["t"]}).json()["changed"] == ids
    # The last row of a page may have grown too long for what is left of it.
    assert len(before & pages()) >= 30
