"""Process reward models: where steps end, what is learned, and what a reward is made of."""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from backend.schemas.model_folder.reward_card import PROCESS_REWARD_MODEL
from backend.schemas.records import GeneratedRecord, SolutionRecord
from backend.schemas.references import Reference
from backend.schemas.vocabulary import FinishReason
from tests.tiny_model import make_tiny_tokenizer
from tests.trainer.conftest import (
    SYSTEM,
    Finished,
    Workshop,
    policy_gradient_config,
    process_reward_model_config,
    reward_model_config,
    series,
)
from worker.trainer.data.solutions import Solution, step_ends
from worker.trainer.data.tokens import Tokens, encode_response, render_prompt
from worker.trainer.losses import step_loss
from worker.trainer.methods.process_reward_model import StepPredictions, heldout_metrics, judge
from worker.trainer.models.heads import load_reward_model, load_scorer
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.rewards.process import ProcessScorer, combined
from worker.trainer.rewards.sampled_response import SampledResponse

CPU = torch.device("cpu")
TOKENIZER = make_tiny_tokenizer()


def ends_of(text: str, *, separator: str = "\n", end_id: int | None = 2) -> list[str]:
    """The text up to each end of a step."""
    ids = encode_response(TOKENIZER, text, end_id=end_id)
    return [TOKENIZER.decode(ids[: end + 1]) for end in step_ends(ids, TOKENIZER, separator)]


def test_a_step_ends_with_its_separator_and_the_last_with_the_response() -> None:
    assert ends_of("a b\nc\nd") == ["a b\n", "a b\nc\n", "a b\nc\nd<|im_end|>"]
    assert ends_of("a b\nc", end_id=None) == ["a b\n", "a b\nc"]


def test_white_space_alone_is_no_step() -> None:
    assert ends_of("\n\na\n \nb\n\n") == ["\n\na\n", "\n\na\n \nb\n"]
    assert ends_of("a\n\nb", separator="\n\n") == ["a\n\n", "a\n\nb<|im_end|>"]
    assert ends_of("one\ntwo", separator="\n\n") == ["one\ntwo<|im_end|>"]


def test_a_response_without_a_step_has_one_end() -> None:
    assert ends_of("") == ["<|im_end|>"]
    assert ends_of("\n \n") == ["\n \n<|im_end|>"]


@given(
    st.lists(st.text("ab é日 ", min_size=1).filter(str.strip), min_size=1, max_size=6),
    st.sampled_from(["\n", "\n\n"]),
)
def test_every_step_of_a_text_is_found(steps: list[str], separator: str) -> None:
    found = ends_of(separator.join(steps), separator=separator)
    assert len(found) == len(steps)
    for place, text in enumerate(found[:-1]):
        assert text == separator.join(steps[: place + 1]) + separator


def test_the_step_loss_worked_by_hand() -> None:
    """Log-odds 0 cost log 2 whatever the label; log-odds of 0.8 for a label of 0.5."""
    found = step_loss(torch.tensor([0.0, 0.0, 1.386294]), torch.tensor([1.0, 0.0, 0.5]))
    expected = -0.5 * (torch.tensor(0.8).log() + torch.tensor(0.2).log())
    assert found.tolist() == pytest.approx([0.693147, 0.693147, expected.item()], abs=1e-6)


def test_the_step_loss_is_least_where_the_probability_is_the_label() -> None:
    label_M = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
    score_M = label_M.logit().requires_grad_()
    (gradient,) = torch.autograd.grad(step_loss(score_M, label_M).sum(), score_M)
    assert gradient.tolist() == pytest.approx([0.0] * 3, abs=1e-12)


def test_accuracy_worked_by_hand() -> None:
    """Right, right, wrong, undecided: found, missed, half, left out."""
    solution = Solution("p", Tokens([1], [2] * 4), [0, 1, 2, 3], [1.0, 0.9, 0.0, 0.5])
    found = judge(torch.tensor([2.0, -1.0, 0.0, 3.0]), solution)
    assert found == StepPredictions("p", n_right=2, n_right_found=1.0, n_wrong=1, n_wrong_found=0.5)
    values = heldout_metrics([found])
    assert values["eval/accuracy"] == pytest.approx(0.5)
    assert (values["eval/accuracy_right"], values["eval/accuracy_wrong"]) == (0.5, 0.5)
    assert (values["eval/steps"], values["eval/prompts"]) == (3.0, 1.0)


@pytest.mark.parametrize(("combine", "expected"), [("min", 0.2), ("last", 0.6), ("mean", 0.5)])
def test_steps_are_combined_as_asked(combine: str, expected: float) -> None:
    assert combined([0.7, 0.2, 0.6], combine) == pytest.approx(expected)


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> PreTrainedTokenizerBase:
    return load_tokenizer(Reference(path=str(tiny_model)))


def heldout_answers(
    run_dir: Path, tokenizer: PreTrainedTokenizerBase
) -> tuple[list[SampledResponse], list[bool]]:
    """The held-out solutions as a policy would have answered, and whether every step is right."""
    answers, is_right = [], []
    for line in (run_dir / "inputs" / "solutions.jsonl").read_bytes().splitlines():
        record = SolutionRecord.model_validate_json(line)
        if record.split == "heldout":
            prompt = render_prompt(tokenizer, record.messages, system=SYSTEM)
            text = "\n".join(step.content for step in record.steps)
            tokens = Tokens(prompt, encode_response(tokenizer, text, end_id=2))
            answers.append(SampledResponse(tokens, text, FinishReason.STOP))
            is_right.append(min(step.label for step in record.steps) == 1)
    return answers, is_right


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None], ids=["lora", "full"])
def test_it_learns_which_steps_are_right_and_scores_new_ones(
    workshop: Workshop,
    tiny_model: Path,
    tokenizer: PreTrainedTokenizerBase,
    lora: dict[str, int] | None,
) -> None:
    """Steps of a are right, steps of z wrong: the reward tells them apart, at the same tokens."""
    config = process_reward_model_config(tiny_model, lora=lora)
    config["optim"]["epochs"] = 8
    run_dir = workshop.lay_out("run", config)
    assert workshop.run_here(run_dir)["code"] == 0

    last = max(series(run_dir, "loss"))
    assert series(run_dir, "eval/accuracy")[last] >= 0.9
    # Four prompts, however many steps.
    assert 0.2 < series(run_dir, "eval/accuracy_low")[last] < 0.5
    assert series(run_dir, "eval/loss")[last] < 0.5 * series(run_dir, "eval/loss")[0]
    assert series(run_dir, "eval/prompts")[last] == 4
    output = Reference(path=str(run_dir / "output"))
    model, _, card = load_reward_model(
        output, dtype=torch.float32, device=CPU, kind="process_reward_model"
    )
    assert (card["separator"], card["system"]) == ("newline", SYSTEM)

    answers, is_right = heldout_answers(run_dir, tokenizer)
    loaded = load_scorer(
        output,
        tokenizer,
        kind=PROCESS_REWARD_MODEL,
        budget=64,
        dtype=torch.float32,
        device=CPU,
        check_stop=lambda: None,
    )
    rewards = {}
    for combine in ("min", "mean", "last"):
        rewards[combine] = [one.score for one in ProcessScorer(loaded, combine)(answers)]
    right = fmean(r for r, good in zip(rewards["min"], is_right, strict=True) if good)
    wrong = fmean(r for r, good in zip(rewards["min"], is_right, strict=True) if not good)
    assert right > wrong + 0.5
    assert all(low <= mean for low, mean in zip(rewards["min"], rewards["mean"], strict=True))
    assert rewards["last"] != rewards["min"]
    # One by one, from the plain body and head.
    answer = answers[1]
    with torch.no_grad():
        states = model.body(input_ids=torch.tensor([answer.tokens.ids])).last_hidden_state[0]
        chance = model.head(states).squeeze(-1).sigmoid()
    ends = step_ends(answer.tokens.response, tokenizer, "\n")
    places = [len(answer.tokens.prompt) + end for end in ends]
    assert rewards["mean"][1] == pytest.approx(float(chance[places].mean()), rel=1e-4)


def test_it_is_a_reward_term_and_no_model_term(
    workshop: Workshop, tiny_model: Path, finished: Finished
) -> None:
    process = finished(process_reward_model_config(tiny_model))
    outcome = finished(reward_model_config(tiny_model))
    term = {"kind": "process", "process_model": {"path": str(process / "output")}}
    config: dict[str, Any] = {
        "method": "generate",
        "model": {"path": str(tiny_model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "split": "heldout",
        "samples_per_prompt": 2,
        "rollout": {"max_new_tokens": 8, "system": SYSTEM},
        "reward": [term],
    }
    sampled = workshop.lay_out("sampled", config)
    assert workshop.run_here(sampled)["code"] == 0
    text = (sampled / "output" / "responses.jsonl").read_bytes()
    records = [GeneratedRecord.model_validate_json(line) for line in text.splitlines()]
    assert all(0 < (record.scores["process"] or 0) < 1 for record in records)

    policy = workshop.lay_out(
        "policy", policy_gradient_config(tiny_model, reward={"terms": [term]}, steps=1)
    )
    assert workshop.run_here(policy)["code"] == 0
    assert 0 < series(policy, "reward/process")[1] < 1

    for number, wrong in enumerate(
        [
            {"kind": "model", "model": {"path": str(process / "output")}},
            {"kind": "process", "process_model": {"path": str(outcome / "output")}},
        ]
    ):
        report = workshop.run_here(workshop.lay_out(f"no{number}", config | {"reward": [wrong]}))
        assert (report["code"], report["cause"]) == (2, "config")
        assert "the reward term needs a" in report["message"]
        assert report["advice"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": [{"content": "one\ntwo", "label": 1}]}, "has 1 labelled steps"),
        ({"steps": [{"content": "a" * 600, "label": 1}]}, "max_tokens is"),
        ({"steps": [{"content": "a", "label": 2}]}, "line 1: steps.0.label"),
    ],
)
def test_solutions_that_cannot_be_read_are_named(
    workshop: Workshop, tiny_model: Path, change: dict[str, Any], words: str
) -> None:
    run_dir = workshop.lay_out("run", process_reward_model_config(tiny_model))
    path = run_dir / "inputs" / "solutions.jsonl"
    records = [json.loads(line) | change for line in path.read_bytes().splitlines()]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    report = workshop.run_here(run_dir)
    assert (report["code"], report["cause"]) == (2, "data")
    assert words in report["message"]
    assert report["advice"]


@pytest.mark.parametrize(
    ("separator", "content", "is_offered"),
    [("newline", "one\ntwo", True), ("blank_line", "one\n\ntwo", False)],
)
def test_the_other_separator_is_offered_to_who_has_not_set_it(
    workshop: Workshop, tiny_model: Path, separator: str, content: str, is_offered: bool
) -> None:
    config = process_reward_model_config(tiny_model, separator=separator)
    run_dir = workshop.lay_out("run", config)
    path = run_dir / "inputs" / "solutions.jsonl"
    steps = {"steps": [{"content": content, "label": 1}]}
    records = [json.loads(line) | steps for line in path.read_bytes().splitlines()]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))

    report = workshop.run_here(run_dir)

    assert "has 1 labelled steps" in report["message"]
    assert ("set separator to blank_line" in report["advice"]) is is_offered


def test_an_unfinished_solution_ends_at_a_separator(workshop: Workshop, tiny_model: Path) -> None:
    run_dir = workshop.lay_out("run", process_reward_model_config(tiny_model))
    path = run_dir / "inputs" / "solutions.jsonl"
    records = [json.loads(line) | {"is_finished": False} for line in path.read_bytes().splitlines()]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert workshop.run_here(run_dir)["code"] == 0
