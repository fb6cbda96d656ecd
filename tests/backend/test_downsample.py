"""How wide the buckets of a window are, and how values are told; levels test what is in them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.curves.downsample import EXACT, Columns, bucket_width, scale_of


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


@pytest.mark.parametrize(("first", "points"), [(0, 0), (-1, 10)])
def test_senseless_requests_are_refused(first: int, points: int) -> None:
    with pytest.raises(ValueError, match="expected points >= 1 and first step >= 0"):
        bucket_width(first, 10, points=points)


_VALUES = st.lists(st.none() | st.floats(-1e6, 1e6, allow_subnormal=False), max_size=20)


@given(_VALUES)
def test_values_are_told_to_a_part_of_their_range(values: list[float | None]) -> None:
    known = [one for one in values if one is not None]
    span = max(known) - min(known) if known else 0.0
    scale = scale_of(values)

    numbers = scale.numbers(values)

    for number, value in zip(numbers, values, strict=True):
        assert (number is None) == (value is None)
        if number is None or value is None:
            continue
        assert abs(scale.low + scale.unit * number - value) <= span / 8192 + math.ulp(value)
        if scale != EXACT:
            assert isinstance(number, int)
            assert 0 <= number <= 8192


@given(_VALUES, st.integers(0, 20))
def test_zero_is_told_as_it_is(values: list[float | None], place: int) -> None:
    values.insert(place, 0.0)
    scale = scale_of(values)

    number = scale.numbers(values)[values.index(0.0)]

    assert number is not None
    assert scale.low + scale.unit * number == 0


@given(_VALUES)
def test_the_value_that_is_farthest_from_zero_is_told_as_it_is(values: list[float | None]) -> None:
    values.append(0.0)
    far = max((one for one in values if one is not None), key=abs)
    scale = scale_of(values)

    number = scale.numbers(values)[values.index(far)]

    assert number is not None
    assert scale.low + scale.unit * number == pytest.approx(far, rel=1e-14)


@given(st.floats(-1e6, 1e6), st.integers(1, 50))
def test_values_that_are_all_the_same_are_told_as_they_are(value: float, n: int) -> None:
    columns = Columns()
    total = sum([value] * n)
    for x in range(3):
        columns.add(x, n, n, value, value, total, value)
    mean = columns.mean()

    assert mean == [value] * 3
    assert scale_of(mean).numbers(mean) == [value] * 3
