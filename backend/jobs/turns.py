"""Which job is next: long ones leave a child free, and people take turns."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from backend.jobs.kinds import LONG, SINGLE

MOST_CHILDREN = 3


@dataclass(eq=False)
class Turn:
    """A job's place in line."""

    kind: str
    user_id: str
    has_come: asyncio.Event = field(default_factory=asyncio.Event)


class Turns:
    """Jobs that wait for a child, and those that have one."""

    def __init__(self, children: int = MOST_CHILDREN) -> None:
        self._children = children
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []
        # Who had the last turn of a kind that runs alone: none runs when the next is chosen.
        self._last_single: str | None = None

    def enter(self, turn: Turn) -> None:
        """Wait; `turn.has_come` says when it is over."""
        self._waiting.append(turn)
        self._go_on()

    def leave(self, turn: Turn) -> None:
        """The job has ended, whether or not its turn had come."""
        for turns in (self._waiting, self._running):
            if turn in turns:
                turns.remove(turn)
        self._go_on()

    def _go_on(self) -> None:
        while len(self._running) < self._children and (turn := self._next()) is not None:
            self._waiting.remove(turn)
            self._running.append(turn)
            if turn.kind in SINGLE:
                self._last_single = turn.user_id
            turn.has_come.set()

    def _next(self) -> Turn | None:
        may = [turn for turn in self._waiting if self._may(turn.kind)]
        held = Counter(turn.user_id for turn in self._running)
        # The oldest of whoever has the fewest: `min` takes the first.
        return min(may, key=lambda turn: (held[turn.user_id], self._came_last(turn)), default=None)

    def _came_last(self, turn: Turn) -> bool:
        return turn.kind in SINGLE and turn.user_id == self._last_single

    def _may(self, kind: str) -> bool:
        running = [turn.kind for turn in self._running]
        if kind in SINGLE and kind in running:
            return False
        return kind not in LONG or sum(one in LONG for one in running) < self._children - 1
