"""Files a run has left in the artifact store: those of its model, or what it was answered.

Called by `worker.run_directory.intake` in the transaction that ends a run, and by
`store.models.registry` before another run loads them; `store.runs.shown` shows them, and
`backend.api.answers` sends the answers.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import BigInteger, cast, delete, func, insert, select
from sqlalchemy.orm import Session

from backend.errors import NotFound
from backend.store.tables.runs import Artifact

# What a run that samples has been answered; no file of a model is named like this.
ANSWERS = "responses.jsonl"


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


def answers(session: Session, run_id: str) -> OutputFile:
    """The file with the answers of a `generate` or `evaluate` run. Raises NotFound."""
    columns = [getattr(Artifact, name) for name in OutputFile._fields]
    of_run = (Artifact.run_id == run_id, Artifact.path == ANSWERS)
    found = session.execute(select(*columns).where(*of_run)).one_or_none()
    if found is None:
        raise NotFound(
            f"run {run_id} has no answers in the artifact store",
            advice="They are kept when a generate or evaluate run succeeds with at most 4 GiB of "
            "them, and deleted when it is archived and pruned. Clone the run to get them again, "
            "with fewer prompts if they were too large.",
        )
    return OutputFile(*found)


def forget_answers(session: Session, run_id: str) -> None:
    """Delete the row of a run's answers, whose file is about to be deleted."""
    session.execute(delete(Artifact).where(Artifact.run_id == run_id, Artifact.path == ANSWERS))


def folders_of_answers(session: Session, run_id: str | None = None) -> set[str]:
    """The keys under which answers lie, of one run or of all."""
    found = select(Artifact.key).where(Artifact.path == ANSWERS)
    if run_id is not None:
        found = found.where(Artifact.run_id == run_id)
    return {key.removesuffix(f"/{ANSWERS}") for key in session.scalars(found)}


def hashes(session: Session, folder: str) -> dict[str, str]:
    """The recorded sha256 of each file under a key of the artifact store, by path in the folder."""
    of_folder = Artifact.key.startswith(f"{folder}/", autoescape=True)
    rows = session.execute(select(Artifact.path, Artifact.sha256).where(of_folder))
    return dict(rows.all())


def sizes(session: Session, run_ids: Sequence[str]) -> dict[str, int]:
    """Bytes of all files of each of these runs; a run without files is left out."""
    # A sum of big integers is a decimal number in PostgreSQL.
    total = cast(func.sum(Artifact.size_bytes), BigInteger)
    statement = select(Artifact.run_id, total).where(Artifact.run_id.in_(run_ids))
    return dict(session.execute(statement.group_by(Artifact.run_id)).all())
