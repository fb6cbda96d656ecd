"""The best answers of a run as demonstrations: those the rule keeps, and nothing else."""

import json
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from backend.artifacts import ArtifactStore
from backend.domain.records.answers import Among, choose, rule_of
from backend.errors import InvalidInput
from backend.schemas.data import AnswersFilter
from backend.schemas.records import EvaluatedRecord, TokenIds
from backend.schemas.vocabulary import FinishReason
from backend.store.runs import outputs
from backend.store.runs.outputs import OutputFile
from backend.store.tables.data import Prompt
from tests.backend.conftest import Service
from tests.backend.runs.conftest import AT, plant

CONFIG = {
    "reward": {
        "terms": [
            {"kind": "math", "weight": 1.0},
            {"kind": "length", "weight": -0.5},
            {"kind": "math", "weight": 0.25},
        ]
    }
}
WEIGHTS = {"math": 1.0, "length": -0.5, "math_2": 0.25}


def answer(prompt: int, index: int, content: str, **more: Any) -> EvaluatedRecord:
    """One line of the file."""
    return EvaluatedRecord(
        prompt_id=f"prompt_{prompt}",
        index=index,
        content=content,
        finish_reason=FinishReason.STOP,
        n_tokens=3,
        **more,
    )


scores = st.fixed_dictionaries(
    {name: st.sampled_from([None, 0.0, 0.5, 1.0]) for name in WEIGHTS}  # ties come often
)
answers = st.lists(
    st.builds(
        lambda prompt, content, scores, passed, where: answer(
            prompt, 0, content, scores=scores, passed=passed, model=where[0], set_name=where[1]
        ),
        st.integers(0, 2),
        st.sampled_from("abcdefg"),
        scores,
        st.sampled_from([None, True, False]),
        st.sampled_from([("model", None)] * 4 + [("baseline", None), ("model", "ood")]),
    ),
    max_size=14,
)
filters = st.builds(
    AnswersFilter,
    run_id=st.just("run_a"),
    best=st.none() | st.integers(1, 3),
    min_score=st.none() | st.sampled_from([-0.25, 0.5, 1.0]),
    passed=st.booleans(),
    term=st.none() | st.sampled_from(sorted(WEIGHTS)),
)


def by_sorting(every: Sequence[EvaluatedRecord], wanted: AnswersFilter) -> list[int]:
    """The places of those that are kept: every prompt's own, sorted as a whole."""
    own = {
        place: one
        for place, one in enumerate(every)
        if (one.model, one.set_name) == ("model", None)
    }
    weights = WEIGHTS if wanted.term is None else {wanted.term: 1.0}
    score = {
        place: None
        if any(one.scores[name] is None for name in weights)
        else sum(weight * (one.scores[name] or 0.0) for name, weight in weights.items())
        for place, one in own.items()
    }
    if wanted.passed:
        own = {place: one for place, one in own.items() if one.passed is True}
    if wanted.best is not None or wanted.min_score is not None:
        own = {place: one for place, one in own.items() if score[place] is not None}
    if wanted.min_score is not None:
        own = {place: one for place, one in own.items() if score[place] >= wanted.min_score}
    kept: list[int] = []
    for prompt_id in {one.prompt_id for one in own.values()}:
        texts: dict[str, int] = {}
        for place, one in own.items():
            if one.prompt_id == prompt_id:
                texts.setdefault(one.content, place)
        ranked = sorted(texts.values(), key=lambda place: (-(score[place] or 0.0), place))
        kept += ranked if wanted.best is None else ranked[: wanted.best]
    return sorted(kept)


@given(answers, filters)
def test_the_rule_keeps_what_sorting_everything_keeps(
    every: list[EvaluatedRecord], wanted: AnswersFilter
) -> None:
    lines = [(place, one.model_dump_json().encode()) for place, one in enumerate(every)]

    found = choose(lines, rule_of(wanted, CONFIG))

    assert [one.offset for one in found] == by_sorting(every, wanted)
    assert [one.prompt_id for one in found] == [every[one.offset].prompt_id for one in found]


def test_a_rule_that_a_run_has_no_scores_for_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no reward term 'regex'"):
        rule_of(AnswersFilter(run_id="r", term="regex"), CONFIG)
    with pytest.raises(InvalidInput, match="no reward terms, so its answers have no scores"):
        rule_of(AnswersFilter(run_id="r", best=1), {"reward": []})
    assert rule_of(AnswersFilter(run_id="r", passed=True), {}).weights == {}


# -- through the API ---------------------------------------------------------------------------

IDS = TokenIds(tokenizer="a" * 64, prompt="b" * 64, ids=[1, 2, 3])
FILE = [
    answer(0, 0, "wrong", scores={"math": 0.0}, passed=False),
    answer(0, 1, "right", scores={"math": 1.0}, passed=True, token_ids=IDS),
    answer(1, 0, "right too", scores={"math": 1.0}, passed=True),
    answer(1, 1, "right again\0", scores={"math": 1.0}, passed=True),
    answer(2, 0, "never", scores={"math": 0.0}, passed=False),
]


@pytest.fixture
def run_id(service: Service, tmp_path: Path) -> str:
    """A run of the seeded project that has left these answers."""
    seed, database = plant(service.app.state.database), service.app.state.database
    config = {
        "method": "generate",
        "model": {"id": seed.policy},
        "prompts": {"id": seed.prompts},
        "reward": [{"kind": "math"}],
    }
    made = service.client().post("/runs", json=seed.body(config))
    assert made.status_code == 201, made.text
    found: str = made.json()["id"]
    folder = tmp_path / "output"
    folder.mkdir()
    text = "".join(one.model_dump_json() + "\n" for one in FILE)
    (folder / outputs.ANSWERS).write_text(text)
    store = ArtifactStore(service.app.state.settings.resolved_artifact_url)
    (kept,) = store.put_folder(folder, f"runs/{found}/answers-1")
    with database.write() as session:
        outputs.keep_files(session, found, [OutputFile(*astuple(kept))])
        for number in range(3):
            turns = [{"role": "user", "content": f"Question {number}?"}]
            session.add(
                Prompt(id=f"prompt_{number}", created_at=AT, project_id=seed.project,
                       messages=turns, reference="42", tags=["odd"] if number % 2 else [],
                       content_sha256=f"{number:x}" * 64)
            )  # fmt: skip
    return found


def freeze(api: TestClient, run_id: str, *, kind: str = "demonstrations", **rule: Any) -> Any:
    """The answer to freezing what the rule keeps."""
    more = rule.pop("more", {})
    wanted = {"answers": {"run_id": run_id, **rule}} | more
    body = {"name": "best", "kind": kind, "filter": wanted}
    return api.post("/projects/project_seed/snapshots", json=body)


def records(api: TestClient, snapshot_id: str) -> list[dict[str, Any]]:
    text = api.get(f"/snapshots/{snapshot_id}/export").text
    return [json.loads(line) for line in text.splitlines()]


def test_the_best_of_each_prompt_become_its_demonstrations(api: TestClient, run_id: str) -> None:
    made = freeze(api, run_id, best=1, passed=True)

    assert made.status_code == 201, made.text
    snapshot = made.json()
    assert snapshot["counts"]["train"] == {"records": 2, "prompts": 2}
    # What it is made of: run, model and rule.
    assert snapshot["filter"] == {
        "answers": {"run_id": run_id, "best": 1, "passed": True, "model_id": "model_policy"}
    }
    first, second = records(api, snapshot["id"])
    assert first == {
        "demonstration_id": f"{run_id}:prompt_0:1",
        "prompt_id": "prompt_0",
        "messages": [{"role": "user", "content": "Question 0?"}],
        "reference": "42",
        "response": "right",
        "finish_reason": "stop",
        "token_ids": IDS.model_dump(),
        "split": "train",
    }
    assert (second["response"], second["tags"]) == ("right too", ["odd"])


def test_everything_that_passed_and_tags_can_be_asked_for(api: TestClient, run_id: str) -> None:
    every = freeze(api, run_id, passed=True).json()
    odd = freeze(api, run_id, min_score=1.0, term="math", more={"tags": ["odd"]}).json()

    said = [one["response"] for one in records(api, every["id"])]
    assert said == ["right", "right too", "right again\N{REPLACEMENT CHARACTER}"]
    assert [one["response"] for one in records(api, odd["id"])] == said[1:]


def test_a_rule_says_how_many_answers_it_keeps_before_they_are_frozen(
    api: TestClient, run_id: str
) -> None:
    def count(**rule: Any) -> list[int]:
        answer = api.get(f"/runs/{run_id}/answers/count", params=rule)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert (found["of_answers"], found["of_prompts"], found["is_judged"]) == (5, 3, True)
        frozen = freeze(api, run_id, **rule)
        kept = frozen.json()["counts"]["train"] if frozen.is_success else {}
        told = {"records": found["answers"], "prompts": found["prompts"]}
        assert kept == told or (frozen.status_code, told["records"]) == (422, 0)
        return [found["answers"], found["prompts"]]

    assert count() == [5, 3]
    assert count(best=1, passed=True) == [2, 2]
    assert count(best=1) == [3, 3]
    assert count(min_score=1.0, term="math") == [3, 2]
    assert count(min_score=2.0) == [0, 0]
    refused = api.get(f"/runs/{run_id}/answers/count", params={"term": "knights"})
    assert (refused.status_code, "no reward term" in refused.text) == (422, True)


def test_a_file_says_whether_anything_judged_its_own_answers() -> None:
    def judged(*passed: bool | None, **more: Any) -> bool:
        every = [answer(0, at, str(at), passed=one, **more) for at, one in enumerate(passed)]
        lines = [(place, one.model_dump_json().encode()) for place, one in enumerate(every)]
        among = Among()
        choose(lines, rule_of(AnswersFilter(run_id="r"), CONFIG), among)
        return among.is_judged

    assert judged(None, False)
    assert not judged(None, None)
    assert not judged(True, model="baseline")


def test_the_split_is_that_of_every_other_snapshot(api: TestClient, run_id: str) -> None:
    sides = {}
    for kind, wanted in (("prompts", {}), ("demonstrations", {"answers": {"run_id": run_id}})):
        body = {"name": "s", "kind": kind, "heldout_fraction": 0.4, "seed": 3, "filter": wanted}
        made = api.post("/projects/project_seed/snapshots", json=body).json()
        sides[kind] = {one["prompt_id"]: one["split"] for one in records(api, made["id"])}

    assert sides["demonstrations"] == sides["prompts"]
    assert set(sides["prompts"].values()) == {"train", "heldout"}


def test_what_cannot_be_frozen_says_why(
    service: Service, api: TestClient, run_id: str, tmp_path: Path
) -> None:
    other = api.post("/projects", json={"name": "other"}).json()["id"]
    body = {"name": "s", "kind": "demonstrations", "filter": {"answers": {"run_id": run_id}}}
    foreign = api.post(f"/projects/{other}/snapshots", json=body)
    missing = freeze(api, "run_nothing")
    refused = {
        "kind": freeze(api, run_id, kind="preferences"),
        "term": freeze(api, run_id, term="knights"),
        "none": freeze(api, run_id, min_score=2.0),
    }
    with service.app.state.database.write() as session:
        outputs.forget_answers(session, run_id)
    gone = freeze(api, run_id)

    assert (foreign.status_code, missing.status_code, gone.status_code) == (404, 404, 404)
    assert "has no answers in the artifact store" in gone.json()["detail"]
    assert {name: one.status_code for name, one in refused.items()} == dict.fromkeys(refused, 422)
    assert "filter.answers does not fit" in refused["kind"].json()["detail"]
    assert "no reward term 'knights'" in refused["term"].json()["detail"]
    # Nothing is left of the files that were looked at.
    cache = service.data_dir / "cache" / "runs"
    assert [path.name for path in cache.rglob("*")] == [run_id]
