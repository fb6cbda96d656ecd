"""`podium audit`: is the log of changes what was written, and a copy of it as lines of JSON.

Called by the command line. It reads alone.
"""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TextIO

from backend.domain.audit_chain import Head, broken
from backend.errors import Damaged, InvalidInput
from backend.plural import plural
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import audit
from backend.traces import heads


class Verified(NamedTuple):
    """What was found of a log with which nothing is wrong.

    `is_compared`: hashes that were kept outside the database are in it; if not, nobody knows
    whether all of it was rewritten.
    """

    sentence: str
    is_compared: bool


def verify(settings: Settings, kept: Sequence[Path] = ()) -> Verified:
    """Recompute the chain; `kept` are more files of kept hashes, as of other API processes.

    The kept hashes are read first, for lines may be added meanwhile. Raises Damaged naming what is
    wrong, InvalidInput for a file of `kept` that does not exist.
    """
    own = settings.data_dir / heads.FILE
    for file in kept:
        _must_exist(file)
    known = [head for file in (own, *kept) for head in heads.read(file)]
    database = Database(settings.sqlalchemy_url)
    with database.read_at_once() as session, closing(audit.chain(session)) as chain:
        wrong = broken(chain, known)
        last = audit.head(session)
    database.close()
    if wrong is not None:
        raise Damaged(
            f"the audit log was tampered with: {wrong}",
            advice="Compare it with a backup (`podium audit export`), and find out who could "
            "write to the database.",
        )
    return Verified(_told(last, len(known), own), bool(known))


def _told(last: Head, n_heads: int, own: Path) -> str:
    lines = plural(last.number, "line")
    if n_heads:
        return (
            f"The audit log is whole: {lines}, checked against "
            f"{plural(n_heads, 'hash', 'hashes')} kept outside the database. The last hash is "
            f"{last.sha256}."
        )
    return (
        f"The hashes of the audit log ({lines}) fit one another, but {own} has no hash to check "
        "them against. This does not show that the log is what was written: whoever can write to "
        "the database can rewrite all of it, or cut off its end. Give a copy of audit.heads "
        "(`podium audit verify FILE`), or compare with a hash that you noted: the last one is "
        f"{last.sha256}."
    )


def _must_exist(file: Path) -> None:
    if not file.exists():
        raise InvalidInput(
            f"there is no file {file}",
            advice="Give a file that the service wrote as audit.heads, or a copy of it.",
        )


def export(settings: Settings, file: Path) -> str:
    """Write every line with its hash to a new file, one JSON object a line.

    Raises InvalidInput if the file cannot be made.
    """
    count = 0
    with _made(file) as output:
        database = Database(settings.sqlalchemy_url)
        with database.read_at_once() as session:
            for line, sha256 in audit.chain(session):
                at = line.created_at.isoformat()
                said = line._asdict() | {"created_at": at, "sha256": sha256}
                output.write(json.dumps(said) + "\n")
                count += 1
        database.close()
    return f"Wrote {plural(count, 'line')} of the audit log to {file}."


def _made(file: Path) -> TextIO:
    try:
        return file.open("x", encoding="utf-8")
    except FileExistsError as error:
        raise InvalidInput(f"{file} exists already", advice="Name a new file.") from error
    except OSError as error:
        raise InvalidInput(
            f"{file} cannot be written: {error.strerror}",
            advice="Name a new file in a folder that you may write to.",
        ) from error
