"""The web service: `create_app` joins routers, error handlers, static files and start-up checks.

Run by `backend.ops.serve` under `podium up`, elsewhere by `uvicorn --factory
backend.main:create_app`. It contains no rules.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI

from backend.api import (
    assignments,
    audit,
    comparisons,
    experiments,
    health,
    imports,
    jobs,
    methods,
    metrics,
    models,
    problems,
    projects,
    prompts,
    runs,
    samples,
    session,
    snapshots,
    static,
    stream,
    users,
    workers,
)
from backend.api.edge import Edge
from backend.auth import PasswordTries, ensure_admin
from backend.deps import ANSWERS_KEPT, Turns, now
from backend.domain.worker_state import Heartbeats
from backend.jobs.children import Children
from backend.jobs.runner import Jobs
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import idempotency
from backend.store.revision import require_current
from backend.stream import Streams

PREFIX = "/api/v1"
FRONTEND = Path(__file__).resolve().parents[1] / "frontend" / "dist"

ROUTERS: tuple[APIRouter, ...] = (
    session.router,
    users.router,
    projects.router,
    imports.router,
    jobs.router,
    prompts.router,
    comparisons.router,
    assignments.router,
    snapshots.router,
    models.router,
    runs.router,
    experiments.router,
    metrics.router,
    samples.router,
    stream.router,
    methods.router,
    workers.router,
    audit.router,
)


def create_app(settings: Settings | None = None, *, children: Children | None = None) -> FastAPI:
    """The ASGI application; it opens nothing before its lifespan starts.

    `children`: processes for jobs that somebody else ends; by default it has its own.
    """
    settings = settings or Settings()
    app = FastAPI(
        title="Podium",
        summary="Rank responses, train the reward model, optimize the policy, watch it happen.",
        lifespan=_lifespan,
        openapi_url=f"{PREFIX}/openapi.json",
        # Their pages load scripts from elsewhere, which the content security policy forbids.
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.database = Database(settings.sqlalchemy_url)
    app.state.password_tries = PasswordTries()
    app.state.turns = Turns(app.state.database)
    app.state.streams = Streams(app.state.database)
    app.state.jobs = Jobs(app.state.database, settings, children)
    app.state.heartbeats = Heartbeats()
    problems.install(app)
    app.add_middleware(Edge)
    for router in ROUTERS:
        app.include_router(router, prefix=PREFIX)
    app.include_router(health.router)
    static.mount(app, FRONTEND)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    database: Database = app.state.database
    settings: Settings = app.state.settings
    require_current(database)
    with database.write() as session:
        ensure_admin(session, settings.data_dir, at=now())
        idempotency.forget(session, before=now() - ANSWERS_KEPT)
    app.state.jobs.open()
    try:
        yield
    finally:
        app.state.streams.close()
        await app.state.jobs.close()
        database.close()
