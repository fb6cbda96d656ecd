"""SHA-256 of files that take minutes to read.

Called wherever bytes are recorded, or compared with what was recorded.
"""

import hashlib
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

# Between two checks; a slow disk reads so much in milliseconds.
CHUNK_BYTES = 2**20


def go_on() -> None:
    """The check of callers who wait until the end, however long it takes."""


def of_file(path: Path, check: Callable[[], None] = go_on) -> bytes:
    """The SHA-256 of a file's bytes; OSError if it cannot be read.

    `check` is called now and then; what it raises breaks off the reading.
    """
    with path.open("rb") as file:
        return of_open(file, check)


def of_open(file: BufferedReader, check: Callable[[], None] = go_on) -> bytes:
    """The same of what an open file holds from here on."""
    sha256 = hashlib.sha256()
    chunk = memoryview(bytearray(CHUNK_BYTES))
    while size := file.readinto(chunk):
        check()
        sha256.update(chunk[:size])
    return sha256.digest()
