"""GET /shared-prompts: the same prompt in several runs, against a slow look at all samples."""

import pytest
from fastapi.testclient import TestClient

from backend.schemas.run_directory.events import SampleLine
from backend.store.db import Database
from backend.store.runs import samples
from tests.backend.runs.conftest import AT, Seed

# What each run has logged: (prompt, step, response) in order; the first at its evaluations.
LOGGED = {
    "first": [("p", 0, "a0"), ("q", 0, "b0"), ("p", 10, "a10"), ("p", 10, "a10 again")],
    "second": [("p", 5, "c5"), ("p", 20, "c20"), (None, 20, "of no prompt")],
    "third": [("r", 3, "<script>alert(1)</script>")],
}


@pytest.fixture
def runs(api: TestClient, database: Database, seed: Seed) -> dict[str, str]:
    """Three runs with the samples above, by name."""
    made = {}
    for name, logged in LOGGED.items():
        body = seed.body(seed.policy_gradient(), name=name)
        made[name] = str(api.post("/runs", json=body).json()["id"])
        lines = [
            SampleLine(
                step=step, prompt=f"say {prompt}", prompt_id=prompt, response=response,
                scores={"reward": float(step)}, kind="probe" if name == "first" else "rollout",
            )
            for prompt, step, response in logged
        ]  # fmt: skip
        with database.write() as session:
            samples.append(session, made[name], 1, lines, at=AT)
    return made


def test_prompts_that_most_runs_have_come_first(api: TestClient, runs: dict[str, str]) -> None:
    query = {"runs": ",".join(runs.values())}
    items = api.get("/shared-prompts", params=query).raise_for_status().json()["items"]

    assert [(one["prompt_id"], one["runs"], one["last_step"]) for one in items] == [
        ("p", 2, 20),
        ("r", 1, 3),
        ("q", 1, 0),
    ]
    assert items[0]["text"] == "say p"


def test_each_run_answers_with_its_newest_samples_up_to_the_step(
    api: TestClient, runs: dict[str, str]
) -> None:
    for up_to in (None, 0, 4, 5, 10, 19, 20, 99):
        query = {"runs": ",".join(runs.values()), "prompt_id": "p"}
        if up_to is not None:
            query["up_to"] = str(up_to)
        items = api.get("/shared-prompts/samples", params=query).raise_for_status().json()["items"]

        assert [one["run"] for one in items] == list(runs.values())
        for found, logged in zip(items, LOGGED.values(), strict=True):
            known = [(step, text) for prompt, step, text in logged if prompt == "p"]
            early = [step for step, _ in known if up_to is None or step <= up_to]
            step = max(early, default=None)
            texts = [text for at, text in known if at == step]
            assert found["steps"] == sorted({step for step, _ in known})
            assert (found["step"], found["count"]) == (step, len(texts))
            assert [one["response"] for one in found["items"]] == texts
            # So that they are found among the samples of their run.
            kind = "probe" if logged is LOGGED["first"] else "rollout"
            assert {one["kind"] for one in found["items"]} <= {kind}


def test_too_many_columns_are_refused(api: TestClient, seed: Seed, runs: dict[str, str]) -> None:
    body = seed.body(seed.policy_gradient())
    many = [str(api.post("/runs", json=body).json()["id"]) for _ in range(13)]

    answer = api.get("/shared-prompts/samples", params={"runs": ",".join(many), "prompt_id": "p"})

    assert answer.status_code == 422
    assert answer.json()["detail"] == "`runs` names 13 runs; expected at most 12 side by side"
