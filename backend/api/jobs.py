"""Jobs: how far they are, what came of them, and how to cancel one."""

from backend.deps import CurrentUser, Now, SessionDep, api_router
from backend.schemas.data import JobAnswer
from backend.store import jobs

router = api_router("jobs")


@router.get("/jobs/{job_id}")
def get_job(job_id: str, session: SessionDep, caller: CurrentUser) -> JobAnswer:
    """One job that you asked for; administrators see all."""
    return jobs.get(session, job_id, caller)


@router.delete("/jobs/{job_id}")
def cancel_job(job_id: str, session: SessionDep, caller: CurrentUser, at: Now) -> JobAnswer:
    """Cancel a job; one that has ended stays as it is."""
    return jobs.cancel(session, job_id, caller, at=at)
