"""Is the process alive, and can it do its work; without the /api/v1 prefix and without a key."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request, Response

from backend import broker
from backend.api.openapi import refusals
from backend.deps import DatabaseDep, SettingsDep
from backend.errors import Unavailable
from backend.machine import disk_space
from backend.routes import LateRoute
from backend.schemas.numbers import gb
from backend.settings import Settings
from backend.store import revision
from backend.store.db import Database

# A foreign host, and what any request can meet; no credentials and no turn are asked for.
_REFUSALS = refusals((400, 408, 414, 500, 503))
_NOT_READY = {
    "description": "A dependency that requests need cannot be used.",
    "content": {"application/json": {"schema": {"type": "object"}}, **_REFUSALS[503]["content"]},
}

router = APIRouter(tags=["health"], responses=_REFUSALS, route_class=LateRoute)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
def is_alive() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses={503: _NOT_READY})
async def is_ready(
    request: Request, response: Response, database: DatabaseDep, settings: SettingsDep
) -> dict[str, Any]:
    """The state of every dependency; 503 if one that requests need cannot be used.

    Without the broker all requests work, but queued runs start a little later. With a nearly full
    disk all requests work, but a worker on that disk takes no new run.
    """
    # Whoever asks has shown no key: all of them together get one thread and one connection.
    one = request.app.state.readiness
    return await anyio.to_thread.run_sync(_look, response, database, settings, limiter=one)


def _look(response: Response, database: Database, settings: Settings) -> dict[str, Any]:
    needed = {
        "database": _state(lambda: revision.require_current(database)),
        "data_dir": _state(lambda: _check_folder(settings.data_dir)),
    }
    wanted = {
        "broker": _state(lambda: broker.require_broker(settings)),
        "disk": _state(lambda: _check_space(settings.data_dir, settings.min_free_bytes)),
    }
    checks = {**needed, **wanted}
    ready = all(state == "ok" for state in needed.values())
    response.status_code = 200 if ready else 503
    return {"status": "ok" if ready else "unavailable", "checks": checks}


def _state(check: Callable[[], None]) -> str:
    try:
        check()
    except Unavailable as error:
        return error.detail
    return "ok"


def _check_folder(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Unavailable("the data directory is missing or not writable")


def _check_space(folder: Path, needed_bytes: int) -> None:
    try:
        space = disk_space.look_at(folder, needed_bytes)
    except OSError as error:
        raise Unavailable(f"the data directory cannot be read: {error.strerror}") from error
    if space.is_low:
        raise Unavailable(
            f"{gb(space.free_bytes)} are free; a worker on this disk takes no new run "
            f"below {gb(needed_bytes)}"
        )
