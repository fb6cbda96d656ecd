"""Snapshots: freeze, look at, export."""

import json
from collections.abc import AsyncIterator
from functools import partial

from fastapi import Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, answer_of_job
from backend.deps import IDEMPOTENT, DatabaseDep, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.domain.records import exports
from backend.jobs.work import JSON
from backend.phases import Phases
from backend.pressure.permissions import Claim, NoLongerPermitted, Permissions
from backend.pressure.turns import Turns
from backend.routes import api_router
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
async def create_snapshot(project_id: str, body: SnapshotBody, phases: Phases, at: Now) -> Response:
    """Freeze records of a project, split by prompt; runs refer to snapshots only."""
    arguments = {
        "project_id": project_id,
        "body": body.model_dump(mode="json"),
        "at": at.isoformat(),
    }
    return await answer_of_job(
        phases, "freeze_snapshot", arguments, project_id=project_id, conclude=_publish
    )


def _publish(session: SessionDep, _: Caller, frozen: dict[str, JSON]) -> dict[str, JSON]:
    return snapshots.publish(session, **frozen).model_dump(mode="json")


@router.get("/projects/{project_id}/snapshots")
def list_snapshots(
    project_id: str,
    session: SessionDep,
    page: PageDep,
    kind: SnapshotKind | None = None,
    archived: bool = False,
) -> Listing[SnapshotAnswer]:
    """The snapshots of a project."""
    return snapshots.listing(session, project_id, page, kind=kind, archived=archived)


@router.get("/snapshots/{snapshot_id}")
def get_snapshot(snapshot_id: str, session: SessionDep, caller: Caller) -> SnapshotAnswer:
    """One snapshot with hash and counts."""
    return snapshots.get(session, snapshot_id, caller)


@router.get("/snapshots/{snapshot_id}/lines")
def list_lines(
    snapshot_id: str,
    session: SessionDep,
    caller: Caller,
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
    caller: Caller,
    phases: Phases,
    format: ExportFormat = "native",
    split: Split | None = None,
) -> StreamingResponse:
    """Export a snapshot, one JSON object per line.

    In the native format all lines together have the sha256 of the snapshot.
    """
    snapshot = snapshots.get(session, snapshot_id, caller)
    exports.check_format(snapshot.kind, format)
    dropped = _dropped_ties(session, snapshot, format, split)
    claim = phases.claim(partial(_may_export, snapshot.project_id))
    state = phases.request.app.state
    file = _File(database, state.turns, snapshot, format, split)
    name = "-".join([snapshot_id, format, *([split] if split else [])])
    return StreamingResponse(
        file.batches(state.permissions, claim),
        media_type="application/x-ndjson",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.jsonl"',
            "X-Podium-Dropped-Ties": str(dropped),
            "X-Podium-Sha256": snapshot.sha256,
        },
    )


@router.post("/snapshots/{snapshot_id}/archive")
def archive_snapshot(
    snapshot_id: str, session: SessionDep, caller: Caller, at: Now
) -> SnapshotAnswer:
    """Take a snapshot out of the lists; nothing is deleted."""
    return snapshots.set_archived(session, snapshot_id, caller, at=at)


@router.post("/snapshots/{snapshot_id}/restore")
def restore_snapshot(snapshot_id: str, session: SessionDep, caller: Caller) -> SnapshotAnswer:
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
    return caller.holds_in(project_id, Role.VIEWER)


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
