"""The intervals of shares end at 0 and 1, wherever seeds are put together."""

import pytest

from backend.domain.seeds.bands import SeedCurve, bands
from backend.domain.seeds.compared import Measure, compared
from backend.domain.seeds.draws import Draw
from backend.domain.seeds.shares import is_share
from backend.schemas.metrics.seeds import SeedValue
from backend.schemas.metrics.verdicts import Span
from backend.schemas.vocabulary import RunState

# Their mean is .948 and half of their t interval .113: 1.06 is no share.
PASSED = [0.9, 0.95, 0.995]


@pytest.mark.parametrize(
    ("metric", "found"),
    [
        ("eval/pass@1", True),
        ("eval/ood/pass@16/people.3", True),
        ("bon@4", True),
        ("eval/accuracy", True),
        ("eval/truncated_fraction", True),
        ("clip_fraction/low", True),
        ("reward/math_coverage", True),
        ("gold/win_rate", True),
        ("gold/accuracy", False),
        ("outside/mmlu/accuracy", False),
        ("reward/accuracy", False),
        ("eval/accuracy/reward", False),
        ("eval/pass_gain", False),
        ("eval/length/source.accuracy", False),
        ("eval/reward", False),
        ("eval/calibration_error", True),
        ("system/gpu_busy/0", True),
        ("eval/ood/score_per_token", False),
        ("accuracy_of_nobody", False),
    ],
)
def test_shares_are_told_by_the_units_of_the_registry(metric: str, *, found: bool) -> None:
    assert is_share(metric) is found


@pytest.mark.parametrize(("metric", "high"), [("eval/pass@1", 1.0), ("gold/reward", 1.0664)])
def test_a_group_of_seeds_has_no_share_above_1(metric: str, high: float) -> None:
    runs = [f"r{seed}" for seed in range(3)]
    configs = {run: {"method": "policy_gradient", "seed": n} for n, run in enumerate(runs)}
    draws = {run: Draw(run, n) for n, run in enumerate(runs)}
    values = [SeedValue(run=run, step=1, value=PASSED[n], state=RunState.SUCCEEDED)
              for n, run in enumerate(runs)]  # fmt: skip
    by = Measure(metric, "it", values)
    (group,) = compared(configs, draws, by, [metric], {}).groups
    assert isinstance(group.interval, Span)
    assert group.interval.high == pytest.approx(high, abs=1e-3)


def test_a_band_of_a_share_ends_at_1() -> None:
    curves = [SeedCurve([(1.0, value)]) for value in PASSED]
    (cut,), (plain,) = (bands([curves], 1, is_share=is_share) for is_share in (True, False))
    assert cut.high == [1.0]
    assert cut.low == plain.low
    assert (plain.high[0] or 0) > 1.05
