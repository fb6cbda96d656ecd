"""Whether whoever began a long answer may still have the rest: asked for all of them at once.

Streams and exports hold a `Permission` while they last. One query a second asks for all of this
process together, so a thousand open streams cost as much as one.
"""

import asyncio
import contextvars
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakSet

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError

from backend.domain.access import Caller
from backend.errors import TooBusy
from backend.store.db import Database
from backend.store.people.credentials import Secret, callers_of

log = logging.getLogger("podium.permissions")

# Nothing is sent on an older answer.
FRESH_S = 1.0
# So often that what is not permitted any more ends within a second, the query included.
ASK_EVERY_S = 0.7


class NoLongerPermitted(Exception):
    """A long answer is cut off: its end is not sent, so that nobody takes it for whole."""


@dataclass(frozen=True)
class Claim:
    """Who began an answer, by which secret, and what this person must still be allowed to do."""

    user_id: str
    secret: Secret
    may: Callable[[Caller], bool]


class Permission:
    """The permission of one open answer to go on."""

    def __init__(self, permissions: "Permissions", claim: Claim) -> None:
        self.claim = claim
        self.is_over = False
        self.asked_at = time.monotonic()
        # Called once, when the permission ends.
        self.on_end: Callable[[], None] = lambda: None
        self._permissions = permissions

    async def holds(self) -> bool:
        """Whether the rest may be sent, by an answer not older than `FRESH_S`; waits for it."""
        while not self.is_over and time.monotonic() - self.asked_at > FRESH_S:
            await self._permissions.next_answer()
        return not self.is_over

    def end(self) -> None:
        """End the answer: nothing more may be sent."""
        if not self.is_over:
            self.is_over = True
            self.on_end()


class Permissions:
    """The permissions of the answers that are open in this process; used in one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # An answer that is gone without a word, because its client was, needs no more asking.
        self._open: WeakSet[Permission] = WeakSet()
        self._thread = anyio.CapacityLimiter(1)
        self._asker: asyncio.Task[None] | None = None
        self._answered: asyncio.Future[None] | None = None
        self._is_closed = False

    def open(self, claim: Claim, *, most: int | None = None) -> Permission:
        """A permission that was just given. Raises TooBusy if this person has `most` already."""
        if most is not None:
            n_open = sum(
                one.claim.user_id == claim.user_id and not one.is_over for one in self._open
            )
            if n_open >= most:
                raise TooBusy(
                    f"you have {n_open} streams open; {most} are allowed",
                    advice="Close a stream first, for example a browser tab that shows a run.",
                    retry_after_s=5,
                )
        permission = Permission(self, claim)
        if self._is_closed:
            permission.end()
        self._open.add(permission)
        self._ensure_asker()
        return permission

    def close(self) -> None:
        """End all; call in the server's loop."""
        self._is_closed = True
        if self._asker is not None:
            self._asker.cancel()
        for permission in list(self._open):
            permission.end()
        self._tell()

    async def next_answer(self) -> None:
        """Wait until it was asked again."""
        if self._is_closed:
            return
        if self._answered is None or self._answered.done():
            self._answered = asyncio.get_running_loop().create_future()
        self._ensure_asker()
        await asyncio.shield(self._answered)

    def _tell(self) -> None:
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(None)

    def _ensure_asker(self) -> None:
        if self._is_closed or (self._asker is not None and not self._asker.done()):
            return
        # In a context of its own: it outlives the request that happens to start it.
        self._asker = asyncio.get_running_loop().create_task(
            self._ask_again_and_again(), context=contextvars.Context()
        )

    async def _ask_again_and_again(self) -> None:
        while self._open:
            await asyncio.sleep(ASK_EVERY_S)
            await self._ask()

    async def _ask(self) -> None:
        asked = [one for one in self._open if not one.is_over]
        asked_at = time.monotonic()
        secrets = {one.claim.secret for one in asked}
        try:
            callers = await anyio.to_thread.run_sync(self._callers, secrets, limiter=self._thread)
        except SQLAlchemyError as error:
            # Whoever wants to send something waits until the store answers.
            log.warning("permissions.ask_failed", extra={"error": type(error).__name__})
            return
        for one in asked:
            caller = callers.get(one.claim.secret)
            if caller is not None and one.claim.may(caller):
                one.asked_at = asked_at
            else:
                one.end()
        self._tell()

    def _callers(self, secrets: set[Secret]) -> dict[Secret, Caller]:
        with self._database.read() as session:
            return callers_of(session, secrets)
