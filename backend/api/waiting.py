"""Routes that wait for a job: the caller is checked, then nothing is held, then the write is short.

Such a route asks for `asked_by(role)` instead of a session. What it changes, the audit line and the
answer kept under an Idempotency-Key are one transaction, in which the caller is checked again. With
`Prefer: respond-async` it answers 202 at once, and the client comes back to `/jobs/{id}`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from backend.deps import (
    DatabaseDep,
    Now,
    Replayed,
    SessionDep,
    SettingsDep,
    Turns,
    audit_change,
    caller_of,
    keep_answer,
    now,
    used_key,
    visible_project,
)
from backend.domain.access import Caller
from backend.errors import Conflict
from backend.jobs.runner import Finish, Jobs, Order
from backend.jobs.work import JSON
from backend.schemas.data import JobAnswer
from backend.schemas.vocabulary import Role
from backend.settings import Settings
from backend.store.db import Database, service_errors
from backend.store.people import idempotency

T = TypeVar("T")
# What nginx says for a client that has left; nobody reads it.
_LEFT = 499


@dataclass(frozen=True)
class Asked:
    """A request whose caller was found permitted, and that holds nothing."""

    request: Request
    database: Database
    settings: Settings
    role: Role
    caller: Caller
    # The project that it is about; None = none, or one that the body names (`about`).
    project_id: str | None
    used_key: dict[str, str] | None

    async def about(self, project_id: str | None) -> "Asked":
        """The same for a project that the body names. Raises NotFound."""
        one = replace(self, project_id=project_id)
        await one.read(one._admit)
        return one

    async def read(self, read: Callable[[SessionDep], T]) -> T:
        """Something from the store; the session lasts no longer."""
        turns: Turns = self.request.app.state.turns
        with service_errors():
            async with (
                turns.of("GET"),
                contextmanager_in_threadpool(self.database.read()) as session,
            ):
                return await run_in_threadpool(read, session)

    async def write(self, finish: Finish) -> Response:
        """The answer of a short write that needs no job."""
        turns: Turns = self.request.app.state.turns
        with service_errors():
            async with (
                turns.of("POST"),
                contextmanager_in_threadpool(self.database.write()) as session,
            ):
                answer = await run_in_threadpool(self._finish, finish, True, session, {})
        return self._answer(answer)

    async def job(
        self,
        kind: str,
        arguments: Mapping[str, JSON],
        *,
        cache_key: str | None = None,
        finish: Finish | None = None,
    ) -> Response:
        """The answer of a job, or 202 where the client prefers not to wait.

        `cache_key`: all that the job's result depends on. `finish` makes it count, in one short
        transaction, and returns the answer.
        """
        jobs: Jobs = self.request.app.state.jobs
        known = await jobs.known(kind, cache_key)
        if known is not None:
            return (
                self._answer(known) if finish is None else await self.write(_given(finish, known))
            )
        is_detached = _prefers_async(self.request)
        order = Order(
            kind,
            arguments,
            self.caller.id,
            self.project_id,
            cache_key,
            # The same request, sent again while the first waits, is answered by the same job.
            None if self.used_key is None else json.dumps([self.used_key, is_detached]),
            None if finish is None else self._finishing(finish, keeps=not is_detached),
        )
        seat = await jobs.ask(order, on_row=self._keep_row if is_detached else None)
        if seat.row is not None and is_detached:
            seat.leave()
            return _accepted(seat.row)
        return self._answer(await self._unless_left(seat.answer()))

    def _admit(self, session: SessionDep) -> Caller:
        caller = caller_of(self.request, session, self.settings, now())
        caller.must_hold(self.role)
        if self.project_id is not None:
            visible_project(session, caller, self.project_id)
        return caller

    def _finishing(self, finish: Finish, *, keeps: bool) -> Finish:
        return lambda session, result: self._finish(finish, keeps, session, result)

    def _finish(
        self, finish: Finish, keeps: bool, session: SessionDep, result: dict[str, JSON]
    ) -> dict[str, JSON]:
        self._admit(session)
        if keeps and self.used_key is not None and idempotency.find(session, **self.used_key):
            raise Conflict(
                "the same request was answered meanwhile",
                advice="Send it again with the same Idempotency-Key to get that answer.",
            )
        answer = finish(session, result)
        audit_change(session, self.request, self.request.scope["route"].name, answer)
        if keeps:
            keep_answer(session, self.request, self._status, answer)
        return answer

    def _keep_row(self, session: SessionDep, row: JobAnswer) -> None:
        """A job is what this request was answered with; sent again, it names the same job."""
        if self.used_key is not None and idempotency.find(session, **self.used_key) is None:
            keep_answer(session, self.request, 202, row.model_dump(mode="json"))

    @property
    def _status(self) -> int:
        status: int | None = self.request.scope["route"].status_code
        return status or 200

    def _answer(self, answer: Mapping[str, JSON]) -> Response:
        return JSONResponse(answer, self._status)

    async def _unless_left(self, answer: Awaitable[T]) -> T:
        """The answer; it is cancelled when the client leaves."""
        waiting = asyncio.ensure_future(answer)
        leaving = asyncio.ensure_future(_disconnected(self.request))
        try:
            await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
            raise HTTPException(_LEFT, "the client has left")
        finally:
            waiting.cancel()
            leaving.cancel()


def asked_by(role: Role) -> Callable[..., Awaitable[Asked]]:
    """A dependency that gives the request if its caller may do this; holds nothing afterwards.

    Raises as `current_user`, `require` and `visible_project` do.
    """

    async def _asked(
        request: Request, database: DatabaseDep, settings: SettingsDep, at: Now
    ) -> Asked:
        project_id: str | None = request.path_params.get("project_id")

        def identify(session: SessionDep) -> Caller:
            return caller_of(request, session, settings, at)

        nobody = Caller("", "", Role.VIEWER, frozenset())
        one = Asked(request, database, settings, role, nobody, project_id, None)
        caller = await one.read(identify)
        request.state.user_id = caller.id
        # In the transaction that concludes the job, and not when the answer is ready.
        request.state.remembers_itself = True
        used = await used_key(request, caller)
        one = replace(one, caller=caller, used_key=used)

        def admit(session: SessionDep) -> None:
            kept = None if used is None else idempotency.find(session, **used)
            if kept is not None:
                raise Replayed(kept)
            one._admit(session)

        await one.read(admit)
        return one

    return _asked


def _document_preference(
    prefer: Annotated[
        str | None,
        Header(
            max_length=200,
            description="`respond-async`: answer 202 at once; the job goes on without the client.",
        ),
    ] = None,
) -> None:
    """Puts the header into the OpenAPI document; `Asked.job` reads it."""


# For the decorators of routes that wait: `dependencies=[RESPOND_ASYNC], responses=ACCEPTED`.
RESPOND_ASYNC = Depends(_document_preference)
ACCEPTED: dict[int | str, dict[str, JSON]] = {
    202: {"model": JobAnswer, "description": "The job that goes on; `Location` has its address."}
}


def _accepted(row: JobAnswer) -> Response:
    headers = {"Location": f"/api/v1/jobs/{row.id}", "Preference-Applied": "respond-async"}
    return JSONResponse(row.model_dump(mode="json"), 202, headers)


def _prefers_async(request: Request) -> bool:
    preferred = ",".join(request.headers.getlist("prefer")).split(",")
    return "respond-async" in {one.partition(";")[0].strip().lower() for one in preferred}


def _given(finish: Finish, known: dict[str, JSON]) -> Finish:
    return lambda session, _: finish(session, known)


async def _disconnected(request: Request) -> None:
    """Returns when the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
