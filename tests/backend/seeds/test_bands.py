"""Bands of several seeds, by hand and by the laws that they keep."""

import math
from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import Any

import pytest

from backend.domain.seeds.bands import Band, Point, SeedCurve, bands


def band(curves: Sequence[Sequence[Point]], width: float, **more: Any) -> Band:
    """The band of one group that is drawn as a whole."""
    (found,) = bands([[SeedCurve(curve) for curve in curves]], width, **more)
    return found


def test_three_seeds_step_by_step() -> None:
    found = band([[(1, 1.0), (2, 5.0)], [(1, 2.0), (2, 5.0)], [(1, 3.0)]], width=1)

    # A run that ended earlier leaves two, whose mean says nothing of the group.
    assert (found.x, found.n, found.value) == ([1, 2], [3, 2], [2.0, None])
    assert found.low[0] == pytest.approx(2 - 4.30265 / math.sqrt(3), abs=1e-4)
    assert (found.low[1], found.high[1]) == (None, None)


def test_a_run_counts_once_however_many_points_it_has_in_a_bucket() -> None:
    dense = [(float(step), 0.0) for step in range(10)]
    found = band([dense, [(9.0, 4.0)], [(9.0, 5.0)]], width=10)

    assert (found.x, found.n, found.value) == ([9.0], [3], [3.0])


def test_the_estimator_is_one_along_a_curve() -> None:
    """Twelve seeds, four of which end early: the line would jump if it went on as a mean."""
    curves = [[(1.0, one), (2.0, one)] if n < 8 else [(1.0, one)]
              for n, one in enumerate([0.0, 1, 2, 3, 4, 5, 6, 100, 0, 1, 2, 3])]  # fmt: skip
    found = band(curves, 1)

    assert (found.is_iqm, found.n) == (True, [12, 8])
    # The middle six of twelve, and the middle four of eight.
    assert found.value == [2.5, 3.5]
    assert not band(curves[:9], 1).is_iqm


def test_the_order_of_runs_changes_nothing() -> None:
    random = Random(1)
    curves = [[(float(step), random.random()) for step in range(0, 40, 3)] for _ in range(5)]
    shuffled = random.sample(curves, len(curves))

    assert band(curves, 7.0).value == pytest.approx(band(shuffled, 7.0).value)


def test_the_band_of_equal_runs_has_no_width() -> None:
    curve = [(float(step), math.sin(step)) for step in range(20)]
    found = band([curve] * 4, 1.0)

    assert found.low == pytest.approx(found.high)
    assert found.value == pytest.approx([y for _, y in curve])
    assert fmean(found.n) == 4


def test_on_joined_axes_a_seed_counts_between_its_points() -> None:
    """Three seeds of the same length whose evaluations lie at other tokens, worked by hand."""
    seeds = [[(0.0, 0.0), (10.0, 1.0)], [(0.0, 0.0), (8.0, 4.0)], [(0.0, 3.0), (5.0, 3.0)]]

    apart = band(seeds, 1.0)
    found = band(seeds, 1.0, is_joined=True)

    assert (apart.x, apart.n) == ([0, 5, 8, 10], [3, 1, 1, 1])
    # At 5: .5 of the first, 2.5 of the second, 3; beyond its last point a seed has left.
    assert (found.x, found.n) == ([0, 5, 8, 10], [3, 3, 2, 1])
    assert found.value[1] == pytest.approx((0.5 + 2.5 + 3) / 3)
    assert found.value[2:] == [None, None]


def test_points_are_not_joined_across_a_nan() -> None:
    broken = [(0.0, 1.0), (4.0, None), (8.0, 1.0)]
    whole = [(float(x), 2.0) for x in range(9)]

    found = band([broken, whole, whole], 1.0, is_joined=True)

    assert dict(zip(found.x, found.n, strict=True)) == {0: 3, 8: 3, **dict.fromkeys(range(1, 8), 2)}


def test_values_that_are_not_finite_are_in_no_mean_and_are_counted() -> None:
    """Also where none is left: a line that went on there would hide it."""
    seeds: list[list[Point]] = [
        [(1, 1.0), (2, None), (3, None), (4, 4.0)],
        [(1, 2.0), (2, 6.0), (3, None), (4, 4.0)],
        [(1, 3.0), (2, 6.0), (3, None), (4, 4.0)],
    ]
    found = band(seeds, 1.0)

    assert (found.x, found.n, found.n_nan) == ([1, 2, 3, 4], [3, 2, 0, 3], [0, 1, 3, 0])
    assert found.value == [2.0, None, None, 4.0]
    assert found.low[2] is found.high[2] is None


def test_a_bucket_counts_what_its_points_have_left_out() -> None:
    """Points of the service are sums of several, some of which may not be finite."""
    seed = SeedCurve([(1.0, 1.0), (4.0, 2.0), (12.0, 3.0)], n_nan=[2, 1, 0])

    (found,) = bands([[seed] * 3], 10.0)

    assert (found.x, found.n, found.n_nan) == ([4.0, 12.0], [3, 3], [9, 0])


def test_joined_lines_have_their_value_at_every_bucket_and_no_other_where_points_are() -> None:
    """Of a straight line the joined one is the line, wherever its points are."""
    random = Random(2)
    places = [sorted(random.sample(range(200), 12)) for _ in range(4)]
    lines = [[(float(x), 3.0 * x - 7) for x in own] for own in places]

    found = band(lines, 1.0, is_joined=True)

    for x, n, value in zip(found.x, found.n, found.value, strict=True):
        assert n == sum(own[0] <= x <= own[-1] for own in places)
        assert value == (None if n < 3 else pytest.approx(3 * x - 7))


def test_all_groups_have_their_values_at_the_same_places() -> None:
    """Groups whose seeds have points at other places of the same buckets, or in other buckets."""
    even = [SeedCurve([(0.0, 0.0), (21.0, 2.1), (40.0, 4.0)])] * 3
    odd = [SeedCurve([(2.0, 1.0), (38.0, 1.0)])] * 3

    first, second = bands([even, odd], 10.0, is_joined=True)

    assert (first.x, second.x) == ([2, 21, 38, 40], [2, 21, 38])
    assert first.value == [0.0, pytest.approx(2.1), pytest.approx(3.8), 4.0]
    assert second.value == [1.0, 1.0, 1.0]


def test_neighbours_outside_of_a_window_lead_lines_there_and_count_in_no_bucket() -> None:
    """However near they are: in the same buckets as the first and the last point inside."""
    seed = SeedCurve([(10.0, 1.0), (19.0, 1.0)], before=(9.9, 99.0), behind=(19.1, 99.0))
    sparse = SeedCurve([], before=(0.0, 0.0), behind=(20.0, 2.0))

    (found,) = bands([[seed, sparse, sparse]], 4.0, is_joined=True)

    assert (found.x, found.n) == ([10, 19], [3, 3])
    assert found.value == [pytest.approx(1.0), pytest.approx((1 + 1.9 + 1.9) / 3)]
