"""Buckets of a curve: against a brute force over every point."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.downsample import Bucket, ascending, bucket_width

VALUES = st.one_of(st.none(), st.floats(-1e6, 1e6))
CURVES = st.dictionaries(st.integers(0, 5000), VALUES, min_size=1, max_size=300)


def point(step: int, value: float | None, *, time_s: float | None = None) -> Bucket:
    """One point as a bucket of its own."""
    at = float(step) if time_s is None else time_s
    n_values = 0 if value is None else 1
    return Bucket(step, at, step * 10, 1, n_values, value, value, value, value)


def joined(buckets: list[Bucket], *, width: int) -> list[Bucket]:
    """Buckets joined into wider ones: on this axis a step advances by its whole width."""
    return ascending(buckets, lambda bucket: bucket.step // width)


@given(CURVES, st.integers(1, 64))
def test_buckets_agree_with_brute_force(curve: dict[int, float | None], points: int) -> None:
    steps = sorted(curve)
    width = bucket_width(steps[0], steps[-1], points=points)

    buckets = joined([point(step, curve[step]) for step in steps], width=width)

    assert len(buckets) <= points
    assert sum(bucket.n for bucket in buckets) == len(steps)
    for bucket in buckets:
        low = bucket.step // width * width
        inside = [step for step in steps if low <= step < low + width]
        values = [value for step in inside if (value := curve[step]) is not None]
        assert bucket.step == inside[-1]
        assert bucket.n == len(inside)
        assert bucket.min == min(values, default=None)
        assert bucket.max == max(values, default=None)
        assert bucket.last == curve[inside[-1]]
        if values:
            assert bucket.mean == pytest.approx(math.fsum(values) / len(values), abs=1e-6)
        else:
            assert bucket.mean is None


@given(CURVES, st.integers(0, 6), st.integers(0, 6))
def test_joining_twice_is_joining_once(
    curve: dict[int, float | None], small: int, more: int
) -> None:
    points = [point(step, curve[step]) for step in sorted(curve)]

    twice = joined(joined(points, width=2**small), width=2 ** (small + more))
    once = joined(points, width=2 ** (small + more))

    assert [(b.step, b.n, b.min, b.max, b.last) for b in twice] == [
        (b.step, b.n, b.min, b.max, b.last) for b in once
    ]


@given(st.integers(0, 10**9), st.integers(0, 10**7), st.integers(1, 5000))
def test_the_width_is_the_smallest_power_of_two_that_fits(
    first: int, span: int, points: int
) -> None:
    last = first + span

    width = bucket_width(first, last, points=points)

    assert width & (width - 1) == 0
    assert last // width - first // width + 1 <= points
    half = width // 2
    assert width == 1 or last // half - first // half + 1 > points


@given(
    st.lists(st.tuples(st.integers(0, 20), st.floats(-10, 10)), min_size=1, max_size=50),
)
def test_time_that_stands_still_joins_points_and_loses_no_extreme(
    points: list[tuple[int, float]],
) -> None:
    buckets = [point(step, v, time_s=float(t)) for step, (t, v) in enumerate(points)]

    kept = ascending(buckets, lambda bucket: bucket.time_s)

    times = [bucket.time_s for bucket in kept]
    assert all(a < b for a, b in itertools.pairwise(times))
    assert sum(bucket.n for bucket in kept) == len(points)
    assert min(b.min for b in kept if b.min is not None) == min(v for _, v in points)
    assert max(b.max for b in kept if b.max is not None) == max(v for _, v in points)


@pytest.mark.parametrize(("first", "points"), [(0, 0), (-1, 10)])
def test_senseless_requests_are_refused(first: int, points: int) -> None:
    with pytest.raises(ValueError, match="expected points >= 1 and first step >= 0"):
        bucket_width(first, 10, points=points)
