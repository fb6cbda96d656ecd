"""The newest hash of the audit chain, kept outside the database: a file beside it that only grows.

Whoever can write the database can rewrite the whole chain, but not this file. `podium audit
verify` looks for each of its hashes in the chain.
"""

import json
import logging
import os
import re
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import IO

from sqlalchemy.exc import SQLAlchemyError

from backend.domain.audit_chain import Head
from backend.errors import InvalidInput
from backend.store.db import Database
from backend.store.people import audit
from backend.traces.repeating import repeated

log = logging.getLogger("podium.traces")

FILE = "audit.heads"
KEEP_EVERY_S = 10.0
_LONGEST_LINE = 4096
# The beginning of a line, or the zeros that some file systems leave, before a line or at the end.
_BROKEN_OFF = re.compile(r"^(?:\0+|\{[^{}]*(?:\}?(?=\{)|$))")


class Heads:
    """The file in the data directory of this process."""

    def __init__(self, database: Database, data_dir: Path) -> None:
        self._database = database
        self._path = data_dir / FILE
        self._last: Head | None = None

    def keep(self) -> None:
        """Add the newest hash, unless it is the last that was kept."""
        with self._database.read() as session:
            head = audit.head(session)
        if head == self._last or head.number == 0:
            return
        self._wait_for_lines()
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "rb+") as file:
            line = json.dumps(head._asdict()) + "\n"
            file.write(_mended(file) + line.encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
        if self._last is not None and head.number <= self._last.number:
            log.error("audit.rewritten line=%d was=%d", head.number, self._last.number)
        self._last = head

    def _wait_for_lines(self) -> None:
        """Return when the lines that can be read would outlast a power failure.

        SQLite waits for the disk only when it empties its log (`synchronous=NORMAL`). A hash that
        outlasted its line would look as if somebody had cut the chain. PostgreSQL shows nothing
        that is not on its disk, unless its operator has set `synchronous_commit` off.
        """
        if not self._database.is_sqlite:
            return
        log = Path(f"{self._database.engine.url.database}-wal")
        for path in (log, log.parent):
            with suppress(FileNotFoundError):  # What was in a log that is gone has been waited for.
                descriptor = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def kept(self) -> AbstractAsyncContextManager[None]:
        """Keep the newest hash while the block runs, and at its end."""
        return repeated(self._try_to_keep, every_s=KEEP_EVERY_S)

    def _try_to_keep(self) -> None:
        try:
            self.keep()
        except (OSError, SQLAlchemyError) as error:
            log.warning("audit.head_not_kept error=%s", error)


def _mended(file: IO[bytes]) -> bytes:
    """Cut a line that broke off at the end; return what has to stand before the next line.

    Nobody else writes the file. What is longer than a line that broke off is not ours to cut.
    """
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - _LONGEST_LINE))
    tail = file.read(_LONGEST_LINE)
    end = tail.rfind(b"\n") + 1
    if end == len(tail):
        return b""
    if end == 0 and start > 0:
        return b"\n"
    file.truncate(start + end)
    return b""


def read(path: Path) -> list[Head]:
    """The hashes of a file, none if it does not exist. Raises InvalidInput for what is none.

    A line that broke off is passed over: a full disk or a power failure leaves one, at the end or
    right before a whole line.
    """
    try:
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        return []
    try:
        lines = [_BROKEN_OFF.sub("", line) for line in text.split("\n")]
        return [Head(**json.loads(line)) for line in lines if line]
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            f"{path} is not a file of kept hashes: {error}",
            advice="Give a file that the service wrote as audit.heads, or a copy of it.",
        ) from error
