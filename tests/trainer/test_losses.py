"""The losses: laws, numbers worked by hand, refusals."""

import math
from functools import partial
from typing import Any

import pytest
import torch

from worker.trainer.losses import (
    aggregate,
    centering_loss,
    dpo_loss,
    kl,
    listwise_loss,
    policy_loss,
    ranking_loss,
    step_loss,
    value_loss,
)

CLIP = {"clip_low": 0.2, "clip_high": 0.3}


def ragged(seed: int, lengths: list[int]) -> dict[str, torch.Tensor]:
    """A random batch of rows of these lengths, in float64."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max([*lengths, 1]))
    old, noise, advantage = (
        torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(3)
    )
    position = torch.arange(shape[1])
    return {
        "logp_B_T": -old.abs() + 0.4 * noise,
        "old_logp_B_T": -old.abs(),
        "advantage_B_T": advantage,
        "mask_B_T": position < torch.tensor(lengths)[:, None],
    }


def test_k3_stays_finite_however_far_the_reference_is() -> None:
    assert torch.isfinite(kl(torch.tensor([-500.0]), torch.tensor([0.0]), "k3")).all()
    assert kl(torch.tensor([0.0]), torch.tensor([-500.0]), "k1").item() == 500


def test_a_loss_or_an_estimator_that_does_not_exist_is_refused() -> None:
    one = torch.ones(1)
    with pytest.raises(ValueError, match="unknown KL estimator 'k4'"):
        kl(one, one, "k4")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown DPO loss 'hinge'"):
        dpo_loss(one, one, one, one, beta=0.1, loss="hinge")  # type: ignore[arg-type]


ROTTEN = ["logp_B_T", "old_logp_B_T", "advantage_B_T"]


@pytest.mark.parametrize("names", [[ROTTEN[0]], [ROTTEN[1]], [ROTTEN[2]], ROTTEN])
@pytest.mark.parametrize("garbage", [math.nan, 1e9, -math.inf])
def test_masked_places_change_neither_value_nor_gradient(garbage: float, names: list[str]) -> None:
    batch = ragged(3, [4, 0, 2])
    dirty = batch | {name: batch[name].masked_fill(~batch["mask_B_T"], garbage) for name in names}
    logp, dirty_logp = batch["logp_B_T"].requires_grad_(), dirty["logp_B_T"].clone()
    dirty_logp = dirty_logp.detach().requires_grad_()

    clean_result = policy_loss(**{**batch, "logp_B_T": logp}, **CLIP, dual_clip=3.0)
    dirty_result = policy_loss(**{**dirty, "logp_B_T": dirty_logp}, **CLIP, dual_clip=3.0)
    clean_result.loss.backward()
    dirty_result.loss.backward()

    assert {n: v.item() for n, v in vars(dirty_result).items()} == {
        n: v.item() for n, v in vars(clean_result).items()
    }
    assert logp.grad is not None
    assert dirty_logp.grad is not None
    assert torch.equal(logp.grad, dirty_logp.grad)


@pytest.mark.parametrize("name", ["value_B_T", "old_value_B_T", "return_B_T"])
@pytest.mark.parametrize("garbage", [math.nan, 1e9, -math.inf])
def test_masked_places_change_nothing_in_the_value_loss(garbage: float, name: str) -> None:
    """V 1, 0 counts not, 3; old 1.5, 0, 3; returns 2, 0, 5: max(1, .49) and max(4, 4), halved."""
    rows = {
        "value_B_T": torch.tensor([[1.0, 0.0, 3.0]]),
        "old_value_B_T": torch.tensor([[1.5, 0.0, 3.0]]),
        "return_B_T": torch.tensor([[2.0, 0.0, 5.0]]),
    }
    rows[name][0, 1] = garbage
    value = rows["value_B_T"].requires_grad_()

    result = value_loss(**rows, mask_B_T=torch.tensor([[1, 0, 1]]))
    result.loss.backward()

    assert result.loss.item() == pytest.approx(1.25)
    assert result.clip_fraction.item() == 0
    assert value.grad is not None
    assert value.grad.tolist() == [[-0.5, 0.0, -1.0]]


def test_a_mask_may_be_of_numbers() -> None:
    """Ratio 1 and advantages 1, 9 and 5; the second does not count, the loss is -3."""
    logp, advantage = torch.zeros(1, 3), torch.tensor([[1.0, 9.0, 5.0]])
    for mask in (torch.tensor([[1, 0, 1]]), torch.tensor([[1.0, 0.0, 1.0]])):
        assert policy_loss(logp, logp, advantage, mask, **CLIP).loss.item() == -3
        assert aggregate(advantage, mask, average="token").item() == 3


def test_equal_log_probabilities_give_ratio_one_and_no_clipping() -> None:
    batch = ragged(1, [3, 5])
    batch["old_logp_B_T"] = batch["logp_B_T"]

    result = policy_loss(**batch, **CLIP)

    assert result.ratio_mean.item() == result.ratio_max.item() == 1.0
    assert result.clip_fraction.item() == result.approx_kl.item() == 0.0


def test_clipping_is_counted_on_the_side_where_it_happens() -> None:
    """Ratios 2, 2, .5, .5 with advantages +, -, +, -: only the first and the last are clipped."""
    logp = torch.tensor([[2.0, 2.0, 0.5, 0.5]]).log()
    advantage = torch.tensor([[1.0, -1.0, 1.0, -1.0]])

    result = policy_loss(logp, torch.zeros(1, 4), advantage, torch.ones(1, 4).bool(), **CLIP)

    assert result.clip_fraction_high.item() == result.clip_fraction_low.item() == 0.25
    assert result.clip_fraction.item() == 0.5
    assert result.loss.item() == pytest.approx(-(1.3 - 2.0 + 0.5 - 0.8) / 4)


@pytest.mark.parametrize(
    ("average", "denominator", "expected"),
    [
        ("token", None, 11 / 4),
        ("token", 0.5, 22.0),
        ("sequence", None, 3.5),
        ("sequence", 10.0, 0.7),
        ("constant", 0.5, 22.0),
    ],
)
def test_the_averages_worked_by_hand(
    average: Any, denominator: float | None, expected: float
) -> None:
    """Rows 1 2 3 and 5 count: sum 11 of 4 tokens, means 2 and 5; a row counts nowhere."""
    rows = torch.tensor([[1.0, 2.0, 3.0], [5.0, math.nan, 7.0], [math.inf, 8.0, 9.0]])
    mask = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0]])
    found = aggregate(rows, mask, average=average, denominator=denominator)
    assert found.item() == pytest.approx(expected)
    nothing = aggregate(rows, torch.zeros(3, 3), average=average, denominator=denominator)
    assert nothing.item() == 0


def test_the_largest_ratio_is_that_of_an_action() -> None:
    """Ratios .5, and 1 where masked; without any token all is 0."""
    logp, zero = torch.tensor([[0.5, 1.0]]).log(), torch.zeros(1, 2)
    found = policy_loss(logp, zero, zero, torch.tensor([[True, False]]), **CLIP)
    assert found.ratio_max.item() == 0.5
    empty = torch.zeros(2, 0)
    found = policy_loss(empty, empty, empty, empty, **CLIP)
    assert {value.item() for value in vars(found).values()} == {0.0}


def test_an_average_without_a_denominator_is_refused() -> None:
    ones = torch.ones(1, 1)
    with pytest.raises(ValueError, match="denominator"):
        aggregate(ones, ones.bool(), average="constant")
    with pytest.raises(ValueError, match="positive"):
        aggregate(ones, ones.bool(), average="token", denominator=0)


@pytest.mark.parametrize(
    "loss",
    [
        partial(ranking_loss, tiers=[[0], [1, 2]]),
        partial(listwise_loss, tiers=[[0], [1], [2]]),
        partial(centering_loss, tiers=[[0], [1], [2]]),
        partial(step_loss, label_M=torch.tensor([1.0, 0.0, 0.5], dtype=torch.bfloat16)),
    ],
)
def test_scores_of_half_precision_are_computed_with_in_fp32(loss: Any) -> None:
    """3 less 0.0078 has no name in bf16."""
    score = torch.tensor([3.0, 0.0078125, -1.4375])
    assert loss(score.bfloat16()).dtype == torch.float32
    assert torch.equal(loss(score.bfloat16()), loss(score))
    assert loss(score.double()).dtype == torch.float64


def test_a_tie_is_half_a_win_each_way() -> None:
    scores = torch.tensor([0.7, -0.1], dtype=torch.float64)
    both = (ranking_loss(scores, [[0], [1]]) + ranking_loss(scores, [[1], [0]])) / 2
    assert ranking_loss(scores, [[0, 1]]).item() == pytest.approx(both.item())


def test_permuting_the_responses_does_not_change_the_ranking_loss() -> None:
    scores = torch.tensor([0.3, -1.0, 2.0, 0.1], dtype=torch.float64)
    order = [2, 0, 3, 1]
    tiers = [[0], [1, 2], [3]]
    moved = [[order.index(index) for index in tier] for tier in tiers]
    assert ranking_loss(scores, tiers).item() == pytest.approx(
        ranking_loss(scores[order], moved).item()
    )


@pytest.mark.parametrize("tiers", [[[0], [0]], [[5]], [[3]], [[-1]]])
def test_tiers_that_do_not_fit_the_scores_are_refused(tiers: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="may occur at most once"):
        ranking_loss(torch.zeros(3), tiers)


@pytest.mark.parametrize("margin", [-0.1, math.inf, math.nan])
def test_a_margin_that_is_negative_or_not_finite_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin is"):
        ranking_loss(torch.zeros(2), [[0], [1]], margin=margin)


def test_the_listwise_loss_of_two_responses_is_the_pairwise_one() -> None:
    scores = torch.tensor([0.4, 1.1], dtype=torch.float64)
    assert listwise_loss(scores, [[1], [0]]).item() == pytest.approx(
        ranking_loss(scores, [[1], [0]]).item()
    )


def test_the_listwise_loss_is_the_log_likelihood_of_plackett_and_luce() -> None:
    """Scores log(3), log(2), log(1) chosen in this order: 3/6 * 2/3, over two choices."""
    scores = torch.tensor([3.0, 2.0, 1.0]).log()
    expected = -math.log(3 / 6 * 2 / 3) / 2
    assert listwise_loss(scores, [[0], [1], [2]]).item() == pytest.approx(expected)


def test_dpo_refuses_a_beta_of_zero_and_a_batch_of_nothing() -> None:
    one, none = torch.ones(1), torch.ones(0)
    with pytest.raises(ValueError, match="beta is 0 and there are 1 pairs"):
        dpo_loss(one, one, one, one, beta=0)
    with pytest.raises(ValueError, match=r"beta is 0\.1 and there are 0 pairs"):
        dpo_loss(none, none, none, none, beta=0.1)


def test_equal_log_probabilities_give_log_two_for_dpo() -> None:
    logp = torch.tensor([-3.0, -7.0])
    assert dpo_loss(logp, logp, logp, logp, beta=0.1).loss.item() == pytest.approx(math.log(2))


def test_dpo_worked_by_hand() -> None:
    """h = (-1 + 2) - (-3 + 2) = 2: -log sigmoid(.2), smoothed, and (2 - 5)^2 for ipo."""
    inputs = [torch.tensor([value]) for value in (-1.0, -3.0, -2.0, -2.0)]
    plain, flipped = math.log1p(math.exp(-0.2)), math.log1p(math.exp(0.2))

    assert dpo_loss(*inputs, beta=0.1).loss.item() == pytest.approx(plain)
    assert dpo_loss(*inputs, beta=0.1, label_smoothing=0.1).loss.item() == pytest.approx(
        0.9 * plain + 0.1 * flipped
    )
    assert dpo_loss(*inputs, beta=0.1, loss="ipo").loss.item() == pytest.approx(9.0)


def test_the_implicit_rewards_of_dpo_have_no_gradient() -> None:
    """Beta .5: chosen 3 above its reference, rejected 4 below."""
    inputs = [torch.tensor([value], requires_grad=True) for value in (-1.0, -9.0, -4.0, -5.0)]
    found = dpo_loss(*inputs, beta=0.5)
    assert (found.chosen_reward_B.item(), found.rejected_reward_B.item()) == (1.5, -2.0)
    assert found.loss.requires_grad
    assert not found.chosen_reward_B.requires_grad
    assert not found.rejected_reward_B.requires_grad


def test_the_value_loss_takes_the_worse_of_free_and_clipped() -> None:
    """V .9, V_old .5, R 1: free .01, held at .7: .09; half of it, over one unmasked token."""
    value, old, target = torch.tensor([[0.9, math.nan]]), torch.full((1, 2), 0.5), torch.ones(1, 2)
    result = value_loss(value, old, target, torch.tensor([[True, False]]))
    assert result.loss.item() == pytest.approx(0.045)
    assert result.clip_fraction.item() == 1.0


def test_values_within_the_clip_are_not_counted_as_clipped() -> None:
    """In fp32 old + (value - old) is often not the value again."""
    value, old, target = (
        0.05 * torch.randn(1, 1000, generator=torch.Generator().manual_seed(seed))
        for seed in range(3)
    )
    result = value_loss(value, old, target, torch.ones(1, 1000), clip=0.5)
    assert result.clip_fraction.item() == 0.0


def test_the_loss_of_a_step_is_the_cross_entropy_of_its_label() -> None:
    """Score 2: softplus(2) = 2.126928, softplus(-2) = .126928; at 0 both are log 2."""
    found = step_loss(torch.tensor([0.0, 2.0, 2.0, 2.0]), torch.tensor([1.0, 1.0, 0.0, 0.25]))
    assert found.tolist() == pytest.approx([math.log(2), 0.126928, 2.126928, 1.626928], abs=1e-6)
