"""The live stream: the histories of runs as server-sent events, to any number of browsers.

`backend.api.stream` sends what `Streams.follow` yields. One poller per process looks for new rows
and fans them out to bounded queues; whoever joins or falls behind reads its part from the store. No
session and no thread is held while waiting. `backend.pressure` says who may still follow.
"""

import asyncio
import contextvars
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.pressure.open_streams import LIFETIME_S, PING, PING_S
from backend.pressure.permissions import Permission
from backend.reading.calls import Call, Made, register
from backend.reading.reader import Reader, made
from backend.store.db import CATCH_UPS, Database, service_errors
from backend.store.metrics import points
from backend.store.runs import events as run_events
from backend.store.runs.events import KeptEvent

log = logging.getLogger("podium.stream")

_Read = TypeVar("_Read")

POLL_S = 0.2
RETRY_MS = 1000
PAGE = 500
# Whoever reads what is old leaves the processor to others for so many times as long as a page took:
# Python computes in one thread at a time, and twenty browsers that come back at once read a lot.
REST = 2
QUEUE_LENGTH = 2000
# So many runs are read at once for all streams: each may have written much since the last time.
RUNS_AT_ONCE = 10
# The page that tells so few events is out before a process that reads them could be there. A page
# ends at `points.MOST_TOLD` values: of what it does not tell, the process tells.
FEW = 100
# For a browser's script, which hears no comments.
_HEARD_PING = b"event: ping\ndata: {}\n\n"


class _Told(NamedTuple):
    """An event as it goes over the wire, but for its id, which depends on the stream."""

    run_id: str
    seq: int
    name: str
    data: str


@dataclass(eq=False)
class _Subscription:
    run_ids: frozenset[str]
    permission: Permission | None
    ends_at: float
    ping: bytes = PING
    queue: asyncio.Queue[_Told | None] = field(default_factory=lambda: asyncio.Queue(QUEUE_LENGTH))
    is_behind: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more may be sent: too old, or no longer permitted."""
        is_permitted = self.permission is None or not self.permission.is_over
        return not is_permitted or time.monotonic() >= self.ends_at

    async def may_send(self) -> bool:
        """Whether what has come may be told; waits for a fresh permission."""
        is_permitted = self.permission is None or await self.permission.holds()
        return is_permitted and not self.is_over

    def offer(self, event: _Told | None) -> None:
        """Queue an event, None = wake up; a full queue means reading from the store again."""
        if self.queue.full():
            # Kept for whoever takes nothing, it would be much, and is read again anyway.
            self.start_over()
            self.is_behind, event = True, None
        self.queue.put_nowait(event)

    def start_over(self) -> None:
        """Forget what is queued: it is read from the store next."""
        self.is_behind = False
        while not self.queue.empty():
            self.queue.get_nowait()

    async def take(self, timeout_s: float) -> list[_Told | None]:
        """What is queued, waiting for the first; empty after the timeout."""
        try:
            taken = [await asyncio.wait_for(self.queue.get(), timeout_s)]
        except TimeoutError:
            return []
        while not self.queue.empty() and len(taken) < PAGE:
            taken.append(self.queue.get_nowait())
        return taken


class Streams:
    """The streams of everybody who follows runs in this process."""

    def __init__(self, database: Database, reader: Reader | None = None) -> None:
        """`reader`: the process that reads what is old; None: it is read here."""
        self._database = database
        self._reader = reader
        self._catch_ups = anyio.CapacityLimiter(CATCH_UPS)
        self._catch_up_turn = anyio.Lock()
        # Apart from them: what is new waits for nobody who reads what is old.
        self._poll_thread = anyio.CapacityLimiter(1)
        self._subscriptions: set[_Subscription] = set()
        # Per watched run, the number up to which its events were fanned out.
        self._fanned: dict[str, int] = {}
        self._poller: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def n_open(self) -> int:
        """How many streams are open."""
        return len(self._subscriptions)

    def close(self) -> None:
        """End every stream at once, so that the server can stop; call in the server's loop."""
        self._is_closed = True
        if self._poller is not None:
            self._poller.cancel()
        for subscription in self._subscriptions:
            subscription.offer(None)

    def follow(
        self,
        heads: Mapping[str, int],
        *,
        last_id: str | None = None,
        from_now: bool = False,
        after: Mapping[str, int] | None = None,
        permission: Permission | None = None,
    ) -> AsyncGenerator[bytes, None]:
        """Server-sent events of these runs beyond `last_id`; without one all, or only new ones.

        `heads` has the last number of each run (`backend.store.runs.events.heads`), read before the
        caller's answer begins: that is where "now" is. Each run's events come in order, none
        missing, none twice. An id that does not fit these runs or this store gives one `reset`
        event and then only new events. The stream ends when `permission` does; None = it lasts.

        `after` has the number behind which some of these runs go on. With it, the stream begins
        with one `position` event, says `reset` of a run alone whose number the store has not
        reached, and its pings are events.
        """
        at, resets = _begin(heads, last_id, from_now, after or {})
        first: list[tuple[str, Mapping[str, object]]] = [("reset", data) for data in resets]
        if after is not None:
            first.insert(0, ("position", dict(at)))
        ends_at = time.monotonic() + LIFETIME_S
        ping = PING if after is None else _HEARD_PING
        subscription = _Subscription(frozenset(at), permission, ends_at, ping)
        return self._events(subscription, at, heads, first)

    async def _events(
        self,
        subscription: _Subscription,
        at: dict[str, int],
        heads: Mapping[str, int],
        first: Sequence[tuple[str, Mapping[str, object]]],
    ) -> AsyncGenerator[bytes, None]:
        yield f"retry: {RETRY_MS}\nid: {id_of(at)}\n\n".encode()
        for name, data in first:
            yield f"event: {name}\nid: {id_of(at)}\ndata: {json.dumps(data)}\n\n".encode()
        self._subscriptions.add(subscription)
        if subscription.permission is not None:
            subscription.permission.on_end = partial(subscription.offer, None)
        for run_id in at:
            self._fanned.setdefault(run_id, heads[run_id])
        self._ensure_poller()
        try:
            while not self._is_over(subscription):
                # No await between these two lines: all that is newer is queued from now on. A run
                # that writes all the time would never be caught up with to its end. Up to where it
                # was when this stream was opened the poller may be late, or failing.
                goals = {run_id: max(self._fanned[run_id], heads[run_id]) for run_id in at}
                subscription.start_over()
                for chunks in (
                    self._catch_up(subscription, at, goals),
                    self._live(subscription, at),
                ):
                    async with aclosing(chunks):
                        async for chunk in chunks:
                            yield chunk
        finally:
            self._leave(subscription)

    def _is_over(self, subscription: _Subscription) -> bool:
        return self._is_closed or subscription.is_over

    def _leave(self, subscription: _Subscription) -> None:
        if subscription.permission is not None:
            subscription.permission.end()
        self._subscriptions.discard(subscription)
        watched = {run_id for other in self._subscriptions for run_id in other.run_ids}
        for run_id in subscription.run_ids - watched:
            self._fanned.pop(run_id, None)

    async def _catch_up(
        self, subscription: _Subscription, at: dict[str, int], goals: Mapping[str, int]
    ) -> AsyncGenerator[bytes, None]:
        for run_id, goal in goals.items():
            is_long = False
            while at[run_id] < goal:
                reading = asyncio.ensure_future(
                    self._caught_up(subscription, run_id, at, is_long=is_long)
                )
                reading.add_done_callback(_heard)
                try:
                    # Its turn may be far away, and whoever hears nothing takes it for dead.
                    while not (await asyncio.wait([reading], timeout=PING_S))[0]:
                        if self._is_over(subscription):
                            return
                        yield subscription.ping
                finally:
                    reading.cancel()
                page = reading.result()
                if not page.body:
                    break
                if not await subscription.may_send() or self._is_closed:
                    return
                # After it may be sent: what was not told is read again.
                at |= page.facts["at"]
                is_long = not page.facts["is_through"]
                yield page.body

    async def _live(
        self, subscription: _Subscription, at: dict[str, int]
    ) -> AsyncGenerator[bytes, None]:
        while True:
            taken = await subscription.take(PING_S)
            if self._is_over(subscription) or subscription.is_behind:
                return
            fresh = [event for event in taken if event and event.seq > at[event.run_id]]
            if not _is_gapless(fresh, at):
                return
            if fresh:
                # Asked after the wait: what has come may be told on a fresh permission alone.
                if not await subscription.may_send() or self._is_closed:
                    return
                yield _encoded(fresh, at)
            elif not taken:
                yield subscription.ping

    def _ensure_poller(self) -> None:
        if self._poller is None or self._poller.done():
            # In a context of its own: it outlives the request that happens to start it.
            self._poller = asyncio.get_running_loop().create_task(
                self._poll(), context=contextvars.Context()
            )

    async def _poll(self) -> None:
        while self._subscriptions and not self._is_closed:
            await asyncio.sleep(POLL_S)
            if not self._fanned:
                continue
            try:
                await self._tell_newer()
            except SQLAlchemyError as error:
                log.warning("stream.poll_failed", extra={"error": type(error).__name__})
            except Exception:
                # Without it every stream would only ping, until somebody opens another one.
                log.exception("stream.poll_failed")

    async def _tell_newer(self) -> None:
        behind = await self._in_poll_thread(partial(self._behind, dict(self._fanned)))
        run_ids = list(behind)
        for first in range(0, len(run_ids), RUNS_AT_ONCE):
            some = {run_id: behind[run_id] for run_id in run_ids[first : first + RUNS_AT_ONCE]}
            for event in await self._in_poll_thread(partial(self._newer, some)):
                self._fan_out(event)

    async def _in_poll_thread(self, read: Callable[[], _Read]) -> _Read:
        return await anyio.to_thread.run_sync(read, limiter=self._poll_thread)

    def _fan_out(self, event: _Told) -> None:
        # The run may have been left, or joined anew, while the poller was reading.
        if event.seq <= self._fanned.get(event.run_id, event.seq):
            return
        self._fanned[event.run_id] = event.seq
        for subscription in self._subscriptions:
            if event.run_id in subscription.run_ids:
                subscription.offer(event)

    async def _caught_up(
        self, subscription: _Subscription, run_id: str, at: Mapping[str, int], *, is_long: bool
    ) -> Made:
        """The next page of a run as it goes over the wire, empty at its end, and where it is then.

        `is_long`: the page before did not reach the end that the run had.
        """
        read = partial(self._older, run_id, dict(at), is_long=is_long)
        async with self._catch_up_turn:
            if self._is_over(subscription):
                return Made({"at": at, "is_through": True}, b"")
            began = time.monotonic()
            page = await self._to_its_end(read)
            await asyncio.sleep(REST * (time.monotonic() - began) if page.body else 0)
        return page

    async def _to_its_end(self, read: Callable[[], Made]) -> Made:
        """Read in a thread, which nothing can stop: whoever leaves keeps the turn until it ends."""
        reading = asyncio.ensure_future(anyio.to_thread.run_sync(read, limiter=self._catch_ups))
        reading.add_done_callback(_heard)
        try:
            return await asyncio.shield(reading)
        except asyncio.CancelledError:
            await asyncio.wait([reading])
            raise

    def _older(self, run_id: str, at: dict[str, int], *, is_long: bool) -> Made:
        with service_errors(), self._database.read() as session:
            head = run_events.heads(session, [run_id]).get(run_id, 0)
        behind = head - at[run_id]
        if behind <= 0:
            return Made({"at": at, "is_through": True}, b"")
        call = Call("catch_up", {"run_id": run_id, "at": at})
        page = made(self._database, self._reader, call, is_large=is_long or behind > FEW)
        is_through = page.facts["at"][run_id] >= head
        return Made({**page.facts, "is_through": is_through}, page.body)

    def _behind(self, fanned: Mapping[str, int]) -> dict[str, int]:
        """Find the runs that have written since, with where each was."""
        with self._database.read() as session:
            heads = run_events.heads(session, fanned)
        return {run_id: fanned[run_id] for run_id, seq in heads.items() if seq > fanned[run_id]}

    def _newer(self, behind: Mapping[str, int]) -> list[_Told]:
        with self._database.read() as session:
            return list(map(_told, points.told_after(session, behind, limit=PAGE)))


def _page(session: Session, _: Caller | None, asked: Mapping[str, Any]) -> Made:
    """The next events of a run as they go over the wire, and where its stream then is."""
    at, run_id = dict(asked["at"]), asked["run_id"]
    page = list(map(_told, points.told_after(session, {run_id: at[run_id]}, limit=PAGE)))
    return Made(body=_encoded(page, at), facts={"at": at})


register("catch_up", _page)


def _begin(
    heads: Mapping[str, int], last_id: str | None, from_now: bool, after: Mapping[str, int]
) -> tuple[dict[str, int], list[dict[str, object]]]:
    """Where a stream begins, and the data of each `reset` that it has to say first."""
    if last_id is not None:
        resumed = positions_of(last_id, heads)
        return (dict(heads), [{}]) if resumed is None else (resumed, [])
    at = dict(heads) if from_now else dict.fromkeys(heads, 0)
    at |= {run_id: min(seq, heads[run_id]) for run_id, seq in after.items()}
    beyond = [run_id for run_id, seq in after.items() if seq > heads[run_id]]
    return at, [{"run": run_id, "seq": heads[run_id]} for run_id in beyond]


def _is_gapless(events: Sequence[_Told], at: Mapping[str, int]) -> bool:
    expected = dict(at)
    for event in events:
        if event.seq != expected[event.run_id] + 1:
            return False
        expected[event.run_id] = event.seq
    return True


def _heard(reading: asyncio.Future[Made]) -> None:
    """Take note of how it ended, also where whoever asked has left."""
    if not reading.cancelled():
        reading.exception()


def _told(event: KeptEvent) -> _Told:
    """Encode an event: once, however many streams tell it, and outside the event loop."""
    stamp = event.created_at.isoformat()
    data = {"run": event.run_id, "seq": event.seq, "at": stamp, **event.data}
    return _Told(event.run_id, event.seq, event.type, _json(data))


def _encoded(events: Sequence[_Told], at: dict[str, int]) -> bytes:
    """Join these events for the wire; move `at` to their numbers."""
    parts = []
    for event in events:
        at[event.run_id] = event.seq
        parts.append(f"event: {event.name}\nid: {id_of(at)}\ndata: {event.data}\n\n")
    return "".join(parts).encode()


def _json(data: Mapping[str, Any]) -> str:
    """An object as JSON, its points one by one: other threads wait for one of them alone."""
    points = data.get("points")
    if not isinstance(points, list):
        return json.dumps(data)
    rest = {name: value for name, value in data.items() if name != "points"}
    return f'{json.dumps(rest)[:-1]}, "points": [{", ".join(map(json.dumps, points))}]}}'


def id_of(at: Mapping[str, int]) -> str:
    """The opaque id of a position in several runs; short, whatever the runs are called."""
    order = tuple(sorted(at))
    return ".".join([_fingerprint(order), *(f"{at[run_id]:x}" for run_id in order)])


def positions_of(last_id: str, heads: Mapping[str, int]) -> dict[str, int] | None:
    """The position an id stands for, None if it is of other runs or beyond what the store has."""
    order = tuple(sorted(heads))
    fingerprint, *numbers = last_id.split(".")
    if fingerprint != _fingerprint(order) or len(numbers) != len(order):
        return None
    try:
        at = {run_id: int(number, 16) for run_id, number in zip(order, numbers, strict=True)}
    except ValueError:
        return None
    return at if all(0 <= at[run_id] <= heads[run_id] for run_id in order) else None


@lru_cache(256)
def _fingerprint(order: tuple[str, ...]) -> str:
    return hashlib.sha256(",".join(order).encode()).hexdigest()[:8]
