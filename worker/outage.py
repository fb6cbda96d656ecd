"""A store that is away for a while: which errors mean that, and how to wait.

Called by supervisor, relay and sweeper. It retries nothing that a retry cannot mend.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as NoFreeConnection

log = logging.getLogger("podium.worker")

OUTAGES = (OperationalError, InterfaceError, InternalError, NoFreeConnection)

_FIRST_DELAY_S = 0.2
_LONGEST_DELAY_S = 10.0

_Result = TypeVar("_Result")


def delay_s(failures: int) -> float:
    """How long to wait after this many failures in a row."""
    return min(_FIRST_DELAY_S * 2.0 ** min(failures, 10), _LONGEST_DELAY_S)


def patiently(call: Callable[[], _Result], wait: Callable[[float], bool]) -> _Result:
    """Do something with the store, again and again for as long as the store is away.

    `wait` sleeps the given seconds and says whether to go on; if not, the outage is raised.
    """
    failures = 0
    while True:
        try:
            return call()
        except OUTAGES as error:
            log.warning("store.away", extra={"failures": failures, "error": str(error)[:300]})
            if not wait(delay_s(failures)):
                raise
            failures += 1
