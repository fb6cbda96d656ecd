"""How far the annotators of a project agree, as a job."""

from sqlalchemy.orm import Session

from backend.jobs.work import JSON, Work
from backend.store.data import judgments
from backend.store.data.agreement import names_digest, report

# To be raised when the arithmetic or the answer changes: kept answers of another version are not
# given.
VERSION = 6


def cache_key(session: Session, project_id: str, criterion: str, *, sees_names: bool) -> str:
    """What the answer depends on: the count and the newest of the judgments, and who is named.

    Judgments are only added; people change their names.
    """
    count, newest = judgments.extent(session, project_id)
    named = names_digest(session, project_id) if sees_names else "nameless"
    return f"{VERSION}:{project_id}:{count}:{newest}:{named}:{criterion}"


def agreement(work: Work) -> dict[str, JSON]:
    """The work function; arguments: project_id, sees_names, and criterion where there are any.

    Progress in judgments that were read, of those that count; what is computed of them comes after.
    """
    project_id, criterion = work.arguments["project_id"], work.arguments.get("criterion", "")
    sees_names = work.arguments["sees_names"]
    with work.database.read_at_once() as session:
        done, total = 0, judgments.count_latest(session, project_id)

        def go_on(read: int) -> None:
            nonlocal done
            work.check()
            done += read
            work.progress(done, total)

        found = report(session, project_id, criterion, sees_names=sees_names, go_on=go_on)
    return found.model_dump(mode="json")
