"""The newest hash of the audit chain, kept outside the database: a file beside it that only grows.

Whoever can write the database can rewrite the whole chain, but not this file. `podium audit
verify` looks for each of its hashes in the chain.
"""

import json
import logging
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from backend.domain.audit_chain import Head
from backend.errors import InvalidInput
from backend.store.db import Database
from backend.store.people import audit
from backend.traces.repeating import repeated

log = logging.getLogger("podium.traces")

FILE = "audit.heads"
KEEP_EVERY_S = 10.0


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
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(json.dumps(head._asdict()) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._last = head

    def kept(self) -> AbstractAsyncContextManager[None]:
        """Keep the newest hash while the block runs, and at its end."""
        return repeated(self._try_to_keep, every_s=KEEP_EVERY_S)

    def _try_to_keep(self) -> None:
        try:
            self.keep()
        except (OSError, SQLAlchemyError) as error:
            log.warning("audit.head_not_kept error=%s", error)


def read(path: Path) -> list[Head]:
    """The hashes of a file, none if it does not exist. Raises InvalidInput for what is none."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return []
    try:
        return [Head(**json.loads(line)) for line in lines]
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            f"{path} is not a file of kept hashes: {error}",
            advice="Give a file that the service wrote as audit.heads, or a copy of it.",
        ) from error
