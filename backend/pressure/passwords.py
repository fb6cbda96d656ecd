"""Passwords: argon2id hashes, computed one at a time and outside of every transaction.

Called by the session, user and invitation routes through `Passwords` on the application's state.
One hash takes 64 MiB and some tens of milliseconds of every core, so a flood of sign-ins waits in a
short queue of its own, and nobody else waits with it. In this queue persons take turns: a user who
is signed in, and before that an address.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from backend.errors import InvalidInput, TooBusy, TooManyTries
from backend.pressure.turns import Line

T = TypeVar("T")
MOST_WAITING = 8
RETRY_AFTER_S = 2
# Whoever guesses passwords keeps every core busy; all other threads compute before these.
NICENESS = 10

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


@cache
def _common() -> frozenset[str]:
    """The 30,000 passwords that are met most often in what was stolen elsewhere."""
    # Loaded when somebody sets a password: it makes tables of words and names, too.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    return frozenset(FREQUENCY_LISTS["passwords"])


def check_uncommon(password: str) -> None:
    """Raise InvalidInput for a password that whoever guesses tries first."""
    text, common = password.lower(), _common()
    core = text.strip(_NO_LETTERS)
    is_common = text in common or (core in common and len(text) - len(core) < _AROUND)
    if is_common or len(set(text)) < _LEAST_DIFFERENT:
        raise InvalidInput(
            "the password is one of those that are guessed first",
            advice="Use several unrelated words, or let a password manager choose.",
        )


class Passwords:
    """Hashes and checks passwords: one at a time, eight more wait.

    Of one more, the newest of the person with the most is refused with TooManyTries.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "passwords", initializer=_step_back)
        # The routes refuse late, these and those who have to wait after wrong passwords.
        self._line = Line(1, each=1, most_waiting=MOST_WAITING, refuse_after_s=0)

    async def hash(self, password: str, *, person: str) -> str:
        """Hash a password by argon2id with the library's parameters.

        Raises InvalidInput for a password that is easily guessed, TooManyTries when too many wait.
        """
        await asyncio.to_thread(check_uncommon, password)
        return await self._in_turn(person, lambda: _hasher.hash(password))

    async def renewed(self, kept: str, password: str, *, person: str) -> str | None:
        """A hash with today's parameters in place of one with others; None: it stays.

        It stays, too, while too many wait: whoever has the right password is not turned away.
        """
        if not _hasher.check_needs_rehash(kept):
            return None
        try:
            # Whether the password would still be taken is no question: it is theirs.
            return await self._in_turn(person, lambda: _hasher.hash(password))
        except TooManyTries:
            return None

    async def fits(self, kept: str | None, password: str, *, person: str) -> bool:
        """Whether the password has this hash; None takes as long and does not fit.

        Raises TooManyTries when too many wait.
        """
        return await self._in_turn(
            person, lambda: _fits(kept or _DUMMY_HASH, password) and bool(kept)
        )

    async def _in_turn(self, person: str, compute: Callable[[], T]) -> T:
        try:
            async with self._line.turn(person):
                return await asyncio.get_running_loop().run_in_executor(self._thread, compute)
        except TooBusy as full:
            raise TooManyTries(
                f"{MOST_WAITING} sign-ins and password changes are waiting already",
                advice="Try again in a moment (API: after the time in Retry-After).",
                retry_after_s=RETRY_AFTER_S,
            ) from full


def _step_back() -> None:
    """Let others go first; the threads that argon2 starts from this one do so, too."""
    if sys.platform == "linux":  # where a priority is a thread's, and not the process's
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _fits(kept: str, password: str) -> bool:
    try:
        return _hasher.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False
