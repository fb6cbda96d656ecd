"""What a run was answered is read in pages: all that is asked for, in the order of the file."""

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from backend.domain.records import reading_answers
from backend.domain.records.reading_answers import Wanted, part_of
from backend.schemas.records import EvaluatedRecord
from backend.store.tables.data import Prompt
from tests.backend.conftest import Service
from tests.backend.jobs.test_best_answers import FILE, answer, run_id  # noqa: F401

answers = st.builds(
    lambda prompt, content, passed, where: answer(
        prompt, 0, content, passed=passed, model=where[0], set_name=where[1]
    ),
    st.integers(0, 2),
    st.text("abc\n", max_size=40),
    st.sampled_from([None, True, False]),
    st.tuples(st.sampled_from(["model", "baseline"]), st.sampled_from([None, "ood"])),
)
wanted = st.builds(
    Wanted,
    st.sampled_from([None, "model", "baseline"]),
    st.sampled_from([None, "", "ood"]),
    st.sampled_from([None, True, False]),
    st.sampled_from([None, "prompt_1"]),
)


def text_of(one: EvaluatedRecord) -> bytes:
    """The line of an answer."""
    return one.model_dump_json().encode() + b"\n"


def by_hand(every: Sequence[EvaluatedRecord], asked: Wanted) -> list[EvaluatedRecord]:
    """Those that are asked for, one condition after the other."""
    kept = [one for one in every if asked.model is None or one.model == asked.model]
    if asked.set_name is not None:
        kept = [one for one in kept if (one.set_name or "") == asked.set_name]
    if asked.passed is not None:
        kept = [one for one in kept if one.passed is asked.passed]
    if asked.prompt_id is not None:
        kept = [one for one in kept if one.prompt_id == asked.prompt_id]
    return kept


@settings(max_examples=60)
@given(st.lists(answers, max_size=20), wanted, st.integers(1, 5), st.integers(1, 2000))
def test_pages_together_are_all_that_is_asked_for(
    every: list[EvaluatedRecord], asked: Wanted, limit: int, most: int
) -> None:
    lines = [text_of(one) for one in every]
    starts = {sum(map(len, lines[:n])): n for n in range(len(lines) + 1)}
    found: list[EvaluatedRecord] = []
    offset: int | None = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_answers, "MOST_READ", most)
        patch.setattr(reading_answers, "MOST_SHOWN", most)
        while offset is not None:
            part = part_of(lines[starts[offset] :], offset, limit, asked)
            assert len(part.answers) <= limit
            assert part.offset is None or part.offset > offset
            assert all(lines[starts[at]] == text_of(one) for at, one in part.answers)
            found, offset = found + [one for _, one in part.answers], part.offset
    assert found == by_hand(every, asked)


def test_answers_are_listed_with_their_prompts(
    service: Service,
    run_id: str,  # noqa: F811
) -> None:
    api: TestClient = service.client()

    def page(**query: Any) -> Any:
        return api.get(f"/runs/{run_id}/answers/lines", params=query)

    first = page(limit=2).json()
    rest = page(cursor=first["next_cursor"]).json()
    assert rest["next_cursor"] is None
    listed = first["items"] + rest["items"]
    assert [one["content"] for one in listed] == [one.content for one in FILE]
    assert [one["index"] for one in listed] == [one.index for one in FILE]
    assert listed[1]["messages"] == [{"role": "user", "content": "Question 0?"}]
    assert (listed[1]["passed"], listed[1]["scores"]) == (True, {"math": 1.0})
    assert "token_ids" not in listed[1]

    assert [one["content"] for one in page(passed=False).json()["items"]] == ["wrong", "never"]
    assert len(page(set_name="", model="model", prompt_id="prompt_1").json()["items"]) == 2
    assert page(set_name="other").json() == {"items": [], "next_cursor": None}

    for cursor in ("n3", "x", "n999999999999"):
        assert page(cursor=cursor).status_code == 422, cursor
    assert page(limit=201).status_code == 422


def test_long_prompts_make_pages_short(
    service: Service,
    run_id: str,  # noqa: F811
) -> None:
    """Each answer has its prompt with it, which may be as long as a page."""
    api: TestClient = service.client()
    turns = [{"role": "user", "content": "p" * 187_500}] * 8
    with service.app.state.database.write() as session:
        session.execute(update(Prompt).values(messages=turns))
    cursor: str | None = "n0"
    sizes = []
    while cursor is not None:
        answer = api.get(f"/runs/{run_id}/answers/lines", params={"cursor": cursor})
        assert len(answer.content) < reading_answers.MOST_SHOWN + 2_000_000
        sizes.append(len(answer.json()["items"]))
        cursor = answer.json()["next_cursor"]
    assert sizes == [3, 2]


def test_a_prompt_of_another_project_is_not_shown(
    service: Service,
    run_id: str,  # noqa: F811
) -> None:
    """The file comes from a worker, whoever wrote it."""
    api: TestClient = service.client()
    other = api.post("/projects", json={"name": "Other"}).json()["id"]
    with service.app.state.database.write() as session:
        of_first = update(Prompt).where(Prompt.id == "prompt_0")
        session.execute(of_first.values(project_id=other))
    listed = api.get(f"/runs/{run_id}/answers/lines").json()["items"]
    assert [one["messages"] is None for one in listed] == [True, True, False, False, False]
