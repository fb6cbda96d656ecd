"""Evaluations: pass@k and win rate by hand, and whole runs against a baseline."""

import json
import math
import re
from collections import Counter
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from backend.schemas.references import Reference
from backend.schemas.training import EvaluateConfig, parse_run_config
from intervals.clustered import exact_interval
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import (
    SYSTEM,
    Finished,
    Workshop,
    lines,
    policy_gradient_config,
    reward_model_config,
    series,
)
from worker.run_directory.intake import read_results
from worker.trainer.data.token_ids import tokenizer_hash
from worker.trainer.evaluation.comparison import win_share
from worker.trainer.evaluation.rows import Measured
from worker.trainer.evaluation.texts import read_texts
from worker.trainer.methods.evaluate import left_out
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.rewards.sampled_response import Grade
from worker.trainer.rewards.scorer import Scores
from worker.trainer.run import StopWish, open_run


def evaluate_config(model: Path, **more: Any) -> dict[str, Any]:
    """Four responses to each of 16 prompts; a letter of a-m passes."""
    return {
        "method": "evaluate",
        "model": {"path": str(model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "reward": {"terms": [{"kind": "regex", "pattern": "[a-m]"}]},
        "samples_per_prompt": 4,
        "rollout": {"max_new_tokens": 8, "system": SYSTEM},
    } | more


def run(workshop: Workshop, name: str, config: dict[str, Any]) -> Path:
    """Run a config to its end, which must be good."""
    run_dir = workshop.lay_out(name, config)
    report = workshop.run_here(run_dir)
    assert report["code"] == 0, report
    return run_dir


def keys_without_prompts(run_dir: Path) -> list[str]:
    """The keys of `breakdown` that alerts say no prompt has."""
    told = [one["message"] for one in lines(run_dir, "alert") if one["rule"] == "breakdown"]
    assert all("Choose among `place`" in message for message in told)
    return [key for message in told for key in re.findall(r"has the key `(\w+)`", message)]


def results(run_dir: Path) -> dict[str, float]:
    """The numbers of results.json."""
    found: dict[str, float] = json.loads((run_dir / "output" / "results.json").read_text())
    return found


def test_a_win_is_one_a_tie_a_half() -> None:
    assert [win_share(*pair) for pair in ((1, 0), (0, 1), (2, 2), (1e6, 1e6 + 0.1))] == [
        1.0,
        0.0,
        0.5,
        0.5,
    ]


@pytest.mark.parametrize("pair", [(1.0, math.nan), (math.nan, 1.0), (math.inf, 1.0)])
def test_what_has_no_score_neither_wins_nor_loses(pair: tuple[float, float]) -> None:
    assert math.isnan(win_share(*pair))


def test_an_evaluation_scores_every_prompt(workshop: Workshop, tiny_model: Path) -> None:
    config = evaluate_config(tiny_model, log={"samples_per_step": 5})
    run_dir = run(workshop, "run", config)

    found = results(run_dir)
    assert found["eval/pass@1"] == pytest.approx(found["reward/regex"])
    assert found["eval/pass@1"] < found["eval/pass@2"] < found["eval/pass@4"]
    assert found["eval/pass@4_low"] < found["eval/pass@4"] < found["eval/pass@4_high"]
    assert found["eval/reward"] == found["reward/raw_mean"] == found["reward/regex"]
    for end in ("low", "high"):
        assert found[f"eval/reward_{end}"] == found[f"reward/raw_mean_{end}"]
    assert 1 <= found["eval/length"] <= 8
    assert not any("baseline" in name or "win" in name for name in found)
    assert len(lines(run_dir, "sample")) == 5
    assert read_results(run_dir / "output" / "results.json") == found
    assert lines(run_dir, "metric")[0]["values"] == found
    assert results(run(workshop, "again", config)) == found
    assert results(run(workshop, "other", config | {"seed": 1})) != found


def test_a_model_against_itself_ties_every_time(workshop: Workshop, tiny_model: Path) -> None:
    """The random numbers are the same, so the responses are, too."""
    config = evaluate_config(tiny_model, baseline_model={"path": str(tiny_model)})
    found = results(run(workshop, "run", config))
    rate, low, high = (found[f"eval/win_rate{end}"] for end in ("", "_low", "_high"))
    # A few prompts that tie do not show that none would be won.
    assert rate == 0.5
    assert 0 < low < 0.5
    assert low + high == pytest.approx(1)
    gain, low, high = (found[f"eval/gain{end}"] for end in ("", "_low", "_high"))
    assert gain == 0
    assert low == -high < -0.1
    assert found["baseline/reward"] == found["eval/reward"]


def test_a_trained_policy_beats_its_start(workshop: Workshop, tiny_model: Path) -> None:
    """Without held-out prompts the output is the last policy, not the best."""
    config = policy_gradient_config(tiny_model, steps=16, kl={"coef": 0.0})
    trained = workshop.lay_out("policy", config)
    prompts = trained / "inputs" / "prompts.jsonl"
    prompts.write_text(prompts.read_text().replace("heldout", "train"))
    assert workshop.run_here(trained)["code"] == 0
    assert series(trained, "reward/raw_mean")[16] > 0.45
    config = evaluate_config(
        trained / "output", baseline_model={"path": str(tiny_model)}, split="train"
    )
    found = results(run(workshop, "run", config))
    # Eight prompts are few for a rate; the gain of each counts how much it is.
    assert found["eval/win_rate"] > 0.8
    assert found["eval/gain"] == pytest.approx(found["eval/reward"] - found["baseline/reward"])
    assert found["eval/gain_low"] > 0


def test_responses_that_could_not_be_scored_count_for_neither_model(
    workshop: Workshop, tiny_model: Path, tmp_path: Path
) -> None:
    """One of each model, to different prompts: neither a loss nor a win, nor part of a mean."""
    other = make_tiny_model(tmp_path / "other", seed=1)
    long = {"samples_per_prompt": 1, "log": {"samples_per_step": 100}}
    long |= {"rollout": {"max_new_tokens": 40, "system": SYSTEM}}
    ours, theirs = (
        {s["prompt_id"]: s["response"] for s in lines(run(workshop, name, config), "sample")}
        for name, config in (
            ("ours", evaluate_config(tiny_model) | long),
            ("theirs", evaluate_config(other) | long),
        )
    )
    our_slow, their_slow = longest(ours), longest(theirs)
    assert our_slow != their_slow
    begin = "|".join(re.escape(text[:8]) for text in (ours[our_slow], theirs[their_slow]))
    terms = [{"kind": "regex", "pattern": rf"(?s)\A(?={begin})(.+)+[^\s\S]|[a-m]"}]
    config = evaluate_config(tiny_model, reward={"terms": terms}) | long

    run_dir = run(workshop, "run", config | {"baseline_model": {"path": str(other)}})

    found = results(run_dir)
    our, their = (
        {
            name: float(bool(re.search("[a-m]", text)))
            for name, text in texts.items()
            if name != slow
        }
        for texts, slow in ((ours, our_slow), (theirs, their_slow))
    )
    pairs = [(our[name], their[name]) for name in our if name in their]
    assert len(pairs) == 14
    for name in ("eval/reward", "reward/raw_mean", "reward/regex"):
        assert found[name] == pytest.approx(fmean(our.values())), name
    share = [found[f"reward/regex_coverage{end}"] for end in ("_low", "", "_high")]
    assert share == pytest.approx([exact_interval(15, 16)[0], 15 / 16, exact_interval(15, 16)[1]])
    assert found["baseline/reward"] == pytest.approx(fmean(their.values()))
    assert found["eval/win_rate"] == pytest.approx(fmean(win_share(*pair) for pair in pairs))
    assert found["eval/gain"] == pytest.approx(fmean(a - b for a, b in pairs))
    assert found["eval/pass@1"] == pytest.approx(sum(our.values()) / 16)
    alerts = [line["message"] for line in lines(run_dir, "alert") if line["rule"] == "unscored"]
    assert alerts == [
        f"1 of 16 responses of {whose} to the run's own prompts got no finite reward: they are "
        "left out of rewards, win rate and gain; none of them has passed."
        for whose in ("the model", "the baseline")
    ]


def measured(
    raw: list[float], passed: list[bool | None], pass_reward: float | None = None
) -> Measured:
    """What is known of responses with these sums and verdicts."""
    grades = {"judge": [Grade(math.nan, one) for one in passed]}
    return Measured([], Scores(grades, raw, [], raw), pass_reward)


def test_an_infinite_sum_is_no_score_and_has_not_passed() -> None:
    found = measured([math.inf, -math.inf, math.nan, 1.0, 0.5], [None] * 5, pass_reward=1.0)
    assert found.passed == [False, False, False, True, False]


def test_terms_that_judge_decide_whether_a_response_without_a_score_has_passed() -> None:
    found = measured([math.nan, math.inf, 2.0], [True, False, False], pass_reward=1.0)
    assert found.passed == [True, False, False]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (measured([math.nan, 1.0], [None, None]), "."),
        (measured([math.nan, 1.0], [None, None], 1.0), "; none of them has passed."),
        (measured([math.nan, 1.0], [False, True]), "; none of them has passed."),
        (
            measured([math.nan, math.inf, math.nan, 1.0], [True, False, True, True]),
            "; 2 of them passed by the terms that judge correctness.",
        ),
    ],
)
def test_an_alert_says_what_follows_from_responses_without_a_score(
    found: Measured, told: str
) -> None:
    assert left_out(found) == f"they are left out of rewards, win rate and gain{told}"


def longest(texts: dict[str, str]) -> str:
    """Whose response a pattern can be slow on."""
    name = max(texts, key=lambda name: len(texts[name]))
    assert len(texts[name]) > 30
    assert sum(text.startswith(texts[name][:8]) for text in texts.values()) == 1
    return name


def test_the_split_decides_who_is_asked(workshop: Workshop, tiny_model: Path) -> None:
    config = evaluate_config(tiny_model, pass_reward=None, log={"samples_per_step": 100})
    heldout = run(workshop, "heldout", config | {"split": "heldout"})
    assert [line["prompt_id"] for line in lines(heldout, "sample")] == ["p0", "p4", "p8", "p12"]
    assert not any("pass@" in name for name in results(heldout))


def test_an_evaluation_has_no_running_statistics(workshop: Workshop, tiny_model: Path) -> None:
    reward = {"terms": [{"kind": "finished"}], "normalize": "running"}
    report = workshop.run_here(workshop.lay_out("run", evaluate_config(tiny_model, reward=reward)))
    assert report["code"] == 2
    assert "an evaluate run has no running statistics" in report["message"]


def test_every_response_is_kept_and_every_set_has_its_own_numbers(
    workshop: Workshop, tiny_model: Path
) -> None:
    ood: dict[str, Any] = {"name": "ood", "prompts": {"path": "inputs/prompts.jsonl"}}
    ood |= {"split": "heldout", "samples_per_prompt": 2, "max_new_tokens": 3}
    more = {"evaluation_sets": [ood], "breakdown": ["place"]}
    config = evaluate_config(tiny_model, baseline_model={"path": str(tiny_model)}) | more
    run_dir = run(workshop, "run", config)

    found = results(run_dir)
    text = (run_dir / "output" / "responses.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in text]
    by_set = {
        (one, model): [r for r in kept if r["set_name"] == one and r["model"] == model]
        for one in (None, "ood")
        for model in ("model", "baseline")
    }
    assert {key: len(records) for key, records in by_set.items()} == {
        (None, "model"): 64,
        (None, "baseline"): 64,
        ("ood", "model"): 8,
        ("ood", "baseline"): 8,
    }
    own, other = by_set[None, "model"], by_set["ood", "model"]
    assert found["eval/pass@1"] == pytest.approx(fmean(r["passed"] for r in own))
    assert found["eval/ood/pass@1"] == pytest.approx(fmean(r["passed"] for r in other))
    assert found["eval/ood/length"] == pytest.approx(fmean(r["n_tokens"] for r in other))
    assert max(r["n_tokens"] for r in other) <= 3 < max(r["n_tokens"] for r in own)
    odd = [r["passed"] for r in own if r["metadata"]["place"] == "odd"]
    assert found["eval/pass@1/place.odd"] == pytest.approx(fmean(odd))
    assert found["eval/ood/win_rate"] == 0.5
    assert found["eval/pass_gain"] == 0.0
    assert "eval/ood/pass@1/place.even" in found


def test_a_part_is_compared_as_the_whole_is(
    workshop: Workshop, tiny_model: Path, tmp_path: Path
) -> None:
    other = make_tiny_model(tmp_path / "other", seed=1)
    config = evaluate_config(tiny_model, baseline_model={"path": str(other)})
    run_dir = run(workshop, "run", config | {"breakdown": ["place"]})

    found = results(run_dir)
    text = (run_dir / "output" / "responses.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in text]
    ours, theirs = (
        [r for r in kept if r["model"] == model and r["metadata"]["place"] == "odd"]
        for model in ("model", "baseline")
    )
    gained = [a["reward"] - b["reward"] for a, b in zip(ours, theirs, strict=True)]
    shares = [(1 + (gain > 0) - (gain < 0)) / 2 for gain in gained]
    assert found["eval/gain/place.odd"] == pytest.approx(fmean(gained))
    assert found["eval/gain/place.odd"] != pytest.approx(found["eval/gain"])
    assert found["eval/pass_gain/place.odd"] == pytest.approx(fmean(gained))
    won, low, high = (found[f"eval/win_rate/place.odd{end}"] for end in ("", "_low", "_high"))
    assert low < won < high
    assert won == pytest.approx(fmean(shares))


def test_texts_say_what_was_forgotten(workshop: Workshop, tiny_model: Path, tmp_path: Path) -> None:
    other = make_tiny_model(tmp_path / "other", seed=1)
    texts = {"texts": {"path": "inputs/demonstrations.jsonl"}, "breakdown": ["nothing"]}
    config = evaluate_config(tiny_model, baseline_model={"path": str(other)}) | texts
    run_dir = run(workshop, "run", config)
    assert keys_without_prompts(run_dir) == ["nothing"]
    found = results(run_dir)
    alone = results(run(workshop, "alone", evaluate_config(other) | texts))
    change = found["eval/text_logp"] - alone["eval/text_logp"]
    assert found["eval/text_change"] == pytest.approx(change)
    assert found["eval/text_change_low"] < change < found["eval/text_change_high"]
    same = evaluate_config(other, baseline_model={"path": str(other)}) | texts
    assert results(run(workshop, "same", same))["eval/text_change"] == 0.0


def test_a_text_that_was_cut_has_no_end_and_what_was_sampled_keeps_its_ids(
    workshop: Workshop, tiny_model: Path
) -> None:
    """As where sft learns from it: by the end token its likelihood would be that of another."""
    run_dir = workshop.lay_out("run", evaluate_config(tiny_model))
    path = run_dir / "inputs" / "demonstrations.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    tokenizer = load_tokenizer(Reference(path=str(tiny_model)))
    (token,) = tokenizer("a", add_special_tokens=False)["input_ids"]
    sampled = {"tokenizer": tokenizer_hash(tokenizer), "prompt": None, "ids": [token]}
    records = [first, first | {"finish_reason": "length"}]
    records.append(first | {"response": "a", "token_ids": sampled})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    asked = parse_run_config(
        evaluate_config(Path("inputs"), texts={"path": "inputs/demonstrations.jsonl"})
    )
    assert isinstance(asked, EvaluateConfig)
    run = open_run(run_dir, asked, StopWish())

    with closing(run.events):
        texts = read_texts(run, asked, Reference(path=str(tiny_model)), tokenizer)
    ended, cut, kept = texts.tokens

    assert ended.response == [*cut.response, tokenizer.eos_token_id]
    assert kept.response == [token]


def test_a_text_that_is_too_long_names_the_settings_that_say_so(
    workshop: Workshop, tiny_model: Path
) -> None:
    config = evaluate_config(tiny_model, texts={"path": "inputs/demonstrations.jsonl"})
    run_dir = workshop.lay_out("run", config)
    path = run_dir / "inputs" / "demonstrations.jsonl"
    record = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps(record | {"response": "no " * 200}) + "\n")

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "data")
    asked = "rollout.max_prompt_tokens (256) and rollout.max_new_tokens (8) are 264 together"
    assert asked in report["message"]
    assert report["advice"].startswith("Raise rollout.max_prompt_tokens")


def test_two_sets_of_one_name_are_refused(workshop: Workshop, tiny_model: Path) -> None:
    one = {"name": "ood", "prompts": {"path": "inputs/prompts.jsonl"}}
    config = evaluate_config(tiny_model, evaluation_sets=[one, one])
    report = workshop.run_here(workshop.lay_out("run", config))
    assert report["code"] == 2
    assert "two evaluation sets are named ood" in report["message"]


def test_a_policy_is_told_of_sets_that_choose_nothing(workshop: Workshop, tiny_model: Path) -> None:
    """Its last evaluation of a set is what an evaluate run finds of the output."""
    path = {"path": "inputs/prompts.jsonl"}
    seen = {"name": "seen", "prompts": path, "split": "train", "samples_per_prompt": 2}
    more = {"reward": {"terms": [{"kind": "regex", "pattern": "[a-m]"}]}, "kl": {"coef": 0.0}}
    config = policy_gradient_config(tiny_model, steps=2, evaluation_sets=[seen]) | more
    trained = workshop.lay_out("policy", config)
    prompts = trained / "inputs" / "prompts.jsonl"
    prompts.write_text(prompts.read_text().replace("heldout", "train"))
    assert workshop.run_here(trained)["code"] == 0

    told = series(trained, "eval/seen/reward")

    rollout = config["rollout"]
    again = evaluate_config(trained / "output", rollout=rollout, samples_per_prompt=2)
    found = results(run(workshop, "again", again | {"reward": more["reward"]}))
    assert told[2] == pytest.approx(found["eval/reward"])
    assert series(trained, "eval/seen/length")[2] == pytest.approx(found["eval/length"])


@pytest.mark.parametrize("normalize", ["none", "running"])
def test_a_set_is_told_without_the_penalty_that_held_out_prompts_have(
    workshop: Workshop, tiny_model: Path, normalize: str
) -> None:
    """A set with a limit beyond that of the penalty is told as by evaluate, from 0 to 1."""
    path = {"path": "inputs/prompts.jsonl"}
    longer = {"name": "long", "prompts": path, "split": "train", "max_new_tokens": 16}
    half = {"weight": 0.5}
    terms = [half | {"kind": "finished"}, half | {"kind": "regex", "pattern": "[a-d]"}]
    config = policy_gradient_config(tiny_model, steps=1, evaluation_sets=[longer])
    config["reward"] = {"terms": terms, "normalize": normalize}
    plain = run(workshop, "plain", config)
    config |= {"overlong": "penalize", "overlong_penalty": {"factor": 3.0}}

    penalized = run(workshop, "penalized", config)

    assert series(penalized, "eval/long/length")[1] > 8
    again = evaluate_config(penalized / "output", split="train", samples_per_prompt=1)
    again |= {"rollout": config["rollout"] | {"max_new_tokens": 16}, "reward": {"terms": terms}}
    found = results(run(workshop, "again", again))
    assert 0 < series(penalized, "eval/long/reward")[1] < 1
    for end in ("", "_low", "_high"):
        told = series(penalized, f"eval/long/reward{end}")[1]
        assert told == pytest.approx(found[f"eval/reward{end}"]), end
    # The objective keeps the penalty: the two runs have the same model before their first step.
    first = min(series(plain, "eval/reward"))
    cut = series(penalized, "eval/truncated_fraction")[first]
    assert cut > 0
    less = series(plain, "eval/reward")[first] - series(penalized, "eval/reward")[first]
    assert less >= 3.0 * cut - 1e-6


def test_a_policy_is_told_of_the_parts_of_every_set_at_every_evaluation(
    workshop: Workshop, tiny_model: Path
) -> None:
    """Of a named set every measure; of the held-out prompts those that are told of all of them."""
    path = {"path": "inputs/prompts.jsonl"}
    seen = {"name": "seen", "prompts": path, "split": "train", "samples_per_prompt": 2}
    more = {"reward": {"terms": [{"kind": "regex", "pattern": "[a-m]", "is_answer": True}]}}
    config = policy_gradient_config(tiny_model, steps=2, evaluation_sets=[seen]) | more
    config |= {"breakdown": ["place", "nothing"], "eval_every": 1}
    trained = run(workshop, "policy", config)

    text = (trained / "inputs" / "prompts.jsonl").read_text()
    prompts = [json.loads(line) for line in text.splitlines()]
    for prefix, split in (("eval/seen/", "train"), ("eval/", "heldout")):
        n = Counter(one["metadata"]["place"] for one in prompts if one["split"] == split)
        for name in ("reward", "pass@1", "length", "truncated_fraction"):
            whole = series(trained, f"{prefix}{name}")
            parts = {value: series(trained, f"{prefix}{name}/place.{value}") for value in n}
            assert len(whole) >= 2
            for step, expected in whole.items():
                weighed = sum(parts[value][step] * n[value] for value in n) / n.total()
                assert weighed == pytest.approx(expected), (prefix, name, step)
    names = {name for line in lines(trained, "metric") for name in line["values"]}
    assert "eval/seen/distinct/place.odd" in names
    assert "eval/distinct/place.odd" not in names
    assert keys_without_prompts(trained) == ["nothing"]
    # `seen` names the snapshot itself.
    assert not [one for one in lines(trained, "alert") if one["rule"] == "set_was_trained_on"]
    again = evaluate_config(trained / "output", rollout=config["rollout"], samples_per_prompt=2)
    again |= {"breakdown": ["place"], "split": "train", **more}
    found = results(run(workshop, "again", again))
    told = series(trained, "eval/seen/pass@1/place.odd")
    chosen = series(trained, "eval/best_step")
    assert told[int(chosen[max(chosen)])] == pytest.approx(found["eval/pass@1/place.odd"])


def test_the_prompts_that_choose_the_output_are_not_reported(
    workshop: Workshop, tiny_model: Path
) -> None:
    chosen_on = {"name": "mine", "prompts": {"path": "inputs/prompts.jsonl"}}
    config = policy_gradient_config(tiny_model, steps=1, evaluation_sets=[chosen_on])
    report = workshop.run_here(workshop.lay_out("run", config))
    assert report["code"] == 2
    assert "on which the output is chosen" in report["message"]


@pytest.mark.parametrize("is_judged", [True, False])
def test_what_the_baseline_cannot_read_is_told_before_the_model_answers(
    workshop: Workshop, tiny_model: Path, tmp_path: Path, finished: Finished, is_judged: bool
) -> None:
    """Its template makes every prompt too long; the folder of the model has no weights at all."""
    model, baseline = make_tiny_model(tmp_path / "model"), make_tiny_model(tmp_path / "baseline")
    (model / "model.safetensors").unlink()
    tokenizer = load_tokenizer(Reference(path=str(baseline)))
    tokenizer.chat_template = "words " * 256 + str(tokenizer.chat_template)
    tokenizer.save_pretrained(baseline)
    config = evaluate_config(model, baseline_model={"path": str(baseline)})
    if is_judged:
        scorer = finished(reward_model_config(tiny_model))
        config["reward"] = {"terms": [{"kind": "model", "model": {"path": str(scorer / "output")}}]}

    report = workshop.run_here(workshop.lay_out("run", config))

    assert report["code"] == 2
    expected = "and the baseline have different vocabularies or chat templates"
    assert (expected if is_judged else "tokens with its chat template") in report["message"]


@pytest.mark.parametrize("method", ["evaluate", "policy_gradient"])
def test_a_set_without_references_is_not_reported_as_wrong(
    workshop: Workshop, tiny_model: Path, method: str
) -> None:
    """No answer can be compared there: a pass@1 of 0 would say that all of them are wrong."""
    make = evaluate_config if method == "evaluate" else policy_gradient_config
    bare = {"name": "bare", "prompts": {"path": "inputs/bare.jsonl"}}
    config = make(tiny_model, evaluation_sets=[bare])
    config["reward"] = {"terms": [{"kind": "math"}]}
    run_dir = workshop.lay_out("run", config)
    prompts = run_dir / "inputs" / "prompts.jsonl"
    read = [json.loads(line) for line in prompts.read_text().splitlines()]
    with_reference = [one | {"reference": "4"} for one in read]
    prompts.write_text("".join(json.dumps(one) + "\n" for one in with_reference))
    without = [one | {"reference": None} for one in read if one["split"] == "train"]
    (run_dir / "inputs" / "bare.jsonl").write_text(
        "".join(json.dumps(one) + "\n" for one in without)
    )

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "data")
    assert "no prompt of the evaluation set bare has one (0 of " in report["message"]
    assert "or leave the set out" in report["advice"]


def test_a_snapshot_is_itself_whether_or_not_its_hash_is_named() -> None:
    """A clone has the hash of what it was cloned with; what is added to it by hand has none."""
    ours, other = {"id": "snap_a", "sha256": "0" * 64}, {"id": "snap_b", "sha256": "1" * 64}
    config = policy_gradient_config(Path("model"), prompts=ours)

    for same in ({"id": "snap_a"}, {"id": "snap_b", "sha256": "0" * 64}):
        sets = [{"name": "mine", "prompts": same}]
        with pytest.raises(ValueError, match="on which the output is chosen"):
            parse_run_config(config | {"evaluation_sets": sets})
    parse_run_config(config | {"evaluation_sets": [{"name": "mine", "prompts": other}]})


def test_own_prompts_in_the_set_of_another_snapshot_are_told_of(
    workshop: Workshop, tiny_model: Path
) -> None:
    again = {"name": "again", "prompts": {"path": "inputs/again.jsonl"}}
    config = policy_gradient_config(tiny_model, steps=1, evaluation_sets=[again])
    run_dir = workshop.lay_out("run", config)
    prompts = (run_dir / "inputs" / "prompts.jsonl").read_text().splitlines()
    heldout = [line for line in prompts if '"heldout"' in line]
    train = [line for line in prompts if '"train"' in line]
    (run_dir / "inputs" / "again.jsonl").write_text("\n".join([*heldout[:2], train[0]]) + "\n")

    assert workshop.run_here(run_dir)["code"] == 0

    (told,) = [one for one in lines(run_dir, "alert") if one["rule"] == "set_chose_the_output"]
    assert told["message"].startswith("2 of 3 prompts of the evaluation set again are held-out")
    (told,) = [one for one in lines(run_dir, "alert") if one["rule"] == "set_was_trained_on"]
    assert told["message"].startswith("1 of 3 prompts of the evaluation set again are training")


def test_majorities_count_answers_and_a_reward_model_chooses(
    workshop: Workshop, tiny_model: Path, finished: Finished
) -> None:
    """maj@k and bon@k of a whole run are those of the responses that it kept."""
    scorer = finished(reward_model_config(tiny_model))
    judge = {"kind": "model", "name": "judge", "model": {"path": str(scorer / "output")}}
    named_model = {"kind": "length", "name": "model", "high": 4}
    terms = [{"kind": "set_match", "answer": "whole"}, named_model, judge]
    config = evaluate_config(tiny_model, reward={"terms": terms}, samples_per_prompt=3)
    run_dir = workshop.lay_out("run", config)
    path = run_dir / "inputs" / "prompts.jsonl"
    asked = [json.loads(line) | {"reference": '["a"]'} for line in path.read_text().splitlines()]
    path.write_text("\n".join(map(json.dumps, asked)))
    assert workshop.run_here(run_dir)["code"] == 0

    found = results(run_dir)
    text = (run_dir / "output" / "responses.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in text]
    groups = [kept[i : i + 3] for i in range(0, len(kept), 3)]
    best = [max(group, key=lambda one: float(one["scores"]["judge"])) for group in groups]
    assert found["eval/bon@3"] == pytest.approx(fmean(one["passed"] for one in best))
    assert found["eval/bon_reward@3"] == pytest.approx(fmean(one["reward"] for one in best))
    assert 0 <= found["eval/maj@3"] <= found["eval/pass@3"]
