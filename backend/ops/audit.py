"""`podium audit`: is the log of changes what was written, and a copy of it as lines of JSON.

Called by the command line. It reads alone.
"""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from backend.domain.audit_chain import broken
from backend.errors import Damaged
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import audit
from backend.traces import heads


def verify(settings: Settings, kept: Sequence[Path] = ()) -> str:
    """Recompute the chain; `kept` are further files of heads, such as those of other API processes.

    The heads are read first, for lines may be added meanwhile. Raises Damaged naming what is wrong.
    """
    files = [settings.data_dir / heads.FILE, *kept]
    known = [head for file in files for head in heads.read(file)]
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
    return (
        f"The audit log is whole: {last.number} lines, checked against {len(known)} heads that "
        f"were kept outside the database. The last hash is {last.sha256}."
    )


def export(settings: Settings, file: Path) -> str:
    """Write every line with its hash to a new file, one JSON object a line."""
    database = Database(settings.sqlalchemy_url)
    count = 0
    with file.open("x", encoding="utf-8") as output, database.read_at_once() as session:
        for line, sha256 in audit.chain(session):
            said = line._asdict() | {"created_at": line.created_at.isoformat(), "sha256": sha256}
            output.write(json.dumps(said) + "\n")
            count += 1
    database.close()
    return f"{count} lines of the audit log are in {file}."
