"""What a part of a job may take in memory, and what stands after it."""

import resource

import pytest

from backend.jobs import memory


def test_the_limit_is_gone_when_the_last_of_two_that_overlap_has_ended() -> None:
    """The first ends first, so that each would put back what it found: the other's limit."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    first, second = memory.limited(64 << 20), memory.limited(64 << 20)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_DATA) != before
    second.__exit__(None, None, None)
    after = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, before)
    assert after == before


def test_whoever_takes_more_than_the_limit_gets_an_error_of_memory() -> None:
    """More than the tests before it can have left free in this process, which it may have again."""
    with memory.limited(16 << 20), pytest.raises(MemoryError):
        bytearray(8 << 30)
    assert len(bytearray(64 << 20)) == 64 << 20
