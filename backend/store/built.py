"""Statements that are built once: building one takes longer than most databases need to run it.

Modules of the store build those that people wait for at their first use, or when they are loaded.
"""

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_lock = threading.RLock()


def once(build: Callable[P, T]) -> Callable[P, T]:
    """Build a statement at the first call with these arguments, in one thread at a time.

    Of two that are alike SQLAlchemy compiles one, and looks through its columns again for each
    result of the other.
    """
    kept = cache(build)

    @wraps(build)
    def built(*args: P.args, **kwargs: P.kwargs) -> T:
        with _lock:
            return kept(*args, **kwargs)  # type: ignore[arg-type]

    return built
