"""The wait after wrong passwords: it grows, ends, and is nobody else's."""

from backend.errors import TooManyTries
from backend.pressure.sign_in_delay import (
    DELAYS_S,
    FORGOTTEN_AFTER_S,
    MOST_ACCOUNTS,
    MOST_SENDERS,
    SignInDelay,
)

HERE, THERE = "203.0.113.7", "198.51.100.9"
VERA = "vera@example.org"


def wait_s(delay: SignInDelay, address: str, email: str, at: float) -> float:
    """How long this try must wait; 0 = it was let through, and counts as failed."""
    try:
        delay.attempt(address, email, at=at)
    except TooManyTries as refused:
        return refused.retry_after_s or 0.0
    return 0.0


def test_each_failure_makes_the_next_try_wait_longer_up_to_half_a_minute() -> None:
    delay, at, waits = SignInDelay(), 1000.0, []
    for _ in range(2):
        assert wait_s(delay, HERE, VERA, at) == 0
    for _ in range(9):
        assert wait_s(delay, HERE, VERA, at) == 0
        waits.append(wait_s(delay, HERE, VERA, at))
        at += waits[-1]
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30, 30]
    assert max(DELAYS_S) == 30


def test_a_refused_try_does_not_count() -> None:
    delay = SignInDelay()
    for _ in range(3):
        assert wait_s(delay, HERE, VERA, 0) == 0
    for _ in range(100):
        assert wait_s(delay, HERE, VERA, 0.5) == 0.5
    assert wait_s(delay, HERE, VERA, 1) == 0


def test_another_address_and_another_e_mail_do_not_wait() -> None:
    delay = SignInDelay()
    for _ in range(3):
        wait_s(delay, HERE, VERA, 0)
    assert wait_s(delay, HERE, VERA, 0) == 1
    assert wait_s(delay, THERE, VERA, 0) == 0
    assert wait_s(delay, HERE, "walt@example.org", 0) == 0


def test_a_success_forgets_the_failures() -> None:
    delay = SignInDelay()
    for _ in range(3):
        wait_s(delay, HERE, VERA, 0)
    assert wait_s(delay, HERE, VERA, 1) == 0
    delay.succeeded(HERE, VERA)
    assert [wait_s(delay, HERE, VERA, 1) for _ in range(3)] == [0, 0, 0]


def test_a_try_whose_password_was_not_looked_at_is_taken_back() -> None:
    delay = SignInDelay()
    for _ in range(50):
        assert wait_s(delay, HERE, VERA, 0) == 0
        delay.withdraw(HERE, VERA)
    assert [wait_s(delay, HERE, VERA, 0) for _ in range(4)] == [0, 0, 0, 1]


def test_old_failures_are_forgotten() -> None:
    delay = SignInDelay()
    for _ in range(3):
        wait_s(delay, HERE, VERA, 0)
    at = FORGOTTEN_AFTER_S + 1
    assert [wait_s(delay, HERE, VERA, at) for _ in range(3)] == [0, 0, 0]


def test_eight_tries_at_once_are_eight_tries() -> None:
    delay = SignInDelay()
    assert [wait_s(delay, HERE, VERA, 0) for _ in range(8)] == [0, 0, 0, 1, 1, 1, 1, 1]


def test_made_up_e_mails_push_nobody_out_and_share_one_wait() -> None:
    delay = SignInDelay()
    for _ in range(3):
        wait_s(delay, HERE, VERA, 0)
    waits = [wait_s(delay, HERE, f"{n}@example.org", 0) for n in range(1000)]
    assert waits[: MOST_ACCOUNTS - 1] == [0] * (MOST_ACCOUNTS - 1)
    assert waits[MOST_ACCOUNTS + 5 :] == [1] * (1000 - MOST_ACCOUNTS - 5)
    assert wait_s(delay, HERE, VERA, 0) == 1


def test_memory_is_bounded() -> None:
    delay = SignInDelay()
    for n in range(MOST_SENDERS + 500):
        wait_s(delay, f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}", VERA, 0)
    assert len(delay._senders) == MOST_SENDERS


def test_the_wait_begins_when_the_password_was_found_wrong() -> None:
    delay = SignInDelay()
    for at in (0.0, 0.0, 0.0):
        delay.attempt("a", "x@x.test", at=at)
    delay.failed("a", "x@x.test", at=5.0)  # Checking it took five seconds.
    assert wait_s(delay, "a", "x@x.test", 5.5) == 0.5
