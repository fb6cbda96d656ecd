"""What is at work: live workers with their devices and runs, and the version of everything."""

from importlib.metadata import version
from time import monotonic

from fastapi import Request

from backend.deps import Now, SessionDep, SettingsDep
from backend.domain.access import Caller
from backend.domain.worker_state import SILENT_AFTER_BEATS
from backend.routes import api_router
from backend.schemas.training import SCHEMA_VERSION
from backend.schemas.workers import VersionAnswer, WorkersAnswer
from backend.store.workers import shown
from backend.store.workers.shown import Watch

router = api_router("workers")


@router.get("/workers")
def list_workers(
    request: Request, session: SessionDep, caller: Caller, settings: SettingsDep, at: Now
) -> WorkersAnswer:
    """Workers with state, devices and runs, newest first, and the number of queued runs."""
    silent_after_s = SILENT_AFTER_BEATS * settings.beat_s
    watch = Watch(request.app.state.heartbeats, at, monotonic(), silent_after_s)
    return shown.listing(session, caller, watch)


@router.get("/version")
def get_version(settings: SettingsDep) -> VersionAnswer:
    """The versions of Podium and of its run configs, and the kinds of database and broker."""
    return VersionAnswer(
        version=version("podium"),
        schema_version=SCHEMA_VERSION,
        database="sqlite" if settings.is_embedded_database else "postgresql",
        broker="filesystem" if settings.is_embedded_broker else "redis",
    )
