"""The web service: `create_app` joins routers, error handlers, static files and start-up checks.

Served by `backend.ops.serve`, which guards the connections. It contains no rules.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute

from backend.api import (
    answers,
    assignments,
    audit,
    comparisons,
    differences,
    experiments,
    health,
    imports,
    invitations,
    jobs,
    members,
    methods,
    metrics,
    models,
    numbers,
    openapi,
    practice,
    problem_sets,
    problems,
    projects,
    prompts,
    results,
    runs,
    samples,
    seed_groups,
    session,
    shared_prompts,
    snapshots,
    static,
    stream,
    users,
    verdicts,
    versus,
    views,
    workers,
)
from backend.api.edge import Edge
from backend.auth import ensure_admin
from backend.domain.own_address import OwnAddress
from backend.domain.worker_state import Heartbeats
from backend.jobs.children import Children
from backend.jobs.runner import Jobs
from backend.jobs.withdrawal import dead_imports_removed
from backend.machine.wall_clock import now
from backend.pressure.passwords import Passwords
from backend.pressure.permissions import Permissions
from backend.pressure.sign_in_delay import SignInDelay
from backend.pressure.turns import Turns
from backend.pressure.visitors import Visitors
from backend.pressure.waiting_annotators import WaitingAnnotators
from backend.reading.reader import Reader
from backend.routes import ApiRoute
from backend.settings import Settings
from backend.store.db import Database
from backend.store.people import idempotency
from backend.store.revision import require_current
from backend.stream import Streams
from backend.traces.collector import Traces
from backend.traces.heads import Heads
from backend.traces.requests import Numbers
from backend.transactions import Transactions
from backend.uploads.spool import folder_of, remove_left_overs
from backend.uploads.turns import UploadTurns

PREFIX = "/api/v1"
# Old answers that are forgotten before the service answers: a second's work at most.
_BATCH, _BATCHES_AT_START = 200, 50
FRONTEND = Path(__file__).resolve().parents[1] / "frontend" / "dist"

ROUTERS: tuple[APIRouter, ...] = (
    session.router,
    users.router,
    members.router,
    invitations.router,
    projects.router,
    imports.router,
    problem_sets.router,
    jobs.router,
    prompts.router,
    comparisons.router,
    assignments.router,
    practice.router,
    snapshots.router,
    models.router,
    runs.router,
    experiments.router,
    metrics.router,
    verdicts.router,
    seed_groups.router,
    results.router,
    differences.router,
    samples.router,
    answers.router,
    shared_prompts.router,
    versus.router,
    views.router,
    stream.router,
    methods.router,
    workers.router,
    audit.router,
)


def create_app(
    settings: Settings | None = None,
    *,
    children: Children | None = None,
    reader: Reader | None = None,
) -> FastAPI:
    """The ASGI application; it opens nothing before its lifespan starts.

    `children`: processes for jobs that somebody else ends; by default it has its own. `reader`: the
    process for large answers, which ends with the application; without it they are made here.
    """
    settings = settings or Settings()
    app = FastAPI(
        title="Podium",
        summary="Rank responses, train the reward model, optimize the policy, watch it happen.",
        lifespan=_lifespan,
        # Made once, by `openapi.Description`: FastAPI would encode it for each request.
        openapi_url=None,
        # Their pages load scripts from elsewhere, which the content security policy forbids.
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.database = Database(settings.sqlalchemy_url)
    app.state.passwords = Passwords()
    app.state.turns = Turns(app.state.database)
    app.state.reader = reader
    app.state.transactions = Transactions(app.state.database, app.state.turns, reader)
    app.state.sign_in_delay = SignInDelay()
    app.state.readiness = health.Readiness(app.state.database, settings)
    app.state.visitors = Visitors()
    app.state.permissions = Permissions(app.state.database)
    app.state.upload_turns = UploadTurns()
    app.state.streams = Streams(app.state.database, reader)
    app.state.waiting_annotators = WaitingAnnotators(app.state.database, now)
    app.state.numbers = Numbers()
    app.state.database.on_hold = app.state.numbers.held
    app.state.traces = Traces(app.state.database, now)
    app.state.jobs = Jobs(app.state.database, settings, children)
    app.state.heartbeats = Heartbeats()
    own = OwnAddress(settings.public_url, settings.host_names)
    app.state.own_address = own
    problems.install(app)
    app.add_middleware(Edge, own=own, trusted=settings.trusted_networks)
    app.router.routes.extend(_routes())
    openapi.install(app, _description())
    static.mount(app, FRONTEND)
    return app


@cache
def _routes() -> list[BaseRoute]:
    """The routes of every application of this process, which FastAPI looks at once for all."""
    # FastAPI asks one after the other. Whoever ranks comes most often and waits for each answer.
    routers = sorted(ROUTERS, key=lambda router: router is not assignments.router)
    # Not by `include_router`, which would look at each of them once more.
    below = [_below(route) for router in routers for route in router.routes]
    return [*below, *health.router.routes, *numbers.router.routes]


def _below(route: BaseRoute) -> ApiRoute:
    """The route at its address below `PREFIX`. Raises TypeError for one that admits anybody."""
    if not isinstance(route, ApiRoute):
        path = getattr(route, "path", route)
        raise TypeError(f"{path} is no ApiRoute; make its router by `routes.api_router`")
    return route.below(PREFIX)


@cache
def _description() -> openapi.Description:
    """What every application of this process says of its routes."""
    return openapi.Description(PREFIX, _routes())


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    database: Database = app.state.database
    settings: Settings = app.state.settings
    require_current(database)
    with database.write() as session:
        ensure_admin(session, settings.data_dir, at=now())
    _forget_old_answers(database)
    remove_left_overs(folder_of(settings.data_dir))
    app.state.jobs.open()
    try:
        async with (
            dead_imports_removed(database),
            Heads(database, settings.data_dir).kept(),
            app.state.traces.written(),
        ):
            yield
    finally:
        app.state.permissions.close()
        app.state.streams.close()
        app.state.waiting_annotators.close()
        await app.state.jobs.close()
        if app.state.reader is not None:
            app.state.reader.close()
        database.close()


def _forget_old_answers(database: Database) -> None:
    """Forget what was answered long ago, in short transactions; the rest goes as others come."""
    for _ in range(_BATCHES_AT_START):
        with database.write() as session:
            before = now() - idempotency.KEPT_FOR
            if idempotency.forget(session, before=before, most=_BATCH) < _BATCH:
                return
