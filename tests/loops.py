"""Event loops for tests of asyncio: each in a thread of its own.

The browser of the end-to-end tests keeps a loop running in the thread of the tests that share its
process, and no second loop can run there.
"""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


def in_a_loop(asked: Coroutine[Any, Any, _Result]) -> _Result:
    """What a coroutine returns."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, asked).result()


def looped(test: Callable[_Given, Coroutine[Any, Any, None]]) -> Callable[_Given, None]:
    """A test that is a coroutine, as one that pytest can call."""

    @functools.wraps(test)
    def call(*arguments: _Given.args, **named: _Given.kwargs) -> None:
        in_a_loop(test(*arguments, **named))

    return call
