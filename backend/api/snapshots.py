"""Snapshots: freeze, look at, export."""

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import Depends, Response
from fastapi.responses import StreamingResponse

from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, Asked, asked_by
from backend.deps import (
    IDEMPOTENT,
    DatabaseDep,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    Viewer,
    api_router,
    visible_project,
)
from backend.domain import exports
from backend.jobs.work import JSON
from backend.schemas.data import (
    ExportFormat,
    SnapshotAnswer,
    SnapshotBody,
    SnapshotLineAnswer,
)
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import Role, SnapshotKind, Split
from backend.store.data import snapshots
from backend.store.db import Database

router = api_router("snapshots")


@router.post(
    "/projects/{project_id}/snapshots",
    status_code=201,
    dependencies=[IDEMPOTENT, RESPOND_ASYNC],
    response_model=SnapshotAnswer,
    responses=ACCEPTED,
)
async def create_snapshot(
    project_id: str,
    body: SnapshotBody,
    asked: Annotated[Asked, Depends(asked_by(Role.RESEARCHER))],
    at: Now,
) -> Response:
    """Freeze records of a project, split by prompt; runs refer to snapshots only."""
    arguments = {
        "project_id": project_id,
        "body": body.model_dump(mode="json"),
        "at": at.isoformat(),
    }
    return await asked.job("freeze_snapshot", arguments, finish=_publish)


@router.get("/projects/{project_id}/snapshots")
def list_snapshots(
    project_id: str,
    session: SessionDep,
    caller: Viewer,
    page: PageDep,
    kind: SnapshotKind | None = None,
    archived: bool = False,
) -> Listing[SnapshotAnswer]:
    """The snapshots of a project."""
    visible_project(session, caller, project_id)
    return snapshots.listing(session, project_id, page, kind=kind, archived=archived)


@router.get("/snapshots/{snapshot_id}")
def get_snapshot(snapshot_id: str, session: SessionDep, caller: Viewer) -> SnapshotAnswer:
    """One snapshot with hash and counts."""
    return snapshots.get(session, snapshot_id, caller)


@router.get("/snapshots/{snapshot_id}/lines")
def list_lines(
    snapshot_id: str,
    session: SessionDep,
    caller: Viewer,
    page: PageDep,
    split: Split | None = None,
) -> Listing[SnapshotLineAnswer]:
    """The frozen records, first to last."""
    snapshots.get(session, snapshot_id, caller)
    return snapshots.line_page(session, snapshot_id, page, split=split)


@router.get(
    "/snapshots/{snapshot_id}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}}}},
)
def export_snapshot(
    snapshot_id: str,
    session: SessionDep,
    database: DatabaseDep,
    caller: Viewer,
    format: ExportFormat = "native",
    split: Split | None = None,
) -> StreamingResponse:
    """One JSON object a line; the whole native file has the hash of the snapshot."""
    snapshot = snapshots.get(session, snapshot_id, caller)
    exports.check_format(snapshot.kind, format)
    dropped = 0
    if format != "native":
        dropped = sum(
            exports.dropped_ties(snapshot.kind, format, line)
            for line in snapshots.every_line(session, snapshot_id, split=split)
        )
    name = "-".join([snapshot_id, format, *([split] if split else [])])
    return StreamingResponse(
        _file(database, snapshot, format, split),
        media_type="application/x-ndjson",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.jsonl"',
            "X-Podium-Dropped-Ties": str(dropped),
            "X-Podium-Sha256": snapshot.sha256,
        },
    )


@router.post("/snapshots/{snapshot_id}/archive")
def archive_snapshot(
    snapshot_id: str, session: SessionDep, caller: Researcher, at: Now
) -> SnapshotAnswer:
    """Take a snapshot out of the lists; nothing is deleted."""
    return snapshots.set_archived(session, snapshot_id, caller, at=at)


@router.post("/snapshots/{snapshot_id}/restore")
def restore_snapshot(snapshot_id: str, session: SessionDep, caller: Researcher) -> SnapshotAnswer:
    """Bring an archived snapshot back."""
    return snapshots.set_archived(session, snapshot_id, caller, at=None)


def _publish(session: SessionDep, frozen: dict[str, JSON]) -> dict[str, JSON]:
    return snapshots.publish(session, **frozen).model_dump(mode="json")


def _file(
    database: Database, snapshot: SnapshotAnswer, name: ExportFormat, split: Split | None
) -> Iterator[bytes]:
    after = -1
    while True:
        # A session for each few hundred lines: none is held while a slow client reads.
        with database.read() as session:
            batch = snapshots.lines(session, snapshot.id, split=split, after=after)
        if not batch:
            return
        after = batch[-1][0]
        yield b"".join(_written(snapshot.kind, name, line) for _, line in batch)


def _written(kind: SnapshotKind, name: ExportFormat, line: str) -> bytes:
    if name == "native":
        return line.encode() + b"\n"
    rows = exports.rows(kind, name, line)
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
