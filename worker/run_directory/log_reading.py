"""The trainer's log files, followed line by line within limits.

Called by the relay, and for the last lines of a failed run. It reads what the guard writes and
keeps its place in memory. Where lines end depends on the file alone, so that another supervisor
goes on after as many lines as are stored.
"""

import re
from pathlib import Path

from worker.run_directory.cleaning import clean_text

LONGEST_LINE = 2000
# What of one stream of one attempt is kept in the store; the file holds more.
MOST_LINES = 2000
MOST_BYTES = 2 * 2**20
_TAIL_BYTES = 65536
_CHUNK_BYTES = 65536
# Colours and cursor moves of terminals.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")


class LogReading:
    """One log file and how far it has been read."""

    def __init__(self, path: Path, stream: str) -> None:
        self.stream = stream
        self._path = path
        self._place = 0
        self._next_place = 0
        self._lines = 0
        self._stored = 0

    def skip(self, lines: int) -> None:
        """Pass over lines that somebody else has stored; called before the first `peek`."""
        while self._lines < lines and (read := self._read_on(to_the_end=True)):
            if self._lines + len(read) > lines:
                self._stored = lines - self._lines
                return
            self.accept(len(read))

    def peek(self, *, to_the_end: bool = False) -> list[str]:
        """New whole lines; the same again until `accept`. The last one may lack its newline."""
        return self._read_on(to_the_end=to_the_end)[self._stored :]

    def _read_on(self, *, to_the_end: bool) -> list[str]:
        if self._is_full():
            return []
        data = self._whole_lines(to_the_end)
        self._next_place = self._place + len(data)
        text = data.decode("utf-8", "replace")
        lines = [shorten(line) for line in text.removesuffix("\n").split("\n")] if text else []
        if self._next_place >= MOST_BYTES or self._lines + len(lines) >= MOST_LINES:
            lines = lines[: MOST_LINES - self._lines]
            self._next_place = MOST_BYTES
            lines.append(f"... the rest is in {self._path.name} in the run directory")
        return lines

    def _whole_lines(self, to_the_end: bool) -> bytes:
        data = _read(self._path, self._place, _CHUNK_BYTES)
        is_last = len(data) < _CHUNK_BYTES
        if is_last and to_the_end:
            return data
        end = data.rfind(b"\n") + 1
        # A chunk without any newline is a line that is too long anyway.
        return data[:end] if end or is_last else data

    def accept(self, count: int) -> None:
        """Say that the lines of the last `peek` are stored."""
        self._place = self._next_place
        self._lines += self._stored + count
        self._stored = 0

    def _is_full(self) -> bool:
        return self._place >= MOST_BYTES


def shorten(line: str) -> str:
    """What a terminal would show of a line in the end, bounded."""
    shown = line.rstrip("\r").rpartition("\r")[2]
    return _CONTROL.sub("", clean_text(shown))[:LONGEST_LINE]


def tail(path: Path, *, lines: int = 20) -> str:
    """The last lines of a file, at least one; empty if there is none."""
    try:
        size = path.stat().st_size
    except OSError:
        return ""
    text = _read(path, max(0, size - _TAIL_BYTES), _TAIL_BYTES).decode("utf-8", "replace")
    last = text.removesuffix("\n").split("\n")[-lines:]
    return "\n".join(shorten(line) for line in last).strip()


def _read(path: Path, start: int, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size)
    except FileNotFoundError:
        return b""
