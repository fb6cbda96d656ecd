"""Turns: fair by person, never over the limits, and given back whatever becomes of the waiters."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import TooBusy
from backend.pressure.turns import Line, client_has_left
from backend.pressure.visitors import UNKNOWN
from tests.loops import in_a_loop

PLACES, EACH, MOST_WAITING = 3, 2, 4
PERSONS = ("ann", "bob", "eve", f"{UNKNOWN}10.0.0.1", f"{UNKNOWN}10.0.0.2")


def share_of(person: str) -> str:
    return UNKNOWN if person.startswith(UNKNOWN) else person


@dataclass
class Plain:
    """The same rules over plain lists, looked through from the beginning each time."""

    waiting: list[tuple[int, str]] = field(default_factory=list)  # in the order of arrival
    ring: list[str] = field(default_factory=list)  # shares, next first
    members: dict[str, list[str]] = field(default_factory=dict)  # persons of a share, next first
    held: list[tuple[int, str]] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)

    def arrive(self, ticket: int, person: str) -> None:
        share = share_of(person)
        self.waiting.append((ticket, person))
        if share not in self.ring:
            self.ring.append(share)
        if person not in self.members.setdefault(share, []):
            self.members[share].append(person)
        self.serve()
        if len(self.waiting) > MOST_WAITING:
            self.refuse_one()

    def refuse_one(self) -> None:
        lengths = Counter(person for _, person in self.waiting)
        in_share = Counter(share_of(person) for _, person in self.waiting)
        share = max(self.ring, key=lambda one: (one == UNKNOWN, in_share[one]))
        person = max(self.members[share], key=lambda one: lengths[one])
        ticket = max(ticket for ticket, one in self.waiting if one == person)
        self.refused.append(ticket)
        self.drop(ticket)

    def drop(self, ticket: int) -> None:
        self.waiting = [one for one in self.waiting if one[0] != ticket]
        self.forget()

    def forget(self) -> None:
        persons = {person for _, person in self.waiting}
        for share in list(self.ring):
            self.members[share] = [one for one in self.members[share] if one in persons]
            if not self.members[share]:
                self.ring.remove(share)
                del self.members[share]

    def leave(self, ticket: int) -> None:
        self.held = [one for one in self.held if one[0] != ticket]
        self.serve()

    def serve(self) -> None:
        while len(self.held) < PLACES:
            holding = Counter(share_of(person) for _, person in self.held)
            share = next((one for one in self.ring if holding[one] < EACH), None)
            if share is None:
                return
            person = self.members[share][0]
            ticket = min(ticket for ticket, one in self.waiting if one == person)
            self.waiting = [one for one in self.waiting if one[0] != ticket]
            self.held.append((ticket, person))
            # Both go behind all others that wait.
            self.ring.remove(share)
            self.ring.append(share)
            self.members[share].remove(person)
            self.members[share].append(person)
            self.forget()


class Real:
    """Tasks at the line under test, each of which says where it stands."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.state: dict[int, str] = {}
        self._leave: dict[int, asyncio.Event] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def _stand(self, ticket: int, person: str) -> None:
        self.state[ticket] = "waiting"
        try:
            async with self.line.turn(person):
                self.state[ticket] = "holding"
                await self._leave[ticket].wait()
        except TooBusy:
            self.state[ticket] = "refused"
            return
        except asyncio.CancelledError:
            pass
        self.state[ticket] = "gone"

    async def arrive(self, ticket: int, person: str) -> None:
        self._leave[ticket] = asyncio.Event()
        self._tasks[ticket] = asyncio.create_task(self._stand(ticket, person))

    async def leave(self, ticket: int) -> None:
        self._leave[ticket].set()

    async def cancel(self, ticket: int) -> None:
        self._tasks[ticket].cancel()

    def of(self, state: str) -> set[int]:
        return {ticket for ticket, one in self.state.items() if one == state}

    async def end(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.integers(0, len(PERSONS) - 1)),
        st.tuples(st.sampled_from(["leave", "cancel"]), st.integers(0, 30)),
    ),
    max_size=60,
)


@given(steps=STEPS)
def test_the_line_does_what_plain_lists_say(steps: list[tuple[str, int]]) -> None:
    async def follow() -> None:
        line = Line(PLACES, each=EACH, most_waiting=MOST_WAITING, refuse_after_s=0)
        real, plain = Real(line), Plain()
        for ticket, (what, number) in enumerate(steps):
            if what == "arrive":
                await real.arrive(ticket, PERSONS[number])
                plain.arrive(ticket, PERSONS[number])
            elif what == "leave" and plain.held:
                leaving = plain.held[number % len(plain.held)][0]
                await real.leave(leaving)
                plain.leave(leaving)
            elif what == "cancel" and plain.waiting:
                leaving = plain.waiting[number % len(plain.waiting)][0]
                await real.cancel(leaving)
                plain.drop(leaving)
            await settle()
            assert real.of("holding") == {ticket for ticket, _ in plain.held}
            assert real.of("waiting") == {ticket for ticket, _ in plain.waiting}
            assert real.of("refused") == set(plain.refused)
            holding = Counter(share_of(person) for _, person in plain.held)
            assert len(plain.held) <= PLACES
            assert all(count <= EACH for count in holding.values())
            assert len(plain.waiting) <= MOST_WAITING
        await real.end()

    in_a_loop(follow())


@given(steps=STEPS)
def test_whatever_happened_all_places_come_back(steps: list[tuple[str, int]]) -> None:
    async def follow() -> None:
        line = Line(PLACES, each=EACH, most_waiting=MOST_WAITING, refuse_after_s=0)
        real = Real(line)
        for ticket, (what, number) in enumerate(steps):
            holding, waiting = sorted(real.of("holding")), sorted(real.of("waiting"))
            if what == "arrive":
                await real.arrive(ticket, PERSONS[number])
                await asyncio.sleep(0)
            # Both in the same moment: a place may be given to somebody who is being cancelled.
            if what != "arrive" and holding:
                await real.leave(holding[number % len(holding)])
            if what == "cancel" and waiting:
                await asyncio.sleep(0)
                await real.cancel(waiting[0])
        await real.end()

        anew = Real(line)
        for ticket in range(PLACES):
            await anew.arrive(ticket, f"new {ticket}")
        await settle()
        assert anew.of("holding") == set(range(PLACES))
        await anew.end()

    in_a_loop(follow())


def run(check: Callable[[], Awaitable[None]]) -> None:
    in_a_loop(check())  # type: ignore[arg-type]


def test_a_flood_holds_nobody_else_up() -> None:
    async def check() -> None:
        line = Line(16, each=4, most_waiting=64, refuse_after_s=0)
        real = Real(line)
        for ticket in range(200):
            await real.arrive(ticket, "flood")
        await settle()
        assert len(real.of("holding")) == 4
        for ticket in range(200, 212):
            await real.arrive(ticket, f"person {ticket}")
        await settle()
        assert real.of("holding") >= set(range(200, 212))
        # Twelve places are taken by twelve persons, four by the flood: who comes now waits for two
        # turns at most, because the flood was first in the round and then stands behind.
        await real.arrive(300, "late")
        await settle()
        assert 300 in real.of("waiting")
        for _ in range(2):
            await real.leave(min(real.of("holding")))
            await settle()
        assert 300 in real.of("holding")
        await real.end()

    run(check)


def test_a_full_line_refuses_whoever_waits_most_and_who_is_unknown_first() -> None:
    async def check() -> None:
        line = Line(1, each=1, most_waiting=3, refuse_after_s=0)
        real = Real(line)
        for ticket, person in enumerate(["ann", "eve", "eve", "eve"]):
            await real.arrive(ticket, person)
        await settle()
        await real.arrive(10, "bob")
        await settle()
        assert real.of("refused") == {3}
        await real.arrive(11, f"{UNKNOWN}10.0.0.9")
        await settle()
        assert real.of("refused") == {3, 11}
        assert real.of("waiting") == {1, 2, 10}
        await real.end()

    run(check)


def test_a_refusal_takes_its_time() -> None:
    async def check() -> None:
        line = Line(1, each=1, most_waiting=0, refuse_after_s=0.2)
        loop = asyncio.get_running_loop()
        async with line.turn("ann"):
            began = loop.time()
            with pytest.raises(TooBusy) as refused:
                async with line.turn("ann"):
                    pass
            assert loop.time() - began >= 0.2
        assert refused.value.status == 429
        assert refused.value.retry_after_s == 1

    run(check)


def test_who_has_left_waits_no_more() -> None:
    async def check() -> None:
        line = Line(1, each=1, refuse_after_s=0)
        has_left = asyncio.get_running_loop().create_future()
        client_has_left.set(has_left)
        async with line.turn("ann"):
            real = Real(line)
            await real.arrive(1, "bob")
            await settle()
            assert real.of("waiting") == {1}
            has_left.set_result(None)
            await settle()
            assert real.of("refused") == {1}

    run(check)
