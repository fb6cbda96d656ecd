"""Imports: files of prompts, demonstrations, comparisons, preferences or solutions."""

from typing import Annotated

import anyio
from fastapi import Header
from fastapi.concurrency import run_in_threadpool

from backend.api.waiting import must_be_new
from backend.deps import IDEMPOTENT, SettingsDep, database_of
from backend.jobs import import_process
from backend.jobs.withdrawal import withdraw
from backend.jobs.work import JSON
from backend.phases import Phases
from backend.routes import api_router
from backend.schemas.data import ImportAnswer, ImportFormat, ImportKind
from backend.settings import Settings
from backend.store.db import Database
from backend.store.ids import new_id
from backend.uploads.spool import folder_of, spooled
from backend.uploads.turns import UploadTurns

router = api_router("imports")


@router.post(
    "/projects/{project_id}/imports",
    status_code=201,
    dependencies=[IDEMPOTENT],
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                name: {"schema": {"type": "string", "format": "binary"}}
                for name in (
                    "application/x-ndjson",
                    "application/json",
                    "text/csv",
                    "application/vnd.apache.parquet",
                )
            },
        }
    },
)
async def import_file(
    project_id: str,
    kind: ImportKind,
    phases: Phases,
    settings: SettingsDep,
    format: ImportFormat = "auto",
    strict: bool = False,
    content_type: Annotated[str, Header(max_length=200)] = "",
) -> ImportAnswer:
    """Import the valid records of a file and list each rejected line with the reason."""
    request, folder = phases.request, folder_of(settings.data_dir)
    turns: UploadTurns = request.app.state.upload_turns
    # The turn lasts until the answer is kept, so that two requests with one Idempotency-Key come
    # one after the other.
    async with (
        turns.turn(phases.caller.id),
        spooled(request.stream(), folder, min_free_bytes=settings.min_free_bytes) as upload,
    ):
        # What an Idempotency-Key is compared by; the stream itself cannot be read again.
        phases.body_sha256 = upload.sha256
        await must_be_new(phases, await phases.used_key())
        arguments: dict[str, JSON] = {
            "import_id": new_id("import"),
            "path": str(upload.path),
            "content_type": content_type,
            "project_id": project_id,
            "user_id": phases.caller.id,
            "kind": kind,
            "format": format,
            "strict": strict,
        }
        database = await database_of(request)
        async with turns.importing(project_id):
            answer = await _run(arguments, database, settings)
        return await phases.write(lambda session, caller: answer)


async def _run(arguments: dict[str, JSON], database: Database, settings: Settings) -> ImportAnswer:
    try:
        return ImportAnswer.model_validate(await import_process.run(arguments, settings))
    except BaseException:
        # Its process may have died before it could clean up.
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(withdraw, database, arguments["import_id"])
        raise
