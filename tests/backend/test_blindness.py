"""What an annotator can read anywhere: own things, and no run, model, host or judgment of others.

A unique string is planted in every free text of every table, so a new column or route is looked at
without anybody thinking of it. Then an annotator asks every GET of the OpenAPI document, with ids
that are real.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import JSON, ColumnElement, String, Table, func, select, update
from sqlalchemy.orm import Session

from backend.store.runs import logs
from backend.store.runs.logs import Printed
from backend.store.tables.columns import Base
from backend.store.tables.credentials import SignInToken
from backend.store.tables.runs import Artifact, RunFailure, Sample
from backend.store.workers import workers
from tests.backend.conftest import Service
from tests.backend.test_access import Site, site_of
from tests.backend.test_assignments import ranked, take
from tests.backend.test_loop import comparison, upload

# Closed sets of words, hashes and names of operations: what the service itself says.
CODES = re.compile(
    r"role|state|kind|format|type|method|split|stream|verdict|cause|\w*_reason|action|route|"
    r"\w*sha256|\w*_id|id|password_hash|request_id|events_token|owner|process|invited_by|key|"
    r"aggregation|page"
)
# Whose values are ids, numbers or a shape that a reader relies on.
SHAPES = re.compile(
    r"response_ids|presented_order|tiers|unranked|flags|scopes|messages|steps|devices|rejected|"
    r"begins|counts|answer|filter|passed_up_to|config|arrays|report|log|data|facts|source|found|"
    r"criteria|rankings"
)
# Ids of the rows of these say something by themselves.
TELLING = (
    "runs",
    "models",
    "workers",
    "experiments",
    "snapshots",
    "imports",
    "invitations",
    "saved_views",
)


@dataclass
class Planted:
    """The strings that were planted: in which table, column and row."""

    texts: dict[str, tuple[str, str, dict[str, Any]]]

    def of(self, table: str, column: str, **row: Any) -> set[str]:
        """The strings in a column of a table, in rows that have these values."""
        return {
            text
            for text, (in_table, in_column, values) in self.texts.items()
            if (in_table, in_column) == (table, column) and row.items() <= values.items()
        }


def plant(session: Session, spell: Callable[[int], str] = "zq{}qz".format) -> Planted:
    """Give every free text a string of its own, by its number; short enough for every column."""
    numbers, texts = itertools.count(100), {}
    for table in Base.metadata.sorted_tables:
        columns = [one for one in table.columns if _is_free(one)]
        for row in session.execute(select(table)).mappings().all() if columns else ():
            values = dict(row)
            for column in columns:
                if values[column.name] is None and isinstance(column.type, JSON):
                    continue
                text = spell(next(numbers))
                texts[text] = (table.name, column.name, values)
                new = _with(text, values[column.name], is_json=isinstance(column.type, JSON))
                here = [key == values[key.name] for key in table.primary_key.columns]
                session.execute(update(table).where(*here).values({column.name: new}))
    return Planted(texts)


def _is_free(column: Any) -> bool:
    if column.foreign_keys or column.primary_key:
        return False
    if isinstance(column.type, JSON):
        return not SHAPES.fullmatch(column.name)
    return isinstance(column.type, String) and not CODES.fullmatch(column.name)


def _with(text: str, value: Any, *, is_json: bool) -> Any:
    if not is_json:
        # The line of a snapshot is JSON itself.
        return f'{{"{text}": 1}}' if str(value).startswith("{") else text
    if isinstance(value, list):
        return [*value, text]
    return {**(value or {}), text: 1.0}


def empty_tables(session: Session) -> set[str]:
    """Tables with a free text and no row to plant it in."""
    return {
        table.name
        for table in Base.metadata.sorted_tables
        if any(_is_free(one) for one in table.columns)
        and not session.scalar(select(func.count()).select_from(table))
    }


def fill(site: Site, run_id: str, at: datetime) -> None:
    """What only workers write: a host, a log, an artifact, a failure, a sample."""
    with site.database.write() as session:
        workers.register(session, host="h", pid=1, process="p", slots=1, report=_report(), at=at)
        logs.append(session, run_id, 1, [Printed("stdout", "line")], at=at)
        session.add_all(
            [
                Artifact(run_id=run_id, path="a", key="k", sha256="0" * 64, size_bytes=1),
                RunFailure(
                    run_id=run_id, attempt=1, cause="bug", message="m", advice="a", step=0,
                    log=[], resources={}, created_at=at,
                ),
                Sample(
                    run_id=run_id, step=1, attempt=1, prompt="p", response="r", scores={},
                    arrays={}, prompt_id="prompt_x",
                ),
                SignInToken(token_sha256="0" * 64, user_id=site.kept["other"], expires_at=at),
            ]
        )  # fmt: skip


def _report() -> dict[str, Any]:
    return {"devices": []}


@dataclass
class Scene:
    """A project with everything in it, another one, and an annotator who knows little of both."""

    site: Site
    foreign: Site
    annotator: TestClient
    me: str
    lease: dict[str, Any]
    judged: dict[str, Any]
    foreign_id: str  # of the assignment that the other annotator has judged
    planted: Planted


@pytest.fixture
def scene(light_service: Service) -> Scene:
    """The annotator has judged one comparison and holds another; somebody else has judged, too."""
    site, foreign = site_of(light_service, "mine"), site_of(light_service, "foreign")
    api = site.admin
    people = {}
    upload(api, site.project, "comparisons", comparison(2), comparison(3))
    for name in ("me", "other"):
        body = {"name": name, "role": "annotator", "project_ids": [site.project]}
        user = site.of("/users", **body, email=f"{name}@x.test")
        key = api.post(f"/users/{user}/keys", json={"name": "k"}).json()["key"]
        people[name] = (user, light_service.client(key))
        site.kept[name] = user
        rules = {"judgments_per_comparison": 3, "guidelines": f"for {name}"}
        version = api.patch(f"/projects/{site.project}", json=rules).json()["guidelines_version"]
        said = {"version": version}
        people[name][1].post(f"/projects/{site.project}/guidelines/acknowledgement", json=said)
    (me, mine), (other, others) = people["me"], people["other"]
    newest = {"version": 2}
    mine.post(f"/projects/{site.project}/guidelines/acknowledgement", json=newest)
    judged = []
    for client in (mine, others):
        lease = take(client, site.project)
        judged.append(lease)
        more = {"comment": "c", "reasons": ["r"]}
        client.post(f"/assignments/{lease['id']}/judgment", json=ranked(lease, **more))
    lease = take(mine, site.project)
    practice, order = site.practice()
    answer = {"verdict": "ranked", "tiers": [[one] for one in order]}
    mine.post(f"/projects/{site.project}/practice/{practice}/answer", json=answer)
    for one in (site, foreign):
        one.invitation()
        one.once("experiment_id", one.experiment)
        one.once("snapshot_id", one.snapshot)
        one.once("model_id", one.model)
        one.once("run_id", one.run)
        one.once("view_id", one.view)
        one.kept["project_id"] = one.project
    site.kept["job_id"] = site.job(other)
    fill(site, site.kept["run_id"], datetime.now(UTC))
    with site.database.write() as session:
        assert empty_tables(session) <= {
            "metric_points",
            "metric_curves",
            "metric_levels",
            "token_marks",
        }
        planted = plant(session)
    return Scene(site, foreign, mine, me, lease, judged[0], judged[1]["id"], planted)


def addresses(scene: Scene) -> Iterator[str]:
    """Every GET of the OpenAPI document, with ids of both projects and of both people."""
    document = scene.site.admin.get("/openapi.json").json()["paths"]
    queries = {
        "/projects/{project_id}/judgments": ["", f"?user_id={scene.site.kept['other']}"],
        "/projects/{project_id}/judgments/own": ["", "?q=zq", f"?assignment_id={scene.foreign_id}"],
        **{
            path: ["", f"?runs={scene.site.kept['run_id']}&names=loss&prompt_id=prompt_x"]
            for path in (
                "/data-differences",
                "/environment-differences",
                "/metrics",
                "/runs",
                "/seed-groups",
                "/seed-groups/curves",
                "/seed-groups/results",
                "/shared-prompts",
                "/shared-prompts/samples",
                "/stream",
                "/verdicts",
            )
        },
        "/users": ["", "?is_active=false"],
    }
    for address, methods in document.items():
        if "get" not in methods:
            continue
        path = address.removeprefix("/api/v1")
        if path.endswith("/annotation/stream"):
            # Its one event says nothing (test_waiting_annotators); until then it does not end.
            continue
        for site, user in ((scene.site, scene.me), (scene.site, "other"), (scene.foreign, "other")):
            named = {**scene.site.kept, **site.kept, "user_id": scene.site.kept.get(user, user)}
            for query in queries.get(path, [""]):
                yield path.format(**{"step": 1, **named}) + query


def theirs(scene: Scene) -> set[str]:
    """What the annotator may read of what was planted."""
    found, project = scene.planted.of, scene.site.project
    own = {"user_id": scene.me}
    return (
        found("users", "name", id=scene.me)
        | found("users", "email", id=scene.me)
        | found("api_keys", "name", **own)
        | found("api_keys", "prefix", **own)
        | found("projects", "name", id=project)
        | found("projects", "guidelines", id=project)
        | found("projects", "cannot_judge_reasons", id=project)
        | found("guideline_versions", "guidelines", project_id=project)
        | found("judgments", "comment", **own)
        | found("judgments", "reasons", **own)
        | {text for one in scene.judged["presented_order"]
           for text in found("responses", "content", id=one)}
    )  # fmt: skip


def test_an_annotator_reads_nothing_that_is_not_theirs(scene: Scene) -> None:
    assert len(scene.planted.texts) > 100
    allowed, leaks, asked = theirs(scene), [], set()
    with scene.site.database.read() as session:
        hidden = _telling_ids(session) | _ids_of_others(session, scene.me)
    for address in addresses(scene):
        answer = scene.annotator.get(address)
        asked.add((answer.status_code < 300, re.sub(r"\w+_\w{8,}|\?.*", "X", address)))
        text = f"{answer.headers}{answer.text}"
        assert answer.status_code < 500, text
        found = {one for one in scene.planted.texts if one in text} - allowed
        found |= {one for one in hidden if one in text and one not in address}
        if found:
            leaks.append((address, {one: scene.planted.texts.get(one) for one in found}))
    assert leaks == []
    # Else nothing was looked at.
    read = {path for is_read, path in asked if is_read}
    assert {"/me", "/projects", "/projects/X", "/projects/X/judgments", "/projects/X/guidelines",
            "/projects/X/judgments/own", "/projects/X/annotation", "/methods",
            "/users/X/keys"} <= read  # fmt: skip


def test_numbers_are_of_the_whole_project_or_of_oneself(scene: Scene) -> None:
    """Decision 19: a number that is added here must not be that of another person."""
    project = f"/projects/{scene.site.project}"
    asked = scene.annotator.get(f"{project}/annotation").json()
    own = {"mine", "mine_today", "available", "passed", "held"}
    of_the_project = {"done", "wanted", "open", "held_by_others"}
    assert set(asked) == own | of_the_project
    assert scene.annotator.get(project).json()["counts"] is None


def test_the_comparison_itself_says_nothing_of_where_it_comes_from(scene: Scene) -> None:
    answer = scene.annotator.post(f"/projects/{scene.site.project}/assignments", json={"held": []})
    assert answer.json()["id"] == scene.lease["id"]
    shown = set(scene.lease["presented_order"])
    contents = {
        text
        for text, (table, column, row) in scene.planted.texts.items()
        if (table, column) == ("responses", "content") and row["id"] in shown
    }
    found = {one for one in scene.planted.texts if one in answer.text}
    assert found == contents
    assert len(found) == len(shown)


def test_what_was_planted_is_found_where_somebody_may_see_it(scene: Scene) -> None:
    """The administrator reads the strings that the annotator does not: the test sees leaks."""
    seen = set()
    # Streams do not end, and lines of snapshots are no records any more.
    passed_over = re.compile(r"stream|/samples|/lines|/export")
    for address in addresses(scene):
        if not passed_over.search(address):
            answer = scene.site.admin.get(address)
            seen |= {one for one in scene.planted.texts if one in answer.text}
    columns = {scene.planted.texts[one][:2] for one in seen - theirs(scene)}
    assert {("workers", "host"), ("runs", "name"), ("models", "name"), ("users", "name"),
            ("judgments", "comment"), ("invitations", "name"), ("experiments", "name"),
            ("log_lines", "text"), ("samples", "prompt"),
            ("prompts", "reference")} <= columns  # fmt: skip


def _telling_ids(session: Session) -> set[str]:
    tables = [Base.metadata.tables[name] for name in TELLING]
    return {row[0] for table in tables for row in session.execute(select(table.c.id))}


def _ids_of_others(session: Session, me: str) -> set[str]:
    """Ids of other people, and of what they made."""
    metadata = Base.metadata.tables
    conditions: list[tuple[Table, ColumnElement[bool]]] = [
        (metadata["users"], metadata["users"].c.id != me),
        *(
            (metadata[name], metadata[name].c.user_id != me)
            for name in ("judgments", "assignments")
        ),
        (metadata["api_keys"], metadata["api_keys"].c.user_id != me),
    ]
    return {
        row[0]
        for table, condition in conditions
        for row in session.execute(select(table.c.id).where(condition))
    }
