"""Supervised fine-tuning: packing changes nothing but speed, and what the loss is over."""

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import DemonstrationRecord, Message, TokenIds
from backend.schemas.references import Reference
from backend.schemas.sections import Lora
from backend.schemas.training import SftConfig
from backend.schemas.vocabulary import FinishReason, Split
from tests.trainer.conftest import SYSTEM, Workshop, series, sft_config
from worker.trainer.data.token_ids import ResponseReader, kept_ids
from worker.trainer.data.tokens import (
    Tokens,
    collate,
    computed_tokens,
    encode_response,
    padded_micro_batches,
    render_prompt,
)
from worker.trainer.methods.sft import encode_turns, group_turns
from worker.trainer.models import adapters, loading
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import load_tokenizer

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> PreTrainedTokenizerBase:
    return load_tokenizer(Reference(path=str(tiny_model)))


def ragged(tokenizer: PreTrainedTokenizerBase, *, changed: str = "") -> list[Tokens]:
    """Records of very different lengths; `changed` replaces the response of the third."""
    texts = ["a", "to be or not to be", changed or "no", "x" * 60, "five words are enough here"]
    return [
        Tokens(
            render_prompt(
                tokenizer, [Message(role="user", content="why? " * (1 + 3 * i % 4))], system=""
            ),
            encode_response(tokenizer, text, end_id=2),
        )
        for i, text in enumerate(texts)
    ]


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("lora", [True, False])
def test_packed_records_give_the_loss_and_the_gradient_of_padded_ones(
    tiny_model: Path, tokenizer: PreTrainedTokenizerBase, attention: str, lora: bool
) -> None:
    """Loss and every gradient, to 2e-5 of the largest entry in fp32."""
    causal = loading.load_causal_lm(
        Reference(path=str(tiny_model)), dtype=torch.float32, device=CPU, attention=attention
    )
    trained: torch.nn.Module = causal
    if lora:
        trained = adapters.add_lora(causal, Lora(r=4), seed=0)
    found = {}
    for packing in (True, False):
        batch = collate(ragged(tokenizer), pad_id=2, device=CPU, packing=packing)
        assert (batch.tree is not None) == packing
        loss = -action_logp(causal, batch, temperature=1.0).logp_N.mean()
        trained.zero_grad()
        loss.backward()
        gradients = {
            n: p.grad.clone() for n, p in adapters.trainable(trained).items() if p.grad is not None
        }
        found[packing] = loss.item(), gradients

    (packed_loss, packed), (padded_loss, padded) = found[True], found[False]
    assert packed_loss == pytest.approx(padded_loss, rel=2e-5)
    assert set(packed) == set(adapters.trainable(trained))
    largest = max(float(g.abs().max()) for g in padded.values())
    for name, gradient in padded.items():
        torch.testing.assert_close(packed[name], gradient, rtol=0, atol=2e-5 * largest, msg=name)


def test_a_packed_record_sees_no_other(
    tiny_model: Path, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Another third record of the same length leaves the log-probs of all the others alone."""
    causal = loading.load_causal_lm(
        Reference(path=str(tiny_model)), dtype=torch.float32, device=CPU, attention="eager"
    )
    logp = []
    for word in ("no", "eh"):
        rows = ragged(tokenizer, changed=word)
        with torch.no_grad():
            batch = collate(rows, pad_id=2, device=CPU)
            logp.append(action_logp(causal, batch, temperature=1.0).logp_N)
        third = slice(
            sum(len(row.response) for row in rows[:2]), sum(len(row.response) for row in rows[:3])
        )
    assert not torch.equal(logp[0][third], logp[1][third])
    others = torch.ones_like(logp[0], dtype=torch.bool)
    others[third] = False
    torch.testing.assert_close(logp[0][others], logp[1][others], rtol=0, atol=1e-6)


def test_a_packed_run_learns_what_a_padded_one_learns(workshop: Workshop, tiny_model: Path) -> None:
    config = sft_config(tiny_model, lora={"r": 4, "alpha": 8}, packing=True)
    runs = (
        workshop.lay_out("packed", config),
        workshop.lay_out("padded", config | {"packing": False}),
    )
    for run_dir in runs:
        assert workshop.run_here(run_dir)["code"] == 0
    packed, padded = runs
    assert series(packed, "loss")[1] == pytest.approx(series(padded, "loss")[1], rel=2e-5)
    assert series(packed, "grad_norm")[1] == pytest.approx(series(padded, "grad_norm")[1], rel=2e-4)
    assert series(packed, "eval/loss")[6] == pytest.approx(series(padded, "eval/loss")[6], rel=1e-2)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 200))
def test_padded_micro_batches_hold_every_row_once_and_fit_the_budget(
    lengths: list[int], budget: int
) -> None:
    groups = padded_micro_batches(lengths, budget=budget)
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    for group in groups:
        assert len(group) == 1 or len(group) * max(lengths[i] for i in group) <= budget


def conversation() -> DemonstrationRecord:
    """Two questions, two answers."""
    return DemonstrationRecord.model_validate(
        {
            "demonstration_id": "d",
            "prompt_id": "p",
            "messages": [
                {"role": "user", "content": "one?"},
                {"role": "assistant", "content": "first"},
                {"role": "user", "content": "two?"},
            ],
            "response": "second",
            "split": "train",
        }
    )


def reader_of(tokenizer: PreTrainedTokenizerBase) -> ResponseReader:
    """What reads the responses of a run."""
    return ResponseReader(tokenizer, n_ids=len(tokenizer))


def config_for(turns: str) -> SftConfig:
    """A config that trains on these turns."""
    return SftConfig.model_validate(
        {
            "model": {"path": "anywhere"},
            "demonstrations": {"path": "anywhere"},
            "system": SYSTEM,
            "assistant_turns": turns,
        }
    )


def test_the_loss_is_over_every_assistant_turn_and_nothing_else(
    tiny_model: Path, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Against the whole conversation in one row, its assistant spans found in the text."""
    turns = encode_turns(conversation(), tokenizer, config_for("all"), reader_of(tokenizer))
    causal = loading.load_causal_lm(
        Reference(path=str(tiny_model)), dtype=torch.float32, device=CPU, attention="eager"
    )
    with torch.no_grad():
        batch = collate(turns, pad_id=2, device=CPU)
        found = float(action_logp(causal, batch, temperature=1.0).logp_N.sum())

    text = (
        f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\none?<|im_end|>\n"
        "<|im_start|>assistant\nfirst<|im_end|>\n<|im_start|>user\ntwo?<|im_end|>\n"
        "<|im_start|>assistant\nsecond<|im_end|>"
    )
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert ids == turns[0].ids
    with torch.no_grad():
        logp = causal(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    expected = 0.0
    for answer in ("first<|im_end|>", "second<|im_end|>"):
        span = tokenizer(answer, add_special_tokens=False)["input_ids"]
        start = next(i for i in range(len(ids)) if ids[i : i + len(span)] == span)
        expected += sum(float(logp[i - 1, ids[i]]) for i in range(start, start + len(span)))
    assert found == pytest.approx(expected, rel=1e-5)


def test_the_turns_of_a_conversation_are_computed_once(tokenizer: PreTrainedTokenizerBase) -> None:
    turns = encode_turns(conversation(), tokenizer, config_for("all"), reader_of(tokenizer))
    assert len(turns) == 2
    assert computed_tokens(turns) == max(len(tokens) for tokens in turns)
    assert group_turns([turns, turns[:1]], budget=1000, packing=True) == [[*turns, turns[0]]]


def test_by_default_the_loss_is_over_the_response_alone(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    (only,) = encode_turns(conversation(), tokenizer, config_for("last"), reader_of(tokenizer))
    assert tokenizer.decode(only.response) == "second<|im_end|>"
    assert "first" in tokenizer.decode(only.prompt)


@pytest.mark.parametrize("reason", [FinishReason.STOP, FinishReason.LENGTH])
def test_what_was_sampled_is_trained_on_to_the_id_and_a_cut_response_has_no_end(
    tokenizer: PreTrainedTokenizerBase, reason: FinishReason
) -> None:
    """Ids that the tokenizer would not give this text; with another tokenizer's, the text."""
    by_letter = [i for letter in "second" for i in tokenizer.encode(letter)]
    by_letter += [int(tokenizer.eos_token_id)] * (reason is FinishReason.STOP)
    plain = conversation().model_copy(update={"finish_reason": reason})
    (text,) = encode_turns(plain, tokenizer, config_for("last"), reader_of(tokenizer))
    ids = kept_ids(Tokens(text.prompt, by_letter), tokenizer)
    foreign = ids.model_copy(update={"tokenizer": "0" * 64})

    def read(token_ids: TokenIds) -> Tokens:
        record = plain.model_copy(update={"token_ids": token_ids})
        (only,) = encode_turns(record, tokenizer, config_for("last"), reader_of(tokenizer))
        return only

    assert read(ids).response == by_letter
    assert read(foreign).response == text.response
    assert (text.response[-1] == tokenizer.eos_token_id) == (reason is FinishReason.STOP)


@pytest.mark.parametrize("packing", [True, False])
def test_a_run_on_all_turns_ends_well(workshop: Workshop, tiny_model: Path, packing: bool) -> None:
    change: dict[str, Any] = {"assistant_turns": "all", "packing": packing}
    run_dir = workshop.lay_out("run", sft_config(tiny_model, **change))
    lines = [
        conversation().model_copy(update={"demonstration_id": f"d{i}", "split": split})
        for i, split in enumerate([Split.TRAIN] * 6 + [Split.HELDOUT])
    ]
    (run_dir / "inputs" / "demonstrations.jsonl").write_text(
        "".join(line.model_dump_json() + "\n" for line in lines)
    )
    assert workshop.run_here(run_dir)["code"] == 0
    assert series(run_dir, "eval/loss")[3] < series(run_dir, "eval/loss")[0]
