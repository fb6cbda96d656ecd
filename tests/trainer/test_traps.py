"""Fifteen ways to get this quietly wrong, each with the test that would notice; numbered.

Those that only a run shows stand in `test_traps_of_runs`, 6 to 8 across processes in
`test_sharding`.
"""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.records import Message, PreferenceRecord
from backend.schemas.references import Reference
from backend.schemas.rewards import Reward
from backend.schemas.vocabulary import (
    CRITIC_ESTIMATORS,
    DISCOUNTED_ESTIMATORS,
    GREEDY_ESTIMATORS,
    Estimator,
    FinishReason,
)
from tests.trainer.conftest import (
    SYSTEM,
    Finished,
    reward_model_config,
    series,
)
from worker.trainer.advantages import estimate, masked_whiten
from worker.trainer.data.tokens import Tokens, collate, render_prompt
from worker.trainer.losses import policy_loss
from worker.trainer.methods.policy_gradient.rollout import action_mask
from worker.trainer.models import loading
from worker.trainer.models.heads import REWARD_MODEL, RewardModel, load_scorer
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.rewards.model import ModelScorer
from worker.trainer.rewards.sampled_response import SampledResponse, measured
from worker.trainer.rewards.scorer import Scorer, Term
from worker.trainer.sampling.decoding import Request, Response, Sampling, sample
from worker.trainer.sampling.prompts import Prompt, answer

CPU = torch.device("cpu")
END = 2  # also the padding
ROWS = [
    Tokens([50, 51, 52, 9, 10], [11, 12, END]),
    Tokens([60, 61, 33], [34, END]),
    Tokens([50, 51, 7], [8, 9, 10, 11, 12]),
]
ESTIMATORS = [str(estimator) for estimator in Estimator]


@pytest.fixture
def model(tiny_model: Path) -> PreTrainedModel:
    return loading.load_causal_lm(Reference(path=str(tiny_model)), dtype=torch.float32, device=CPU)


@pytest.fixture
def tokenizer(tiny_model: Path) -> PreTrainedTokenizerBase:
    return load_tokenizer(Reference(path=str(tiny_model)))


@torch.no_grad()
def logp_of(model: PreTrainedModel, rows: list[Tokens], temperature: float = 1.0) -> list[Tensor]:
    """Log-probabilities of each row's response, from one batch."""
    found = action_logp(model, collate(rows, pad_id=END, device=CPU), temperature=temperature)
    return list(found.logp_N.split([len(row.response) for row in rows]))


def rollout_batch(n_rows: int = 4) -> dict[str, Any]:
    """Arguments of `estimate` for pairs of responses, with a tool's answer in each."""
    generator = torch.Generator().manual_seed(n_rows)
    mask_B_T = torch.tensor([[1, 1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 0, 0, 0]]).bool()
    mask_B_T = mask_B_T.repeat(n_rows // 2, 1)
    return {
        "reward_B": torch.randn(n_rows, generator=generator),
        "kl_B_T": torch.randn(mask_B_T.shape, generator=generator),
        "mask_B_T": mask_B_T,
        "group_B": torch.arange(n_rows) // 2,
        "kl_coef": 0.3,
    }


def needs_of(estimator: str, batch: dict[str, Any]) -> dict[str, Any]:
    """What an estimator wants besides: values, greedy rewards."""
    generator = torch.Generator().manual_seed(7)
    if estimator in CRITIC_ESTIMATORS:
        shape = batch["mask_B_T"].shape
        return {"value_B_T": torch.randn(shape, generator=generator), "lam": 0.9}
    if estimator in GREEDY_ESTIMATORS:
        return {"greedy_reward_B": torch.randn(len(batch["reward_B"]), generator=generator)}
    return {}


def test_01_a_log_probability_belongs_to_the_token_at_its_own_place(model: PreTrainedModel) -> None:
    batch = collate(ROWS, pad_id=END, device=CPU)
    labels = batch.ids_B_T.masked_fill(~batch.action_B_T, -100)
    with torch.no_grad():
        loss = model(batch.ids_B_T, labels=labels).loss
    before = logp_of(model, ROWS)
    assert float(-torch.cat(before).sum()) == pytest.approx(float(loss) * 10, rel=1e-5)

    swapped = Tokens(ROWS[2].prompt, [8, 9, 77, 11, 12])
    after = logp_of(model, [*ROWS[:2], swapped])

    assert torch.equal(after[0], before[0])
    differs = (after[2] - before[2]).abs() > 1e-3
    assert differs.tolist() == [False, False, True, True, True]
    torch.testing.assert_close(after[2][:2], before[2][:2])


def test_02_the_side_of_the_padding_changes_nothing(model: PreTrainedModel) -> None:
    """Alone, padded on the right as in training, padded on the left as in sampling."""
    width = max(len(row) for row in ROWS)
    ids = torch.tensor([[END] * (width - len(r)) + r.prompt + r.response for r in ROWS])
    mask = torch.tensor([[0] * (width - len(r)) + [1] * len(r) for r in ROWS])
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        left = model(ids, attention_mask=mask, position_ids=positions, output_hidden_states=True)
    head = torch.nn.Linear(model.config.hidden_size, 1, bias=False)
    rewards = RewardModel(model.get_decoder(), head)
    left_logp = left.logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]

    right = logp_of(model, ROWS)
    with torch.no_grad():
        scores = rewards(collate(ROWS, pad_id=END, device=CPU))
        left_scores = head(left.hidden_states[-1][:, -1])[:, 0]

    for row, found, expected in zip(ROWS, right, left_logp, strict=True):
        assert torch.allclose(found, expected[-len(row.response) :], atol=1e-5)
        assert torch.allclose(found, logp_of(model, [row])[0], atol=1e-5)
    assert torch.allclose(scores, left_scores, atol=1e-4)


def test_03_the_end_token_counts_although_it_also_pads(model: PreTrainedModel) -> None:
    batch = collate(ROWS, pad_id=END, device=CPU)
    assert batch.action_B_T.sum(-1).tolist() == [len(row.response) for row in ROWS]
    assert batch.ids_B_T[1, batch.last_B[1]] == END
    assert batch.last_B.tolist() == [7, 4, 7]
    assert batch.ids_B_T[1, 5:].tolist() == [END] * 3
    assert not batch.action_B_T[1, 5:].any()

    responses = [Response(row.response, [], FinishReason.STOP) for row in ROWS[:2]]
    mask_B_T = action_mask(responses, [1.0, 1.0], masks_overlong=False)
    assert mask_B_T.tolist() == [[True, True, True], [True, True, False]]


def test_04_the_reward_model_reads_in_the_rollout_what_it_read_in_training(
    tiny_model: Path, finished: Finished, tokenizer: PreTrainedTokenizerBase
) -> None:
    """The mean of the held-out scores of the run, once more from sampled tokens.

    A response that was cut has no end token in either, and one would change its score.
    """
    run_dir = finished(reward_model_config(tiny_model))
    text = (run_dir / "inputs" / "preferences.jsonl").read_text()
    records = [PreferenceRecord.model_validate_json(line) for line in text.splitlines()]
    loaded = load_scorer(
        Reference(path=str(run_dir / "output")),
        tokenizer,
        kind=REWARD_MODEL,
        budget=4096,
        dtype=torch.float32,
        device=CPU,
        check_stop=lambda: None,
    )
    scorer = ModelScorer(loaded)

    def answers(*, always_ends: bool) -> list[SampledResponse]:
        found = []
        for record in records:
            if record.split == "heldout":
                prompt_ids = render_prompt(tokenizer, record.messages, system=SYSTEM)
                prompt = Prompt(record.prompt_id, "", prompt_ids, is_heldout=True)
                for response in record.responses:
                    ids = tokenizer(response.content)["input_ids"]
                    ends = always_ends or response.finish_reason == FinishReason.STOP
                    sampled = Response([*ids, END] if ends else ids, [], response.finish_reason)
                    found.append(answer(prompt, sampled, tokenizer))
        return found

    scores = [one.score for one in scorer(answers(always_ends=False))]
    assert sum(scores) / len(scores) == pytest.approx(
        max(series(run_dir, "eval/score_mean").items())[1], abs=1e-4
    )
    closed = [one.score for one in scorer(answers(always_ends=True))]
    is_cut = [a.finish_reason == FinishReason.LENGTH for a in answers(always_ends=False)]
    for before, after, cut in zip(scores, closed, is_cut, strict=True):
        assert (abs(before - after) > 1e-4) is cut


def test_05_the_temperature_of_sampling_is_that_of_log_probabilities_and_entropy(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    prompt = render_prompt(tokenizer, [Message(role="user", content="hi")], system="Be brief.")
    sampling = Sampling(12, temperature=0.7, top_p=1.0, end_ids=[END, 40], pad_id=END)
    [responses] = sample(model, [Request("p", prompt, 6)], sampling, seed=5, stream=("x",))
    rows = [Tokens(prompt, response.ids) for response in responses]
    batch = collate(rows, pad_id=END, device=CPU)

    with torch.no_grad():
        found = action_logp(model, batch, temperature=0.7)
        logp_B_T_V = (model(batch.ids_B_T).logits[:, :-1] / 0.7).log_softmax(-1)

    recorded = [value for response in responses for value in response.logp]
    assert found.logp_N.tolist() == pytest.approx(recorded, abs=2e-5)
    entropy_B_T = -(logp_B_T_V.exp() * logp_B_T_V).sum(-1)
    assert torch.allclose(found.entropy_N, entropy_B_T[batch.action_B_T[:, 1:]], atol=1e-4)


@pytest.mark.parametrize("rubbish", [math.nan, 1e9, -math.inf])
def test_06_whitening_sees_all_action_tokens_of_the_batch_and_nothing_else(rubbish: float) -> None:
    """Values 1, 2, 3: population deviation sqrt(2/3), neither that of a row nor with ddof 1."""
    value = torch.tensor([[1.0, 2.0], [3.0, rubbish]], dtype=torch.float64)
    white = masked_whiten(value, torch.tensor([[True, True], [True, False]]))
    scale = math.sqrt(1.5)
    assert white.tolist() == [pytest.approx([-scale, 0]), pytest.approx([scale, 0])]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_09_a_tools_answer_in_the_middle_is_as_if_it_were_not_there(estimator: str) -> None:
    """Neither its KL of 1000 nor its value counts, and returns pass over it undiscounted."""
    batch = rollout_batch(2)
    more = needs_of(estimator, batch)
    if estimator in DISCOUNTED_ESTIMATORS:
        more["gamma"] = 0.9
    columns = [[0, 1, 4, 5], [0, 3, 3, 3]]  # the second row has two actions: 3 pads
    squeezed_mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]).bool()

    def squeeze(value: Tensor) -> Tensor:
        return torch.stack([row[at] for row, at in zip(value, columns, strict=True)])

    mask = batch["mask_B_T"]
    dirty = batch | {"kl_B_T": batch["kl_B_T"].masked_fill(~mask, 1000.0)}
    squeezed = batch | {"kl_B_T": squeeze(batch["kl_B_T"]), "mask_B_T": squeezed_mask}
    dirty_more, squeezed_more = dict(more), dict(more)
    if "value_B_T" in more:
        dirty_more["value_B_T"] = more["value_B_T"].masked_fill(~mask, 1000.0)
        squeezed_more["value_B_T"] = squeeze(more["value_B_T"])

    found = estimate(estimator, **dirty, **dirty_more).advantage_B_T
    expected = estimate(estimator, **squeezed, **squeezed_more).advantage_B_T

    assert torch.equal(found[mask], expected[squeezed_mask])
    assert found[mask].any()
    assert not found[~mask].any()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_10_what_is_in_the_reward_has_no_gradient(estimator: str) -> None:
    """Which gradient each KL has where it does have one stands in `test_golden_vectors`."""
    batch = rollout_batch()
    more = needs_of(estimator, batch)
    for arguments in (batch, more):
        for value in arguments.values():
            if isinstance(value, Tensor) and value.is_floating_point():
                value.requires_grad_()

    result = estimate(estimator, **batch, **more)

    assert not result.advantage_B_T.requires_grad
    assert not result.return_B_T.requires_grad


def test_10_a_policy_above_its_reference_is_pulled_down() -> None:
    """Positive KL at the last token makes all returns up to it smaller."""
    batch = rollout_batch(2) | {"reward_B": torch.zeros(2), "kl_coef": 0.5}
    batch["kl_B_T"] = torch.zeros(2, 7)
    batch["kl_B_T"][0, 5] = 2.0
    result = estimate("rloo", **batch)
    assert result.return_B_T[0].tolist() == [-1, -1, 0, 0, -1, -1, 0]
    assert not result.return_B_T[1].any()


def test_11_the_clip_comes_before_the_baseline_and_no_deviation_scales_the_kl() -> None:
    """Raw rewards 50 and 0 become 10 and 0: baseline 5, deviation sqrt(50), KL as it is."""
    reward = Reward.model_validate(
        {"terms": [{"kind": "finished"}], "normalize": "none", "clip": 10}
    )
    raw = Term("raw", 1.0, lambda answers: measured(float(answer.text) for answer in answers))
    answers = [SampledResponse(Tokens([1], [END]), text, FinishReason.STOP) for text in ("50", "0")]
    scores = Scorer(reward, [raw])(answers, learn=True)
    assert scores.raw == [50.0, 0.0]

    def advantages(estimator: str) -> list[list[float]]:
        values: list[list[float]] = estimate(
            estimator,
            reward_B=torch.tensor(scores.reward),
            kl_B_T=torch.tensor([[3.0, 1.0], [0.0, 0.0]]),
            mask_B_T=torch.ones(2, 2),
            group_B=torch.zeros(2),
            kl_coef=0.1,
        ).advantage_B_T.tolist()
        return values

    unit = math.sqrt(0.5)
    assert advantages("dr_grpo") == [pytest.approx([4.6, 4.9]), pytest.approx([-5, -5])]
    assert advantages("grpo") == [
        pytest.approx([unit - 0.4, unit - 0.1]),
        pytest.approx([-unit] * 2),
    ]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_12_advantages_follow_their_rows_when_the_batch_is_shuffled(estimator: str) -> None:
    batch = rollout_batch(6)
    batch |= needs_of(estimator, batch)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    shuffled = {k: v if isinstance(v, float) else v[order] for k, v in batch.items()}
    before, after = estimate(estimator, **batch), estimate(estimator, **shuffled)
    assert torch.allclose(before.advantage_B_T[order], after.advantage_B_T, atol=1e-6)


def test_12_a_dropped_response_leaves_a_group_of_those_that_remain() -> None:
    """Rewards 3, 1 and none, 8 alone: against the other one; a group of one gives no signal."""
    result = estimate(
        "rloo",
        reward_B=torch.tensor([3.0, math.nan, 8.0, 1.0]),
        kl_B_T=torch.zeros(4, 1),
        mask_B_T=torch.ones(4, 1),
        group_B=torch.tensor([5, 5, 2, 5]),
        kl_coef=0.0,
    )
    assert result.advantage_B_T[:, 0].tolist() == [2, 0, 0, -2]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("reward", "is_empty"),
    [
        ([1.0] * 4, []),
        ([math.nan] * 4, []),
        ([math.inf, 1.0, 1.0, 1.0], []),
        ([1.0, 2.0, 1.0, 1.0], [0, 1]),
        ([2.0] * 4, [0, 1, 2, 3]),
    ],
)
def test_14_degenerate_batches_give_a_finite_loss_and_no_signal(
    estimator: str, reward: list[float], is_empty: list[int]
) -> None:
    """Equal rewards, no reward, no action token; without KL nothing is left to learn."""
    batch = rollout_batch() | {"reward_B": torch.tensor(reward), "kl_coef": 0.0}
    batch["mask_B_T"][is_empty] = False
    batch["kl_B_T"].masked_fill_(~batch["mask_B_T"], math.nan)
    more = needs_of(estimator, batch)
    if estimator in CRITIC_ESTIMATORS:
        more = {"value_B_T": torch.where(batch["mask_B_T"], 0.0, math.nan)}
    if estimator in GREEDY_ESTIMATORS:
        more["greedy_reward_B"] = torch.tensor(reward)
    logp_B_T = torch.full_like(batch["kl_B_T"], -1.0).masked_fill(~batch["mask_B_T"], math.nan)
    logp_B_T.requires_grad_()

    advantage_B_T = estimate(estimator, **batch, **more).advantage_B_T
    result = policy_loss(
        logp_B_T, logp_B_T.detach(), advantage_B_T, batch["mask_B_T"], clip_low=0.2, clip_high=0.2
    )
    result.loss.backward()

    assert not advantage_B_T.any()
    assert all(math.isfinite(value.item()) for value in vars(result).values())
    assert logp_B_T.grad is not None
    assert not logp_B_T.grad.any()
