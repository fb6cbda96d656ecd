"""Snapshots: freeze, look at, export."""

import json
from collections.abc import AsyncIterator
from functools import partial

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from backend.deps import (
    IDEMPOTENT,
    DatabaseDep,
    Now,
    PageDep,
    Researcher,
    SessionDep,
    Viewer,
    api_router,
    claim_of,
    visible_project,
)
from backend.domain import exports
from backend.domain.access import Caller
from backend.pressure.permissions import Claim, NoLongerPermitted, Permissions
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
from backend.turns import Turns

router = api_router("snapshots")


@router.post("/projects/{project_id}/snapshots", status_code=201, dependencies=[IDEMPOTENT])
def create_snapshot(
    project_id: str, body: SnapshotBody, session: SessionDep, caller: Researcher, at: Now
) -> SnapshotAnswer:
    """Freeze records of a project, split by prompt; runs refer to snapshots only."""
    visible_project(session, caller, project_id)
    return snapshots.create(session, project_id, body, at=at)


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
    request: Request,
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
    dropped = _dropped_ties(session, snapshot, format, split)
    claim = claim_of(request, caller, partial(_may_export, snapshot.project_id))
    file = _File(database, request.app.state.turns, snapshot, format, split)
    name = "-".join([snapshot_id, format, *([split] if split else [])])
    return StreamingResponse(
        file.batches(request.app.state.permissions, claim),
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


class _File:
    """The lines of a snapshot in a format, in batches of a few hundred."""

    def __init__(
        self,
        database: Database,
        turns: Turns,
        snapshot: SnapshotAnswer,
        name: ExportFormat,
        split: Split | None,
    ) -> None:
        self._database = database
        self._turns = turns
        self._snapshot = snapshot
        self._name = name
        self._split = split
        self._after = -1

    async def batches(self, permissions: Permissions, claim: Claim) -> AsyncIterator[bytes]:
        """The file, while this person may have it.

        Raises NoLongerPermitted. Each batch has a turn and a session of its own: neither is held
        while a slow client reads.
        """
        permission = permissions.open(claim)
        try:
            while True:
                async with self._turns.exporting(claim.user_id):
                    batch = await run_in_threadpool(self._next)
                if batch is None:
                    return
                # Asked after the read, which may have waited for its turn.
                if not await permission.holds():
                    raise NoLongerPermitted
                yield batch
        finally:
            permission.end()

    def _next(self) -> bytes | None:
        with self._database.read() as session:
            batch = snapshots.lines(
                session, self._snapshot.id, split=self._split, after=self._after
            )
        if not batch:
            return None
        self._after = batch[-1][0]
        return b"".join(_written(self._snapshot.kind, self._name, line) for _, line in batch)


def _may_export(project_id: str, caller: Caller) -> bool:
    return caller.holds(Role.VIEWER) and caller.sees(project_id)


def _dropped_ties(
    session: SessionDep, snapshot: SnapshotAnswer, name: ExportFormat, split: Split | None
) -> int:
    if name == "native":
        return 0
    return sum(
        exports.dropped_ties(snapshot.kind, name, line)
        for line in snapshots.every_line(session, snapshot.id, split=split)
    )


def _written(kind: SnapshotKind, name: ExportFormat, line: str) -> bytes:
    if name == "native":
        return line.encode() + b"\n"
    rows = exports.rows(kind, name, line)
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
