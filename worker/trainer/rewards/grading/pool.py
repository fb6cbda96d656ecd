"""Ask processes that can be killed: each question ends within its limit, whatever it is.

The limit is of the processor's time, so that a busy machine gives the same answers; what a function
loads first is no part of it. It says nothing of whose fault a limit is.
"""

import atexit
import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Literal

import psutil

# Of the processor, for one question.
LIMIT_S = 3.0
# By the clock: a process that neither computes nor answers is given up after two of them.
SILENCE_S = 60.0
# For a process to find that there are no more questions.
END_S = 10.0
MOST_PROCESSES = 4
# What needs computer algebra, which takes longer to load than the limit allows on a slow machine.
_WITH_ALGEBRA = {"equivalent"}
_CHILD = Path(__file__).with_name("child.py")


@dataclass(frozen=True)
class Found:
    """The value that a question has, or why it has none.

    `limit`: it took too much time or memory; `crash`: an error of the grader.
    """

    value: Any = None
    fault: Literal["", "limit", "crash"] = ""
    why: str = ""


class Pool:
    """A pool of processes, started when they are first needed; `limit_s` is for one question."""

    def __init__(self, processes: int, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._children = [_Child() for _ in range(processes)]
        self._threads = ThreadPoolExecutor(processes, thread_name_prefix="grading")
        self._free: SimpleQueue[_Child] = SimpleQueue()
        for child in self._children:
            self._free.put(child)

    def ask(self, name: str, questions: Sequence[Sequence[Any]]) -> list[Found]:
        """Ask these questions; return their answers in the same order."""
        waiting = [self.submit(name, arguments) for arguments in questions]
        return [one.result() for one in waiting]

    def submit(self, name: str, arguments: Sequence[Any]) -> Future[Found]:
        """Ask without waiting for the answer."""
        return self._threads.submit(self._one, name, arguments)

    def _one(self, name: str, arguments: Sequence[Any]) -> Found:
        question = {"ask": name, "arguments": list(arguments), "limit_s": self._limit_s}
        child = self._free.get()
        try:
            return child.answer(json.dumps(question), algebra=name in _WITH_ALGEBRA)
        finally:
            self._free.put(child)

    def close(self) -> None:
        """End the processes; what is still to be asked is not."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for child in self._children:
            child.end()


@cache
def shared() -> Pool:
    """Return the one pool for all terms of a run; it ends with this process."""
    pool = Pool(min(MOST_PROCESSES, os.cpu_count() or 1))
    atexit.register(pool.close)
    return pool


class _Child:
    """A process that answers; another takes its place when it is killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._has_algebra = False

    def answer(self, question: str, *, algebra: bool) -> Found:
        if algebra and not self._has_algebra:
            self.end()
            self._has_algebra = True
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(question.encode() + b"\n")
        except BrokenPipeError:
            self.end()
            return Found(fault="crash", why="the grader's process has ended")
        line = process.stdout.readline() if _speaks(process.stdout) else b""
        if not line:
            self.end()
            return Found(fault="crash", why="the grader's process did not answer")
        return Found(**json.loads(line))

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_CHILD), *(["algebra"] if self._has_algebra else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        return self._process

    def end(self) -> None:
        """End it, if it runs, and whatever its fork is at."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()  # the next fork finds no more questions
        forks = _forks(process.pid)
        for fork in forks:
            with suppress(psutil.NoSuchProcess):
                fork.kill()
        if not forks:
            process.kill()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _speaks(stdout: IO[bytes]) -> bool:
    """Whether there is an answer; both may have been stopped during a silence, so ask twice."""
    return any(select.select([stdout], [], [], SILENCE_S)[0] for _ in range(2))


def _forks(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
