"""Which job is next: long ones leave a child free, and people take turns.

A job that cannot go on, for want of a place to import or because another import into its project
has not ended, holds nothing and keeps nobody from going on: of those who can, the first one does.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from backend.jobs.kinds import LONG, SINGLE

MOST_CHILDREN = 3


class Place(Protocol):
    """What a job holds while it has a child, such as `backend.uploads.turns.Ticket`."""

    def stand(self, when_free: Callable[[], None]) -> None:
        """Stand in line; `when_free` is called now and later when the place is free."""

    def is_free(self) -> bool:
        """Whether it can be taken now."""

    def take(self) -> None:
        """Take it, which is free."""

    def give_back(self) -> None:
        """Give it back, if it was taken, and stand where one stood."""

    def leave(self) -> None:
        """Want it no more."""


@dataclass(eq=False)
class Turn:
    """A job's place in line; `rests`: it was its turn, and it could not go on."""

    kind: str
    user_id: str
    place: Place | None = None
    has_come: asyncio.Event = field(default_factory=asyncio.Event)
    rests: bool = False
    number: int = 0


class Turns:
    """Jobs that wait for a child, and those that have one."""

    def __init__(self, children: int = MOST_CHILDREN) -> None:
        self._children = children
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []
        self._numbers = count()
        # Who had the last turn of a kind that runs alone: none runs when the next is chosen.
        self._last_single: str | None = None

    def enter(self, turn: Turn) -> None:
        """Wait; `turn.has_come` says when it is over."""
        turn.number = next(self._numbers)
        self._waiting.append(turn)
        if turn.place is not None:
            turn.place.stand(self._go_on)
        self._go_on()

    def step_back(self, turn: Turn) -> None:
        """Wait again where one waited, holding nothing, from `try_again` on."""
        self._running.remove(turn)
        self._waiting.append(turn)
        turn.has_come.clear()
        turn.rests = True
        if turn.place is not None:
            turn.place.give_back()
        self._go_on()

    def try_again(self, turn: Turn) -> None:
        """It may be able to go on now."""
        turn.rests = False
        self._go_on()

    def leave(self, turn: Turn) -> None:
        """The job has ended, whether or not its turn had come."""
        if turn in self._running and turn.kind in SINGLE:
            self._last_single = turn.user_id
        for turns in (self._waiting, self._running):
            if turn in turns:
                turns.remove(turn)
        if turn.place is not None:
            turn.place.leave()
        self._go_on()

    def _go_on(self) -> None:
        while len(self._running) < self._children and (turn := self._next()) is not None:
            if turn.place is not None:
                turn.place.take()
            self._waiting.remove(turn)
            self._running.append(turn)
            turn.has_come.set()

    def _next(self) -> Turn | None:
        may = [turn for turn in self._waiting if self._may(turn)]
        held = Counter(turn.user_id for turn in self._running)

        def rank(turn: Turn) -> tuple[int, bool, int]:
            """The oldest of whoever has the fewest."""
            return held[turn.user_id], self._came_last(turn), turn.number

        return min(may, key=rank, default=None)

    def _came_last(self, turn: Turn) -> bool:
        return turn.kind in SINGLE and turn.user_id == self._last_single

    def _may(self, turn: Turn) -> bool:
        running = [one.kind for one in self._running]
        if turn.rests or (turn.kind in SINGLE and turn.kind in running):
            return False
        if turn.kind in LONG and sum(one in LONG for one in running) >= self._children - 1:
            return False
        return turn.place is None or turn.place.is_free()
