"""Imports: files of prompts, demonstrations, comparisons, preferences or solutions."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated

import anyio
from fastapi import Header, Query
from fastapi.concurrency import run_in_threadpool

from backend.api.waiting import must_be_new
from backend.deps import IDEMPOTENT, SessionDep, SettingsDep, database_of
from backend.errors import InvalidInput, TooBusy
from backend.jobs import import_process
from backend.jobs.withdrawal import withdraw
from backend.phases import Phases
from backend.pressure.turns import client_has_left
from backend.routes import api_router
from backend.schemas.data import (
    ImportAnswer,
    ImportFormat,
    ImportKind,
    ProblemSplit,
    PublishedSet,
)
from backend.store.data import imports
from backend.store.data.import_rows import NewImport
from backend.store.db import Database
from backend.store.ids import new_id
from backend.uploads.spool import folder_of, spooled
from backend.uploads.turns import UploadTurns

router = api_router("imports")

# For a turn to complete an import; after a minute without a sign of life others withdraw it.
PATIENCE_S = 30.0


@router.post(
    "/projects/{project_id}/imports",
    status_code=201,
    openapi_extra={
        **IDEMPOTENT,
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
        },
    },
)
async def import_file(
    project_id: str,
    kind: ImportKind,
    phases: Phases,
    settings: SettingsDep,
    format: ImportFormat = "auto",
    strict: bool = False,
    set: Annotated[
        PublishedSet | None,
        Query(description="Prompts alone: the rows are records of this set as it was published."),
    ] = None,
    split: Annotated[
        ProblemSplit | None,
        Query(description="Which part of the published set it is; wanted with `set`."),
    ] = None,
    instruction: Annotated[
        str, Query(max_length=1000, description="A line after each question of a published set.")
    ] = "",
    content_type: Annotated[str, Header(max_length=200)] = "",
) -> ImportAnswer:
    """Import the valid records of a file and list each rejected row with the reason."""
    published = _published(kind, set, split, instruction)
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
        new = NewImport(new_id("import"), project_id, phases.caller.id, kind, format)
        more = {
            "path": str(upload.path),
            "content_type": content_type,
            "strict": strict,
            "published": published,
        }
        database = await database_of(request)
        async with turns.importing(project_id), _nothing_left_of_failures(database, new.id):
            tally = await import_process.run(new, more, settings)
            # Whoever lost their role while the file was written shows nothing any more.
            answer = await _written(phases, lambda session: imports.complete(session, new, tally))
            if tally.judged_others:
                await import_process.settle(new.id, settings)
        return answer


def _published(
    kind: ImportKind,
    name: PublishedSet | None,
    split: ProblemSplit | None,
    instruction: str,
) -> dict[str, str] | None:
    """What the rows are, if they are records of a published set."""
    if name is None:
        told = "split" if split is not None else "instruction"
        if split is not None or instruction:
            raise InvalidInput(
                f"`{told}` is said of a published set alone", advice="Say which one with `set`."
            )
        return None
    if kind != "prompts":
        raise InvalidInput(
            f"records of {name} are prompts, not {kind}", advice="Import them with kind=prompts."
        )
    if split is None:
        raise InvalidInput(
            f"which split of {name} the file is was not said",
            advice="Send split=train or split=test.",
        )
    return {"set": name, "split": split, "instruction": instruction}


async def _written(phases: Phases, complete: Callable[[SessionDep], ImportAnswer]) -> ImportAnswer:
    """The last write of an import, which waits for its turn: minutes of work stand behind it.

    Whoever has only closed the connection, as a proxy does after a minute, finds it complete.
    """
    client_has_left.set(None)
    ends_at = time.monotonic() + PATIENCE_S
    while True:
        try:
            return await phases.write(lambda session, _: complete(session))
        except TooBusy:
            if time.monotonic() > ends_at:
                raise


@asynccontextmanager
async def _nothing_left_of_failures(database: Database, import_id: str) -> AsyncIterator[None]:
    """Withdraw the import on any exception; one that is complete stays."""
    try:
        yield
    except BaseException:
        with anyio.CancelScope(shield=True):
            await run_in_threadpool(withdraw, database, import_id)
        raise
