"""Problem sets: problems with known answers, made here and imported as prompts."""

from fastapi import Response

from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, answer_of_job
from backend.deps import IDEMPOTENT, SessionDep
from backend.domain.access import Caller
from backend.jobs.work import JSON
from backend.machine.wall_clock import now
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.data import ProblemSetAnswer, ProblemSetBody
from backend.store.data import imports
from backend.store.data.import_rows import IMPORT_OUTCOME, NewImport
from backend.uploads.turns import UploadTurns

router = api_router("imports")


@router.post(
    "/projects/{project_id}/problem-sets",
    status_code=201,
    dependencies=[RESPOND_ASYNC],
    openapi_extra=IDEMPOTENT,
    response_model=ProblemSetAnswer,
    responses=ACCEPTED,
)
async def make_problem_set(project_id: str, body: ProblemSetBody, phases: Phases) -> Response:
    """Make problems with known answers and import them as prompts, seen when all are there."""
    turns: UploadTurns = phases.request.app.state.upload_turns
    user_id = phases.caller.id

    def _begin(session: SessionDep, job_id: str) -> bool:
        """Begin the import before anything is made: nothing made waits for one of another process.

        False if the project has an import that has not ended.
        """
        new = NewImport(imports.of_job(job_id), project_id, user_id, "prompts", "native")
        return imports.begin(session, new, at=now())

    def _complete(session: SessionDep, _: Caller, made: dict[str, JSON]) -> dict[str, JSON]:
        outcome = IMPORT_OUTCOME.validate_python(made["outcome"])
        answer = imports.complete(session, NewImport(**made["new"]), outcome)
        told = body.model_dump(mode="json", include={"set", "seed", "split"})
        return {**answer.model_dump(mode="json"), **told, "levels": made["levels"]}

    return await answer_of_job(
        phases,
        "problem_set",
        {
            "project_id": project_id,
            "user_id": user_id,
            "body": body.model_dump(mode="json"),
        },
        project_id=project_id,
        conclude=_complete,
        # Its records are written beside no more imports than files are.
        place=turns.to_import(project_id),
        begin=_begin,
    )
