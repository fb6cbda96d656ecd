"""How large a calibration error is before it is more than chance, and whether gauges are drawn."""

import random

import pytest

from backend.domain.verdict.calibration import against_chance, by_chance
from backend.domain.verdict.evidence import Estimate, Evidence, Point
from backend.domain.verdict.judging import RULES, judge
from backend.schemas.vocabulary import Method

BINS = 5


def error_of_a_calibrated_model(n: int, most: float) -> float:
    """As the trainer computes it, of favourites that win as often as predicted."""
    gaps = [0.0] * BINS
    for _ in range(n):
        predicted = random.uniform(0.5, most)
        place = min(BINS - 1, int((predicted - 0.5) * 2 * BINS))
        gaps[place] += predicted - (random.random() < predicted)
    return sum(map(abs, gaps)) / n


@pytest.mark.parametrize("most", [0.6, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("n", [20, 40, 400])
def test_chance_alone_seldom_exceeds_the_limit(n: int, most: float) -> None:
    random.seed(n)
    errors = [error_of_a_calibrated_model(n, most) for _ in range(1000)]
    share = sum(error > by_chance(n) for error in errors) / len(errors)

    # 5 %, and 3.1 standard errors of 1,000 simulations.
    assert share <= 0.071


@pytest.mark.parametrize(
    ("value", "n_prompts", "level", "note"),
    [
        (0.04, 400, "none", ""),
        (0.166, 40, "none", "may be chance: on 40 prompts a calibrated model can show up to 0.19"),
        (0.166, 100, "warn", "more than chance"),
        (0.166, None, "none", "above 0.05; the number of held-out prompts is not known"),
    ],
)
def test_a_calibration_error_is_marked_where_it_is_more_than_chance(
    value: float, n_prompts: int | None, level: str, note: str
) -> None:
    found = against_chance(n_prompts, Estimate(1, value))

    assert found[0] == level
    assert found[1].startswith(note)


MEASURED = [
    *("eval/accuracy", "eval/accuracy_right", "eval/accuracy_wrong", "eval/calibration_error"),
    *("eval/length_correlation", "eval/margin", "eval/chosen", "eval/rejected", "eval/loss"),
    *("accuracy", "loss", "grad_norm", "eval/reward", "eval/win_rate", "eval/pass@1"),
    *("eval/length", "eval/truncated_fraction", "length/mean", "truncated_fraction", "entropy"),
    *("kl/exact", "kl/response", "kl/token", "group/zero_std_fraction", "reward/mean"),
]


@pytest.mark.parametrize("method", list(RULES))
def test_a_healthy_range_is_always_drawn(method: Method) -> None:
    """Without a scale there is nothing to draw it on."""
    curves = {name: [Point(step, 0.3) for step in range(10)] for name in MEASURED}
    config = {"kl": {"max": 10}, "reward": {"terms": [{"kind": "model"}]}, "estimator": "grpo"}
    found = judge(method, Evidence(config, curves, is_over=True))

    assert found.gauges
    for gauge in found.gauges:
        assert gauge.value is not None
        assert gauge.healthy is None or gauge.scale is not None
