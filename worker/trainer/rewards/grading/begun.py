"""Questions to a pool that are asked before anybody needs their answers."""

import json
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from worker.trainer.rewards.grading.pool import Found, Pool, shared


class Begun:
    """Questions of one name; the processes of the pool start with the first.

    Each question that was begun is the answer to one that is asked in the same words, once.
    """

    def __init__(self, name: str, pool: Pool | None = None) -> None:
        self._name, self._pool = name, pool
        self._open: dict[str, deque[Future[Found]]] = {}

    def __contains__(self, question: Sequence[Any]) -> bool:
        return json.dumps(question) in self._open

    def begin(self, question: Sequence[Any]) -> None:
        """Ask now; `answers` will wait."""
        self._open.setdefault(json.dumps(question), deque()).append(self._asked(question))

    def answers(self, questions: Sequence[Sequence[Any]]) -> list[Found]:
        """Return the answers to these questions, in their order."""
        waiting = [self._taken(question) for question in questions]
        return [one.result() for one in waiting]

    def forget(self) -> None:
        """Take back what no process has begun with."""
        for several in self._open.values():
            for one in several:
                one.cancel()
        self._open.clear()

    def _taken(self, question: Sequence[Any]) -> Future[Found]:
        key = json.dumps(question)
        begun = self._open.get(key)
        if begun is None:
            return self._asked(question)
        first = begun.popleft()
        if not begun:
            del self._open[key]
        return first

    def _asked(self, question: Sequence[Any]) -> Future[Found]:
        return (self._pool or shared()).submit(self._name, question)
