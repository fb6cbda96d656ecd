"""Files a run has left in the artifact store.

Called by `worker.run_directory.intake` in the transaction that ends a run, and by
`store.models.registry` before another run loads them; `store.runs.views` shows them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from backend.store.tables.runs import Artifact


class OutputFile(NamedTuple):
    """A file by its path in the output folder and its key in the artifact store."""

    path: str
    key: str
    sha256: str
    size_bytes: int


def keep_files(session: Session, run_id: str, files: Sequence[OutputFile]) -> None:
    """Record these files in place of what an earlier attempt has left."""
    session.execute(delete(Artifact).where(Artifact.run_id == run_id))
    rows = [{"run_id": run_id, **file._asdict()} for file in files]
    if rows:
        session.execute(insert(Artifact), rows)


def hashes(session: Session, folder: str) -> dict[str, str]:
    """The recorded sha256 of each file under a key of the artifact store, by path in the folder."""
    of_folder = Artifact.key.startswith(f"{folder}/", autoescape=True)
    rows = session.execute(select(Artifact.path, Artifact.sha256).where(of_folder))
    return dict(rows.all())
