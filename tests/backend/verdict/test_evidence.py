"""What a curve shows, by numbers worked by hand and by laws."""

import math
from random import Random

import pytest

from backend.domain.verdict.evidence import (
    Z95,
    Change,
    Estimate,
    Evidence,
    Point,
    change,
    first_beyond,
    level_near,
    noise_of,
    quietened,
    trend,
    trend_from_start,
    z_of_best,
)


def curve(*values: float) -> list[Point]:
    return [Point(step, value) for step, value in enumerate(values, 1)]


def test_an_interval_of_95_percent_reaches_two_standard_errors_to_each_side() -> None:
    assert Estimate(1, 0.5, 0.5 - 1.959964, 0.5 + 1.959964).error == pytest.approx(1)
    assert Estimate(1, 0.5).error is None


def test_a_fall_from_the_best_of_more_has_to_be_larger() -> None:
    assert z_of_best(1) == pytest.approx(1.959964)
    assert z_of_best(10) == pytest.approx(2.807034)


@pytest.mark.parametrize("n", [1, 10, 40])
def test_where_nothing_changes_the_last_falls_from_the_best_in_at_most_one_of_forty(n: int) -> None:
    random, z, trials = Random(0), z_of_best(n), 4000
    fell = 0
    for _ in range(trials):
        *others, last = (Estimate(i, random.gauss(0, 1), -Z95, Z95) for i in range(n + 1))
        best = max(others, key=lambda one: one.value)
        fell += Change(best.value, last.value, math.sqrt(2)).fell(z)

    assert 0 < fell / trials < 0.025 + 3 * math.sqrt(0.025 * 0.975 / trials)


def test_the_errors_of_two_evaluations_add_up_like_the_sides_of_a_triangle() -> None:
    before = Estimate(0, 0.1, 0.1 - 3 * 1.959964, 0.1 + 3 * 1.959964)
    after = Estimate(10, 20.1, 20.1 - 4 * 1.959964, 20.1 + 4 * 1.959964)
    found = change(before, after)

    assert found.size == pytest.approx(20)
    assert found.error == pytest.approx(5)
    assert found.interval == pytest.approx((20 - 5 * 1.959964, 20 + 5 * 1.959964))
    assert found.rose(3.9)
    assert not found.rose(4.1)
    assert not found.fell()
    assert change(before, after, least=4).error == pytest.approx(math.hypot(4, 4))


def test_without_an_error_nothing_is_known_to_have_moved() -> None:
    found = change(Estimate(0, 0.0), Estimate(1, 100.0))

    assert not found.rose()
    assert not found.fell()
    assert found.interval is None


def test_noise_is_what_is_left_beside_a_slope() -> None:
    """On a line of slope .1 with deviations of 1, the differences know 1."""
    random = Random(3)
    values = [0.1 * step + random.gauss(0, 1) for step in range(4000)]

    assert noise_of(values) == pytest.approx(1, abs=0.05)
    assert noise_of([0.0, 1.0, 0.0, 1.0]) == pytest.approx(math.sqrt(1 / 2))
    assert noise_of([1.0, 2.0, 3.0]) is None


def test_a_trend_goes_from_the_first_twentieth_to_the_last_fifth() -> None:
    found = trend(curve(*range(100)))

    assert found is not None
    assert (found.before, found.after) == (2.0, 89.5)
    assert trend(curve(1, 2, 3, 4)) is None


def test_a_first_point_is_as_noisy_as_single_steps_are() -> None:
    """Means of 100 steps with deviations of 1 have .1: one step of them is not that precise."""
    random = Random(5)
    steps = [Point(step, random.gauss(0, 1)) for step in range(1, 10_001)]
    means = [
        Point(at, sum(one.value for one in steps[at - 100 : at]) / 100)
        for at in range(100, 10_001, 100)
    ]
    found = trend_from_start(means, steps[:100])

    assert found is not None
    assert found.before == steps[0].value
    assert found.error == pytest.approx(1, abs=0.25)  # of 100 values
    whole = trend_from_start(steps, steps)
    assert whole is not None
    assert whole.error == pytest.approx(noise_of([v for _, v in steps]) * math.sqrt(1 + 1 / 2000))
    assert whole.after == pytest.approx(found.after)


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_is_no_trend(seed: int) -> None:
    random = Random(seed)
    found = trend(curve(*(random.gauss(0, 1) for _ in range(200))))

    assert found is not None
    assert not found.rose(3.5)
    assert not found.fell(3.5)


def test_a_limit_is_passed_from_where_the_curve_stays_beyond_it() -> None:
    assert first_beyond(curve(0, 5, 1, 5, 6), 4) == 4
    assert first_beyond(curve(0, 5, 1), 4) is None
    assert first_beyond(curve(9, 3, 2), 4, below=True) == 2


def test_the_level_near_a_step_is_of_a_tenth_of_the_points() -> None:
    assert level_near(curve(*range(20)), 10) == pytest.approx(8.5)
    assert level_near([], 10) is None


def test_quietened_values_never_look_ahead() -> None:
    values = [0.0] * 40 + [40.0] * 40

    assert [one.value for one in quietened(curve(*values))][38:44] == [0, 0, 10, 20, 30, 40]


def test_estimates_join_a_metric_with_its_ends() -> None:
    curves = {"a": curve(1, 2), "a_low": [Point(2, 1.5)], "a_high": [Point(2, 2.5)]}

    assert Evidence({}, curves).estimates("a") == [Estimate(1, 1.0), Estimate(2, 2.0, 1.5, 2.5)]
