"""Scores of training prompts: whatever is told and rewound, columns tell exactly what was."""

from collections import defaultdict
from statistics import fmean
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from backend.domain.curves.prompt_scores import NOT_JUDGED, PromptScore, packed, unpacked
from backend.schemas.run_directory.events import PromptScoresLine
from backend.store.db import Database
from backend.store.metrics import prompt_scores
from backend.store.metrics.prompt_scores import Asked
from backend.store.tables.data import Project, Prompt
from tests.backend.runs.conftest import AT, Seed
from tests.backend.runs.test_outside_points import add_run

# Of one prompt in one step: the score of each response (None: it has none), and which passed.
Response = tuple[float | None, bool | None]
Said = dict[str, list[Response]]

# Exact as float32, as what verifiable terms give is.
responses = st.tuples(st.sampled_from([None, -1.0, 0.0, 0.25, 1.0]), st.sampled_from([None, True]))
said = st.dictionaries(
    st.sampled_from(["prompt_a", "prompt_b", "prompt_c"]),
    st.lists(responses, min_size=1, max_size=4),
    max_size=3,
)


def line(step: int, of: Said) -> PromptScoresLine:
    """What a trainer says of a step."""
    finite = [[score for score, _ in several if score is not None] for several in of.values()]
    judged = [[p for _, p in several if p is not None] for several in of.values()]
    return PromptScoresLine(
        step=step,
        prompt_ids=list(of),
        responses=[len(several) for several in of.values()],
        scored=[len(scores) for scores in finite],
        score=[fmean(scores) if scores else None for scores in finite],
        passed=[sum(passed) if passed else None for passed in judged],
    )


def say(database: Database, run_id: str, *lines: PromptScoresLine) -> None:
    """One batch of the relay."""
    with database.write() as session:
        prompt_scores.append(session, run_id, lines)


def resume(database: Database, run_id: str, after_step: int) -> None:
    """The next attempt goes on after this step."""
    with database.write() as session:
        prompt_scores.rewind(session, run_id, after_step)


def curves(database: Database, run_id: str, **asked: Any) -> dict[str, list[tuple[Any, ...]]]:
    """By prompt its columns: x, score, passed, responses; prompts without any are left out."""
    with database.read() as session:
        answer = prompt_scores.read(session, run_id, Asked(**asked))
    return {
        one.prompt_id: list(zip(one.x, one.score, one.passed, one.responses, strict=True))
        for one in answer.items
        if one.x
    }


def by_hand(told: dict[int, Said], width: int) -> dict[str, list[tuple[Any, ...]]]:
    """The same from the responses themselves."""
    columns: dict[tuple[str, int], list[tuple[int, Response]]] = defaultdict(list)
    for step, of in sorted(told.items()):
        for prompt_id, several in of.items():
            columns[prompt_id, step // width] += [(step, one) for one in several]
    found: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for (prompt_id, _), rows in sorted(columns.items()):
        scores = [score for _, (score, _) in rows if score is not None]
        judged = [passed for _, (_, passed) in rows if passed is not None]
        found[prompt_id].append(
            (
                rows[-1][0],
                pytest.approx(fmean(scores), rel=1e-6) if scores else None,
                pytest.approx(sum(judged) / len(rows), rel=1e-6) if judged else None,
                len(rows),
            )
        )
    return dict(found)


orders = st.one_of(st.tuples(st.integers(0, 40), said), st.integers(-1, 40))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(orders=st.lists(orders, max_size=12), width=st.sampled_from([1, 2, 8]))
def test_columns_are_what_their_responses_scored(
    database: Database, seed: Seed, orders: list[Any], width: int
) -> None:
    run_id = add_run(database, seed)
    told: dict[int, Said] = {}
    for order in orders:
        if isinstance(order, int):
            resume(database, run_id, order)
            told = {step: of for step, of in told.items() if step <= order}
        else:
            step, of = order
            say(database, run_id, line(step, of))
            told[step] = of

    assert curves(database, run_id, width=width) == by_hand(told, width)
    window = {step: of for step, of in told.items() if 10 <= step <= 20}
    assert curves(database, run_id, width=1, from_=10, to=20) == by_hand(window, 1)


@given(
    st.lists(st.tuples(st.integers(0, 2**31), st.integers(0, 2**31 - 1)), unique_by=lambda p: p[0])
)
def test_what_is_kept_is_what_was_said(rows: list[tuple[int, int]]) -> None:
    scores = [
        PromptScore(number, n, n, -0.25 if n else 0.0, NOT_JUDGED if n % 2 else n // 2)
        for number, n in rows
    ]

    assert list(unpacked(packed(scores))) == sorted(scores)


def test_columns_are_powers_of_two_and_at_most_as_many_as_asked_for(
    database: Database, seed: Seed
) -> None:
    run_id = add_run(database, seed)
    say(database, run_id, *(line(step, {"prompt_a": [(1.0, True)]}) for step in range(1, 101)))

    with database.read() as session:
        whole = prompt_scores.read(session, run_id, Asked(points=100))
        coarse = prompt_scores.read(session, run_id, Asked(points=30))

    assert (whole.width, whole.items[0].x) == (1, list(range(1, 101)))
    assert (coarse.width, coarse.items[0].x) == (4, [*range(3, 100, 4), 100])
    assert coarse.items[0].responses == [3] + [4] * 24 + [1]
    assert (coarse.first_step, coarse.last_step, coarse.next_step) == (1, 100, None)


def test_an_answer_that_would_take_long_ends_at_a_column_and_says_where(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = add_run(database, seed)
    of: Said = {"prompt_a": [(1.0, None)], "prompt_b": [(0.0, None)]}
    say(database, run_id, *(line(step, of) for step in range(1, 31)))
    monkeypatch.setattr(prompt_scores, "MOST_LOOKED_AT", 20)

    x: list[int] = []
    following: int | None = 0
    answers = 0
    while following is not None:
        with database.read() as session:
            answer = prompt_scores.read(session, run_id, Asked(from_=following, width=4))
        answers += 1
        following = answer.next_step
        x += answer.items[0].x

    assert answers == 3
    assert x == [3, 7, 11, 15, 19, 23, 27, 30]


def test_prompts_come_in_pages_in_the_order_in_which_they_were_asked_first(
    api: TestClient, database: Database, seed: Seed
) -> None:
    """Their words come by their id, from the run's own project alone."""
    run_id = add_run(database, seed)
    with database.write() as session:
        session.add(Project(id="project_other", created_at=AT, name="other"))
        session.flush()
        for number, project in enumerate((seed.project, "project_other")):
            turns = [{"role": "user", "content": f"Question {number}" + "?" * 400}]
            session.add(
                Prompt(id=f"prompt_{number}", created_at=AT, project_id=project, messages=turns,
                       tags=[], content_sha256=str(number) * 64)
            )  # fmt: skip
    say(
        database, run_id, line(1, {"prompt_1": [(1.0, True)]}), line(2, {"prompt_0": [(0.5, None)]})
    )
    say(database, run_id, line(3, {"prompt_2": [(None, None)], "prompt_1": [(0.0, True)]}))

    path = f"/runs/{run_id}/prompt-scores"
    first = api.get(path, params={"limit": 2}).json()
    last = api.get(path, params={"limit": 2, "after": first["next_cursor"]}).json()

    assert first == {
        "split": "train",
        "n_prompts": 3,
        "first_step": 1,
        "last_step": 3,
        "width": 1,
        "next_step": None,
        "next_cursor": "1",
        "items": [
            {
                "prompt_id": "prompt_1",
                "text": None,
                "x": [1, 3],
                "score": [1.0, 0.0],
                "passed": [1.0, 1.0],
                "responses": [1, 1],
            },
            {
                "prompt_id": "prompt_0",
                "text": "Question 0" + "?" * 290,
                "x": [2],
                "score": [0.5],
                "passed": [None],
                "responses": [1],
            },
        ],
    }
    assert last["next_cursor"] is None
    assert [one["prompt_id"] for one in last["items"]] == ["prompt_2"]
    assert last["items"][0]["score"] == [None]
    chosen = api.get(path, params={"prompt_id": ["prompt_2", "prompt_0"]}).json()
    assert [one["prompt_id"] for one in chosen["items"]] == ["prompt_0", "prompt_2"]


def test_a_run_that_tells_none_has_an_empty_answer(api: TestClient, seed: Seed) -> None:
    run_id = api.post("/runs", json=seed.body(seed.sft())).json()["id"]

    answer = api.get(f"/runs/{run_id}/prompt-scores").json()

    assert (answer["items"], answer["n_prompts"], answer["last_step"]) == ([], 0, None)


def test_an_id_that_no_project_has_is_left_out(database: Database, seed: Seed) -> None:
    run_id = add_run(database, seed)

    say(
        database, run_id, line(1, {"p" * 65: [(1.0, None)], "": [(1.0, None)], "ok": [(1.0, None)]})
    )

    assert list(curves(database, run_id)) == ["ok"]


@pytest.mark.parametrize(
    "change",
    [
        {"score": [0.5]},
        {"prompt_ids": ["a", "a"]},
        {"passed": [-1, None]},
        {"responses": [2**31, 1]},
        {"step": -1},
    ],
)
def test_a_line_that_is_none_is_refused(change: dict[str, Any]) -> None:
    good = {"step": 1, "prompt_ids": ["a", "b"], "responses": [2, 2], "scored": [2, 0],
            "score": [0.5, None], "passed": [1, None]}  # fmt: skip
    PromptScoresLine.model_validate(good)

    with pytest.raises(ValidationError):
        PromptScoresLine.model_validate(good | change)
