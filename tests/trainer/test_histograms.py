"""Histograms: bins worked by hand, and what each value of a tensor lies in."""

import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.schemas.run_directory.events import FIRST_BIN, LAST_BIN, SMALLEST
from worker.trainer.evaluation.histograms import histogram


def start_of(bin_: int) -> float:
    """The least value of a bin above 0."""
    return float(struct.unpack("<f", struct.pack("<I", bin_ << 18))[0])


def test_bins_worked_by_hand() -> None:
    # 1 = 0x3f800000, so its bin is 0x3f800000 >> 18 = 4064; 33/32 begins the next, 2 the 32nd.
    told = histogram(torch.tensor([1.0, 1.03, 33 / 32, 2.0, -1.0, 0.0, 1e-9, -0.0]))

    assert told.bins == [-4064, 0, 4064, 4065, 4096]
    assert told.counts == [1, 3, 2, 1, 1]


def test_numbers_that_are_not_finite_are_in_no_bin() -> None:
    told = histogram(torch.tensor([float("nan"), float("inf"), 3.0, -float("inf")]))

    assert sum(told.counts) == 1


def test_nothing_has_no_bins() -> None:
    assert histogram(torch.tensor([])).bins == []


@pytest.mark.parametrize(("value", "bin_"), [(SMALLEST, FIRST_BIN), (1e300, LAST_BIN)])
def test_the_first_and_the_last_bin(value: float, bin_: int) -> None:
    told = histogram(torch.tensor([value, -value], dtype=torch.float64))

    assert told.bins == [-bin_, bin_]


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), max_size=50))
def test_each_value_lies_in_its_bin_which_is_narrow(values: list[float]) -> None:
    told = histogram(torch.tensor(values))

    assert sum(told.counts) == len(values)
    for bin_, count in zip(told.bins, told.counts, strict=True):
        if bin_ == 0:
            inside = [value for value in values if abs(value) < SMALLEST]
        else:
            low, high = start_of(abs(bin_)), start_of(abs(bin_) + 1)
            assert high - low <= low / 32
            inside = [value for value in values if (value > 0) == (bin_ > 0)]
            inside = [value for value in inside if low <= abs(value) < high]
        assert len(inside) == count
