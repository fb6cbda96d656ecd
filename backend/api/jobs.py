"""Jobs: how far they are, what came of them, and how to cancel one."""

from backend.jobs.runner import Jobs
from backend.machine.wall_clock import now
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.data import JobAnswer
from backend.store import jobs

router = api_router("jobs")


@router.get("/jobs/{job_id}")
async def get_job(job_id: str, phases: Phases) -> JobAnswer:
    """One job that you asked for, while you may see its project; administrators see all."""
    job = await phases.read(lambda session: jobs.get(session, job_id, phases.caller))
    if job.kind == jobs.AGREEMENT and job.result is not None:
        # Not each look at how far it is.
        phases.trace()
    return job


@router.delete("/jobs/{job_id}")
async def cancel_job(job_id: str, phases: Phases) -> JobAnswer:
    """Cancel a job; one that has ended stays as it is."""
    at = now()
    job = await phases.write(lambda session, caller: jobs.cancel(session, job_id, caller, at=at))
    own: Jobs = phases.request.app.state.jobs
    own.give_up_cancelled(job)
    return job
