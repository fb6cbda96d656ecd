"""A log file that cannot fill the disk: past its limit the middle is dropped.

Written by the guard for the trainer's stdout and stderr. Standard library only. The first half of
the file never changes once written, so a reader may follow it by offset up to there.
"""

from contextlib import suppress
from io import FileIO
from pathlib import Path

LIMIT_BYTES = 64 * 2**20


class BoundedLog:
    """Appends to a file; keeps the first half and the newest part of what came after it."""

    def __init__(self, path: Path, limit_bytes: int = LIMIT_BYTES) -> None:
        self._file: FileIO | None = None
        with suppress(OSError):
            self._file = path.open("w+b", buffering=0)
        self._limit = limit_bytes
        self._head = limit_bytes // 2
        # What is kept of the second half when it is full, so that dropping is rare.
        self._tail = limit_bytes // 4
        self._size = 0
        self._dropped = 0

    def write(self, data: bytes) -> None:
        """Append; a disk that is full drops the data, for output must never stop a training."""
        if self._file is None:
            return
        try:
            if self._size + len(data) > self._limit:
                self._drop_middle(self._file)
            self._file.seek(self._size)
            self._size += self._file.write(data[-self._tail :]) or 0
        except OSError:
            self._dropped += len(data)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _drop_middle(self, file: FileIO) -> None:
        start = max(self._head, self._size - self._tail)
        file.seek(start)
        newest = file.read(self._size - start) or b""
        self._dropped += start - self._head
        file.seek(self._head)
        file.truncate()
        notice = f"\n... {self._dropped} bytes were dropped here ...\n".encode()
        self._size = self._head + (file.write(notice + newest) or 0)
