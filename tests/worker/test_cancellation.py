"""Work that takes minutes, and is told within a part of a second that nobody wants it any more."""

import pytest

from backend.digest import go_on
from worker.cancellation import Cancellation


class Cancelled(Exception):
    """Nobody wants the work any more."""


def cancelled() -> None:
    raise Cancelled


@pytest.mark.parametrize("seconds", [0.1, 0.4, 1.0, 10.0])
def test_a_wait_is_slept_in_short_parts_and_whole(seconds: float) -> None:
    slept_s: list[float] = []

    assert Cancellation(lambda s: slept_s.append(s) is None, go_on).wait(seconds)

    assert seconds <= sum(slept_s) < seconds + 0.25
    assert max(slept_s) <= 0.25


def test_a_wait_that_is_of_no_use_ends_after_its_first_part() -> None:
    slept_s: list[float] = []

    assert not Cancellation(lambda s: bool(slept_s.append(s)), go_on).wait(10.0)

    assert len(slept_s) == 1


def test_a_cancelled_wait_raises_after_its_first_part() -> None:
    slept_s: list[float] = []
    cancellation = Cancellation(lambda s: slept_s.append(s) is None, cancelled)

    with pytest.raises(Cancelled):
        cancellation.wait(10.0)

    assert len(slept_s) == 1
    with pytest.raises(Cancelled):
        cancellation.check()


def test_what_cancels_a_wait_may_leave_a_transfer_alone() -> None:
    cancellation = Cancellation(lambda _: True, go_on, check_waiting=cancelled)

    cancellation.check()
    with pytest.raises(Cancelled):
        cancellation.wait(0.1)
