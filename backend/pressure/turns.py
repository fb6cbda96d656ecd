"""Turns: how many requests may use the database at once, shared fairly by person.

Routes take a turn through `backend.deps`, exports between two batches. A request waits here without
a thread and without a connection. It runs in one event loop and knows nothing of the database but
how many connections there are.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar

from backend.errors import ServiceError, TooBusy
from backend.pressure.shares import Shares
from backend.pressure.visitors import UNKNOWN
from backend.store.db import ADMISSIONS, EXPORTS, HEAVY, OPENINGS, READERS, WRITERS, Database

# Beyond these waiting requests of one kind, one is refused for each that comes.
WAITING = 64
# A refusal is sent so late: whoever asks again at once is slowed down.
REFUSE_AFTER_S = 0.25
READING_EACH = 4
# Who is asked by another turn than for reading: slow reads of a few keep nobody from judging.
ADMITTED_EACH = 2
# A reader of SQLite waits for no server: it computes, and Python computes in one thread at a time.
# Each further thread makes the others wait at every row; with two of them 64 connections of one
# person cost everybody else a tenth of what they cost with sixteen.
SQLITE_READERS, SQLITE_READING_EACH = 2, 1
WRITING_EACH = 1
SQLITE_ADMISSIONS = 1
# So many wait in threads for the one writer of SQLite, and share its transactions.
SQLITE_WRITERS = 8
# Large bodies that arrive at once, each of another person; who sends slowly delays nobody else.
LARGE_BODIES = 16
# Whoever opens a stream holds a connection of the server meanwhile, of which there are few enough.
WAITING_FOR_STREAMS = 4096

# Whether the client of this request has left; the server sets it.
client_has_left: ContextVar["asyncio.Future[None] | None"] = ContextVar(
    "client_has_left", default=None
)


@asynccontextmanager
async def refusing_late(*errors: type[Exception]) -> AsyncIterator[None]:
    """Let these errors of the block pass a quarter of a second later: who asks again gains nothing.

    What the block stands in is held meanwhile.
    """
    try:
        yield
    except errors:
        await asyncio.sleep(REFUSE_AFTER_S)
        raise


class Line:
    """The turns of one kind: `places` in all, at most `each` per person, the rest waits.

    Everybody who is not known yet has together the share of one person, round robin by address.

    Persons take turns round robin, the requests of one person in the order in which they came. When
    more than `most_waiting` wait, the newest request of the person with the most is refused.

    With `shares`, a person who took much rests before the next turn; others have the place
    meanwhile. Without `rests` nobody does: these turns only count as somebody else's asking. In any
    line a person rests after a refusal that says so.
    """

    def __init__(
        self,
        places: int,
        *,
        each: int,
        most_waiting: int = WAITING,
        refuse_after_s: float = REFUSE_AFTER_S,
        shares: Shares | None = None,
        rests: bool = True,
    ) -> None:
        self._free = places
        self._shares = shares
        self._rests = rests
        self._refuse_after_s = refuse_after_s
        self._each = each
        self._most_waiting = most_waiting
        self._n_waiting = 0
        # By share, with those that rest.
        self._held: dict[str, int] = {}
        # In the order in which they are served next; within a share its members the same way.
        self._waiting: dict[str, dict[str, deque[asyncio.Future[bool]]]] = {}

    @property
    def n_waiting(self) -> int:
        """How many requests wait."""
        return self._n_waiting

    @asynccontextmanager
    async def turn(self, person: str) -> AsyncIterator[None]:
        """A turn from here to the end of the block. Raises TooBusy."""
        share = _share_of(person)
        if not await self._get(share, person):
            await asyncio.sleep(self._refuse_after_s)
            raise TooBusy(
                f"{self._most_waiting} requests are waiting, which is the limit; those of unknown "
                "users and of the user with the most waiting requests are refused first",
                advice="Try again in a moment, with fewer requests at once (API: after the time in "
                "Retry-After).",
            )
        began, refused_s = time.monotonic(), 0.0
        try:
            yield
        except ServiceError as error:
            refused_s = self._refuse_after_s if error.rests else 0.0
            raise
        finally:
            self._give_back(share, max(refused_s, self._rest_s(share, began)))

    def _rest_s(self, share: str, began: float) -> float:
        """How long the holder of this turn, which ends now, rests; who is not known never does."""
        if self._shares is None or share == UNKNOWN:
            return 0.0
        now = time.monotonic()
        if not self._rests:
            self._shares.note(share, at=now)
            return 0.0
        return self._shares.rest_s(share, now - began, at=now)

    async def _get(self, share: str, person: str) -> bool:
        """Wait for a turn; whether there is one."""
        if self._n_waiting == 0 and self._free and self._held.get(share, 0) < self._each:
            self._take(share)
            return True
        place = self._join(share, person)
        has_left = client_has_left.get()

        def refuse(_: object) -> None:
            self._drop(share, person, place)

        if has_left is not None:
            has_left.add_done_callback(refuse)
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.result():
                self._give_back(share)
            else:
                self._drop(share, person, place)
            raise
        finally:
            if has_left is not None:
                has_left.remove_done_callback(refuse)

    def _join(self, share: str, person: str) -> asyncio.Future[bool]:
        place: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(share, {}).setdefault(person, deque()).append(place)
        self._n_waiting += 1
        self._serve()
        if self._n_waiting > self._most_waiting:
            self._refuse_one()
        return place

    def _refuse_one(self) -> None:
        """Refuse the newest request of the person with the most; of whom is unknown first."""
        share, members = max(
            self._waiting.items(), key=lambda one: (one[0] == UNKNOWN, _length(one[1]))
        )
        person, line = max(members.items(), key=lambda one: len(one[1]))
        self._drop(share, person, line[-1])

    def _drop(self, share: str, person: str, place: "asyncio.Future[bool]") -> None:
        members = self._waiting.get(share, {})
        line = members.get(person)
        if line is None or place not in line:
            return
        line.remove(place)
        self._n_waiting -= 1
        if not place.done():
            place.set_result(False)
        self._forget_empty(share, person)

    def _forget_empty(self, share: str, person: str) -> None:
        members = self._waiting[share]
        if not members[person]:
            del members[person]
        if not members:
            del self._waiting[share]

    def _take(self, share: str) -> None:
        self._free -= 1
        self._held[share] = self._held.get(share, 0) + 1

    def _give_back(self, share: str, rest_s: float = 0.0) -> None:
        self._free += 1
        if rest_s:
            asyncio.get_running_loop().call_later(rest_s, self._end_rest, share)
            self._serve()
        else:
            self._end_rest(share)

    def _end_rest(self, share: str) -> None:
        self._held[share] -= 1
        if not self._held[share]:
            del self._held[share]
        self._serve()

    def _serve(self) -> None:
        """Give the free places away."""
        while self._free:
            share = next((one for one in self._waiting if self._may_have(one)), None)
            if share is None:
                return
            members = self._waiting.pop(share)
            person = next(iter(members))
            line = members.pop(person)
            place = line.popleft()
            self._n_waiting -= 1
            # Behind all others, if more of this person or share wait.
            if line:
                members[person] = line
            if members:
                self._waiting[share] = members
            # A waiter that was cancelled just now has not said so yet.
            if not place.done():
                self._take(share)
                place.set_result(True)

    def _may_have(self, share: str) -> bool:
        return self._held.get(share, 0) < self._each


class Turns:
    """The turns of one process, by kind."""

    def __init__(self, database: Database) -> None:
        """Make the lines for one database; on both kinds each person writes once at a time."""
        is_sqlite = database.is_sqlite
        readers, each = (
            (SQLITE_READERS, SQLITE_READING_EACH) if is_sqlite else (READERS, READING_EACH)
        )
        shares = self._shares = Shares()
        self._admitting = (
            Line(SQLITE_ADMISSIONS, each=1, shares=shares)
            if is_sqlite
            else Line(ADMISSIONS, each=ADMITTED_EACH, shares=shares)
        )
        self._reading = Line(readers, each=each, shares=shares)
        # Whoever ranks only writes: without these turns nobody would rest for them.
        writers = SQLITE_WRITERS if is_sqlite else WRITERS
        self._writing = Line(writers, each=WRITING_EACH, shares=shares, rests=False)
        self._reading_much = Line(HEAVY, each=1, shares=shares)
        self._taking_much = Line(LARGE_BODIES, each=1)
        self._checking = Line(1, each=1)
        self._opening = Line(OPENINGS, each=1, most_waiting=WAITING_FOR_STREAMS)
        self._exporting = Line(EXPORTS, each=1, most_waiting=WAITING_FOR_STREAMS, shares=shares)

    def admitting(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to be asked who one is. Raises TooBusy if too many wait."""
        return self._admitting.turn(person)

    def reading(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to read. Raises TooBusy if too many wait."""
        return self._reading.turn(person)

    def reading_much(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to read what computes for long. Raises TooBusy if too many wait."""
        return self._reading_much.turn(person)

    def taking_much(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to send a large body. Raises TooBusy if too many wait."""
        return self._taking_much.turn(person)

    def checking(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to look through and parse a large body. Raises TooBusy if too many wait."""
        return self._checking.turn(person)

    def writing(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to write. Raises TooBusy if too many wait."""
        return self._writing.turn(person)

    def opening(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to open a stream: browsers that all come back at once wait for one another."""
        return self._opening.turn(person)

    def exporting(self, person: str) -> AbstractAsyncContextManager[None]:
        """A turn to read one batch of an export."""
        return self._exporting.turn(person)

    def is_alone(self, person: str) -> bool:
        """Whether nobody else asked lately."""
        return self._shares.is_alone(_share_of(person), at=time.monotonic())

    def waiting(self) -> dict[str, float]:
        """How many requests wait, by kind."""
        lines = {
            "admit": self._admitting,
            "read": self._reading,
            "read much": self._reading_much,
            "send much": self._taking_much,
            "parse much": self._checking,
            "write": self._writing,
            "open a stream": self._opening,
            "export": self._exporting,
        }
        return {kind: line.n_waiting for kind, line in lines.items()}


def _share_of(person: str) -> str:
    return UNKNOWN if person.startswith(UNKNOWN) else person


def _length(members: dict[str, deque["asyncio.Future[bool]"]]) -> int:
    return sum(len(line) for line in members.values())
