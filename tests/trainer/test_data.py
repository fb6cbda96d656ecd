"""Tokens, templates and batches."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import Message
from backend.schemas.references import Reference
from worker.trainer.data.tokens import (
    Tokens,
    common_prefix,
    encode_response,
    micro_batches,
    micro_batches_by_prompt,
    render_prompt,
)
from worker.trainer.errors import ConfigError
from worker.trainer.loop import records_of_step
from worker.trainer.models import files, loading
from worker.trainer.models.tokenizer import load_tokenizer

USER = [Message(role="user", content="hi")]


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> PreTrainedTokenizerBase:
    return load_tokenizer(Reference(path=str(tiny_model)))


def test_the_template_never_slips_in_a_system_prompt_of_its_own(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    silent = tokenizer.apply_chat_template(
        [{"role": "user", "content": "hi"}], tokenize=False, add_generation_prompt=True
    )
    assert "You are tiny" in silent

    bare = tokenizer.decode(render_prompt(tokenizer, USER, system=""))
    own = tokenizer.decode(render_prompt(tokenizer, USER, system="Be brief."))

    assert "You are tiny" not in bare + own
    assert own.startswith("<|im_start|>system\nBe brief.<|im_end|>\n")
    assert own.endswith("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n")


def test_a_conversation_with_its_own_system_prompt_keeps_it(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    turns = [Message(role="system", content="Mine."), *USER]
    text = tokenizer.decode(render_prompt(tokenizer, turns, system="Yours."))
    assert "Mine." in text
    assert "Yours." not in text


def test_only_a_finished_response_gets_an_end_token(tokenizer: PreTrainedTokenizerBase) -> None:
    finished = encode_response(tokenizer, "ok", end_id=2)
    cut = encode_response(tokenizer, "ok", end_id=None)
    assert finished == [*cut, 2]
    assert 2 not in cut


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(1, 200))
def test_micro_batches_hold_every_index_once_and_fit_the_budget(
    costs: list[int], budget: int
) -> None:
    groups = micro_batches(costs, budget=budget)
    assert sorted(index for group in groups for index in group) == list(range(len(costs)))
    for group in groups:
        assert len(group) == 1 or sum(costs[i] for i in group) <= budget


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=4), st.integers(1, 9)),
        min_size=1,
        max_size=20,
    ),
    st.integers(4, 60),
)
def test_micro_batches_by_prompt_count_a_prompt_once_and_tear_it_only_if_they_must(
    pairs: list[tuple[list[int], int]], budget: int
) -> None:
    sequences = [Tokens(prompt, [7] * size) for prompt, size in pairs]

    groups = micro_batches_by_prompt(sequences, budget=budget)

    assert sorted(index for group in groups for index in group) == list(range(len(pairs)))
    for group in groups:
        assert len(group) == 1 or computed(sequences, group) <= budget
    for prompt in {tuple(prompt) for prompt, _ in pairs}:
        family = [i for i, tokens in enumerate(sequences) if tuple(tokens.prompt) == prompt]
        places = [place for place, group in enumerate(groups) if set(group) & set(family)]
        assert len(places) == 1 or computed(sequences, family) > budget


def computed(sequences: list[Tokens], group: list[int]) -> int:
    """Tokens of a batch whose prompts are computed once each."""
    prompts = {tuple(sequences[i].prompt) for i in group}
    return sum(map(len, prompts)) + sum(len(sequences[i].response) for i in group)


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=5))
def test_the_common_prefix_is_shared_by_all_and_leaves_each_a_token(
    prompts: list[list[int]],
) -> None:
    n = common_prefix(prompts)
    assert all(prompt[:n] == prompts[0][:n] for prompt in prompts)
    assert n < min(len(prompt) for prompt in prompts)
    longest = min(len(prompt) for prompt in prompts) - 1
    assert n == longest or len({prompt[n] for prompt in prompts}) > 1


@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 5))
def test_every_epoch_sees_every_record_once(n_records: int, batch_size: int, seed: int) -> None:
    seen: list[int] = []
    step = 0
    while len(seen) < 2 * n_records:
        step += 1
        seen += records_of_step(n_records, batch_size, step, seed=seed)
    assert sorted(seen[:n_records]) == sorted(seen[n_records : 2 * n_records])
    assert sorted(seen[:n_records]) == list(range(n_records))


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (Reference(path="/nowhere"), "does not exist"),
        (Reference(id="model_1"), "cannot look up"),
    ],
)
def test_models_that_cannot_be_found_are_named(reference: Reference, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        files.locate(reference)


def test_a_folder_with_pickled_weights_alone_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    for path in tiny_model.iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    import torch

    with pytest.raises(ConfigError, match="could not be loaded"):
        loading.load_causal_lm(
            Reference(path=str(tmp_path)), dtype=torch.float32, device=torch.device("cpu")
        )
