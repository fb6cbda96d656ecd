"""Answers of a run that samples: as the file that came home, in pages, or counted."""

import hashlib
import json
from collections.abc import AsyncIterator
from functools import partial
from typing import IO, Annotated, Any, Literal

from fastapi import Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic_core import to_json

from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, answer_of_job
from backend.artifacts import ArtifactStore
from backend.deps import SessionDep, SettingsDep
from backend.domain.records.answers import rule_of
from backend.domain.records.reading_answers import MOST_SHOWN, Part, Wanted, part_of
from backend.phases import Phases
from backend.pressure.permissions import Claim, NoLongerPermitted, Permissions
from backend.pressure.turns import Turns
from backend.routes import api_router
from backend.schemas.data import AnswerLine, AnswersCount, AnswersFilter
from backend.schemas.paging import Id, Label, Listing
from backend.store.data import prompts
from backend.store.paging import not_issued, number_in
from backend.store.runs import outputs, runs
from backend.store.runs.outputs import OutputFile

router = api_router("answers")

# Between two looks at whether this person may still have the rest.
_PART_BYTES = 2**20
# A prompt may be as long as a page.
_PROMPTS_AT_ONCE = 8


@router.get(
    "/runs/{run_id}/answers",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}}}},
)
async def download_answers(
    run_id: str, request: Request, phases: Phases, settings: SettingsDep
) -> StreamingResponse:
    """Every response of a generate or evaluate run, one JSON object per line."""
    project_id, kept = await phases.read(partial(_kept, run_id=run_id))
    artifacts = ArtifactStore(settings.resolved_artifact_url)
    # A store that is away is told before the answer begins.
    file = await run_in_threadpool(artifacts.open, kept.key)
    claim = phases.claim_to_view(project_id)
    state = request.app.state
    return StreamingResponse(
        _parts(file, state.turns, state.permissions, claim),
        media_type="application/x-ndjson",
        headers={
            "Content-Disposition": f'attachment; filename="{run_id}-{outputs.ANSWERS}"',
            # Whoever gets less than this has not got the whole.
            "Content-Length": str(kept.size_bytes),
            "X-Podium-Sha256": kept.sha256,
        },
    )


@router.get("/runs/{run_id}/answers/lines")
async def list_answers(
    run_id: str,
    request: Request,
    phases: Phases,
    settings: SettingsDep,
    limit: Annotated[int, Query(ge=1, le=200, description="Answers per page.")] = 50,
    cursor: Annotated[
        str | None, Query(max_length=200, description="The next_cursor of the previous page.")
    ] = None,
    model: Annotated[
        Literal["model", "baseline"] | None, Query(description="Which of the two answered.")
    ] = None,
    set_name: Annotated[
        Label | None,
        Query(description="The evaluation set; empty = the prompts of the run itself."),
    ] = None,
    passed: bool | None = None,
    prompt_id: Id | None = None,
) -> Listing[AnswerLine]:
    """The responses of a generate or evaluate run in the order of their file, with their prompts.

    A page may have fewer than `limit`, even none, before the last: so much of the file is read for
    one.
    """
    project_id, kept = await phases.read(partial(_kept, run_id=run_id))
    wanted = Wanted(model, set_name, passed, prompt_id)
    offset = 0 if cursor is None else number_in(cursor)
    artifacts = ArtifactStore(settings.resolved_artifact_url)
    async with request.app.state.turns.exporting(phases.caller.id):
        part = await run_in_threadpool(_part, artifacts, kept, offset, limit, wanted)
    return await phases.read(partial(_listed, project_id=project_id, part=part))


def _listed(session: SessionDep, project_id: str, part: Part) -> Listing[AnswerLine]:
    """The answers with their prompts, of which a page holds no more than of answers."""
    known: dict[str, list[Any]] = {}
    items: list[AnswerLine] = []
    n_bytes = 0
    for place, (offset, answer) in enumerate(part.answers):
        if place % _PROMPTS_AT_ONCE == 0:
            next_ones = part.answers[place : place + _PROMPTS_AT_ONCE]
            missing = {one.prompt_id for _, one in next_ones} - known.keys()
            known |= prompts.conversations(session, project_id, missing)
        line = AnswerLine.of(answer, known.get(answer.prompt_id))
        n_bytes += len(to_json(line)) if items else 0
        if n_bytes > MOST_SHOWN:
            return Listing(items=items, next_cursor=f"n{offset}")
        items.append(line)
    cursor = None if part.offset is None else f"n{part.offset}"
    return Listing(items=items, next_cursor=cursor)


def _kept(session: SessionDep, run_id: str) -> tuple[str, OutputFile]:
    """Find the project of a run and the file with its answers."""
    return runs.get(session, run_id).project_id, outputs.answers(session, run_id)


def _part(
    artifacts: ArtifactStore, kept: OutputFile, offset: int, limit: int, wanted: Wanted
) -> Part:
    """Read what is asked for from there on.

    Raises InvalidInput for a place where no line begins, Unavailable if the bucket does not answer.
    """
    with artifacts.open(kept.key) as file:
        with artifacts.answering():
            is_issued = offset == 0 or (offset <= kept.size_bytes and _ends_line(file, offset))
        if not is_issued:
            raise not_issued(f"n{offset}")
        with artifacts.answering():
            return part_of(file, offset, limit, wanted)


def _ends_line(file: IO[bytes], offset: int) -> bool:
    """Whether a line ends there, at which the file stands then."""
    file.seek(offset - 1)
    return file.read(1) == b"\n"


@router.get(
    "/runs/{run_id}/answers/count",
    dependencies=[RESPOND_ASYNC],
    response_model=AnswersCount,
    responses=ACCEPTED,
)
async def count_answers(
    run_id: str,
    phases: Phases,
    best: Annotated[int | None, Query(ge=1, le=1000)] = None,
    min_score: Annotated[float | None, Query(allow_inf_nan=False)] = None,
    passed: bool = False,
    term: Annotated[Label | None, Query()] = None,
) -> Response:
    """How many answers a rule keeps for a snapshot of demonstrations: its `filter.answers`."""
    wanted = AnswersFilter(
        run_id=run_id, best=best, min_score=min_score, passed=passed, term=term
    ).model_dump(mode="json")

    def _known(session: SessionDep) -> tuple[str, str]:
        run, kept = runs.get(session, run_id), outputs.answers(session, run_id)
        # A rule that does not fit is refused before the file is read.
        rule_of(AnswersFilter.model_validate(wanted), run.config)
        return run.project_id, kept.sha256

    project_id, file_hash = await phases.read(_known)
    return await answer_of_job(
        phases,
        "count_answers",
        {"project_id": project_id, "wanted": wanted},
        project_id=project_id,
        cache_key=f"{file_hash} {_hash_of(wanted)}",
    )


def _hash_of(wanted: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()


async def _parts(
    file: IO[bytes], turns: Turns, permissions: Permissions, claim: Claim
) -> AsyncIterator[bytes]:
    """The file, while this person may have it; nothing is held while a slow client reads.

    Raises NoLongerPermitted.
    """
    permission = permissions.open(claim)
    try:
        while True:
            async with turns.exporting(claim.user_id):
                part = await run_in_threadpool(file.read, _PART_BYTES)
            if not part:
                return
            # Asked after the read, which may have waited for its turn.
            if not await permission.holds():
                raise NoLongerPermitted
            yield part
    finally:
        permission.end()
        file.close()
