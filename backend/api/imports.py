"""Imports: files of prompts, demonstrations, comparisons, preferences or solutions."""

from collections.abc import AsyncIterator
from typing import Annotated

import anyio
from fastapi import Depends, Header, Request
from fastapi.concurrency import run_in_threadpool

from backend.deps import (
    IDEMPOTENT,
    DatabaseDep,
    Now,
    Researcher,
    SessionDep,
    SettingsDep,
    api_router,
    caller_of,
    used_key,
    visible_project,
)
from backend.domain.access import Caller
from backend.jobs import import_process
from backend.jobs.withdrawal import withdraw
from backend.jobs.work import JSON
from backend.schemas.data import ImportAnswer, ImportFormat, ImportKind
from backend.schemas.vocabulary import Role
from backend.settings import Settings
from backend.store.db import Database
from backend.store.ids import new_id
from backend.store.people import idempotency
from backend.uploads.spool import folder_of, spooled
from backend.uploads.turns import UploadTurns

router = api_router("imports")


async def _imported(
    request: Request,
    project_id: str,
    kind: ImportKind,
    database: DatabaseDep,
    settings: SettingsDep,
    at: Now,
    format: ImportFormat = "auto",
    strict: bool = False,
    content_type: Annotated[str, Header()] = "",
) -> AsyncIterator[ImportAnswer | None]:
    """The import itself, done while the request holds nothing; None if it was answered before.

    For members only, and before the writing session opens. The upload's turn lasts until the answer
    is kept, so that two requests with one Idempotency-Key come one after the other.
    """

    def _admit() -> Caller:
        with database.read() as session:
            caller = caller_of(request, session, settings, at)
            caller.must_hold(Role.RESEARCHER)
            visible_project(session, caller, project_id)
            return caller

    caller = await run_in_threadpool(_admit)
    turns: UploadTurns = request.app.state.upload_turns
    async with (
        turns.turn(caller.id),
        spooled(
            request.stream(), folder_of(settings.data_dir), min_free_bytes=settings.min_free_bytes
        ) as upload,
    ):
        # What an Idempotency-Key is compared by; the stream itself cannot be read again.
        request.state.body_sha256 = upload.sha256
        used = await used_key(request, caller)
        if used is not None and await run_in_threadpool(_was_answered, database, used):
            yield None
            return
        arguments: dict[str, JSON] = {
            "import_id": new_id("import"),
            "path": str(upload.path),
            "content_type": content_type,
            "project_id": project_id,
            "user_id": caller.id,
            "kind": kind,
            "format": format,
            "strict": strict,
        }
        yield await _run(arguments, database, settings)


async def _run(arguments: dict[str, JSON], database: Database, settings: Settings) -> ImportAnswer:
    try:
        return ImportAnswer.model_validate(await import_process.run(arguments, settings))
    except BaseException:
        # Its process may have died before it could clean up.
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(withdraw, database, arguments["import_id"])
        raise


def _was_answered(database: Database, used: dict[str, str]) -> bool:
    with database.read() as session:
        return idempotency.find(session, **used) is not None


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
def import_file(
    done: Annotated[ImportAnswer | None, Depends(_imported)],
    project_id: str,
    session: SessionDep,
    caller: Researcher,
) -> ImportAnswer:
    """Import the valid records of a file and list each rejected line with the reason."""
    assert done is not None  # Who was answered before is given the same answer, and not this one.
    return done
