"""Jobs as rows: who asked for what, how far it is, what came of it.

Called by `backend.jobs`, whose processes do the work, and by the job routes. A row that has ended
never changes again: whoever would conclude a job asks the row first, in the same transaction.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.errors import NotFound
from backend.schemas.data import JobAnswer, JobProgress
from backend.schemas.vocabulary import JobState, Role
from backend.store.tables.jobs import Job

# Its result names annotators and says how each of them judged.
AGREEMENT = "agreement"
UNFINISHED = (JobState.QUEUED, JobState.RUNNING)
# Answers to earlier questions about a project; somebody may still look at the job for a while.
_OLD_ANSWERS = timedelta(hours=1)


def add(
    session: Session,
    *,
    job_id: str,
    kind: str,
    project_id: str | None,
    user_id: str,
    cache_key: str | None,
    owner: str,
    at: datetime,
) -> JobAnswer:
    """A new job, in the queue."""
    job = Job(
        id=job_id,
        kind=kind,
        project_id=project_id,
        user_id=user_id,
        state=JobState.QUEUED,
        cache_key=cache_key,
        owner=owner,
        created_at=at,
    )
    session.add(job)
    session.flush()
    return _answer(job)


def begin(session: Session, job_id: str) -> bool:
    """Take a queued job out of the queue: it runs now; False if it has ended meanwhile."""
    begun = session.execute(
        update(Job)
        .where(Job.id == job_id, Job.state == JobState.QUEUED)
        .values(state=JobState.RUNNING)
        .returning(Job.id)
    )
    return begun.one_or_none() is not None


def beat(session: Session, progress: Mapping[str, tuple[int, int | None]]) -> set[str]:
    """Say that these jobs live, and (done, total) of each; returns those that may go on."""
    going = set(
        session.scalars(select(Job.id).where(Job.id.in_(progress), Job.state.in_(UNFINISHED)))
    )
    for job_id in sorted(going):
        done, total = progress[job_id]
        session.execute(
            update(Job).where(Job.id == job_id).values(done=done, total=total, beat=Job.beat + 1)
        )
    return going


def end(
    session: Session,
    job_ids: Collection[str],
    state: JobState,
    *,
    error: Mapping[str, Any] | None = None,
    at: datetime,
) -> set[str]:
    """End those that have not ended; returns them, locked until the transaction ends."""
    ended = session.scalars(
        update(Job)
        .where(Job.id.in_(job_ids), Job.state.in_(UNFINISHED))
        .values(state=state, error=error, finished_at=at)
        .returning(Job.id)
    )
    return set(ended)


def keep_result(
    session: Session,
    job_id: str,
    result: Mapping[str, Any],
    *,
    found: Mapping[str, Any],
    progress: tuple[int, int | None],
) -> None:
    """What came of a job that has just succeeded; forgets older answers to its question.

    `found` is what the child said, and is kept if the job has a `cache_key`.
    """
    job = session.scalars(select(Job).where(Job.id == job_id)).one()
    job.result = dict(result)
    job.done, job.total = progress
    if job.cache_key is not None:
        job.found = dict(found)
    session.flush()
    if job.cache_key is not None and job.project_id is not None and job.finished_at is not None:
        session.execute(
            delete(Job).where(
                Job.kind == job.kind,
                Job.cache_key != job.cache_key,
                Job.project_id == job.project_id,
                Job.finished_at < job.finished_at - _OLD_ANSWERS,
            )
        )


def known_answer(session: Session, kind: str, cache_key: str) -> dict[str, Any] | None:
    """What was found for an equal question before, None if nobody has asked it."""
    job = session.scalar(
        select(Job)
        .where(Job.kind == kind, Job.cache_key == cache_key, Job.state == JobState.SUCCEEDED)
        .order_by(Job.number.desc())
        .limit(1)
    )
    return None if job is None else job.found


def own(session: Session, job_id: str) -> JobAnswer:
    """One job of whoever asks. Raises NotFound."""
    job = session.scalar(select(Job).where(Job.id == job_id))
    if job is None:
        raise NotFound(f"there is no job {job_id} that you can see")
    return _answer(job)


def get(session: Session, job_id: str, caller: Caller) -> JobAnswer:
    """One job of the caller's. Raises NotFound."""
    return _shown(_row(session, job_id, caller), caller)


def cancel(session: Session, job_id: str, caller: Caller, *, at: datetime) -> JobAnswer:
    """End a job of the caller's, if it has not ended. Raises NotFound."""
    job = _row(session, job_id, caller)
    end(session, [job_id], JobState.CANCELLED, at=at)
    session.refresh(job)
    return _shown(job, caller)


def as_seen(
    kind: str, project_id: str | None, result: Mapping[str, Any], caller: Caller
) -> dict[str, Any]:
    """What came of a job, as far as somebody sees it now: it may have been made for who saw more.

    Whoever may not see the members of the project is not told the names of annotators.
    """
    if kind != AGREEMENT or project_id is None or caller.holds_in(project_id, Role.RESEARCHER):
        return dict(result)
    # In the order of their ids, not of the names that are left out.
    annotators = sorted(result["annotators"], key=lambda one: str(one["user_id"]))
    return {**result, "annotators": [{**one, "name": None} for one in annotators]}


def unfinished(session: Session) -> dict[str, int]:
    """The beat of each unfinished job."""
    rows = session.execute(select(Job.id, Job.beat).where(Job.state.in_(UNFINISHED)))
    return {row[0]: row[1] for row in rows}


def ended_before(session: Session, before: datetime, *, at_most: int) -> list[int]:
    """The numbers of some jobs that ended before a time."""
    old = select(Job.number).where(Job.finished_at < before).order_by(Job.number)
    return list(session.scalars(old.limit(at_most)))


def forget(session: Session, numbers: Collection[int]) -> None:
    """Forget jobs, and the answers that they are kept for."""
    session.execute(delete(Job).where(Job.number.in_(numbers)))


def _row(session: Session, job_id: str, caller: Caller) -> Job:
    job = session.scalar(select(Job).where(Job.id == job_id))
    is_own = job is not None and (caller.project_ids is None or job.user_id == caller.id)
    if job is None or not is_own or not caller.sees(job.project_id):
        raise NotFound(f"there is no job {job_id} that you can see")
    return job


def _shown(job: Job, caller: Caller) -> JobAnswer:
    answer = _answer(job)
    if answer.result is None:
        return answer
    seen = as_seen(job.kind, job.project_id, answer.result, caller)
    return answer.model_copy(update={"result": seen})


def _answer(job: Job) -> JobAnswer:
    return JobAnswer(
        id=job.id,
        kind=job.kind,
        project_id=job.project_id,
        state=JobState(job.state),
        progress=JobProgress(done=job.done, total=job.total),
        result=job.result,
        error=job.error,
        created_at=job.created_at,
        finished_at=job.finished_at,
    )
