"""Evaluations: pass@k and win rate by hand, and whole runs against a baseline."""

import json
import math
import re
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import SYSTEM, Workshop, lines, policy_gradient_config, series
from worker.run_directory.intake import read_results
from worker.trainer.methods.evaluate import ks_of, pass_at_k, win_share


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


def results(run_dir: Path) -> dict[str, float]:
    """The numbers of results.json."""
    found: dict[str, float] = json.loads((run_dir / "output" / "results.json").read_text())
    return found


@pytest.mark.parametrize("n", range(1, 7))
def test_pass_at_k_is_the_share_of_all_choices_that_hold_a_pass(n: int) -> None:
    for n_passed in range(n + 1):
        passed = [index < n_passed for index in range(n)]
        for k in range(1, n + 1):
            choices = list(combinations(passed, k))
            expected = sum(any(choice) for choice in choices) / len(choices)
            assert pass_at_k(n, n_passed, k) == pytest.approx(expected)


def test_k_goes_by_powers_of_two_up_to_the_number_of_responses() -> None:
    assert [ks_of(n) for n in (1, 2, 4, 6)] == [[1], [1, 2], [1, 2, 4], [1, 2, 4, 6]]


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
    assert [found[f"eval/win_rate{end}"] for end in ("", "_low", "_high")] == [0.5] * 3
    assert [found[f"eval/gain{end}"] for end in ("", "_low", "_high")] == [0.0] * 3
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
    assert found["eval/win_rate_low"] > 0.5
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
    assert found["baseline/reward"] == pytest.approx(fmean(their.values()))
    assert found["eval/win_rate"] == pytest.approx(fmean(win_share(*pair) for pair in pairs))
    assert found["eval/gain"] == pytest.approx(fmean(a - b for a, b in pairs))
    assert found["eval/pass@1"] == pytest.approx(sum(our.values()) / 16)
    alerts = [line["message"] for line in lines(run_dir, "alert") if line["rule"] == "unscored"]
    assert [message[:17] for message in alerts] == ["1 of 16 responses"] * 2


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
