"""Log-probabilities, KL and scores of real (tiny) models: nothing may shift by one."""

from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import GraniteConfig, GraniteForCausalLM, PreTrainedModel

from backend.schemas.references import Reference
from backend.schemas.sections import Lora
from worker.trainer import precision
from worker.trainer.data.tokens import Tokens, collate
from worker.trainer.errors import ConfigError
from worker.trainer.models import adapters, loading, logprobs
from worker.trainer.models.heads import RewardModel
from worker.trainer.models.logprobs import action_hidden, action_logp, exact_kl

CPU = torch.device("cpu")
SHARED = list(range(50, 62))
ROWS = [
    Tokens([*SHARED, 9, 10], [11, 12, 2]),
    Tokens([*SHARED, 30, 31, 32, 33], [34, 2]),
    Tokens([*SHARED, 7], [8, 9, 10, 11, 12]),
]


@pytest.fixture
def model(tiny_model: Path) -> PreTrainedModel:
    return loading.load_causal_lm(Reference(path=str(tiny_model)), dtype=torch.float32, device=CPU)


def alone(model: PreTrainedModel, tokens: Tokens, temperature: float = 1.0) -> Tensor:
    """Log-probabilities of a row's response from the model's own logits, without a batch."""
    ids = torch.tensor([tokens.prompt + tokens.response])
    with torch.no_grad():
        logp = (model(ids).logits[0] / temperature).log_softmax(-1)
    first = len(tokens.prompt)
    return logp[range(first - 1, len(tokens) - 1), tokens.response]


def test_a_batch_gives_the_log_probabilities_of_each_row_alone(model: PreTrainedModel) -> None:
    batch = collate(ROWS, pad_id=2, device=CPU)
    assert len(batch.tree.ids_N) == sum(len(row) for row in ROWS) - 2 * len(SHARED)

    with torch.no_grad():
        found = action_logp(model, batch, temperature=0.7)

    expected = torch.cat([alone(model, row, 0.7) for row in ROWS])
    assert torch.allclose(found.logp_N, expected, atol=1e-5)


def test_small_parts_of_the_vocabulary_change_nothing(
    model: PreTrainedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = collate(ROWS, pad_id=2, device=CPU)
    whole = action_logp(model, batch, temperature=1.0)
    monkeypatch.setattr(logprobs, "AT_ONCE", 7 * len(whole.logp_N))
    parts = action_logp(model, batch, temperature=1.0)
    assert torch.allclose(whole.logp_N, parts.logp_N, atol=1e-6)
    assert torch.allclose(whole.entropy_N, parts.entropy_N, atol=1e-6)


def test_no_shape_depends_on_a_number_that_a_card_would_have_to_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tensors without numbers: on a card each such question would wait for all work before it."""
    monkeypatch.setattr(logprobs, "AT_ONCE", 40)
    with FakeTensorMode():
        hidden_N_H = torch.zeros(5, 8, requires_grad=True)
        weight_V_H = torch.zeros(20, 8, requires_grad=True)
        token_N = torch.zeros(5, dtype=torch.long)
        logp_N, entropy_N = logprobs._HeadLogp.apply(
            hidden_N_H, token_N, weight_V_H, None, 0.7, True
        )
        (logp_N.sum() + entropy_N.sum()).backward()
        assert hidden_N_H.grad is not None
        assert weight_V_H.grad is not None


@pytest.mark.parametrize("part", [7, 10_000])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_gradients_of_log_probability_and_entropy_are_those_of_the_softmax(
    model: PreTrainedModel, monkeypatch: pytest.MonkeyPatch, temperature: float, part: int
) -> None:
    batch = collate(ROWS, pad_id=2, device=CPU)
    monkeypatch.setattr(logprobs, "AT_ONCE", part * int(batch.action_B_T.sum()))
    weight = torch.linspace(-1, 2, 10)
    logits = model.get_output_embeddings()(action_hidden(model, batch)) / temperature
    expected = logits.log_softmax(-1)
    entropy = -(expected.exp() * expected).sum(-1)
    own = expected.gather(-1, batch.ids_B_T[batch.action_B_T][:, None])[:, 0]
    found = action_logp(model, batch, temperature=temperature, entropy_gradient=True)
    gradients = []
    for logp_N, entropy_N in ((own, entropy), (found.logp_N, found.entropy_N)):
        model.zero_grad()
        (weight * logp_N + weight.flip(0) * entropy_N).mean().backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], gradient, atol=2e-5, rtol=1e-4, msg=name)


def test_in_bf16_the_entropy_is_still_summed_in_fp32(tiny_model: Path) -> None:
    model = loading.load_causal_lm(
        Reference(path=str(tiny_model)), dtype=torch.bfloat16, device=CPU
    )
    batch = collate(ROWS, pad_id=2, device=CPU)
    with torch.no_grad(), precision.autocast(CPU, torch.bfloat16):
        found = action_logp(model, batch, temperature=1.0)
        logp = model.get_output_embeddings()(found.hidden_N_H).double().log_softmax(-1)
    expected = -(logp.exp() * logp).sum(-1)
    assert torch.allclose(found.entropy_N.double(), expected, atol=1e-5)


def test_the_exact_kl_is_the_sum_over_the_vocabulary(
    model: PreTrainedModel, tmp_path: Path
) -> None:
    from tests.tiny_model import make_tiny_model

    other = loading.load_causal_lm(
        Reference(path=str(make_tiny_model(tmp_path / "other", seed=1))),
        dtype=torch.float32,
        device=CPU,
    )
    batch = collate(ROWS[:1], pad_id=2, device=CPU)
    with torch.no_grad():
        p, q = ((m(batch.ids_B_T).logits[0, 13:16] / 0.7).log_softmax(-1) for m in (model, other))
        hidden = action_hidden(other, batch)

    kl, logp, ref_logp = exact_kl(
        model, hidden, other.get_output_embeddings(), batch, temperature=0.7
    )

    assert torch.allclose(kl, (p.exp() * (p - q)).sum(-1), atol=1e-4)
    assert torch.allclose(logp, alone(model, ROWS[0], 0.7), atol=1e-5)
    assert torch.allclose(ref_logp, alone(other, ROWS[0], 0.7), atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_with_fresh_adapters_policy_and_reference_agree_to_the_bit(
    tiny_model: Path, dtype: torch.dtype
) -> None:
    model = loading.load_causal_lm(Reference(path=str(tiny_model)), dtype=dtype, device=CPU)
    adapted = adapters.add_lora(model, Lora(r=4), seed=0)
    batch = collate(ROWS, pad_id=2, device=CPU)
    with torch.no_grad(), precision.autocast(CPU, dtype):
        policy = action_logp(model, batch, temperature=0.7)
        with adapted.disable_adapter():
            reference = action_logp(model, batch, temperature=0.7)
    assert torch.equal(policy.logp_N, reference.logp_N)


def test_merged_weights_compute_what_the_adapters_computed(tiny_model: Path) -> None:
    reference = Reference(path=str(tiny_model))
    model, fresh = (
        loading.load_causal_lm(reference, dtype=torch.float32, device=CPU) for _ in range(2)
    )
    adapted = adapters.add_lora(model, Lora(r=4), seed=0)
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_B" in name:
                parameter.normal_(generator=torch.Generator().manual_seed(len(name)))
        batch = collate(ROWS, pad_id=2, device=CPU)
        before = action_logp(model, batch, temperature=1.0).logp_N
        adapters.full_model(adapted, lambda: fresh)
        after = action_logp(fresh, batch, temperature=1.0).logp_N
    assert not torch.allclose(before, torch.cat([alone(fresh, row) for row in ROWS]) + 1)
    assert torch.allclose(before, after, atol=1e-3)


def test_a_score_is_read_at_the_last_token_whatever_the_padding(model: PreTrainedModel) -> None:
    head = torch.nn.Linear(model.config.hidden_size, 1, bias=False)
    rewards = RewardModel(model.get_decoder(), head)
    with torch.no_grad():
        together = rewards(collate(ROWS, pad_id=2, device=CPU))
        one_by_one = torch.cat([rewards(collate([row], pad_id=2, device=CPU)) for row in ROWS])
        open_end = rewards(
            collate([Tokens(ROWS[0].prompt, ROWS[0].response[:-1])], pad_id=2, device=CPU)
        )
        last = model.get_decoder()(torch.tensor([ROWS[0].prompt + ROWS[0].response]))
    assert torch.allclose(together, one_by_one, atol=1e-4)
    assert together[0].item() == pytest.approx(head(last.last_hidden_state[0, -1]).item(), abs=1e-4)
    assert together[0].item() != pytest.approx(open_end.item(), abs=1e-4)


def test_a_model_that_changes_its_logits_afterwards_is_refused(
    tiny_model: Path, tmp_path: Path
) -> None:
    config = GraniteConfig(
        vocab_size=300,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        logits_scaling=8.0,
        initializer_range=0.5,
    )
    GraniteForCausalLM(config).save_pretrained(tmp_path)
    with pytest.raises(ConfigError, match="changes its logits"):
        loading.load_causal_lm(
            Reference(path=str(tmp_path)), dtype=torch.float32, device=torch.device("cpu")
        )
