"""Jobs: how far they are, what came of them, and how to cancel one."""

from backend.deps import Now, SessionDep
from backend.domain.access import Caller
from backend.routes import api_router
from backend.schemas.data import JobAnswer
from backend.store import jobs

router = api_router("jobs")


@router.get("/jobs/{job_id}")
def get_job(job_id: str, session: SessionDep, caller: Caller) -> JobAnswer:
    """One job that you asked for, while you may see its project; administrators see all."""
    return jobs.get(session, job_id, caller)


@router.delete("/jobs/{job_id}")
def cancel_job(job_id: str, session: SessionDep, caller: Caller, at: Now) -> JobAnswer:
    """Cancel a job; one that has ended stays as it is."""
    return jobs.cancel(session, job_id, caller, at=at)
