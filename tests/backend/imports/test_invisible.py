"""Unfinished imports are seen by no route: each answers as if they were not there, byte by byte."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from sqlalchemy.orm import aliased

from backend.domain.records.formats import read_row
from backend.store.data import imports
from backend.store.data.import_rows import ImportOutcome, NewImport
from backend.store.db import Database
from backend.store.tables.data import Comparison, Judgment, Prompt, Response
from tests.backend.conftest import Service
from tests.backend.imports.test_unfinished import FILES, PREFERENCES
from tests.backend.imports.work import AT, Place, begin
from tests.backend.test_loop import ndjson, upload
from tests.visibility import unrestricted


@pytest.fixture
def project(api: TestClient) -> str:
    """A project with something of each kind, part of which the unfinished imports bring, too."""
    project = str(api.post("/projects", json={"name": "P"}).json()["id"])
    for kind, rows in FILES.items():
        upload(api, project, kind, *rows[:20])
    return project


def addresses(api: TestClient, project: str) -> list[str]:
    """Every GET route of the API that can be asked about this project, lists as whole pages."""
    comparison = api.get(f"/projects/{project}/comparisons").json()["items"][0]
    snapshot = api.post(
        f"/projects/{project}/snapshots", json={"name": "before", "kind": "prompts"}
    ).json()["id"]
    named = {"{project_id}": project, "{snapshot_id}": snapshot}
    found = []
    for path, operations in api.get("/openapi.json").json()["paths"].items():
        place = path.removeprefix("/api/v1")
        for name, value in named.items():
            place = place.replace(name, value)
        if "get" in operations and "{" not in place and "stream" not in place:
            found.append(place)
    of_one = f"prompt_id={comparison['prompt_id']}"
    found += [f"/projects/{project}/{what}?{of_one}" for what in ("responses", "comparisons",
              "demonstrations", "solutions")]  # fmt: skip
    found += [f"/projects/{project}/judgments?comparison_id={comparison['id']}"]
    found += [f"/projects/{project}/comparisons?is_open={one}" for one in ("true", "false")]
    return [f"{one}{'&' if '?' in one else '?'}limit=500" for one in found]


def answers(api: TestClient, places: list[str]) -> dict[str, bytes]:
    """What each address answers that can be asked so; the audit log says what the test did."""
    asked = {place: api.get(place) for place in places if not place.startswith("/audit")}
    return {place: answer.content for place, answer in asked.items() if answer.is_success}


def plant(service: Service, project: str) -> tuple[NewImport, ImportOutcome]:
    """Unfinished imports of each kind, into this project and another; one of them is withdrawn.

    Gives the one into this project, and what it brings.
    """
    database: Database = service.app.state.database
    user = service.client().get("/me").json()["id"]
    place = Place(database, service.data_dir, user=user, project=project)
    begun = [begin(place, "preferences", *PREFERENCES)]
    outcome = ImportOutcome()
    for kind, rows in FILES.items():
        # One import at a time writes into a project; the rows of the others are those of one.
        with database.write() as session:
            new = NewImport(begun[0].id, project, place.user, kind, "auto")  # type: ignore[arg-type]
            records = [(n, one) for n, one in enumerate(records_of(kind, rows))]
            outcome.add(imports.keep(session, new, records, at=AT))
    other = service.client().post("/projects", json={"name": "Q"}).json()["id"]
    begun.append(begin(place, "prompts", *FILES["prompts"], project=other))
    with database.write() as session:
        imports.withdraw(session, begun[1].id)
    return begun[0], outcome


def records_of(kind: str, rows: list[Any]) -> list[Any]:
    """Rows as records."""
    return [read_row(kind, "auto", row) for row in rows]  # type: ignore[arg-type]


def test_no_route_shows_anything_of_an_unfinished_import(
    service: Service, api: TestClient, project: str
) -> None:
    places = addresses(api, project)
    before = answers(api, places)
    begun, outcome = plant(service, project)
    # `plant` makes one more project; nothing else may differ.
    projects = {one for one in places if one.startswith("/projects?")}
    after = answers(api, places)
    assert len(before) > 15
    assert [one for one in before if before[one] != after[one] and one not in projects] == []
    with service.app.state.database.write() as session:
        imports.complete(session, begun, outcome)
    shown = answers(api, places)
    changed = {
        one.partition("?")[0].rpartition("/")[2] for one in before if shown[one] != before[one]
    }
    assert changed >= {"prompts", "demonstrations", "solutions", "responses", "comparisons",
                       "judgments", "agreement", "annotation", project}  # fmt: skip


def test_nobody_ranks_or_freezes_what_an_unfinished_import_brings(
    service: Service, api: TestClient
) -> None:
    project = api.post("/projects", json={"name": "P"}).json()["id"]
    upload(api, project, "comparisons", *FILES["comparisons"][:3])
    plant(service, project)
    ranked = []
    while (taken := api.post(f"/projects/{project}/assignments")).status_code == 201:
        ids = taken.json()["presented_order"]
        body = {"verdict": "ranked", "tiers": [[one] for one in ids]}
        api.post(f"/assignments/{taken.json()['id']}/judgment", json=body).raise_for_status()
        ranked.append(taken.json()["comparison"]["prompt"]["messages"][0]["content"])
    assert sorted(ranked) == ["c0", "c1", "c2"]
    for kind, records in (("prompts", 3), ("preferences", 3)):
        body = {"name": kind, "kind": kind}
        frozen = api.post(f"/projects/{project}/snapshots", json=body).json()
        assert frozen["counts"]["train"]["records"] == records
    for kind in ("demonstrations", "solutions"):
        refused = api.post(f"/projects/{project}/snapshots", json={"name": kind, "kind": kind})
        assert refused.status_code == 422


def test_a_comparison_of_unfinished_records_cannot_be_made(
    service: Service, api: TestClient, project: str
) -> None:
    plant(service, project)
    with service.app.state.database.engine.connect() as connection:
        row = connection.exec_driver_sql(
            "SELECT prompt_id, id FROM responses WHERE import_id IN "
            "(SELECT id FROM imports WHERE state = 'writing') LIMIT 1"
        ).one()
    body = {"prompt_id": row[0], "response_ids": [row[1], "response_x"]}
    assert api.post(f"/projects/{project}/comparisons", json=body).status_code == 404


QUERIES: dict[str, Callable[[], Any]] = {
    "entity": lambda: select(Prompt),
    "column": lambda: select(Prompt.id),
    "count of all": lambda: select(func.count()).select_from(Prompt),
    "count by a condition": lambda: select(func.count()).where(Prompt.project_id != ""),
    "count of a column": lambda: select(func.count(Prompt.id)),
    "alias": lambda: select(aliased(Prompt)),
    "column of an alias": lambda: select(aliased(Prompt).id),
    "join": lambda: select(Response.id).join(Prompt, Prompt.id == Response.prompt_id),
    "outer join": lambda: select(Response.id).outerjoin(Prompt, Prompt.id == Response.prompt_id),
    "subquery": lambda: select(select(Prompt.id).subquery().c.id),
    "count of a subquery": lambda: select(func.count()).select_from(select(Prompt).subquery()),
    "entity of a subquery": lambda: select(aliased(Prompt, select(Prompt).subquery())),
    "scalar subquery": lambda: select(
        Response.id,
        select(func.count(Prompt.id)).where(Prompt.id == Response.prompt_id).scalar_subquery(),
    ),
    "exists": lambda: select(Response.id).where(
        select(Prompt.number).where(Prompt.id == Response.prompt_id).correlate(Response).exists()
    ),
    "in": lambda: select(Response.id).where(Response.prompt_id.in_(select(Prompt.id))),
    "union": lambda: select(Prompt.id).union_all(select(Response.id)),
    "cte": lambda: select(select(Prompt.id).cte().c.id),
    "locked": lambda: select(Prompt.number).with_for_update(of=Prompt),
    "grouped": lambda: (
        select(Comparison.prompt_id, func.count(Judgment.id))
        .join(Judgment, Judgment.comparison_id == Comparison.id)
        .group_by(Comparison.prompt_id)
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_every_shape_of_a_query_leaves_them_out(place: Place, name: str) -> None:
    begin(place, "preferences", *PREFERENCES[:20])
    seen = []
    for _ in range(2):  # The second time the statement comes out of the cache.
        with place.database.write() as session:
            rows = session.execute(QUERIES[name]()).all()
            seen.append([row for row in rows if row != (0,)])
    assert seen == [[], []]


def test_the_watch_over_all_queries_finds_one_that_sees_too_much() -> None:
    assert unrestricted("SELECT prompts.id FROM prompts") == {"prompts"}
    assert unrestricted("SELECT a.id FROM prompts AS a, runs") == {"a"}
    good = "SELECT 1 FROM prompts WHERE (prompts.import_id IS NULL OR x)"
    assert unrestricted(good) == set()
    assert unrestricted(f"{good} AND EXISTS (SELECT 1 FROM prompts)") == {"prompts"}
    assert unrestricted("SELECT 1 FROM runs JOIN users ON true") == {"users"}
    assert unrestricted("INSERT INTO prompts VALUES (1)") == set()


def test_records_of_a_completed_import_are_rows_like_others(place: Place) -> None:
    place.take(ndjson(*PREFERENCES[:5]), "preferences")
    begin(place, "prompts", {"prompt": "unseen"})
    assert len(place.seen()) == 5
    assert json.dumps(place.seen()).count("unseen") == 0
