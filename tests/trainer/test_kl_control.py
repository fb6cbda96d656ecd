"""The weight of the KL, step by step as worked by hand."""

import pytest

from backend.schemas.policy_gradient import Kl
from worker.trainer.methods.policy_gradient.kl_control import KlControl


def coefficients(config: Kl, seen: list[float]) -> list[float]:
    """The coefficient after each rollout of 10 samples with these nats per response."""
    control = KlControl(config, n_samples=10)
    found = []
    for nats in seen:
        control.update(nats)
        found.append(control.coef)
    return found


def test_without_a_target_the_coefficient_stays() -> None:
    assert coefficients(Kl(coef=0.3), [0.0, 1.0, 100.0]) == [0.3] * 3


def test_the_coefficient_follows_the_distance_to_the_target() -> None:
    """Target 2, a horizon of 20 steps: 10 % above gives 0.1 / 20, 5 % below -0.05 / 20."""
    found = coefficients(Kl(coef=2.0, target=2.0), [2.2, 2.0, 1.9])
    assert found == pytest.approx([2.01, 2.01, 2.01 * 0.9975])


def test_the_distance_is_clipped_at_a_fifth_on_both_sides() -> None:
    """A horizon of 50 samples and 10 a step: at most 0.2 * 10 / 50 = 4 %."""
    config = Kl(coef=1.0, target=2.0, horizon=50)
    assert coefficients(config, [100.0]) == pytest.approx([1.04])
    assert coefficients(config, [2.4]) == pytest.approx([1.04])
    assert coefficients(config, [0.0]) == pytest.approx([0.96])
    assert coefficients(config, [1.6]) == pytest.approx([0.96])
    assert coefficients(config, [-5.0]) == pytest.approx([0.96])


@pytest.mark.parametrize("horizon", [1, 2, 9, 10])
def test_a_horizon_of_less_than_a_step_is_one_step(horizon: int) -> None:
    """Far below the target it falls by a fifth a step; below 0 distance would be rewarded."""
    config = Kl(coef=1.0, target=5.0, horizon=horizon)
    assert coefficients(config, [0.0, 0.0, 100.0]) == pytest.approx([0.8, 0.64, 0.768])


def test_a_checkpoint_keeps_the_coefficient() -> None:
    first = KlControl(Kl(coef=1.0, target=2.0), n_samples=10)
    first.update(9.0)
    second = KlControl(Kl(coef=1.0, target=2.0), n_samples=10)
    second.restore(first.state())
    assert second.coef == first.coef == pytest.approx(1.01)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (Kl(coef=0.3), 0.3),
        (Kl(coef=0.3, target=2.0), 0.3),
        (Kl(coef=1.0), 1.0),
        (Kl(coef=1.0, target=4.0, horizon=7), 1.01),
    ],
)
def test_a_coefficient_that_a_clone_changes_holds_from_the_next_step_on(
    changed: Kl, expected: float
) -> None:
    """Steered to 1.01 from 1: that counts for who steers on from 1, and for nobody else."""
    parent = KlControl(Kl(coef=1.0, target=2.0), n_samples=10)
    parent.update(9.0)
    clone = KlControl(changed, n_samples=10)
    clone.restore(parent.state())
    assert clone.coef == pytest.approx(expected)
