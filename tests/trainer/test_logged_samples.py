"""Logged samples: what they stand for, and every number of a token by a plain forward."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.sections import Log
from backend.schemas.training import parse_run_config
from backend.schemas.vocabulary import FinishReason
from tests.trainer.conftest import Workshop, lines, policy_gradient_config
from worker.trainer.data.tokens import Tokens
from worker.trainer.methods.policy_gradient.critic import Critic
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.methods.policy_gradient.rollout import Rollout
from worker.trainer.methods.policy_gradient.samples import LoggedRows, examples, rounded
from worker.trainer.rewards.scorer import Scores
from worker.trainer.run import StopWish, open_run
from worker.trainer.sampling.decoding import Response

STOP, LENGTH = FinishReason.STOP, FinishReason.LENGTH
TOKEN_ARRAYS = ("tokens", "logp", "kl", "advantage", "sampler_logp", "entropy", "change")


@pytest.fixture(autouse=True)
def _deterministic() -> Any:
    before = torch.are_deterministic_algorithms_enabled()
    yield
    torch.use_deterministic_algorithms(before)


def rollout_of(
    rewards: list[float], lengths: list[int], *, cut: set[int], kl: list[float], group: list[int]
) -> Rollout:
    """Responses of which all but reward, length, end, KL and group is left out."""
    size = (len(rewards), max(lengths))
    logp_B_T = torch.zeros(size)
    logp_B_T[:, 0] = torch.tensor(kl)
    # What stands beyond the end of a response is none of it.
    for row, length in enumerate(lengths):
        logp_B_T[row, length:] = 100.0
    return Rollout(
        prompts=[],
        responses=[
            Response([1] * length, [0.0] * length, LENGTH if row in cut else STOP)
            for row, length in enumerate(lengths)
        ],
        answers=[],
        scores=Scores({}, rewards, [], rewards),
        group_B=torch.tensor(group),
        mask_B_T=torch.ones(size, dtype=torch.bool),
        sampler_logp_B_T=torch.zeros(size),
        seconds={},
        n_sampled=0,
        logp_B_T=logp_B_T,
        ref_logp_B_T=torch.zeros(size),
    )


SIX = rollout_of(
    [0.5, 2.0, 1.0, 0.0, 0.7, 0.7],
    [3, 1, 9, 2, 4, 4],
    cut={3},
    kl=[0.1, 0.2, -5.0, 0.3, 7.0, 0.0],
    group=[0, 0, 1, 1, 2, 2],
)


def test_each_example_is_the_row_that_it_is_named_after() -> None:
    assert examples(SIX) == {
        "best": 1, "worst": 3, "median": 4, "longest": 2, "truncated": 3, "largest_kl": 4,
        "zero_variance": 4,
    }  # fmt: skip


def test_an_example_that_does_not_exist_is_left_out_and_what_was_not_scored_is_the_worst() -> None:
    rollout = rollout_of(
        [1.0, float("nan"), 0.0], [2, 2, 2], cut=set(), kl=[0, 0, 0], group=[0] * 3
    )

    found = examples(rollout)

    assert found["worst"] == 1
    assert {"truncated", "zero_variance"} & set(found) == set()


@pytest.mark.parametrize(
    ("tokens", "n", "rows", "detailed"),
    [
        ("none", 8, [1, 3, 4, 2, 0, 5], []),
        ("best_worst", 8, [1, 3, 4, 2, 0, 5], [1, 3]),
        ("chosen", 8, [1, 3, 4, 2, 0, 5], [1, 3, 4, 2]),
        ("chosen", 3, [1, 3, 4], [1, 3, 4]),
        ("all", 5, [1, 3, 4, 2, 0], [1, 3, 4, 2, 0]),
        ("all", 0, [], []),
    ],
)
def test_examples_come_first_and_the_setting_says_which_are_told_by_token(
    tokens: Any, n: int, rows: list[int], detailed: list[int]
) -> None:
    logged = LoggedRows(SIX, Log(samples_per_step=n, tokens=tokens))

    assert (logged.rows, logged.detailed) == (rows, detailed)
    assert logged.reasons[4] == ["median", "largest_kl", "zero_variance"]


def opened(workshop: Workshop, name: str, config: dict[str, Any]) -> tuple[Path, PolicyGradient]:
    """A run before its first step."""
    run_dir = workshop.lay_out(name, config)
    complete = parse_run_config(json.loads((run_dir / "config.json").read_text()))
    assert isinstance(complete, PolicyGradientConfig)
    return run_dir, PolicyGradient(open_run(run_dir, complete, StopWish()), complete)


@torch.no_grad()
def by_hand(causal: nn.Module, tokens: Tokens) -> tuple[Tensor, Tensor]:
    """Log-probability and entropy of each response token, from the logits of a plain forward."""
    ids_1_T = torch.tensor([[*tokens.prompt, *tokens.response]])
    start = len(tokens.prompt)
    logits_T_V = causal(input_ids=ids_1_T).logits[0, start - 1 : -1].float()
    logp_T_V = logits_T_V.log_softmax(-1)
    logp_T = logp_T_V.gather(-1, ids_1_T[0, start:, None])[:, 0]
    return logp_T, -(logp_T_V.exp() * logp_T_V).sum(-1)


@torch.no_grad()
def values_by_hand(critic: Critic | None, tokens: Tokens) -> list[float]:
    """What the critic expects before each response token; without a critic nothing."""
    if critic is None:
        return [0.0] * len(tokens.response)
    trunk, kept = critic._trunk, critic.tensors()
    assert trunk is not None
    ids_1_T = torch.tensor([[*tokens.prompt, *tokens.response]])
    hidden_T_H = trunk(input_ids=ids_1_T).last_hidden_state[0, len(tokens.prompt) - 1 : -1].float()
    value_T_1 = hidden_T_H @ kept["weight/head.weight"].T + kept["weight/head.bias"]
    return [float(value) for value in value_T_1[:, 0]]


def advantages_by_hand(
    rewards: list[float], kls: list[list[float]], values: list[list[float]], coef: float, lam: float
) -> list[list[float]]:
    """Of each token of each response: the reward at its end less the price of the KL, whitened."""
    rows = []
    for reward, kl, value in zip(rewards, kls, values, strict=True):
        row: list[float] = []
        later, next_value = 0.0, 0.0
        for t in reversed(range(len(kl))):
            earned = -coef * kl[t] + (reward if t == len(kl) - 1 else 0.0)
            later = earned + next_value - value[t] + lam * later
            next_value = value[t]
            row.insert(0, later)
        rows.append(row)
    every = [advantage for row in rows for advantage in row]
    mean, deviation = statistics.fmean(every), statistics.pstdev(every)
    return [[(advantage - mean) / deviation for advantage in row] for row in rows]


@pytest.mark.parametrize(
    "more",
    [{}, {"epochs_per_rollout": 2}, {"estimator": "ppo", "critic": {"lr": 1e-2}}],
    ids=["one update", "two", "critic"],
)
def test_every_number_of_a_token_is_that_of_a_plain_forward(
    workshop: Workshop, tiny_model: Path, more: dict[str, Any]
) -> None:
    config = policy_gradient_config(tiny_model, log={"tokens": "all", "samples_per_step": 5}) | more
    run_dir, trained = opened(workshop, "trained", config)
    _, before = opened(workshop, "before", config)
    # Before the first update there is no KL yet, and the critic expects nothing.
    trained.take_step(1)
    before.take_step(1)
    trained.take_step(2)
    trained.run.events.close()
    # Random numbers are those of seed and step: the same responses again.
    before.policy.refresh_sampler(before.optimizer.n_steps)
    rollout = before.collector.collect(2)
    before.run.events.close()
    answers = [answer.tokens for answer in rollout.answers]
    causal, reference = before.policy.causal, AutoModelForCausalLM.from_pretrained(tiny_model)
    told = [by_hand(causal, tokens) for tokens in answers]
    kls = [
        (logp_T - by_hand(reference, tokens)[0]).tolist()
        for (logp_T, _), tokens in zip(told, answers, strict=True)
    ]
    values = [values_by_hand(before.critic, tokens) for tokens in answers]
    lam = 1.0 if before.critic is None else 0.95
    coef = before.kl_control.coef
    advantages = advantages_by_hand(rollout.scores.reward, kls, values, coef, lam)
    row_of = {
        (prompt.id, *tokens.response): row
        for row, (prompt, tokens) in enumerate(zip(rollout.prompts, answers, strict=True))
    }

    samples = [line for line in lines(run_dir, "sample") if line["step"] == 2]

    assert len(samples) == 5
    for sample in samples:
        row = row_of[sample["prompt_id"], *sample["token_ids"]["ids"]]
        before_T, entropy_T = told[row]
        after_T, _ = by_hand(trained.policy.causal, answers[row])
        assert {len(sample[name]) for name in TOKEN_ARRAYS} == {len(answers[row].response)}
        assert sample["logp"] == pytest.approx(before_T.tolist(), abs=1e-4)
        # To the last of the digits that are kept: the sampler's own rounding, not the trainer's.
        assert sample["sampler_logp"] == rounded(rollout.responses[row].logp)
        assert sample["kl"] == pytest.approx(kls[row], abs=1e-4)
        assert sample["entropy"] == pytest.approx(entropy_T.tolist(), abs=1e-4)
        assert sample["advantage"] == pytest.approx(advantages[row], abs=1e-3)
        assert sample["change"] == pytest.approx((after_T - before_T).tolist(), abs=1e-4)
        if before.critic is None:
            assert sample["value"] is None
        else:
            assert sample["value"] == pytest.approx(values[row], abs=1e-4)
        assert sample["scores"]["n_tokens"] == len(answers[row].response)
    assert_none_is_flat(samples, "change", "kl", "advantage")
    assert_none_is_flat(samples if before.critic is not None else [], "value")


def assert_none_is_flat(samples: list[dict[str, Any]], *names: str) -> None:
    """Equal to a number that is always 0 says nothing."""
    for name in names:
        told = [value for sample in samples for value in sample[name]]
        assert not told or max(told) - min(told) > 1e-3, name


def test_the_same_held_out_prompts_are_told_token_by_token_at_every_evaluation(
    workshop: Workshop, tiny_model: Path
) -> None:
    config = policy_gradient_config(tiny_model, steps=4, eval_every=2, lora=None)
    run_dir = workshop.lay_out("run", config | {"log": {"probes": 2, "samples_per_step": 0}})
    assert workshop.run_here(run_dir)["code"] == 0

    probes = lines(run_dir, "sample")

    assert [(line["kind"], line["step"]) for line in probes] == [
        ("probe", step) for step in (0, 0, 2, 2, 4, 4)
    ]
    asked = [line["prompt_id"] for line in probes]
    assert asked == asked[:2] * 3
    assert probes[0]["kl"] == pytest.approx([0.0] * len(probes[0]["tokens"]), abs=1e-6)
    assert any(abs(value) > 1e-3 for value in probes[-1]["kl"])
    assert {len(probes[-1][name]) for name in ("tokens", "logp", "kl", "entropy")} == {
        len(probes[-1]["tokens"])
    }
    assert probes[-1]["advantage"] is None
    assert "reward" in probes[-1]["scores"]


@pytest.mark.parametrize("trunk", ["shared", "model"])
def test_a_probe_has_what_its_sampler_and_its_critic_said_of_each_token(
    workshop: Workshop, tiny_model: Path, trunk: str
) -> None:
    config = policy_gradient_config(tiny_model, steps=2, estimator="ppo", lora=None)
    config |= {"eval_every": 1, "critic": {"trunk": trunk, "lr": 0.01}}
    run_dir = workshop.lay_out("run", config | {"log": {"probes": 1, "samples_per_step": 0}})
    assert workshop.run_here(run_dir)["code"] == 0

    first, *_, last = lines(run_dir, "sample")

    assert first["value"] == [0.0] * len(first["tokens"])
    assert len(last["value"]) == len(last["tokens"])
    assert_none_is_flat([last], "value", "sampler_logp")
    # Of the same weights, in fp32.
    assert last["sampler_logp"] == pytest.approx(last["logp"], abs=1e-4)
    assert last["scores"]["kl"] == pytest.approx(sum(last["kl"]))


def test_a_sample_has_the_score_of_a_length_term_beside_its_number_of_tokens(
    workshop: Workshop, tiny_model: Path
) -> None:
    term = {"kind": "length", "low": 1, "high": 1000, "weight": 0.5}
    config = policy_gradient_config(tiny_model, steps=1, reward={"terms": [term]})
    run_dir = workshop.lay_out("run", config)

    assert workshop.run_here(run_dir)["code"] == 0

    samples = lines(run_dir, "sample")
    assert {sample["kind"] for sample in samples} == {"rollout", "probe"}
    for sample in samples:
        assert sample["scores"]["n_tokens"] == len(sample["token_ids"]["ids"])
        assert sample["scores"]["reward"] == 0.5 * sample["scores"]["length"]
        assert sample["scores"]["length"] == float(bool(sample["response"].split()))


def test_a_step_without_an_update_has_no_change(workshop: Workshop, tiny_model: Path) -> None:
    config = policy_gradient_config(tiny_model, estimator="grpo", lora=None, overlong="mask")
    config["rollout"] |= {"max_new_tokens": 1}
    run_dir, training = opened(workshop, "run", config)
    training.take_step(1)
    training.run.events.close()

    assert {line["change"] is None for line in lines(run_dir, "sample")} == {True}


def test_each_step_tells_how_reward_length_and_advantage_are_spread(
    workshop: Workshop, tiny_model: Path
) -> None:
    run_dir, training = opened(workshop, "run", policy_gradient_config(tiny_model, lora=None))
    values = training.take_step(1)
    training.run.events.close()

    (told,) = lines(run_dir, "distribution")

    counts = {name: sum(spread["counts"]) for name, spread in told["values"].items()}
    asked = training.config.rollout
    n_responses = asked.prompts_per_step * asked.samples_per_prompt
    assert counts["reward"] == counts["length"] == n_responses
    assert counts["advantage"] == pytest.approx(values["length/mean"] * n_responses)
