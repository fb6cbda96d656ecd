"""What an annotator does: take a comparison, judge it, skip it, renew or release the lease."""

from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import Body, Query, Response
from pydantic import AwareDatetime

from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.comparisons import (
    AnnotationProgress,
    AssignmentAnswer,
    AssignmentBody,
    JudgmentAnswer,
    JudgmentBody,
    OwnJudgmentAnswer,
    ReleaseBody,
    SkipBody,
)
from backend.schemas.paging import Id, Listing
from backend.store.data import assignments, judgments, places, practice
from backend.store.data.places import FarBehind, Look

router = api_router("assignments", is_audited=False)

# Days that every zone can say in UTC, too.
_FIRST_DAY, _LAST_DAY = datetime(2000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)


@router.post(
    "/projects/{project_id}/assignments",
    status_code=201,
    openapi_extra=IDEMPOTENT,
    responses={204: {"description": "Nothing is left for this annotator."}},
)
async def take_assignment(
    project_id: str,
    response: Response,
    phases: Phases,
    at: Now,
    body: Annotated[AssignmentBody | None, Body()] = None,
) -> AssignmentAnswer | None:
    """Lease the next comparison for 15 minutes; 204 if nothing is left for this annotator.

    An annotator who has not acknowledged the newest guidelines, or not passed the practice of the
    project, gets 409.

    Each call leases another comparison. With `held`, live leases that are not in the list are
    returned first. With `offline` the lease lasts 8 hours. Whoever holds 20 comparisons of the
    project gets 409.
    """
    take = partial(_take, project_id, body or AssignmentBody(), at)
    # Who is far behind is told so by an exception: after the ROLLBACK psycopg forgets what this
    # connection has prepared. That is seldom, as a place is noted next, and to ask before the turn
    # would be a message more for each lease. During an import it is often, as none is noted.
    try:
        taken = await phases.write(partial(take, None))
    except FarBehind:
        own = phases.caller.id
        # A small read, which waits for no chart: during an import each of their leases looks.
        seen = await phases.read(lambda session: places.look(session, project_id, own))
        taken = await phases.write(partial(take, seen))
    response.status_code = 204 if taken is None else 201
    return taken


def _take(
    project_id: str,
    body: AssignmentBody,
    at: datetime,
    seen: Look | None,
    session: SessionDep,
    caller: Caller,
) -> AssignmentAnswer | None:
    return assignments.lease(
        session,
        project_id,
        caller.id,
        held=body.held,
        is_offline=body.offline,
        gate=practice.READY if caller.only_ranks_in(project_id) else None,
        seen=seen,
        at=at,
    )


@router.post("/assignments/{assignment_id}/judgment", status_code=201, openapi_extra=IDEMPOTENT)
def judge(
    assignment_id: str, body: JudgmentBody, session: SessionDep, caller: Caller, at: Now
) -> JudgmentAnswer:
    """Store a judgment.

    Sending the same body again gives the same answer; `revise: true` replaces an earlier judgment.
    A judgment that cannot count any more is kept for review, and `review_reason` says why: others
    took the comparison after the lease ran out, or the caller judged it differently before.
    """
    return judgments.submit(session, assignment_id, caller.id, body, at=at)


@router.get("/projects/{project_id}/judgments/own")
async def list_own_judgments(
    project_id: str,
    phases: Phases,
    page: PageDep,
    q: Annotated[
        str | None,
        Query(
            max_length=200,
            description="Words of the prompt, of a response or of the note; whatever their case.",
        ),
    ] = None,
    assignment_id: Id | None = None,
) -> Listing[OwnJudgmentAnswer]:
    """The caller's own judgments with their texts, each in its last revision, newest first.

    Those that are kept for review are among them.
    """
    caller_id = phases.caller.id
    # Words are looked for in all texts that this person has judged.
    read = phases.read_much if q else phases.read
    return await read(
        lambda session: judgments.own_listing(
            session, project_id, caller_id, page, words=q, assignment_id=assignment_id
        )
    )


@router.post("/assignments/{assignment_id}/skip", status_code=204)
def skip(assignment_id: str, body: SkipBody, session: SessionDep, caller: Caller) -> None:
    """Pass a comparison on to others."""
    assignments.skip(session, assignment_id, caller.id, reason=body.reason)


@router.post("/assignments/{assignment_id}/renew")
def renew(assignment_id: str, session: SessionDep, caller: Caller, at: Now) -> AssignmentAnswer:
    """Renew the lease: it lasts 15 minutes from now.

    A lease ends 2 hours after it was granted, or 8 hours if it was taken with `offline`: then 409.
    """
    return assignments.renew(session, assignment_id, caller.id, at=at)


@router.post("/projects/{project_id}/assignments/release", status_code=204)
def release(
    project_id: str, body: ReleaseBody, session: SessionDep, caller: Caller, at: Now
) -> None:
    """Give leases back: they expire in one minute unless they are renewed.

    A lease whose `expires_at` differs was renewed meanwhile and stays as it is, so a request that
    arrives late takes nothing from a page that was reloaded.
    """
    assignments.release(session, project_id, caller.id, body.leases, at=at)


@router.get("/projects/{project_id}/annotation")
def progress(
    project_id: str,
    session: SessionDep,
    caller: Caller,
    at: Now,
    day_start: Annotated[
        AwareDatetime | None,
        Query(
            ge=_FIRST_DAY,
            le=_LAST_DAY,
            description="When the annotator's day began; midnight UTC unless it is given.",
        ),
    ] = None,
) -> AnnotationProgress:
    """How many judgments this annotator and the project have, and how many are left."""
    return assignments.progress(session, project_id, caller.id, day_start=day_start, at=at)
