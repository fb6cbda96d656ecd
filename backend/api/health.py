"""Is the process alive, and can it do its work; without the /api/v1 prefix and without a key.

Whoever asks may be anybody: they learn which part cannot be used and not why, and share one look a
second. The reason is for the log and for `podium doctor`.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from fastapi import APIRouter, Request, Response

from backend import broker
from backend.api.openapi import refusals
from backend.errors import Unavailable
from backend.machine import disk_space
from backend.routes import LateRoute
from backend.schemas.numbers import gb
from backend.settings import Settings
from backend.store import revision
from backend.store.db import Database

log = logging.getLogger("podium.health")

# For so long all get what was found last.
KEPT_FOR_S = 1.0
OK, AWAY = "ok", "unavailable"
# Without these no request can be answered.
_NEEDED = ("database", "data_dir")
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
    return {"status": OK}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses={503: _NOT_READY})
async def is_ready(request: Request, response: Response) -> dict[str, Any]:
    """Whether each dependency can be used, as of a second ago; 503 if requests need one that
    cannot.

    Without the broker all requests work, but queued runs start a little later. With a nearly full
    disk all requests work, but a worker on that disk takes no new run. `podium doctor` and the log
    say why something is unavailable.
    """
    readiness: Readiness = request.app.state.readiness
    reasons = await readiness.reasons()
    is_fit = all(reasons[name] is None for name in _NEEDED)
    response.status_code = 200 if is_fit else 503
    checks = {name: OK if reason is None else AWAY for name, reason in reasons.items()}
    return {"status": OK if is_fit else AWAY, "checks": checks}


class Readiness:
    """Why each dependency cannot be used, as whoever looked last has found; None: it can be.

    All who ask together wait for one look, with one thread and one connection.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        folder, needed_bytes = settings.data_dir, settings.min_free_bytes
        self._checks: Mapping[str, Callable[[], None]] = {
            "database": lambda: revision.require_current(database),
            "data_dir": lambda: _check_folder(folder),
            "broker": lambda: broker.require_broker(settings),
            "disk": lambda: _check_space(folder, needed_bytes),
        }
        self._clock = clock
        self._looking = anyio.Lock()
        self._one_thread = anyio.CapacityLimiter(1)
        self._found: Mapping[str, str | None] = dict.fromkeys(self._checks)
        self._ends_at: float | None = None

    async def reasons(self) -> Mapping[str, str | None]:
        """What was found at most a second ago, by the name of the dependency."""
        if self._is_old:
            async with self._looking:
                if self._is_old:  # Nobody has looked meanwhile.
                    await self._look()
        return self._found

    @property
    def _is_old(self) -> bool:
        return self._ends_at is None or self._clock() >= self._ends_at

    async def _look(self) -> None:
        found = await anyio.to_thread.run_sync(self._all_reasons, limiter=self._one_thread)
        for name, reason in found.items():
            # Once for each: whoever asks every second fills no log.
            if reason is not None and self._found[name] is None:
                log.warning("health.unavailable", extra={"check": name, "error": reason})
        self._found = found
        self._ends_at = self._clock() + KEPT_FOR_S

    def _all_reasons(self) -> dict[str, str | None]:
        return {name: _reason(check) for name, check in self._checks.items()}


def _reason(check: Callable[[], None]) -> str | None:
    try:
        check()
    except Unavailable as error:
        return error.detail
    return None


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
