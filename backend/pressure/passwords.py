"""Passwords: argon2id hashes, computed one at a time and outside of every transaction.

Called by the session and user routes through `Passwords` on the application's state. One hash
takes 64 MiB and some tens of milliseconds of every core, so a flood of sign-ins waits in a short
queue of its own, and nobody else waits with it.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from backend.errors import InvalidInput, TooManyTries

T = TypeVar("T")
MOST_WAITING = 8
RETRY_AFTER_S = 2
# Whoever guesses passwords keeps every core busy; all other threads compute before these.
NICENESS = 10

# The 30,000 that are met most often in what was stolen elsewhere.
_COMMON = frozenset(FREQUENCY_LISTS["passwords"])
# So many characters before and after a common one make it no better.
_AROUND = 6
_LEAST_DIFFERENT = 4
_NO_LETTERS = "0123456789!?.,:;-_+*#@$%&/()=^~' \""

_hasher = PasswordHasher()
# Checked when there is no such user, so that the answer takes as long as for a wrong password.
_DUMMY_HASH = (
    "$argon2id$v=19$m=65536,t=3,p=4$0MOeKkxicaXqnNc1EZVtxw$"
    "Csm1SCtNjgC/0tuf8DKVK0JxF0NRUu+XXh0Ea1hvEF8"
)


def check_uncommon(password: str) -> None:
    """Raise InvalidInput for a password that whoever guesses tries first."""
    text = password.lower()
    core = text.strip(_NO_LETTERS)
    is_common = text in _COMMON or (core in _COMMON and len(text) - len(core) < _AROUND)
    if is_common or len(set(text)) < _LEAST_DIFFERENT:
        raise InvalidInput(
            "the password is one of those that are guessed first",
            advice="Take several words that do not belong together, or let a password manager "
            "choose.",
        )


class Passwords:
    """Hashes and checks passwords: one at a time, eight more wait, the next is refused."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "passwords", initializer=_step_back)
        self._waiting = 0

    async def hash(self, password: str) -> str:
        """argon2id with the library's parameters.

        Raises InvalidInput for a password that is easily guessed, TooManyTries when too many wait.
        """
        check_uncommon(password)
        return await self._in_turn(lambda: _hasher.hash(password))

    async def fits(self, kept: str | None, password: str) -> bool:
        """Whether the password has this hash; None takes as long and does not fit.

        Raises TooManyTries when too many wait.
        """
        return await self._in_turn(lambda: _fits(kept or _DUMMY_HASH, password) and bool(kept))

    async def _in_turn(self, compute: Callable[[], T]) -> T:
        if self._waiting > MOST_WAITING:
            raise TooManyTries(
                f"{MOST_WAITING} sign-ins and password changes are waiting already",
                advice="Try again after the time in Retry-After.",
                retry_after_s=RETRY_AFTER_S,
            )
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, compute)
        finally:
            self._waiting -= 1


def _step_back() -> None:
    """Let others go first; the threads that argon2 starts from this one do so, too."""
    if sys.platform == "linux":  # where a priority is a thread's, and not the process's
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def is_outdated(kept: str) -> bool:
    """Whether a hash was made with other parameters than today's, so that it should be renewed."""
    return _hasher.check_needs_rehash(kept)


def _fits(kept: str, password: str) -> bool:
    try:
        return _hasher.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False
