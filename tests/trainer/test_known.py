"""What is known of a prompt reaches the reward terms and comes back with every answer."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.conftest import Workshop, lines, policy_gradient_config
from worker.trainer.rewards.grading import begun
from worker.trainer.rewards.grading.pool import Pool

KNOWN = {"reference": "[a-m]", "tags": ["easy"], "metadata": {"level": 3, "parts": [0.5, None]}}
ANSWERED = [{"kind": "regex", "pattern": "[a-m]", "is_answer": True}]


def run(workshop: Workshop, config: dict[str, Any]) -> Path:
    """A run whose first prompt to train on has a ground truth, to its good end."""
    run_dir = workshop.lay_out("run", config)
    path = run_dir / "inputs" / "prompts.jsonl"
    records = list(map(json.loads, path.read_text().splitlines()))
    known = next(one for one in records if one["split"] == "train")
    others = [one for one in records if one is not known]
    path.write_text("\n".join(map(json.dumps, [known | KNOWN, *others])))
    report = workshop.run_here(run_dir)
    assert report["code"] == 0, report
    return run_dir


def prompts_config(method: str, model: Path) -> dict[str, Any]:
    """A small run of a method that answers prompts."""
    if method == "policy_gradient":
        log = {"samples_per_step": 100, "probes": 2}
        reward = {"terms": ANSWERED, "normalize": "none"}
        return policy_gradient_config(model, steps=1, log=log, reward=reward)
    return {
        "method": method,
        "model": {"path": str(model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "rollout": {"max_new_tokens": 4},
        "log": {"samples_per_step": 100},
        "reward": ANSWERED if method == "generate" else {"terms": ANSWERED},
    }


@pytest.mark.parametrize("method", ["policy_gradient", "generate", "evaluate"])
def test_samples_say_what_is_known_of_their_prompt_and_whether_they_passed(
    workshop: Workshop, tiny_model: Path, method: str
) -> None:
    run_dir = run(workshop, prompts_config(method, tiny_model))

    samples = lines(run_dir, "sample")
    first = json.loads((run_dir / "inputs" / "prompts.jsonl").read_text().splitlines()[0])
    told = [one for one in samples if one["prompt_id"] == first["prompt_id"]]
    assert told
    assert all({name: one[name] for name in KNOWN} == KNOWN for one in told)
    assert all(one["reference"] is None for one in samples if one not in told)
    for one in samples:
        assert one["passed"] == (one["scores"]["regex"] == 1)
        assert (one["why"] == {}) == one["passed"]


def test_generated_records_say_it_too(workshop: Workshop, tiny_model: Path) -> None:
    run_dir = run(workshop, prompts_config("generate", tiny_model))

    written = (run_dir / "output" / "responses.jsonl").read_text().splitlines()
    first, *others = [json.loads(line) for line in written]
    assert {name: first[name] for name in KNOWN} == KNOWN
    assert "reference" not in others[-1]
    passed = [json.loads(line)["passed"] for line in written]
    [values] = [line["values"] for line in lines(run_dir, "metric")]
    assert values["eval/pass@1"] == pytest.approx(sum(passed) / len(passed))
    assert values["reward/regex_coverage"] == 1
    assert 0 < values["reward/regex_coverage_low"] < values["reward/regex_coverage_high"] == 1


def test_a_run_goes_on_where_a_grader_has_nothing_to_grade_by(
    workshop: Workshop, tiny_model: Path
) -> None:
    """One of nine prompts to train on has a reference: the others are left out and counted."""
    config = prompts_config("policy_gradient", tiny_model)
    config["reward"] = {"terms": [{"kind": "math"}, {"kind": "format"}], "normalize": "none"}
    config |= {"rollout": config["rollout"] | {"prompts_per_step": 9}}

    run_dir = run(workshop, config)

    values = next(
        one["values"] for one in lines(run_dir, "metric") if "reward/math_coverage" in one["values"]
    )
    assert 0 < values["reward/math_coverage"] < 1
    assert values["pass_rate"] == 0
    alerts = {alert["rule"]: alert["message"] for alert in lines(run_dir, "alert")}
    assert "unscored" in alerts
    assert alerts["no_reference"].startswith("15 of 16 prompts came without a ground truth")
    for one in lines(run_dir, "sample"):
        assert one["passed"] is False
        is_known = one["reference"] is not None
        assert (one["scores"]["math"] == 0) == is_known
        assert ("no answer" if is_known else "no ground truth") in one["why"]["math"]


def test_a_grader_that_only_watches_needs_no_reference(
    workshop: Workshop, tiny_model: Path
) -> None:
    config = prompts_config("policy_gradient", tiny_model)
    terms = [{"kind": "set_match", "weight": 0}, {"kind": "format"}]
    config["reward"] = {"terms": terms, "normalize": "none"}

    run_dir = run(workshop, config)

    assert "no_reference" not in {alert["rule"] for alert in lines(run_dir, "alert")}


@pytest.mark.parametrize("method", ["policy_gradient", "generate", "evaluate"])
def test_a_run_without_any_reference_ends_before_it_begins(
    workshop: Workshop, tiny_model: Path, method: str
) -> None:
    config = prompts_config(method, tiny_model)
    terms = [{"kind": "set_match"}]
    config["reward"] = terms if method == "generate" else {"terms": terms}

    report = workshop.run_here(workshop.lay_out("run", config))

    assert report["code"] == 2, report
    assert "no prompt has one (0 of 16)" in report["message"]


def test_an_operators_function_grades_a_whole_run(
    workshop: Workshop, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rewards.py").write_text(
        "def level(response, prompt, reference, tags, metadata):\n"
        "    return {'score': metadata.get('level', 0), 'passed': 'easy' in tags}\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.setenv("PODIUM_REWARD_FUNCTIONS", "own_rewards:level")
    monkeypatch.setattr(begun, "shared", lambda: pool)
    pool = Pool(1)
    config = prompts_config("generate", tiny_model)
    config["reward"] = [{"kind": "function", "function": "own_rewards:level"}]
    try:
        run_dir = run(workshop, config)
    finally:
        pool.close()

    written = (run_dir / "output" / "responses.jsonl").read_text().splitlines()
    scores = {(one["scores"]["function"], one["passed"]) for one in map(json.loads, written)}
    assert scores == {(3, True), (0, False)}
