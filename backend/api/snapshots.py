"""Snapshots: freeze, look at, export."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fastapi import Response
from fastapi.responses import StreamingResponse

from backend.api.waiting import ACCEPTED, RESPOND_ASYNC, answer_of_job
from backend.deps import IDEMPOTENT, Now, PageDep, SessionDep
from backend.domain.access import Caller
from backend.domain.records import exports
from backend.jobs.work import JSON
from backend.phases import Phases
from backend.pressure.permissions import Claim, NoLongerPermitted, Permissions
from backend.reading.calls import Call, Made, register
from backend.routes import api_router
from backend.schemas.data import (
    ExportFormat,
    SnapshotAnswer,
    SnapshotBody,
    SnapshotLineAnswer,
)
from backend.schemas.paging import Listing
from backend.schemas.vocabulary import SnapshotKind, Split
from backend.store.data import snapshots
from backend.transactions import Transactions

router = api_router("snapshots")


@router.post(
    "/projects/{project_id}/snapshots",
    status_code=201,
    dependencies=[RESPOND_ASYNC],
    openapi_extra=IDEMPOTENT,
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
async def export_snapshot(
    snapshot_id: str,
    phases: Phases,
    format: ExportFormat = "native",
    split: Split | None = None,
) -> StreamingResponse:
    """Export a snapshot, one JSON object per line.

    In the native format all lines together have the sha256 of the snapshot.
    """
    caller = phases.caller
    snapshot = await phases.read(lambda session: snapshots.get(session, snapshot_id, caller))
    exports.check_format(snapshot.kind, format)
    state = phases.request.app.state
    file = _File(state.transactions, snapshot, format, split)
    dropped = await file.dropped_ties(caller.id)
    claim = phases.claim_to_view(snapshot.project_id)
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
        transactions: Transactions,
        snapshot: SnapshotAnswer,
        name: ExportFormat,
        split: Split | None,
    ) -> None:
        self._transactions = transactions
        self._name = name
        self._values = {
            "snapshot_id": snapshot.id,
            "kind": snapshot.kind,
            "name": name,
            "split": split,
        }

    async def dropped_ties(self, user_id: str) -> int:
        """How many ties the format cannot say."""
        if self._name == "native":
            return 0
        made = await self._transactions.make(user_id, Call("dropped_ties", self._values))
        dropped: int = made.facts["dropped"]
        return dropped

    async def batches(self, permissions: Permissions, claim: Claim) -> AsyncIterator[bytes]:
        """The file, while this person may have it.

        Raises NoLongerPermitted. Each batch has a turn and a session of its own: neither is held
        while a slow client reads.
        """
        permission = permissions.open(claim)
        after: int | None = -1
        try:
            while True:
                call = Call("export_batch", self._values | {"after": after})
                batch = await self._transactions.make_batch(claim.user_id, call)
                after = batch.facts["after"]
                if after is None:
                    return
                # Asked after the read, which may have waited for its turn.
                if not await permission.holds():
                    raise NoLongerPermitted
                yield batch.body
        finally:
            permission.end()


def _batch(session: SessionDep, _: Caller | None, asked: Mapping[str, Any]) -> Made:
    """The next lines of a snapshot in a format; `after` is the position of the last, or null."""
    kind, split = SnapshotKind(asked["kind"]), asked["split"]
    batch = snapshots.lines(session, asked["snapshot_id"], split=split, after=asked["after"])
    text = b"".join(_written(kind, asked["name"], line) for _, line in batch)
    return Made({"after": batch[-1][0] if batch else None}, text)


def _dropped_ties(session: SessionDep, _: Caller | None, asked: Mapping[str, Any]) -> Made:
    kind = SnapshotKind(asked["kind"])
    lines = snapshots.every_line(session, asked["snapshot_id"], split=asked["split"])
    dropped = sum(exports.dropped_ties(kind, asked["name"], line) for line in lines)
    return Made({"dropped": dropped}, b"")


register("export_batch", _batch)
register("dropped_ties", _dropped_ties)


def _written(kind: SnapshotKind, name: ExportFormat, line: str) -> bytes:
    if name == "native":
        return line.encode() + b"\n"
    rows = exports.rows(kind, name, line)
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
