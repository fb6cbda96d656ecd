"""Fast and slow agree on random ragged batches: every loss with its gradient, every estimator."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from backend.schemas.vocabulary import (
    CRITIC_ESTIMATORS,
    DISCOUNTED_ESTIMATORS,
    GREEDY_ESTIMATORS,
    Estimator,
)
from tests.trainer import reference
from tests.trainer.ragged import Batch, batches
from worker.trainer import losses
from worker.trainer.advantages import estimate, masked_whiten
from worker.trainer.methods.process_reward_model import summed_loss

SEEDS = st.integers(0, 10**6)
AVERAGES = st.sampled_from(["token", "sequence", "constant"])
STEP = 1e-6


def normal(seed: int, *shape: int) -> Tensor:
    """Normal numbers in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def check_gradient(
    slow: Callable[[list[Any]], float], x: Tensor, gradient: Tensor | None, mask: Tensor
) -> None:
    """The gradient is the slow function's central difference, and zero where masked."""
    assert gradient is not None
    assert not gradient[~mask].any()
    for place in mask.nonzero().tolist():
        values = []
        for step in (STEP, -STEP):
            moved = x.detach().clone()
            moved[tuple(place)] += step
            values.append(slow(moved.tolist()))
        difference = (values[0] - values[1]) / (2 * STEP)
        assert gradient[tuple(place)].item() == pytest.approx(difference, rel=1e-4, abs=1e-6)


@given(SEEDS, st.sampled_from(["k1", "k2", "k3"]))
def test_kl(seed: int, estimator: Any) -> None:
    logp, ref = (10 * normal(seed + i, 8) for i in range(2))
    slow = [
        reference.kl(*pair, estimator) for pair in zip(logp.tolist(), ref.tolist(), strict=True)
    ]
    assert losses.kl(logp, ref, estimator).tolist() == pytest.approx(slow, rel=1e-9)


@given(
    batches(),
    AVERAGES,
    st.sampled_from([None, 37.5]),
    st.sampled_from([None, 1.5, 3.0]),
    st.sampled_from([0.3, 2.0, 30.0]),
)
def test_policy_loss(
    batch: Batch, average: Any, denominator: float | None, dual_clip: float | None, scale: float
) -> None:
    """Log-ratios from within the clip to far beyond the clamp at 20."""
    if average == "constant":
        denominator = 37.5
    logp, old, advantage = (
        batch.normal(name, scale=size)
        for name, size in (("logp", scale), ("old", 0.1), ("advantage", 1.0))
    )
    options: dict[str, Any] = {
        "clip_low": 0.2,
        "clip_high": 0.3,
        "dual_clip": dual_clip,
        "average": average,
        "denominator": denominator,
    }
    mask = batch.mask_B_T

    def slow(rows: list[list[float]]) -> reference.PolicyLoss:
        return reference.policy_loss(
            rows, old.tolist(), advantage.tolist(), mask.tolist(), **options
        )

    fast = losses.policy_loss(logp.requires_grad_(), old, advantage, mask, **options)
    fast.loss.backward()

    found = {name: value.item() for name, value in vars(fast).items()}
    assert found == pytest.approx(asdict(slow(logp.tolist())), rel=1e-6, abs=1e-9)
    if scale < 30:  # beyond, the loss is too steep for a difference
        check_gradient(lambda rows: slow(rows).loss, logp, logp.grad, mask)


@given(batches(), st.sampled_from([None, 12.0]), st.sampled_from([0.2, 0.5]))
def test_value_loss(batch: Batch, denominator: float | None, clip: float) -> None:
    value, old, target = (batch.normal(name) for name in ("value", "old", "target"))
    mask = batch.mask_B_T

    def slow(rows: list[list[float]]) -> tuple[float, float]:
        return reference.value_loss(
            rows, old.tolist(), target.tolist(), mask.tolist(), clip=clip, denominator=denominator
        )

    fast = losses.value_loss(
        value.requires_grad_(), old, target, mask, clip=clip, denominator=denominator
    )
    fast.loss.backward()

    found = (fast.loss.item(), fast.clip_fraction.item())
    assert found == pytest.approx(slow(value.tolist()))
    check_gradient(lambda rows: slow(rows)[0], value, value.grad, mask)


@given(
    SEEDS,
    st.lists(st.integers(0, 3), min_size=1, max_size=7),
    st.sampled_from(["listwise", 0.0, 0.3, 2.0]),
)
def test_ranking_and_listwise_loss(seed: int, places: list[int], kind: Any) -> None:
    """Place 3 stands for unranked; tiers may be empty and hold ties. A number is a margin."""
    score = 3 * normal(seed, len(places))
    tiers = [[i for i, place in enumerate(places) if place == tier] for tier in range(3)]
    fast: Any = losses.listwise_loss
    slow: Any = reference.listwise_loss
    if kind != "listwise":
        fast = partial(losses.ranking_loss, margin=kind)
        slow = partial(reference.ranking_loss, margin=kind)

    loss = fast(score.requires_grad_(), tiers)
    loss.backward()

    assert loss.item() == pytest.approx(slow(score.tolist(), tiers))
    is_placed = torch.tensor([place < 3 for place in places])
    check_gradient(lambda scores: slow(scores, tiers), score, score.grad, is_placed)


@given(SEEDS, st.lists(st.integers(0, 3), min_size=1, max_size=7), st.sampled_from([0.0, 5.0]))
def test_centering_loss(seed: int, places: list[int], shift: float) -> None:
    """Place 3 stands for unranked; scores around zero and far from it."""
    score = 3 * normal(seed, len(places)) + shift
    tiers = [[i for i, place in enumerate(places) if place == tier] for tier in range(3)]

    loss = losses.centering_loss(score.requires_grad_(), tiers)
    loss.backward()

    assert loss.item() == pytest.approx(reference.centering_loss(score.tolist(), tiers))
    is_placed = torch.tensor([place < 3 for place in places])
    check_gradient(
        lambda scores: reference.centering_loss(scores, tiers), score, score.grad, is_placed
    )


@given(
    SEEDS,
    st.integers(1, 5),
    st.sampled_from([0.05, 0.5]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from(["sigmoid", "ipo"]),
)
def test_dpo_loss(seed: int, n_pairs: int, beta: float, smoothing: float, kind: Any) -> None:
    logps = [20 * normal(seed + i, n_pairs) for i in range(4)]
    options: dict[str, Any] = {"beta": beta, "label_smoothing": smoothing, "loss": kind}
    chosen, *others = logps

    def slow(chosen: Sequence[float]) -> float:
        rejected, ref_chosen, ref_rejected = (other.tolist() for other in others)
        return reference.dpo_loss(chosen, rejected, ref_chosen, ref_rejected, **options)

    fast = losses.dpo_loss(chosen.requires_grad_(), *others, **options)
    fast.loss.backward()

    rejected, ref_chosen, ref_rejected = others
    assert fast.loss.item() == pytest.approx(slow(chosen.tolist()))
    assert torch.allclose(fast.chosen_reward_B, beta * (chosen - ref_chosen))
    assert torch.allclose(fast.rejected_reward_B, beta * (rejected - ref_rejected))
    assert not fast.chosen_reward_B.requires_grad
    check_gradient(slow, chosen, chosen.grad, torch.ones(n_pairs, dtype=torch.bool))


LABELS = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))


@given(SEEDS, st.lists(st.lists(LABELS, min_size=1, max_size=5), min_size=1, max_size=6), st.data())
def test_the_loss_of_a_process_reward_model(
    seed: int, labels: list[list[float]], data: st.DataObject
) -> None:
    """Solutions of different length, in two micro-batches whose losses are added."""
    rows = [4 * normal(seed + i, len(own)) for i, own in enumerate(labels)]
    cut, n_steps = data.draw(st.integers(0, len(rows) - 1)), sum(map(len, labels))
    for row in rows:
        row.requires_grad_()

    loss = torch.zeros((), dtype=torch.float64)
    for part in (slice(0, cut), slice(cut, None)):
        if rows[part]:
            loss = loss + summed_loss(rows[part], labels[part]) / n_steps
    loss.backward()

    scores = [row.tolist() for row in rows]
    assert loss.item() == pytest.approx(reference.step_loss(scores, labels), rel=1e-6)
    for i, row in enumerate(rows):

        def slow(scores_of_row: list[float], i: int = i) -> float:
            return reference.step_loss([*scores[:i], scores_of_row, *scores[i + 1 :]], labels)

        check_gradient(slow, row, row.grad, torch.ones_like(row, dtype=torch.bool))


REWARDS = st.one_of(
    st.sampled_from([0.0, 1.0, 0.7, -1.3]),
    st.sampled_from([math.nan, math.inf]),
    st.floats(-10, 10),
)


@given(
    batches(fewest_rows=2),
    st.sampled_from([str(estimator) for estimator in Estimator]),
    st.lists(REWARDS, min_size=6, max_size=6),
    st.lists(st.integers(3, 5), min_size=6, max_size=6),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([1.0, 0.9]),
    st.sampled_from([1.0, 0.8, 0.0]),
    st.sampled_from([None, 0.4, 3.0]),
)
def test_estimate(
    batch: Batch,
    estimator: str,
    reward: list[float],
    group: list[int],
    kl_coef: float,
    gamma: float,
    lam: float,
    shaped_clip: float | None,
) -> None:
    """Groups of different size, some of one; rewards that are equal, or no number."""
    n_rows = len(batch.mask_B_T)
    reward, group = reward[:n_rows], [3, 3, *group[2:n_rows]]
    kl_B_T, value_B_T = batch.normal("kl"), batch.normal("value")
    greedy = [math.nan, 0.5, -1.0, 0.7, 2.0, 0.0][:n_rows]
    options: dict[str, Any] = {"kl_coef": kl_coef}
    if shaped_clip is not None:
        options["shaped_clip"] = shaped_clip
    if estimator in DISCOUNTED_ESTIMATORS:
        options["gamma"] = gamma
    slow_options = dict(options)
    if estimator in CRITIC_ESTIMATORS:
        options |= {"lam": lam, "value_B_T": value_B_T}
        slow_options |= {"lam": lam, "value": value_B_T.tolist()}
    if estimator in GREEDY_ESTIMATORS:
        options["greedy_reward_B"] = torch.tensor(greedy)
        slow_options["greedy_reward"] = options["greedy_reward_B"].tolist()

    fast = estimate(
        estimator,
        reward_B=torch.tensor(reward, dtype=torch.float64),
        kl_B_T=kl_B_T,
        mask_B_T=batch.mask_B_T,
        group_B=torch.tensor(group),
        **options,
    )
    advantage, returns = reference.estimate(
        estimator,
        reward=reward,
        kl_rows=kl_B_T.tolist(),
        mask=batch.mask_B_T.tolist(),
        group=group,
        **slow_options,
    )

    for found, expected in ((fast.advantage_B_T, advantage), (fast.return_B_T, returns)):
        assert found.dtype == torch.float32
        for row, slow_row in zip(found.tolist(), expected, strict=True):
            assert row == pytest.approx(slow_row, rel=1e-6, abs=1e-6)


@given(batches(), st.sampled_from([1.0, 1e-3, 3e-5, 1e-7]), st.sampled_from([0.0, 100.0]))
def test_whitening(batch: Batch, spread: float, middle: float) -> None:
    """From wide spreads to those below the floor of the variance, and below rounding."""
    value_B_T = batch.normal("value", scale=spread) + middle
    fast = masked_whiten(value_B_T, batch.mask_B_T)
    slow = reference.whiten(value_B_T.tolist(), batch.mask_B_T.tolist())
    for row, slow_row in zip(fast.tolist(), slow, strict=True):
        assert row == pytest.approx(slow_row, abs=1e-6)
