"""How wide the buckets of a window are; what stands in them is tested with the levels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.curves.downsample import bucket_width


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
