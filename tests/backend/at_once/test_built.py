"""Statements that are built once, however many threads ask for them at the same moment."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from sqlalchemy import Select, select
from sqlalchemy.sql.expression import literal

from backend.store.built import once

# Two builders meet at once; one alone waits so long for another.
ALONE_S = 0.2


def test_two_threads_are_given_one_statement() -> None:
    builders = threading.Barrier(2)

    @once
    def statement(number: int) -> Select[int]:
        with suppress(threading.BrokenBarrierError):
            builders.wait(ALONE_S)
        return select(literal(number))

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(statement, (1, 1))

    assert first is second
    assert statement(2) is not first
