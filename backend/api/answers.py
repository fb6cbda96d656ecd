"""Answers: what a run that samples was answered, as the file that came home."""

from collections.abc import AsyncIterator
from typing import IO

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from backend.artifacts import ArtifactStore
from backend.deps import SettingsDep
from backend.phases import Phases
from backend.pressure.permissions import Claim, NoLongerPermitted, Permissions
from backend.pressure.turns import Turns
from backend.routes import api_router
from backend.store.runs import outputs, runs

router = api_router("answers")

# Between two looks at whether this person may still have the rest.
_PART_BYTES = 2**20


@router.get(
    "/runs/{run_id}/answers",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}}}},
)
async def download_answers(
    run_id: str, request: Request, phases: Phases, settings: SettingsDep
) -> StreamingResponse:
    """Every response of a generate or evaluate run, one JSON object per line."""
    project_id, kept = await phases.read(
        lambda session: (runs.get(session, run_id).project_id, outputs.answers(session, run_id))
    )
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
