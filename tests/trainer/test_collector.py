"""Dynamic sampling and the over-long penalty in whole runs."""

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from backend.schemas.policy_gradient import PolicyGradientConfig
from tests.trainer.conftest import (
    SYSTEM,
    Finished,
    Workshop,
    lines,
    policy_gradient_config,
    series,
)
from worker.trainer.methods.policy_gradient.collector import Collector
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, measured
from worker.trainer.rewards.scorer import Scorer, Term
from worker.trainer.run import StopWish, open_run
from worker.trainer.sampling.prompts import read_both_splits

GROUPS = {"estimator": "rloo", "checkpoint_every": 1, "eval_every": 0, "steps": 3}


def run(workshop: Workshop, name: str, config: dict[str, Any]) -> Path:
    """Run a config to its end, which must be good."""
    run_dir = workshop.lay_out(name, config)
    report = workshop.run_here(run_dir)
    assert report["code"] == 0, report
    return run_dir


def parts(run_dir: Path, step: int) -> dict[str, Any]:
    """What a checkpoint keeps besides tensors."""
    state = json.loads((run_dir / "checkpoints" / f"step-{step}" / "state.json").read_text())
    found: dict[str, Any] = state["parts"]
    return found


def test_prompts_without_a_signal_are_replaced_by_the_next_ones(
    tiny_model: Path, finished: Finished
) -> None:
    config = policy_gradient_config(tiny_model) | GROUPS
    plain = finished(config)
    dynamic = finished(config | {"dynamic_sampling": {"max_replacements": 64}})

    assert series(plain, "group/zero_std_fraction")[1] > 0
    assert "group/replaced" not in lines(plain, "metric")[1]["values"]
    assert set(series(dynamic, "group/zero_std_fraction").values()) == {0.0}
    sampled, replaced = series(dynamic, "group/sampled"), series(dynamic, "group/replaced")
    assert replaced[1] > 0
    assert {sampled[step] - replaced[step] for step in (1, 2, 3)} == {8}
    kept = parts(dynamic, 3)
    assert kept["prompts"] == {"n_taken": sum(sampled.values())}
    assert kept["reward"]["n"] == 4 * sum(sampled.values())
    assert series(dynamic, "tokens/sampled")[1] > series(plain, "tokens/sampled")[1]


def test_every_prompt_that_was_asked_tells_what_it_scored(
    tiny_model: Path, finished: Finished
) -> None:
    """The replaced prompts, too: those that everything answers right would never be seen."""
    config = policy_gradient_config(tiny_model) | GROUPS
    plain = finished(config)
    dynamic = finished(config | {"dynamic_sampling": {"max_replacements": 64}})

    raw_mean, sampled = series(plain, "reward/raw_mean"), series(dynamic, "group/sampled")
    for told in lines(plain, "prompt_scores"):
        # Three epochs of 12 prompts in steps of 8: one that comes twice in a step is one row.
        assert sum(told["responses"]) == sum(told["scored"]) == 8 * 4
        weighed = zip(told["score"], told["scored"], strict=True)
        assert sum(score * n for score, n in weighed) / 32 == pytest.approx(raw_mean[told["step"]])
        assert set(told["passed"]) == {None}
    asked = {told["step"]: sum(told["responses"]) for told in lines(dynamic, "prompt_scores")}
    assert asked == {step: 4 * n for step, n in sampled.items()}
    assert 0.0 in lines(dynamic, "prompt_scores")[0]["score"]


@pytest.mark.parametrize(
    ("grade", "replaced"),
    [
        (lambda place: Grade(float(place), passed=True), 5),
        (lambda place: Grade(1.0, passed=place % 2 == 0), 0),
        (lambda place: Grade(float(place)), 0),
    ],
    ids=["all passed", "some passed", "not judged"],
)
def test_a_prompt_gives_a_signal_where_some_responses_pass_whatever_their_reward(
    workshop: Workshop, tiny_model: Path, grade: Callable[[int], Grade], replaced: int
) -> None:
    """Rewards that differ by a penalty or a format teach nothing of what is correct."""
    given = policy_gradient_config(tiny_model) | GROUPS
    given |= {"dynamic_sampling": {"max_replacements": 5}}
    run_dir = workshop.lay_out("run", given)
    config = PolicyGradientConfig.model_validate_json((run_dir / "config.json").read_bytes())
    run = open_run(run_dir, config, StopWish())
    training = PolicyGradient(run, config)
    train_prompts, _ = read_both_splits(run_dir, config, training.policy.tokenizer)

    def score(answers: Sequence[SampledResponse]) -> list[Grade]:
        return [grade(place) for place in range(len(answers))]

    scorer = Scorer(config.reward, [Term("judge", 1.0, score)])
    training.policy.refresh_sampler(0)
    collector = Collector(run, config, training.policy, train_prompts, training.sampling, scorer)

    assert collector.collect(1).n_replaced == replaced
    run.events.close()


def test_at_the_limit_a_step_trains_with_what_it_has(workshop: Workshop, tiny_model: Path) -> None:
    """No answer of one token has nine digits: nothing ever differs."""
    config = policy_gradient_config(tiny_model) | GROUPS
    config |= {"dynamic_sampling": {"max_replacements": 3}, "steps": 1}
    config["reward"] = {"terms": [{"kind": "regex", "pattern": "[0-9]{9}"}]}
    config["rollout"] = config["rollout"] | {"max_new_tokens": 1}
    run_dir = run(workshop, "run", config)

    assert series(run_dir, "group/replaced") == {1: 3}
    assert series(run_dir, "group/sampled") == {1: 11}
    assert series(run_dir, "length/mean") == {1: 1}


def test_a_prompt_that_comes_again_in_a_step_draws_anew(
    workshop: Workshop, tiny_model: Path
) -> None:
    """There are 12 prompts; with enough replacements each comes more than once."""
    config = policy_gradient_config(tiny_model) | GROUPS
    config |= {"dynamic_sampling": {"max_replacements": 64}, "steps": 1}
    config["rollout"] = config["rollout"] | {"prompts_per_step": 12, "max_new_tokens": 3}
    config["log"] = {"samples_per_step": 100}
    run_dir = run(workshop, "run", config)

    answers: dict[tuple[str, int], list[str]] = {}
    for sample in lines(run_dir, "sample"):
        answers.setdefault((sample["prompt_id"], sample["index"]), []).append(sample["response"])
    twice = [several for several in answers.values() if len(several) > 1]
    assert len(twice) >= 4
    assert sum(len(set(several)) > 1 for several in twice) >= len(twice) - 1


@pytest.mark.parametrize("buffer", [None, 4])
def test_the_overlong_penalty_is_part_of_the_reward(
    workshop: Workshop, tiny_model: Path, buffer: int | None
) -> None:
    """Factor 2 at the limit of 8 tokens; a fifth of it is a buffer of 1, so only the cut pay."""
    config = policy_gradient_config(tiny_model) | GROUPS
    config |= {
        "overlong": "penalize",
        "overlong_penalty": {"buffer_tokens": buffer, "factor": 2.0},
        "steps": 1,
        "log": {"samples_per_step": 100, "tokens": "all"},
        "reward": {"terms": [{"kind": "regex", "pattern": "[a-m]"}], "normalize": "none"},
        "rollout": {"prompts_per_step": 8, "samples_per_prompt": 4, "max_new_tokens": 8}
        | {"system": SYSTEM},
    }
    run_dir = run(workshop, "run", config)

    width = buffer or 1
    penalties = []
    for sample in lines(run_dir, "sample"):
        beyond = min(max(len(sample["tokens"]) - (8 - width), 0), width)
        penalties.append(-2.0 * beyond / width)
        assert sample["scores"]["reward"] == pytest.approx(
            sample["scores"]["regex"] + penalties[-1]
        )
    mean = sum(penalties) / len(penalties)
    assert series(run_dir, "reward/overlong_penalty")[1] == pytest.approx(mean)
    assert mean < 0


def test_the_sum_and_its_terms_are_of_the_same_responses(
    workshop: Workshop, tiny_model: Path
) -> None:
    """Of those that count: one term of weight 1 is the sum, however many responses are cut."""
    config = policy_gradient_config(tiny_model, steps=1, overlong="mask", eval_every=0)
    config["rollout"] |= {"max_new_tokens": 64}
    config["log"] = {"samples_per_step": 100}

    run_dir = run(workshop, "run", config)

    counted = [s for s in lines(run_dir, "sample") if s["finish_reason"] == "stop"]
    assert 0 < len(counted) < 32
    mean = fmean(sample["scores"]["regex"] for sample in counted)
    assert mean != fmean(sample["scores"]["regex"] for sample in lines(run_dir, "sample"))
    assert series(run_dir, "reward/raw_mean")[1] == pytest.approx(mean)
    assert series(run_dir, "reward/regex")[1] == pytest.approx(mean)


def test_a_response_that_could_not_be_scored_is_left_out_of_a_step_and_an_evaluation(
    workshop: Workshop, tiny_model: Path
) -> None:
    """One in three scores is NaN: the update is that of the others, not of them at the clip."""
    given = policy_gradient_config(tiny_model, estimator="rloo", steps=1)
    run_dir = workshop.lay_out("run", given)
    config = PolicyGradientConfig.model_validate_json((run_dir / "config.json").read_bytes())
    run = open_run(run_dir, config, StopWish())
    training = PolicyGradient(run, config)
    train_prompts, _ = read_both_splits(run_dir, config, training.policy.tokenizer)
    term = Term("letters", 1.0, lambda answers: measured(map(score_or_nan, range(len(answers)))))
    training.scorer = Scorer(config.reward, [term])
    training.collector = Collector(
        run, config, training.policy, train_prompts, training.sampling, training.scorer
    )

    values = training.take_step(1)
    evaluation = training.evaluate(1)
    run.events.close()

    assert {name for name, value in values.items() if not math.isfinite(value)} == set()
    of_step, of_evaluation = (
        line["message"] for line in lines(run_dir, "alert") if line["rule"] == "unscored"
    )
    assert of_step.startswith("Left out 11 of 32 responses, because their reward")
    n = evaluation_size(run_dir)
    assert of_evaluation == (
        f"{n - len(scores_of(n))} of {n} responses got no finite reward: the held-out reward "
        "leaves them out."
    )
    assert evaluation["eval/coverage"] == pytest.approx(len(scores_of(n)) / n)
    assert {"eval/coverage_low", "eval/coverage_high"} <= evaluation.keys()
    scored = [line for line in lines(run_dir, "sample") if line["scores"]["reward"] is not None]
    assert len(scored) < len(lines(run_dir, "sample"))
    assert values["reward/raw_mean"] == pytest.approx(fmean(scores_of(32)), rel=1e-5)
    assert values["reward/letters"] == pytest.approx(values["reward/raw_mean"])
    assert math.isfinite(training.objective(evaluation))


def test_a_response_that_a_pattern_is_slow_on_is_left_out_and_the_run_goes_on(
    workshop: Workshop, tiny_model: Path
) -> None:
    """The text is the policy's own: it would be sampled again however often the run is retried."""
    config = policy_gradient_config(tiny_model, estimator="rloo", steps=1, eval_every=0)
    config["rollout"] |= {"max_new_tokens": 48}
    config["log"] = {"samples_per_step": 100}
    texts = [line["response"] for line in lines(run(workshop, "first", config), "sample")]
    long = max(texts, key=len)
    assert len(long) > 30
    assert sum(text.startswith(long[:8]) for text in texts) == 1
    slow = rf"(?s)\A(?={re.escape(long[:8])})(.+)+[^\s\S]|[a-m]"
    config["reward"] = {"terms": [{"kind": "regex", "pattern": slow}]}

    run_dir = run(workshop, "second", config)

    alerts = {line["rule"]: line["message"] for line in lines(run_dir, "alert")}
    assert "on 1 of 32 responses" in alerts["slow_pattern"]
    assert alerts["unscored"].startswith("Left out 1 of 32 responses, because their reward")
    scored = {line["response"]: line["scores"]["reward"] for line in lines(run_dir, "sample")}
    assert [text for text, reward in scored.items() if reward is None] == [long]


def evaluation_size(run_dir: Path) -> int:
    """Two responses to each held-out prompt."""
    records = map(json.loads, (run_dir / "inputs" / "prompts.jsonl").read_text().splitlines())
    return 2 * sum(record["split"] == "heldout" for record in records)


def score_or_nan(place: int) -> float:
    """NaN for every third response, else 1 or 2."""
    return math.nan if place % 3 == 0 else 1.0 + place % 2


def scores_of(count: int) -> list[float]:
    """Those of the first responses that have one."""
    return [value for value in map(score_or_nan, range(count)) if math.isfinite(value)]
