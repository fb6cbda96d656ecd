"""What is away for a while, such as a store or a bucket: which errors mean that, and how to wait.

Called by whatever works with one of them. It retries nothing that a retry cannot mend.
"""

import logging
import math
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

from backend.store.db import LostTransaction

log = logging.getLogger("podium.worker")

# Of the store, the database.
OUTAGES = (OperationalError, InterfaceError, InternalError, NoFreeConnection, LostTransaction)

# How often an artifact store that is away is tried again: for about ten minutes.
BUCKET_TRIES = 64

_FIRST_DELAY_S = 0.2
_LONGEST_DELAY_S = 10.0

_Result = TypeVar("_Result")


def delay_s(failures: int) -> float:
    """How long to wait after this many failures in a row."""
    return min(_FIRST_DELAY_S * 2.0 ** min(failures, 10), _LONGEST_DELAY_S)


def patiently(
    call: Callable[[], _Result],
    wait: Callable[[float], bool],
    away: tuple[type[Exception], ...] = OUTAGES,
    tries: float = math.inf,
) -> _Result:
    """Do something, with the store if nothing else is said, again and again while it is away.

    `away` are the errors that mean so, `tries` how often it is tried again. `wait` sleeps the given
    seconds and says whether to go on; if not, the outage is raised.
    """
    failures = 0
    while True:
        try:
            return call()
        except away as error:
            log.warning("worker.waits", extra={"failures": failures, "error": str(error)[:300]})
            if failures >= tries or not wait(delay_s(failures)):
                raise
            failures += 1
