"""What seeds gained over the one start that all of them are compared with."""

import random

import pytest

from backend.domain.results.estimates import gain_of
from backend.domain.results.measurements import Reading
from backend.schemas.metrics.results import ResultsAnswer, ResultsChange
from tests.backend.results.plain_runs import (
    SFT,
    T_OF_2,
    answer_of,
    evaluation,
    named,
    policy,
    spread,
    table_of,
)


def of(value: float, half: float) -> Reading:
    return Reading(value, value - half, value + half)


def change_of(gains: dict[float, float]) -> ResultsChange:
    """The gain of seeds that had these gains, each with half an interval by prompt."""
    runs = [policy(f"g{n}", n, seed=n) for n in range(len(gains))]
    found = [evaluation(20, SFT, spread("eval/pass@1", 0.4, 0.2) | {"eval/length": 9.0})]
    for n, (gain, half) in enumerate(gains.items()):
        values = spread("eval/pass@1", 0.4 + gain, 0.2) | spread("eval/pass_gain", gain, half)
        found.append(
            evaluation(
                10 + n,
                f"model_g{n}",
                values | {"eval/length": 9.0},
                baseline_model={"id": SFT},
            )
        )
    cell = table_of(answer_of(runs, found), "score/test").rows[1].cells[0]
    assert cell is not None
    assert cell.change is not None
    return cell.change


def test_seeds_that_agree_do_not_know_the_start_better_than_their_prompts_do() -> None:
    """.11 with +- .025 over seeds, each +- .2 by prompt: sqrt(.025^2 + .2^2), so no arrow."""
    change = change_of({0.10: 0.2, 0.11: 0.2, 0.12: 0.2})

    half = ((T_OF_2 * 0.01 / 3**0.5) ** 2 + 0.2**2) ** 0.5
    assert change.is_paired
    assert change.interval is not None
    assert change.value == pytest.approx(0.11)
    assert change.interval.low == pytest.approx(0.11 - half, abs=1e-6)
    assert change.interval.high == pytest.approx(0.11 + half, abs=1e-6)
    assert not change.is_better


def test_a_gain_that_is_larger_than_both_errors_is_better() -> None:
    assert change_of({0.30: 0.1, 0.31: 0.1, 0.32: 0.1}).is_better


def test_intervals_by_prompt_that_are_not_symmetric_stay_so() -> None:
    found = gain_of([Reading(x, x - 0.03, x + 0.4) for x in (0.10, 0.11, 0.12)])

    over_seeds = T_OF_2 * 0.01 / 3**0.5
    assert found.low == pytest.approx(0.11 - (over_seeds**2 + 0.03**2) ** 0.5, abs=1e-6)
    assert found.high == pytest.approx(0.11 + (over_seeds**2 + 0.4**2) ** 0.5, abs=1e-6)


def test_without_an_interval_by_prompt_nobody_knows_what_the_seeds_share() -> None:
    found = gain_of([of(0.1, 0.2), Reading(0.11), of(0.12, 0.2)])

    assert found.value == pytest.approx(0.11)
    assert (found.low, found.high) == (None, None)


def test_two_seeds_keep_the_mean_of_their_intervals() -> None:
    found = gain_of([of(0.1, 0.2), of(0.3, 0.1)])

    assert (found.low, found.value, found.high) == pytest.approx((0.05, 0.2, 0.35))


@pytest.mark.parametrize("n", [3, 5, 9, 12])
@pytest.mark.parametrize("shared", [0.5, 1.0])
def test_a_start_that_was_measured_low_by_chance_makes_at_most_one_in_twenty_better(
    n: int, shared: float
) -> None:
    """Seeds as good as the start: of 2,000 groups at most 5 % have an interval without 0.

    `shared`: how much of the variance of a gain is the error of the start and of the prompts.
    """
    drawn, groups, beyond = random.Random(11), 2000, 0
    for _ in range(groups):
        start = drawn.gauss(0, shared**0.5)
        gains = [start + drawn.gauss(0, (1 - shared) ** 0.5 + 1e-3) for _ in range(n)]
        found = gain_of([of(gain, 1.959964) for gain in gains])
        assert found.low is not None
        assert found.high is not None
        beyond += found.low > 0 or found.high < 0
    assert beyond / groups < 0.06


def beside_the_start(gains: dict[str, list[float]]) -> ResultsAnswer:
    """Evaluations of groups with the start as baseline, and none of the start by itself."""
    runs, found = [], []
    for estimator, values in gains.items():
        for seed, gain in enumerate(values):
            run = policy(f"{estimator}{seed}", len(runs), estimator=estimator, seed=seed)
            rate = spread("eval/pass@1", 0.4 + gain, 0.2) | spread("eval/pass_gain", gain, 0.05)
            runs.append(run)
            found.append(
                evaluation(
                    100 + len(runs),
                    f"model_{run.id}",
                    rate | {"eval/length": 9.0},
                    baseline_model={"id": SFT},
                )
            )
    return answer_of(runs, found)


def test_a_measured_gain_is_shown_although_the_start_has_no_evaluation_of_its_own() -> None:
    """The other column has no gain that was measured, and no start to subtract."""
    rate, length = table_of(beside_the_start({"grpo": [0.1]}), "score/test").rows[0].cells

    assert rate is not None
    assert rate.change is not None
    assert rate.change.interval is not None
    assert (rate.change.is_paired, rate.change.is_better) == (True, True)
    assert (rate.change.interval.low, rate.change.interval.high) == pytest.approx((0.05, 0.15))
    assert length is not None
    assert length.change is None


@pytest.mark.parametrize(("best", "is_best"), [(0.3, True), (0.01, False)])
def test_the_best_has_to_be_better_than_a_start_that_only_its_gain_tells_of(
    best: float, *, is_best: bool
) -> None:
    gains = {"grpo": [best - 0.001, best, best + 0.001], "rloo": [-0.301, -0.3, -0.299]}

    first, second = table_of(beside_the_start(gains), "score/test").rows

    assert first.cells[0] is not None
    assert second.cells[0] is not None
    assert (first.name, first.cells[0].is_best) == ("grpo", is_best)
    assert not second.cells[0].is_best


def test_a_policy_that_compared_itself_with_its_start_has_a_paired_gain() -> None:
    """Of a named set that no evaluation has measured; another reference is no start."""
    values = spread("eval/ood/pass@1", 0.5, 0.2) | spread("eval/ood/pass_gain", 0.1, 0.05)
    first = spread("eval/ood/pass@1", 0.3, 0.2) | spread("eval/ood/pass_gain", 0.0, 0.01)
    lengths = {"eval/ood/length": 9.0}
    asked = {"evaluation_sets": [named("ood")], "compare_with_reference": True}

    def change(**more: object) -> ResultsChange:
        run = policy("g", 0, values=values | lengths, first=first | lengths, **asked, **more)
        cell = table_of(answer_of([run], []), "score/ood").rows[1].cells[0]
        assert cell is not None
        assert cell.change is not None
        return cell.change

    beside_the_start = change()
    assert (beside_the_start.is_paired, beside_the_start.is_better) == (True, True)
    assert beside_the_start.value == pytest.approx(0.1)
    assert change(reference={"id": SFT}).is_paired
    other = change(reference={"id": "model_other"})
    assert not other.is_paired
    assert other.value == pytest.approx(0.5 - 0.3)
