"""What a `generate` run leaves behind: responses and the comparisons made of them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from backend.domain.records.imported import PromptInput
from backend.errors import InvalidInput
from backend.schemas.projects.project import ProjectBody
from backend.schemas.records import GeneratedRecord, Message
from backend.schemas.vocabulary import FinishReason, Role
from backend.store.data import comparisons, projects, prompts, responses
from backend.store.db import Database
from backend.store.paging import Page
from backend.store.people import users
from backend.store.tables.data import Response
from backend.store.tables.runs import Run

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture
def place(database: Database) -> tuple[Database, str, dict[str, str]]:
    """A run in a project with three prompts; gives the ids of run and prompts."""
    with database.write() as session:
        user = users.create(session, name="a", role=Role.ADMIN, at=NOW).id
        body = ProjectBody(name="P", judgments_per_comparison=2)
        project = projects.create(session, body, at=NOW).id
        wanted = {
            name: PromptInput((Message(role="user", content=name),)) for name in ("p", "q", "r")
        }
        ids, _ = prompts.ensure(session, project, wanted.values(), at=NOW)
        run = Run(
            id="run_1", project_id=project, user_id=user, name="r", method="generate",
            config={"model": {"hub_id": "x"}}, schema_version=1, tags=[], state="running",
            environment={}, summary={}, created_at=NOW,
        )  # fmt: skip
        session.add(run)
        found = {name: ids[prompt.content_sha256] for name, prompt in wanted.items()}
    return database, project, found


def record(prompt_id: str, index: int, content: str, **more: Any) -> GeneratedRecord:
    """A sampled response."""
    return GeneratedRecord(
        prompt_id=prompt_id, index=index, content=content, finish_reason=FinishReason.STOP,
        n_tokens=3, logp_sum=-1.5, **more,
    )  # fmt: skip


def test_distinct_responses_of_a_prompt_become_one_comparison(
    place: tuple[Database, str, dict[str, str]],
) -> None:
    database, project, ids = place
    records = [
        record(ids["q"], 1, "b", scores={"gold": None}, ref_logp_sum=-2.0),
        record(ids["p"], 0, "a"),
        record(ids["p"], 1, "a"),
        record(ids["q"], 0, "a"),
        record(ids["q"], 2, "a"),
        *(record(ids["r"], i, f"answer {i}") for i in range(12)),
    ]
    with database.write() as session:
        run = session.scalars(select(Run)).one()
        responses.insert_generated(session, run, records, at=NOW)
        comparisons.create_chosen(session, run, comparisons.choices(session, run), at=NOW)

    with database.read() as session:
        listed = comparisons.listing(session, project, Page(), run_id="run_1").items
        content = {row.id: row.content for row in session.scalars(select(Response))}
        kept = responses.listing(session, project, Page(limit=1, oldest_first=True)).items[0]
    by_prompt = {one.prompt_id: [content[r] for r in one.response_ids] for one in listed}
    assert by_prompt == {ids["q"]: ["a", "b"], ids["r"]: [f"answer {i}" for i in range(9)]}
    assert {one.judgments_required for one in listed} == {2}
    assert kept.scores == {"gold": None, "ref_logp_sum": -2.0}
    assert (kept.logp_sum, kept.n_tokens, kept.source) == (-1.5, 3, "run")


def test_a_response_to_a_foreign_prompt_is_refused(
    place: tuple[Database, str, dict[str, str]],
) -> None:
    database, _, _ = place
    foreign = [record("prompt_other", 0, "a")]
    with database.write() as session:
        run = session.scalars(select(Run)).one()
        with pytest.raises(InvalidInput, match="not in the project of the run"):
            responses.insert_generated(session, run, foreign, at=NOW)
