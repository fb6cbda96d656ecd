"""On a CUDA device: dtypes, kernels and copies that a processor has otherwise, or not at all.

The formulas are proved on the processor, which runs the same lines; each test names what is other
on the card and where the processor's twin of it stands. Skipped where there is no card.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedModel

from backend.schemas.references import Reference
from backend.schemas.sections import Lora, Optim
from tests.trainer.conftest import (
    Workshop,
    lines,
    optim_of,
    policy_gradient_config,
    series,
    sft_config,
)
from worker.trainer import precision
from worker.trainer.data.tokens import Tokens, collate
from worker.trainer.models import adapters, loading, logprobs
from worker.trainer.models.body import install_trees
from worker.trainer.models.logprobs import action_logp
from worker.trainer.optim import Optimizer
from worker.trainer.sampling.decoding import Request, Sampling
from worker.trainer.sampling.engines import TransformersEngine

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
CARD, CPU = torch.device("cuda"), torch.device("cpu")
PROMPTS = [[30 + i for i in range(20)], [30 + i for i in range(12)] + [7, 8, 9]]
# Responses of different lengths to two prompts that begin alike.
ROWS = [
    Tokens(prompt, [60 + 20 * i + j for j in range(n)])
    for prompt in PROMPTS
    for i, n in enumerate((1, 9, 4))
]


def logp_and_gradients(
    model: PreTrainedModel, device: torch.device, dtype: torch.dtype, *, packing: bool = True
) -> tuple[Tensor, dict[str, Tensor]]:
    """Our log-probabilities of the responses, and the gradients of their mean, on the processor."""
    batch = collate(ROWS, pad_id=2, device=device, packing=packing)
    with precision.autocast(device, dtype):
        logp_N = action_logp(model, batch, temperature=1.0).logp_N
    logp_N.mean().backward()
    assert logp_N.dtype == torch.float32
    return logp_N.detach().cpu().double(), gradients(model)


def exact(model: PreTrainedModel) -> tuple[Tensor, dict[str, Tensor]]:
    """The same by transformers itself, in float64, no two rows together."""
    parts = []
    for tokens in ROWS:
        logp_T_V = model(torch.tensor([tokens.ids])).logits[0].log_softmax(-1)
        places = range(len(tokens.prompt) - 1, len(tokens) - 1)
        parts.append(logp_T_V[places, tokens.response])
    logp_N = torch.cat(parts)
    logp_N.mean().backward()
    return logp_N.detach().double(), gradients(model)


def gradients(model: nn.Module) -> dict[str, Tensor]:
    """Gradients by name, float64 on the processor."""
    return {
        name: p.grad.cpu().double() for name, p in model.named_parameters() if p.grad is not None
    }


def check_gradients(
    found: dict[str, Tensor], expected: dict[str, Tensor], *, within: float
) -> None:
    """Each no farther from what is expected than this share of it."""
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert (found[name] - gradient).norm() <= within * gradient.norm(), name


@pytest.mark.parametrize("packing", [True, False])
@pytest.mark.parametrize(
    ("dtype", "logp_within", "gradient_within"),
    [(torch.float32, 1e-4, 1e-4), (torch.bfloat16, 0.15, 0.1)],
)
def test_log_probabilities_and_gradients_are_those_of_float64(
    tiny_model: Path,
    packing: bool,
    dtype: torch.dtype,
    logp_within: float,
    gradient_within: float,
) -> None:
    """Autocast and torch's kernels for cards; on the processor: test_logprobs, test_prefix_tree."""
    expected, of_exact = exact(
        AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float64).eval()
    )
    model = loading.load_causal_lm(
        Reference(path=str(tiny_model)), dtype=torch.float32, device=CARD, attention="sdpa"
    )

    found, of_card = logp_and_gradients(model, CARD, dtype, packing=packing)

    assert (found - expected).abs().max() <= logp_within
    check_gradients(of_card, of_exact, within=gradient_within)


def test_heads_that_share_keys_attend_on_the_card_as_in_plain_products() -> None:
    """Nine heads, three of keys: sdpa's own grouping, and its masks where a prompt is shared.

    On the processor: test_attention, and test_prefix_tree with both kinds.
    """

    def made(attention: str) -> PreTrainedModel:
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=160,
            hidden_size=144,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=9,
            num_key_value_heads=3,
            initializer_range=0.1,
        )
        model = AutoModelForCausalLM.from_config(config, attn_implementation=attention).eval()
        install_trees(model)
        return model

    expected, of_products = logp_and_gradients(made("eager"), CPU, torch.float32)
    found, of_card = logp_and_gradients(made("sdpa").to(CARD), CARD, torch.float32)

    assert (found - expected).abs().max() <= 1e-4
    check_gradients(of_card, of_products, within=1e-4)


def test_the_fused_optimizer_steps_as_on_the_processor_and_goes_on_from_its_state() -> None:
    """Moments and the count of steps live on the card; on the processor: test_run_directory."""
    generator = torch.Generator().manual_seed(0)
    start = {"matrix": torch.randn(7, 5, generator=generator), "row": torch.zeros(5)}
    steps = [
        {name: torch.randn(value.shape, generator=generator) for name, value in start.items()}
        for _ in range(5)
    ]

    def made(values: dict[str, Tensor], device: torch.device) -> dict[str, nn.Parameter]:
        return {name: nn.Parameter(value.clone().to(device)) for name, value in values.items()}

    def take(
        parameters: dict[str, nn.Parameter],
        gradients_of_steps: list[dict[str, Tensor]],
        state: dict[str, Tensor] | None = None,
        n_steps: int = 0,
    ) -> Optimizer:
        config = Optim(lr=1e-2, weight_decay=0.1, schedule="cosine", grad_clip=2.0)
        optimizer = Optimizer(parameters, config, 8)
        optimizer.restore(state or {}, n_steps)
        for gradient in gradients_of_steps:
            for name, parameter in parameters.items():
                parameter.grad = gradient[name].to(parameter.device)
            optimizer.step()
        return optimizer

    on_cpu, on_card, first = made(start, CPU), made(start, CARD), made(start, CARD)
    take(on_cpu, steps)
    moments = take(on_card, steps).state()
    assert all(moment.device.type == CARD.type for moment in moments.values())
    for name, parameter in on_card.items():
        torch.testing.assert_close(parameter.cpu(), on_cpu[name], atol=1e-6, rtol=1e-5)

    saved = {name: moment.cpu().clone() for name, moment in take(first, steps[:4]).state().items()}
    resumed = made({name: parameter.detach().cpu() for name, parameter in first.items()}, CARD)
    take(resumed, steps[4:], saved, n_steps=4)
    assert all(torch.equal(resumed[name], on_card[name]) for name in start)


def test_the_samplers_copy_takes_over_merged_weights_in_place_and_samples_with_them(
    tiny_model: Path,
) -> None:
    """Merged in fp32 on the card, kept in bf16; single tokens attend by sdpa there.

    On the processor: test_rollout and test_attention, which has plain products for single tokens.
    """
    reference = Reference(path=str(tiny_model))
    causal, copy = (
        loading.load_causal_lm(reference, dtype=torch.bfloat16, device=CARD) for _ in range(2)
    )
    adapted = adapters.add_lora(causal, Lora(r=4, alpha=8), seed=0)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in adapters.trainable(adapted).items():
            if "lora_B" in name:
                parameter.copy_(0.05 * torch.randn(parameter.shape, generator=generator))
    weights = dict(copy.named_parameters())
    places = {name: weight.data_ptr() for name, weight in weights.items()}
    before = {name: weight.detach().cpu().float() for name, weight in weights.items()}
    engine = TransformersEngine(copy)

    engine.refresh(adapted)

    assert {name: weight.data_ptr() for name, weight in weights.items()} == places
    sampling = Sampling(max_new_tokens=12, temperature=1.0, top_p=1.0, end_ids=[2], pad_id=2)
    (responses,) = engine.sample(
        [Request("p", PROMPTS[0], 8)],
        sampling,
        seed=0,
        stream=("rollout", 1),
        between_tokens=lambda: None,
    )
    sampled = [Tokens(PROMPTS[0], response.ids) for response in responses]
    with torch.no_grad(), precision.autocast(CARD, torch.bfloat16):
        batch = collate(sampled, pad_id=2, device=CARD)
        trained_logp_N = action_logp(causal, batch, temperature=1.0).logp_N.cpu()
    sampler_logp_N = torch.tensor([logp for response in responses for logp in response.logp])
    assert (trained_logp_N - sampler_logp_N).abs().mean() < 0.1

    merged = dict(adapters.trained_weights(adapted.to(CPU)))
    assert merged
    for name, weight in weights.items():
        expected = merged.get(name, before[name])
        # bf16 has eight digits.
        torch.testing.assert_close(weight.cpu().float(), expected, rtol=2**-7, atol=1e-5)
        assert torch.equal(weight.cpu().float(), before[name]) == (name not in merged)


def small_sft_config(model: Path, *, steps: int, **more: Any) -> dict[str, Any]:
    """Every weight trained, six of twelve records a step."""
    optim = optim_of(epochs=1) | {"epochs": steps / 2, "schedule": "constant"}
    return sft_config(model, lora=None, optim=optim, **more)


@pytest.mark.slow
@pytest.mark.parametrize("method", [small_sft_config, policy_gradient_config])
def test_a_run_goes_on_from_what_it_has_saved_on_the_card(
    workshop: Workshop, tiny_model: Path, method: Any
) -> None:
    """Tensors go from the card to the disk and back; on the processor: test_resume, to the bit.

    Kernels for cards promise no equal bits: the loss is compared, not the weights.
    """
    fixed = {"checkpoint_every": 2, "resources": {"gpus": 1, "threads": 1}, "precision": "bf16"}
    whole = workshop.lay_out("whole", method(tiny_model, steps=4, **fixed))
    halves = workshop.lay_out("halves", method(tiny_model, steps=2, **fixed))

    assert workshop.run(whole, by_command=True)["code"] == 0
    assert workshop.run(halves, by_command=True)["code"] == 0
    (halves / "attempts" / "2").mkdir(parents=True)
    (halves / "config.json").write_bytes((whole / "config.json").read_bytes())
    assert workshop.run(halves, by_command=True)["code"] == 0

    start = lines(halves, "start")[-1]
    assert (start["step"], start["environment"]["precision"]) == (2, "bf16")
    assert start["environment"]["device"] == torch.cuda.get_device_name()
    assert not [line for line in lines(halves, "alert") if line["rule"] == "resumed_elsewhere"]
    assert series(halves, "loss")[3] == pytest.approx(series(whole, "loss")[3], abs=0.02)
    assert all(gib > 0 for gib in series(halves, "memory/peak_gib").values())


def test_the_head_asks_the_card_for_nothing() -> None:
    """Else each part of the vocabulary would wait for the one before; twin in `test_logprobs`."""
    hidden_N_H = torch.randn(64, 32, device=CARD, requires_grad=True)
    weight_V_H = torch.randn(300_000, 32, device=CARD, requires_grad=True)
    token_N = torch.arange(64, device=CARD)
    before = torch.cuda.get_sync_debug_mode()
    for mode in (before, "error"):  # what is set up in a first pass may wait
        torch.cuda.set_sync_debug_mode(mode)
        try:
            logp_N, entropy_N = logprobs._HeadLogp.apply(  # type: ignore[no-untyped-call]
                hidden_N_H, token_N, weight_V_H, None, 0.7, True
            )
            (logp_N.sum() + entropy_N.sum()).backward()
        finally:
            torch.cuda.set_sync_debug_mode(before)
    assert hidden_N_H.grad is not None
