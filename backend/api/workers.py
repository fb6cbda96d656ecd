"""What is at work: live workers with their devices and runs, and the version of everything."""

from importlib.metadata import version

from backend.deps import CurrentUser, Now, SessionDep, SettingsDep, api_router
from backend.schemas.runs import VersionAnswer, WorkersAnswer
from backend.schemas.training import SCHEMA_VERSION
from backend.store import worker_views

router = api_router("workers")


@router.get("/workers")
def list_workers(
    session: SessionDep, caller: CurrentUser, settings: SettingsDep, at: Now
) -> WorkersAnswer:
    """Workers that have not stopped, newest first, what they run, and how many runs wait."""
    return worker_views.listing(session, caller, at=at, stale_s=settings.stale_s)


@router.get("/version")
def get_version(caller: CurrentUser, settings: SettingsDep) -> VersionAnswer:
    """What is running."""
    return VersionAnswer(
        version=version("podium"),
        schema_version=SCHEMA_VERSION,
        database="sqlite" if settings.is_embedded_database else "postgresql",
        broker="filesystem" if settings.is_embedded_broker else "redis",
    )
