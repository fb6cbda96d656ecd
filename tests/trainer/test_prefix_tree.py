"""Prompts computed once for all their responses: the same numbers and gradients, fewer tokens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers import (
    AutoModelForCausalLM,
    LlamaConfig,
    MistralConfig,
    OPTConfig,
    PreTrainedConfig,
    PreTrainedModel,
    Qwen3Config,
)

from backend.schemas.references import Reference
from worker.trainer import precision
from worker.trainer.data import prefix_tree
from worker.trainer.data.tokens import Batch, Tokens, collate
from worker.trainer.models import loading
from worker.trainer.models.body import hidden_at, install_trees
from worker.trainer.models.heads import RewardModel
from worker.trainer.models.logprobs import action_logp

CPU = torch.device("cpu")
SIZES: dict[str, Any] = {
    "vocab_size": 120,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
    "initializer_range": 0.3,
}


def numbers(n: int, *, seed: int) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, 120, (n,), generator=generator).tolist()


def family(n_prompt: int, lengths: list[int], *, seed: int, system: int = 0) -> list[Tokens]:
    """Responses to one prompt; the same `system` tokens before each prompt."""
    prompt = numbers(system, seed=99) + numbers(n_prompt, seed=seed)
    return [Tokens(prompt, numbers(n, seed=seed * 50 + i)) for i, n in enumerate(lengths)]


BATCHES = {
    "one row": family(5, [4], seed=1),
    "one prompt, ragged": family(20, [1, 9, 30, 2], seed=2),
    "prompts of 1 to 4 tokens": [t for n in range(1, 5) for t in family(n, [3, 5], seed=n)],
    "system prompt and two prompts": [
        *family(17, [4, 8, 2], seed=3, system=12),
        *family(40, [6, 6], seed=4, system=12),
    ],
    "one response each": [t for n in range(1, 7) for t in family(10 * n, [5], seed=n, system=25)],
    "the same response twice": family(18, [7], seed=5) * 2,
    "a response that begins another": [
        Tokens(numbers(9, seed=6), numbers(n, seed=7)) for n in (12, 30, 31)
    ],
}


def make(config: PreTrainedConfig, attention: str = "eager") -> PreTrainedModel:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation=attention).eval()
    install_trees(model)
    return model


def is_installed(model: PreTrainedModel) -> bool:
    return str(model.config._attn_implementation).startswith("tree_")


@pytest.fixture(params=["eager", "sdpa"])
def llama(request: pytest.FixtureRequest) -> PreTrainedModel:
    model = make(LlamaConfig(**SIZES), request.param)
    assert is_installed(model)
    return model


def row_by_row(model: PreTrainedModel, sequences: list[Tokens]) -> Tensor:
    """Log-probabilities of the responses from the library's own logits, no two rows together."""
    found = []
    for tokens in sequences:
        ids_1_T = torch.tensor([tokens.prompt + tokens.response])
        logp_T_V = model(ids_1_T).logits[0].log_softmax(-1)
        places = range(len(tokens.prompt) - 1, len(tokens) - 1)
        found.append(logp_T_V[places, tokens.response])
    return torch.cat(found)


def gradients(model: nn.Module, value: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    value.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("sequences", BATCHES.values(), ids=BATCHES)
def test_log_probabilities_and_gradients_are_those_of_rows_alone(
    llama: PreTrainedModel, sequences: list[Tokens]
) -> None:
    expected = row_by_row(llama, sequences)
    weight = torch.linspace(-1, 1, len(expected))
    found = action_logp(llama, collate(sequences, pad_id=2, device=CPU), temperature=1.0).logp_N

    torch.testing.assert_close(found, expected, atol=2e-5, rtol=0)
    of_rows = gradients(llama, (expected * weight).mean())
    of_tree = gradients(llama, (found * weight).mean())
    assert of_rows.keys() == of_tree.keys()
    for name, gradient in of_rows.items():
        torch.testing.assert_close(of_tree[name], gradient, atol=2e-5, rtol=1e-4, msg=name)


@pytest.mark.parametrize("sequences", BATCHES.values(), ids=BATCHES)
def test_scores_are_those_of_rows_alone(llama: PreTrainedModel, sequences: list[Tokens]) -> None:
    rewards = RewardModel(llama.get_decoder(), nn.Linear(32, 1, bias=False))
    together = rewards(collate(sequences, pad_id=2, device=CPU))
    one_by_one = [
        rewards.head(llama.get_decoder()(torch.tensor([t.prompt + t.response]))[0][0, -1])
        for t in sequences
    ]
    torch.testing.assert_close(together, torch.cat(one_by_one), atol=2e-5, rtol=0)


@pytest.mark.parametrize(
    "config",
    [
        Qwen3Config(**SIZES),
        MistralConfig(**SIZES, sliding_window=None),
        OPTConfig(
            vocab_size=120, hidden_size=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4,
            word_embed_proj_dim=32, dropout=0.0, init_std=0.3,
        ),
    ],
    ids=lambda config: config.model_type,
)  # fmt: skip
def test_other_architectures_give_the_numbers_of_rows_alone(config: PreTrainedConfig) -> None:
    """With their trees where the model takes them, with padded rows where it does not."""
    model = make(config)
    sequences = BATCHES["system prompt and two prompts"]
    found = action_logp(model, collate(sequences, pad_id=2, device=CPU), temperature=1.0).logp_N
    torch.testing.assert_close(found, row_by_row(model, sequences), atol=2e-5, rtol=0)


def test_a_model_with_a_sliding_window_computes_padded_rows() -> None:
    model = make(MistralConfig(**SIZES, sliding_window=8))
    assert not is_installed(model)
    sequences = BATCHES["one prompt, ragged"]
    found = action_logp(model, collate(sequences, pad_id=2, device=CPU), temperature=1.0).logp_N
    torch.testing.assert_close(found, row_by_row(model, sequences), atol=2e-5, rtol=0)


class TokenCount:
    """Counts the tokens that go through the first layer's feed-forward part."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.n_tokens = 0
        model.get_decoder().layers[0].mlp.register_forward_hook(self._count)

    def _count(self, _module: nn.Module, inputs: tuple[Tensor], _output: Tensor) -> None:
        self.n_tokens += inputs[0].shape[0] * inputs[0].shape[1]


@pytest.mark.parametrize(
    ("sequences", "n_tokens"),
    [
        (family(128, [96] * 4, seed=1), 128 + 4 * 96),
        (family(6, [200] * 4, seed=1), 6 + 4 * 200),
        (BATCHES["one prompt, ragged"], 20 + 1 + 9 + 30 + 2),
        (BATCHES["system prompt and two prompts"], 12 + 17 + 4 + 8 + 2 + 40 + 6 + 6),
        (BATCHES["one row"], 5 + 4),
        (BATCHES["one response each"], 25 + (10 + 20 + 30 + 40 + 50 + 60) + 6 * 5),
        (BATCHES["the same response twice"], 18 + 7),
    ],
)
def test_each_token_goes_through_the_body_once(sequences: list[Tokens], n_tokens: int) -> None:
    """Nothing is padded; of six pairs of a ranking, 12 (P + R) tokens become P + 4 R."""
    model = make(LlamaConfig(**SIZES | {"max_position_embeddings": 512}))
    count = TokenCount(model)
    action_logp(model, collate(sequences, pad_id=2, device=CPU), temperature=1.0)
    assert count.n_tokens == n_tokens


@settings(max_examples=50)
@given(st.data())
def test_every_row_is_found_in_the_tree_at_its_places(data: st.DataObject) -> None:
    stems = data.draw(st.lists(st.lists(st.integers(0, 2), max_size=30), min_size=1, max_size=3))
    rows = [
        data.draw(st.sampled_from(stems)) + data.draw(st.lists(st.integers(0, 2), min_size=1))
        for _ in range(data.draw(st.integers(1, 8)))
    ]

    tree = prefix_tree.build(rows, CPU)

    for row, node_T in zip(rows, tree.node_B_T, strict=True):
        assert tree.ids_N[node_T[: len(row)]].tolist() == row
        assert tree.position_N[node_T[: len(row)]].tolist() == list(range(len(row)))
    assert len(tree.ids_N) == prefix_tree.n_tokens(rows) <= sum(map(len, rows))
    assert sorted({int(n) for r, nodes in zip(rows, tree.node_B_T, strict=True)
                   for n in nodes[: len(r)]}) == list(range(len(tree.ids_N)))  # fmt: skip


def test_in_bf16_a_tree_drifts_no_more_than_padding_does(tiny_model: Path) -> None:
    """Shapes alone move numbers in bf16: as far from fp32 as rows alone are."""
    sequences = BATCHES["system prompt and two prompts"]
    exact, rounded = (
        loading.load_causal_lm(Reference(path=str(tiny_model)), dtype=dtype, device=CPU)
        for dtype in (torch.float32, torch.bfloat16)
    )
    batch = collate(sequences, pad_id=2, device=CPU)
    with torch.no_grad():
        truth = row_by_row(exact, sequences)
        with precision.autocast(CPU, torch.bfloat16):
            of_rows = row_by_row(rounded, sequences).float()
            of_tree = action_logp(rounded, batch, temperature=1.0).logp_N
    assert (of_tree - truth).abs().mean() < 2 * (of_rows - truth).abs().mean() + 1e-3


def test_a_model_that_samples_is_not_disturbed(llama: PreTrainedModel) -> None:
    ids_1_T = torch.tensor([numbers(6, seed=3)])
    whole = llama(ids_1_T, use_cache=False).logits
    prefill = llama(ids_1_T[:, :5], use_cache=True)
    last = llama(ids_1_T[:, 5:], past_key_values=prefill.past_key_values).logits
    torch.testing.assert_close(last[:, 0], whole[:, 5], atol=1e-5, rtol=0)


def test_states_come_in_the_order_of_the_rows(llama: PreTrainedModel) -> None:
    batch: Batch = collate(BATCHES["one prompt, ragged"], pad_id=2, device=CPU)
    everywhere = torch.zeros_like(batch.action_B_T)
    for row, last in enumerate(batch.last_B.tolist()):
        everywhere[row, : last + 1] = True
    padded: Iterator[Tensor] = iter(llama.get_decoder()(batch.ids_B_T)[0])
    expected = torch.cat([row[: last + 1] for row, last in zip(padded, batch.last_B, strict=True)])
    found = hidden_at(llama.get_decoder(), batch, everywhere)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
