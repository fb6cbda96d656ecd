"""Imports: files of prompts, demonstrations, comparisons, preferences or solutions."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from typing import IO, Annotated

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
    visible_project,
)
from backend.domain.formats import read_row
from backend.errors import InvalidInput
from backend.schemas.data import ImportAnswer, ImportFormat, ImportKind
from backend.schemas.vocabulary import Role
from backend.store.data import imports
from backend.uploads import decode, spool

router = api_router("imports")


async def _upload(
    request: Request, project_id: str, database: DatabaseDep, settings: SettingsDep, at: Now
) -> AsyncIterator[IO[bytes]]:
    """The body as a file on disk, taken before the writing session opens and for members only."""

    def _check() -> None:
        with database.read() as session:
            caller = caller_of(request, session, settings, at)
            caller.must_hold(Role.RESEARCHER)
            visible_project(session, caller, project_id)

    await run_in_threadpool(_check)
    file = await spool(request.stream())
    with file:
        digest = await run_in_threadpool(_digest, file)
        # What an Idempotency-Key is compared by; the stream itself cannot be read again.
        request.state.body_sha256 = digest
        yield file


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
    file: Annotated[IO[bytes], Depends(_upload)],
    project_id: str,
    kind: ImportKind,
    session: SessionDep,
    caller: Researcher,
    at: Now,
    format: ImportFormat = "auto",
    strict: bool = False,
    content_type: Annotated[str, Header(max_length=200)] = "",
) -> ImportAnswer:
    """Import the valid records of a file and list each rejected line with the reason."""
    visible_project(session, caller, project_id)
    return imports.take(
        session,
        project_id,
        caller.id,
        _records(file, content_type, kind, format),
        kind=kind,
        file_format=format,
        strict=strict,
        at=at,
    )


def _records(
    file: IO[bytes], content_type: str, kind: ImportKind, file_format: ImportFormat
) -> Iterator[imports.Line]:
    for number, row, problem in decode(file, content_type):
        try:
            yield number, problem or read_row(kind, file_format, row)
        except InvalidInput as error:
            yield number, error.detail


def _digest(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()
