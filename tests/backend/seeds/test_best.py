"""The best of several groups: by one estimator, and with an interval for all pairs of them."""

from random import Random
from statistics import fmean

import pytest

from backend.domain.direction import direction_of, is_lower_better
from backend.domain.seeds.best import best_of


def test_what_chooses_the_best_also_compares_it() -> None:
    """Forty seeds, ten of which collapsed: better by the IQM, worse by the mean.

    scipy 1.16, ttest_ind(equal_var=False, trim=0.25): 38 degrees of freedom, 95 % interval
    [.127009, .272991].
    """
    collapsed = [1 + 0.01 * n for n in range(30)] + [-14 + 0.1 * n for n in range(10)]
    steady = [0.7 + 0.01 * n for n in range(40)]

    found = best_of({0: collapsed, 1: steady}, is_lower_better=False)

    assert fmean(collapsed) < fmean(steady)
    assert (found.place, found.differences[1].is_iqm) == (0, True)
    assert found.differences[1].value == pytest.approx(0.2)
    assert (found.differences[1].low, found.differences[1].high) == pytest.approx(
        (0.1270094, 0.2729906)
    )


def test_means_are_compared_while_a_group_has_fewer_than_ten_seeds() -> None:
    collapsed = [1 + 0.01 * n for n in range(30)] + [-14 + 0.1 * n for n in range(10)]

    found = best_of({0: collapsed, 1: [0.7, 0.8, 0.9]}, is_lower_better=False)

    assert (found.place, found.differences[0].is_iqm) == (1, False)
    assert found.differences[0].value > 0


@pytest.mark.parametrize("is_lower_better", [True, False])
def test_a_decided_difference_has_the_sign_of_the_better(is_lower_better: bool) -> None:
    random = Random(3)
    sign = -1 if is_lower_better else 1
    for _ in range(200):
        groups = {
            place: [random.gauss(place, 1) ** 3 for _ in range(random.choice((3, 9, 12)))]
            for place in range(3)
        }
        found = best_of(groups, is_lower_better=is_lower_better)
        assert all(sign * one.value >= 0 for one in found.differences.values())


@pytest.mark.parametrize(("k", "n"), [(2, 8), (5, 5), (10, 5), (5, 12)])
def test_equal_groups_are_told_apart_in_at_most_5_of_100_comparisons(k: int, n: int) -> None:
    """Some difference of the best is called more than chance; uncorrected, some 22 % for k = 5.

    3.1 standard errors of 1,000 draws at 5 % are .021.
    """
    random = Random(11)
    draws = 1000
    wrong = 0
    for _ in range(draws):
        groups = {place: [random.gauss(0, 1) for _ in range(n)] for place in range(k)}
        found = best_of(groups, is_lower_better=False)
        wrong += any(one.is_decided for one in found.differences.values())
    assert wrong / draws <= 0.05 + 0.021


def test_the_comparisons_are_all_pairs_that_have_an_interval() -> None:
    groups = {0: [1.0, 2.0, 3.0], 1: [2.0, 3.0, 4.0], 5: [0.0, 1.0, 5.0], 7: [3.5], 8: [1.0, 1.5]}

    found = best_of(groups, is_lower_better=False)

    assert (found.place, list(found.differences)) == (7, [1, 0, 5, 8])
    assert found.n_comparisons == 3


def test_less_is_better_of_losses_and_of_their_change() -> None:
    names = ["loss", "eval/loss", "eval/loss_change", "eval/calibration_error"]
    assert all(map(is_lower_better, names))
    assert not any(map(is_lower_better, ["eval/reward", "gold/loss", "loss/other"]))
    assert all(map(is_lower_better, ["eval/ood/loss", "eval/loss/people.3", "outside/loss"]))


def test_neither_more_nor_less_of_a_length_is_better() -> None:
    names = ["eval/length", "length", "eval/ood/length_right", "length/mean", "kl/exact"]

    assert {direction_of(name) for name in names} == {"none"}
    assert direction_of("outside/length") == "higher"
