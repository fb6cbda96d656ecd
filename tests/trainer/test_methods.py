"""Every method from config to output on a tiny model: it learns, and says what it did."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import MistralConfig, MistralForCausalLM

from backend.schemas.records import GeneratedRecord
from backend.schemas.references import Reference
from backend.schemas.run_directory.events import TRAINER_LINE
from tests.tiny_model import make_tiny_model, make_tiny_tokenizer
from tests.trainer.conftest import (
    SYSTEM,
    Finished,
    Workshop,
    dpo_config,
    lines,
    policy_gradient_config,
    reward_model_config,
    series,
    sft_config,
)
from worker.trainer.models import loading
from worker.trainer.models.heads import load_reward_model
from worker.trainer.models.tokenizer import load_tokenizer


def run(workshop: Workshop, name: str, config: dict[str, Any]) -> Path:
    """Run a config to its end, which must be good."""
    run_dir = workshop.lay_out(name, config)
    report = workshop.run_here(run_dir)
    assert report["code"] == 0, report
    for line in (run_dir / "events.jsonl").read_bytes().splitlines():
        TRAINER_LINE.validate_json(line)
    return run_dir


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None])
def test_sft_makes_heldout_demonstrations_likelier(
    workshop: Workshop, tiny_model: Path, lora: dict[str, int] | None
) -> None:
    run_dir = run(workshop, "sft", sft_config(tiny_model, lora=lora))

    heldout = series(run_dir, "eval/loss")
    assert sorted(heldout) == [0, 6]
    assert heldout[6] < 0.8 * heldout[0]
    output = Reference(path=str(run_dir / "output"))
    saved = loading.load_causal_lm(output, dtype=torch.float32, device=torch.device("cpu"))
    assert load_tokenizer(output).eos_token_id == 2
    assert all(parameter.dtype == torch.float32 for parameter in saved.parameters())
    again = run(workshop, "again", sft_config(run_dir / "output", lora=lora))
    assert series(again, "eval/loss")[0] == pytest.approx(heldout[6], rel=1e-4)


@pytest.mark.parametrize("change", [{}, {"loss": "listwise"}], ids=["pairwise", "listwise"])
def test_a_reward_model_learns_to_rank_prompts_it_has_not_seen(
    tiny_model: Path, finished: Finished, change: dict[str, str]
) -> None:
    config = reward_model_config(tiny_model, **change)
    config["optim"]["epochs"] = 8
    run_dir = finished(config)

    last = {name: series(run_dir, name)[16] for name in ("eval/accuracy", "eval/accuracy_low")}
    assert last["eval/accuracy"] >= 0.9
    # Four prompts, however many pairs.
    assert 0.3 < last["eval/accuracy_low"] < 0.4
    assert series(run_dir, "eval/prompts")[16] == 4
    assert series(run_dir, "eval/pairs")[16] == 12
    _, _, card = load_reward_model(
        Reference(path=str(run_dir / "output")), dtype=torch.float32, device=torch.device("cpu")
    )
    assert card["system"] == SYSTEM
    statistics = card["heldout_score"]
    assert isinstance(statistics, dict)
    assert statistics["mean"] == pytest.approx(series(run_dir, "eval/score_mean")[16], rel=1e-4)


def price_of_a_nat(run_dir: Path, step: int) -> float:
    """Where the coefficient stands after a step, times the deviation of all rewards up to it."""
    state = json.loads((run_dir / "checkpoints" / f"step-{step}" / "state.json").read_text())
    seen = state["parts"]["reward"]
    return float(state["parts"]["kl"]["coef"] * (seen["m2"] / seen["n"]) ** 0.5)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"lora": None},
        {"estimator": "rloo", "kl": {"coef": 0.05, "target": 0.5, "horizon": 32}},
        {"estimator": "remax"},
        {"estimator": "ppo", "critic": {"lr": 1e-2}},
        {"estimator": "ppo", "critic": {"trunk": "shared", "lr": 1e-2}},
        {"epochs_per_rollout": 2, "minibatch_size": 10},
        {"optim": {"lr": 1e-2, "micro_batch_tokens": 256}},
        {"kl": {"coef": 0.01, "place": "loss", "estimator": "k2"}, "entropy_coef": 1e-3},
        {"loss_average": "constant", "estimator": "dr_grpo"},
        {"precision": "bf16", "loss_average": "sequence"},
    ],
)
def test_policy_gradient_raises_the_reward(
    workshop: Workshop, tiny_model: Path, change: dict[str, Any]
) -> None:
    often = {"checkpoint_every": 2, "max_checkpoints": 9}
    config = policy_gradient_config(tiny_model) | change | often
    run_dir = run(workshop, "policy", config)

    evaluated = series(run_dir, "eval/reward")
    kl, coef = series(run_dir, "kl/exact"), series(run_dir, "kl/coef")
    assert sorted(evaluated) == [0, 2, 4, 6]
    # As scored, whatever the running statistics were: shares of 8 responses.
    assert {8 * reward for reward in evaluated.values()} <= set(range(9))
    # By what is trained at that time: with a target the coefficient moves.
    price = {0: config["kl"]["coef"]} | {at: price_of_a_nat(run_dir, at) for at in (2, 4, 6)}
    assert (len(set(coef.values())) > 1) == ("target" in config["kl"])
    objective, best = series(run_dir, "eval/objective"), 0
    for step in evaluated:
        today = {at: evaluated[at] - price[step] * kl[at] for at in (best, step)}
        assert objective[step] == pytest.approx(today[step])
        best = step if today[step] > today[best] else best
        assert series(run_dir, "eval/best_step")[step] == best
    trained = series(run_dir, "reward/raw_mean")
    assert max(trained[4], trained[5], trained[6]) > trained[1]
    assert series(run_dir, "kl/exact")[0] == 0
    assert series(run_dir, "kl/exact")[6] > 0
    assert series(run_dir, "kl/response")[1] == 0
    first = next(line["values"] for line in lines(run_dir, "metric") if line["step"] == 1)
    assert first["logp_drift"] < (0.2 if change.get("precision") == "bf16" else 1e-4)
    if "epochs_per_rollout" not in change:
        assert first["ratio/max"] == first["ratio/mean"] == 1.0
        assert first["clip_fraction/low"] == first["approx_kl"] == 0.0


def test_remax_subtracts_a_greedy_response_that_it_neither_trains_on_nor_normalizes_with(
    workshop: Workshop, tiny_model: Path
) -> None:
    """One greedy response a prompt: its tokens count as sampled, its reward not as seen."""
    change = {"estimator": "remax", "steps": 2, "checkpoint_every": 1, "eval_every": 0}
    change["log"] = {"samples_per_step": 100, "tokens": "all"}
    run_dir = run(workshop, "policy", policy_gradient_config(tiny_model) | change)

    assert set(series(run_dir, "reward/greedy")) == {1, 2}
    samples = [sample for sample in lines(run_dir, "sample") if sample["step"] == 1]
    assert len(samples) == 32
    n_tokens = sum(len(sample["tokens"]) for sample in samples)
    assert 8 <= series(run_dir, "tokens/sampled")[1] - n_tokens <= 8 * 8
    state = json.loads((run_dir / "checkpoints" / "step-2" / "state.json").read_text())
    assert state["parts"]["reward"]["n"] == 2 * 32
    baselines: dict[str, float] = {}
    for sample in samples:  # at first no KL: every token carries reward - greedy reward
        baseline = sample["scores"]["reward"] - sample["advantage"][0]
        assert sample["advantage"] == pytest.approx(
            [sample["advantage"][0]] * len(sample["tokens"])
        )
        known = baselines.setdefault(sample["prompt_id"], baseline)
        assert baseline == pytest.approx(known, abs=1e-5)
    assert len(baselines) == 8
    mean = sum(baselines.values()) / 8
    assert mean == pytest.approx(series(run_dir, "reward/greedy")[1], abs=1e-5)


def test_micro_batches_change_nothing_but_rounding(workshop: Workshop, tiny_model: Path) -> None:
    config = policy_gradient_config(tiny_model, steps=2)
    whole = run(workshop, "whole", config)
    parts = run(workshop, "parts", config | {"optim": {"lr": 1e-2, "micro_batch_tokens": 128}})
    for name in ("loss", "grad_norm", "kl/exact", "reward/mean"):
        assert series(parts, name)[2] == pytest.approx(series(whole, name)[2], abs=1e-3), name


def test_a_step_without_a_response_that_counts_trains_nothing_and_says_so(
    workshop: Workshop, tiny_model: Path
) -> None:
    """One token is never enough to end, so every response is cut and left out."""
    config = policy_gradient_config(tiny_model, overlong="mask", steps=2)
    config["rollout"] = config["rollout"] | {"max_new_tokens": 1}
    run_dir = run(workshop, "policy", config)
    assert {line["rule"] for line in lines(run_dir, "alert")} >= {"nothing_to_train"}
    assert series(run_dir, "kl/exact")[2] == 0
    # The worst of all is no hole in the curve.
    assert series(run_dir, "truncated_fraction") == {1: 1.0, 2: 1.0}
    assert series(run_dir, "length/mean") == series(run_dir, "length/p95") == {1: 1.0, 2: 1.0}
    assert series(run_dir, "tokens/sampled")[1] == 8 * 4
    assert series(run_dir, "reward/mean") == {}


def test_a_run_ends_at_kl_max_with_the_best_evaluation_below_it(
    workshop: Workshop, tiny_model: Path
) -> None:
    config = policy_gradient_config(tiny_model, steps=40, kl={"coef": 0.0, "max": 1e-3})
    run_dir = run(workshop, "policy", config)
    assert max(series(run_dir, "loss")) == 2
    assert {line["rule"] for line in lines(run_dir, "alert")} >= {"kl_max", "best_checkpoint"}
    assert series(run_dir, "eval/best_step")[2] == 0


def test_kl_max_holds_between_planned_evaluations(workshop: Workshop, tiny_model: Path) -> None:
    """A rollout above it has the policy evaluated at once, and that decides."""
    change = {"eval_every": 0, "kl": {"coef": 1e-9, "max": 0.05}}
    run_dir = run(workshop, "policy", policy_gradient_config(tiny_model, steps=40) | change)

    sampled, exact = series(run_dir, "kl/response"), series(run_dir, "kl/exact")
    last = max(sampled)
    assert last < 40
    assert sampled[last] > 0.05
    assert exact[last] > 0.05
    assert sorted(exact) == [0, *(step for step in sampled if sampled[step] > 0.05)]
    assert all(exact[step] <= 0.05 for step in exact if step < last)
    assert {line["rule"] for line in lines(run_dir, "alert")} >= {"kl_max", "kl_max_unevaluated"}


def test_kl_max_without_prompts_to_measure_it_on_is_refused(
    workshop: Workshop, tiny_model: Path
) -> None:
    config = policy_gradient_config(tiny_model, kl={"coef": 0.1, "max": 1.0})
    run_dir = workshop.lay_out("policy", config)
    path = run_dir / "inputs" / "prompts.jsonl"
    path.write_text(path.read_text().replace('"heldout"', '"train"'))

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "data")
    assert "kl.max is measured on held-out prompts" in report["message"]
    assert report["advice"]


def test_a_run_without_an_evaluation_within_kl_max_leaves_no_output(
    workshop: Workshop, tiny_model: Path, tmp_path: Path
) -> None:
    far = make_tiny_model(tmp_path / "far", seed=7)
    config = policy_gradient_config(tiny_model, reference={"path": str(far)}) | {"lora": None}
    run_dir = workshop.lay_out("policy", config | {"kl": {"coef": 0.01, "max": 1e-3}})

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "config")
    assert (
        "no evaluation with a reward was within kl.max 0.001, so there is no model"
        in report["message"]
    )
    assert report["advice"].startswith("Raise kl.max, or start from a model")
    assert not (run_dir / "output").exists()
    (told,) = [line for line in lines(run_dir, "alert") if line["rule"] == "kl_max"]
    assert "if there is none, the run fails" in told["message"]


def test_a_run_that_kl_max_has_ended_stays_ended_when_it_is_killed_before_its_output(
    workshop: Workshop, tiny_model: Path
) -> None:
    """A higher limit, as a clone may have it, lets it go on from the same checkpoint."""
    limit = {"kl": {"coef": 0.0, "max": 1e-3}, "checkpoint_every": 1}
    config = policy_gradient_config(tiny_model, steps=4, **limit)
    run_dir = run(workshop, "policy", config)
    first = (run_dir / "output" / "model.safetensors").read_bytes()
    shutil.rmtree(run_dir / "output")

    assert workshop.run_here(run_dir)["code"] == 0
    assert lines(run_dir, "start")[-1]["step"] == max(series(run_dir, "loss")) == 2
    assert (run_dir / "output" / "model.safetensors").read_bytes() == first

    higher = workshop.lay_out("higher", config | {"kl": {"coef": 0.0, "max": 1e3}})
    (run_dir / "config.json").write_bytes((higher / "config.json").read_bytes())
    assert workshop.run_here(run_dir)["code"] == 0
    assert max(series(run_dir, "loss")) == 4


def test_the_best_the_last_and_the_pinned_checkpoints_are_left(
    workshop: Workshop, tiny_model: Path
) -> None:
    often = {"eval_every": 1, "checkpoint_every": 1, "max_checkpoints": 1}
    config = policy_gradient_config(
        tiny_model, steps=8, optim={"lr": 0.05}, kl={"coef": 0.0}, **often
    )
    run_dir = workshop.lay_out("policy", config)
    (run_dir / "pins.json").write_text('{"steps": [1]}')
    assert workshop.run_here(run_dir)["code"] == 0

    best = series(run_dir, "eval/best_step")
    best_saved = {step for step in range(1, 9) if best[step] == step}
    left = {int(path.name.removeprefix("step-")) for path in run_dir.glob("checkpoints/step-*")}
    assert left == {1, 8, *sorted(best_saved)[-1:]}
    assert {line["step"] for line in lines(run_dir, "checkpoint") if line["best"]} == best_saved


def test_generate_writes_every_response_with_scores_and_distance(
    workshop: Workshop, tiny_model: Path, finished: Finished
) -> None:
    sft = finished(sft_config(tiny_model))
    rewards = finished(reward_model_config(tiny_model))
    config = {
        "method": "generate",
        "model": {"path": str(sft / "output")},
        "reference": {"path": str(tiny_model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "split": "heldout",
        "samples_per_prompt": 3,
        "rollout": {"max_new_tokens": 8, "system": SYSTEM},
        "reward": [
            {"kind": "model", "model": {"path": str(rewards / "output")}},
            {"kind": "length", "low": 1, "high": 3},
            {"kind": "finished"},
        ],
    }
    run_dir = run(workshop, "generate", config)

    written = (run_dir / "output" / "responses.jsonl").read_bytes()
    records = [GeneratedRecord.model_validate_json(line) for line in written.splitlines()]
    assert [(r.prompt_id, r.index) for r in records] == [
        (f"p{i}", k) for i in (0, 4, 8, 12) for k in range(3)
    ]
    for record in records:
        assert set(record.scores) == {"model", "length", "finished"}
        assert record.scores["finished"] == float(record.finish_reason == "stop")
        assert record.logp_sum is not None
        assert record.ref_logp_sum is not None
        assert record.logp_sum < 0
        assert record.ref_logp_sum < 0
    assert series(run_dir, "kl/exact")[1] > 0
    assert series(run_dir, "kl/exact_low")[1] <= series(run_dir, "kl/exact")[1]


@pytest.mark.parametrize(
    ("make", "n_told"),
    [(sft_config, 0), (dpo_config, 1), (reward_model_config, 1), (policy_gradient_config, 1)],
)
def test_a_pass_that_is_larger_than_the_budget_is_told_of(
    workshop: Workshop, tmp_path: Path, make: Any, n_told: int
) -> None:
    """A sliding window sees no prefix tree; sft makes its passes of padded rows."""
    config = MistralConfig(
        vocab_size=len(make_tiny_tokenizer()),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        sliding_window=8,
    )
    folder = tmp_path / "sliding"
    MistralForCausalLM(config).save_pretrained(folder)
    make_tiny_tokenizer().save_pretrained(folder)
    few = {"optim": {"micro_batch_tokens": 600}, "lora": None}
    few |= {"steps": 1} if make is policy_gradient_config else {}

    run_dir = run(workshop, "run", make(folder) | few)

    told = [line for line in lines(run_dir, "alert") if line["rule"] == "padded_rows"]
    assert len(told) == n_told
    assert all("optim.micro_batch_tokens (600)" in line["message"] for line in told)


@pytest.mark.parametrize(("normalize", "n_told"), [("auto", 1), ("none", 0)])
def test_a_reward_model_without_statistics_is_told_of(
    workshop: Workshop, tiny_model: Path, normalize: str, n_told: int
) -> None:
    """A run by the same config, but another reward model, may have been normalized."""
    rewards = workshop.lay_out("rm", reward_model_config(tiny_model))
    rankings = rewards / "inputs" / "preferences.jsonl"
    rankings.write_text(rankings.read_text().replace('"heldout"', '"train"'))
    assert workshop.run_here(rewards)["code"] == 0
    terms = [{"kind": "model", "model": {"path": str(rewards / "output")}}]
    config = policy_gradient_config(tiny_model, reward={"terms": terms, "normalize": normalize})

    run_dir = run(workshop, "pg", config | {"steps": 1})

    told = [line for line in lines(run_dir, "alert") if line["rule"] == "not_normalized"]
    assert len(told) == n_told
    assert all("so its scores are not normalized" in line["message"] for line in told)
    assert series(run_dir, "reward/mean") == series(run_dir, "reward/raw_mean")


def test_the_reward_model_scores_the_very_tokens_it_was_trained_on(
    workshop: Workshop, tiny_model: Path, tmp_path: Path, finished: Finished
) -> None:
    """A policy with another template is refused instead of scored wrongly."""
    rewards = tmp_path / "rewards"
    shutil.copytree(finished(reward_model_config(tiny_model)) / "output", rewards)
    template = rewards / "chat_template.jinja"
    template.write_text(template.read_text().replace("<|im_start|>", "<|endoftext|>"))
    terms = [{"kind": "model", "model": {"path": str(rewards)}}]
    run_dir = workshop.lay_out("pg", policy_gradient_config(tiny_model, reward={"terms": terms}))

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "config")
    assert "have different vocabularies or chat templates" in report["message"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"estimator": "grpo", "rollout": {"samples_per_prompt": 1}},
            "compares responses of one prompt",
        ),
        ({"reward": {"terms": [{"kind": "regex", "pattern": "("}]}}, "not a valid Python regular"),
        ({"rollout": {"max_prompt_tokens": 4}}, "max_prompt_tokens is 4"),
    ],
)
def test_policy_gradient_refuses_what_it_cannot_do(
    workshop: Workshop, tiny_model: Path, change: dict[str, Any], words: str
) -> None:
    run_dir = workshop.lay_out("pg", policy_gradient_config(tiny_model) | change)
    report = workshop.run_here(run_dir)
    assert report["code"] == 2
    assert words in report["message"]
    assert report["advice"]
