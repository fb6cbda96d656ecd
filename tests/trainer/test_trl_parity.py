"""TRL's own trainers and these losses, on the same weights and tokens: where both mean the same.

Losses and gradients agree to rounding. Where they do not mean the same is said in the tests.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaConfig, LlamaForSequenceClassification, PreTrainedModel

from backend.schemas.references import Reference
from tests.tiny_model import make_tiny_model
from worker.trainer import losses
from worker.trainer.data.tokens import Tokens, collate
from worker.trainer.models import loading
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import load_tokenizer

pytestmark = [
    pytest.mark.slow,
    # TRL calls transformers by names that are on their way out.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
CPU = torch.device("cpu")
END = 2
PROMPTS = [[50, 51, 52], [60, 61, 62], [70, 71, 72], [80, 81, 82]]
RESPONSES = [[9, 10, 11, 12, END], [20, END], [30, 31, 32], [40, 41, 42, END]]
ROWS = [Tokens(p, r) for p, r in zip(PROMPTS, RESPONSES, strict=True)]
COMMON = {"use_cpu": True, "report_to": "none", "bf16": False, "activation_checkpointing": False}


@pytest.fixture
def pair(tiny_model: Path, tmp_path: Path) -> tuple[PreTrainedModel, PreTrainedModel]:
    """A policy and a reference."""
    other = make_tiny_model(tmp_path / "other", seed=1)
    policy, reference = (
        loading.load_causal_lm(Reference(path=str(folder)), dtype=torch.float32, device=CPU)
        for folder in (tiny_model, other)
    )
    return policy, reference


def theirs(folder: Path) -> PreTrainedModel:
    """The same weights as TRL would load them."""
    from transformers import AutoModelForCausalLM

    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return model


def logp_rows(model: nn.Module, rows: list[Tokens]) -> Tensor:
    """Our log-probabilities, B x T, zero at the right."""
    found = action_logp(model, collate(rows, pad_id=END, device=CPU), temperature=1.0)
    return pad_sequence(found.logp_N.split([len(row.response) for row in rows]), batch_first=True)


def response_mask(rows: list[Tokens]) -> Tensor:
    """Places of the responses, B x T."""
    return pad_sequence([torch.ones(len(r.response)).bool() for r in rows], batch_first=True)


def check_gradients(ours: nn.Module, their: nn.Module) -> None:
    """Equal to 1e-4 of the largest entry of each tensor."""
    expected = {name: p.grad for name, p in their.named_parameters() if p.grad is not None}
    found = {name: p.grad for name, p in ours.named_parameters() if p.grad is not None}
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert torch.allclose(
            found[name], gradient, rtol=0, atol=1e-4 * float(gradient.abs().max())
        )


def dpo_inputs(rows: list[Tokens]) -> dict[str, Tensor]:
    """As TRL collates preferences: chosen then rejected, padded on the right."""
    sequences = [torch.tensor(row.prompt + row.response) for row in rows]
    actions = [torch.tensor([0] * len(r.prompt) + [1] * len(r.response)) for r in rows]
    return {
        "input_ids": pad_sequence(sequences, batch_first=True, padding_value=END),
        "attention_mask": pad_sequence([torch.ones_like(s) for s in sequences], batch_first=True),
        "completion_mask": pad_sequence(actions, batch_first=True),
    }


@pytest.mark.parametrize("kind", ["sigmoid", "ipo"])
def test_dpo(
    tiny_model: Path,
    tmp_path: Path,
    pair: tuple[PreTrainedModel, PreTrainedModel],
    kind: Any,
) -> None:
    """ipo: TRL divides the log-ratios by the length, so at length L its beta is L times ours."""
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    policy, reference = pair
    rows = ROWS
    if kind == "ipo":  # equal lengths
        rows = [Tokens(row.prompt, [7, 8, 9 + i, END]) for i, row in enumerate(ROWS)]
    their = theirs(tiny_model)
    trainer = DPOTrainer(
        their,
        theirs(tmp_path / "other"),
        DPOConfig(output_dir=str(tmp_path / "dpo"), beta=0.3, loss_type=kind, **COMMON),
        train_dataset=Dataset.from_dict({"prompt": ["a"], "chosen": ["b"], "rejected": ["c"]}),
        processing_class=load_tokenizer(Reference(path=str(tiny_model))),
    )
    expected = trainer.compute_loss(their, dpo_inputs(rows))
    expected.backward()

    length = 4 if kind == "ipo" else 1
    logp_B = logp_rows(policy, rows).sum(-1)
    with torch.no_grad():
        ref_B = logp_rows(reference, rows).sum(-1)
    loss = (
        losses.dpo_loss(*logp_B.chunk(2), *ref_B.chunk(2), beta=0.3 / length, loss=kind).loss
        / length**2
    )
    loss.backward()

    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
    check_gradients(policy, their)


@pytest.mark.parametrize(
    ("loss_type", "average", "denominator"),
    [("grpo", "sequence", None), ("bnpo", "token", None), ("dr_grpo", "constant", 4 * 6.0)],
)
@pytest.mark.parametrize("delta", [None, 2.0])
def test_grpo_loss_with_k3(
    tiny_model: Path,
    tmp_path: Path,
    pair: tuple[PreTrainedModel, PreTrainedModel],
    loss_type: str,
    average: Any,
    denominator: float | None,
    delta: float | None,
) -> None:
    """TRL's delta is the dual clip; its KL is averaged as its loss is, ours over tokens.

    Its default multiplies the KL by the ratio, which is off here.
    """
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    policy, reference = pair
    their = theirs(tiny_model)
    trainer = GRPOTrainer(
        their,
        lambda completions, **_: [0.0] * len(completions),
        GRPOConfig(
            output_dir=str(tmp_path / "grpo"),
            beta=0.1,
            epsilon=0.2,
            epsilon_high=0.3,
            delta=delta,
            use_bias_correction_kl=False,
            loss_type=loss_type,
            max_completion_length=6,
            per_device_train_batch_size=4,
            num_generations=2,
            **COMMON,
        ),
        train_dataset=Dataset.from_dict({"prompt": ["a"] * 4}),
        processing_class=load_tokenizer(Reference(path=str(tiny_model))),
    )
    trainer.current_gradient_accumulation_steps = 1
    mask_B_T = response_mask(ROWS)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        noise_B_T = 0.6 * torch.randn(mask_B_T.shape, generator=generator)
        old_B_T = logp_rows(policy, ROWS) + noise_B_T
        ref_B_T = logp_rows(reference, ROWS)
    advantage_B_T = torch.randn(mask_B_T.shape, generator=generator)
    prompt_ids = torch.tensor(PROMPTS)
    expected = trainer.compute_loss(
        their.train(),
        {
            "prompt_ids": prompt_ids,
            "prompt_mask": torch.ones_like(prompt_ids),
            "completion_ids": pad_sequence(
                [torch.tensor(r) for r in RESPONSES], batch_first=True, padding_value=END
            ),
            "completion_mask": mask_B_T.long(),
            "advantages": advantage_B_T,
            "old_per_token_logps": old_B_T,
            "ref_per_token_logps": ref_B_T,
            "num_items_in_batch": mask_B_T.sum(),
        },
    )
    expected.backward()

    logp_B_T = logp_rows(policy, ROWS)
    loss = losses.policy_loss(
        logp_B_T,
        old_B_T,
        advantage_B_T,
        mask_B_T,
        clip_low=0.2,
        clip_high=0.3,
        dual_clip=delta,
        average=average,
        denominator=denominator,
    ).loss
    kl_B_T = losses.kl(logp_B_T, ref_B_T, "k3")
    loss = loss + 0.1 * losses.aggregate(kl_B_T, mask_B_T, average=average, denominator=denominator)
    loss.backward()

    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)
    check_gradients(policy, their)


def reward_loss_of_trl(
    tiny_model: Path, tmp_path: Path, inputs: dict[str, Tensor]
) -> tuple[Tensor, Tensor]:
    """The loss of TRL's RewardTrainer and the scores that it is of, B x 1."""
    from datasets import Dataset
    from trl import RewardConfig, RewardTrainer

    config = LlamaConfig.from_pretrained(tiny_model, num_labels=1)
    their = LlamaForSequenceClassification(config)
    trainer = RewardTrainer(
        their,
        RewardConfig(output_dir=str(tmp_path / "reward"), **COMMON),
        train_dataset=Dataset.from_dict({"chosen": ["ab"], "rejected": ["ac"]}),
        processing_class=load_tokenizer(Reference(path=str(tiny_model))),
    )
    inputs.pop("completion_mask")
    loss, outputs = trainer.compute_loss(their, inputs, return_outputs=True)
    return loss, outputs.logits


def test_pairwise_reward_loss(tiny_model: Path, tmp_path: Path) -> None:
    """The same scores; gradients by those scores."""
    expected, score_B_1 = reward_loss_of_trl(tiny_model, tmp_path, dpo_inputs(ROWS))
    score_B = score_B_1[:, 0]

    chosen_B, rejected_B = score_B.chunk(2)
    loss = torch.stack(
        [
            losses.ranking_loss(torch.stack(two), [[0], [1]])
            for two in zip(chosen_B, rejected_B, strict=True)
        ]
    ).mean()

    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    found, wanted = (
        torch.autograd.grad(value, score_B_1, retain_graph=True)[0] for value in (loss, expected)
    )
    torch.testing.assert_close(found, wanted)


def test_reward_loss_with_a_margin(tiny_model: Path, tmp_path: Path) -> None:
    """One ranking of three, against its pairs with a column `margin`: twice as much over two tiers.

    Gradients by the scores; TRL has scored each response twice.
    """
    a, b, c = ROWS[:3]
    inputs = dpo_inputs([a, b, a, b, c, c]) | {"margin": torch.tensor([0.4, 0.4, 0.8])}
    expected, score_B_1 = reward_loss_of_trl(tiny_model, tmp_path, inputs)
    score_K = score_B_1[[0, 1, 4], 0].detach().requires_grad_()

    loss = losses.ranking_loss(score_K, [[0], [1], [2]], margin=0.4)

    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    (found,) = torch.autograd.grad(loss, score_K)
    wanted = torch.autograd.grad(expected, score_B_1)[0][:, 0]
    twice = [wanted[[0, 2]].sum(), wanted[[1, 3]].sum(), wanted[[4, 5]].sum()]
    torch.testing.assert_close(found, torch.stack(twice))
