"""Routes that wait for a job: the caller is checked, then nothing is held, then the write is short.

What such a route changes, the audit line and the answer kept under an Idempotency-Key are one
transaction, in which the caller is checked again; so is whoever waited, before the answer. With
`Prefer: respond-async` it answers 202 at once, and the client comes back to `/jobs/{id}`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from backend.deps import SessionDep
from backend.domain.access import Caller
from backend.errors import Conflict
from backend.jobs.runner import Begin, Finish, Jobs, Order
from backend.jobs.turns import Place
from backend.jobs.work import JSON
from backend.phases import Phases, Replayed
from backend.schemas.data import JobAnswer
from backend.store.jobs import as_seen, known_answer
from backend.store.people import idempotency

T = TypeVar("T")
# The short write that makes the result of a job count; returns the answer.
Conclude = Callable[[SessionDep, Caller, dict[str, JSON]], dict[str, JSON]]
# What nginx says for a client that has left; nobody reads it.
_LEFT = 499


async def answer_of_job(
    phases: Phases,
    kind: str,
    arguments: Mapping[str, JSON],
    *,
    project_id: str | None = None,
    cache_key: str | None = None,
    conclude: Conclude | None = None,
    place: Place | None = None,
    begin: Begin | None = None,
) -> Response:
    """The answer of a job, or 202 where the client prefers not to wait.

    `cache_key`: all that the job's result depends on; `place`, `begin`: see `Order`. Raises
    Replayed for a request that was answered before.
    """
    used = await phases.used_key()
    await must_be_new(phases, used)
    jobs: Jobs = phases.request.app.state.jobs
    known = await _known(phases, kind, cache_key)
    if known is not None:
        return _answer(phases, known if conclude is None else await _now(phases, conclude, known))
    is_detached = _prefers_async(phases.request)
    order = Order(
        kind,
        arguments,
        phases.caller.id,
        project_id,
        cache_key,
        # The same request, sent again while the first waits, is answered by the same job.
        None if used is None else json.dumps([used, is_detached]),
        None if conclude is None else _concluding(phases, conclude, None if is_detached else used),
        place,
        begin,
    )
    waiter = await jobs.ask(order, on_row=_keeping(phases, used) if is_detached else None)
    if waiter.row is not None and is_detached:
        waiter.leave()
        return _accepted(waiter.row)
    answer = await _unless_left(phases.request, waiter.answer())
    # Whoever waits for minutes may have lost the role or the key meanwhile.
    caller = await phases.read(phases.admitted)
    return _answer(phases, as_seen(kind, project_id, answer, caller))


async def answer_at_once(phases: Phases, conclude: Conclude) -> Response:
    """The answer of a short write that needs no job."""
    return _answer(phases, await _now(phases, conclude, {}))


async def _known(phases: Phases, kind: str, cache_key: str | None) -> dict[str, JSON] | None:
    """Return what came of an equal order before; None if no such answer is kept."""
    if cache_key is None:
        return None
    return await phases.read(lambda session: known_answer(session, kind, cache_key))


async def must_be_new(phases: Phases, used: dict[str, str] | None) -> None:
    """Raise Replayed for a request that was answered before, by its Idempotency-Key."""
    if used is None:
        return
    kept = await phases.read(lambda session: idempotency.find(session, **used))
    if kept is not None:
        raise Replayed(kept)


async def _now(phases: Phases, conclude: Conclude, known: dict[str, JSON]) -> dict[str, JSON]:
    return await phases.write(lambda session, caller: conclude(session, caller, known))


def _concluding(phases: Phases, conclude: Conclude, used: dict[str, str] | None) -> Finish:
    def _finish(session: SessionDep, result: dict[str, JSON]) -> dict[str, JSON]:
        caller = phases.admitted(session)
        if used is not None and idempotency.find(session, **used):
            raise Conflict(
                "the same request was answered meanwhile",
                advice="Send it again with the same Idempotency-Key to get that answer.",
            )
        answer = conclude(session, caller, result)
        phases.remember(session, answer, used)
        return answer

    return _finish


def _keeping(
    phases: Phases, used: dict[str, str] | None
) -> Callable[[SessionDep, JobAnswer], None]:
    def _keep(session: SessionDep, row: JobAnswer) -> None:
        """A job is what this request was answered with; sent again, it names the same job.

        Raises Replayed, which undoes this job, if another API process has one for the request.
        """
        if used is None:
            return
        kept = idempotency.find(session, **used)
        if kept is None:
            phases.keep(session, used, 202, row.model_dump(mode="json"))
        elif (kept.answer["body"] or {}).get("id") != row.id:
            raise Replayed(kept)

    return _keep


def _answer(phases: Phases, answer: Mapping[str, JSON]) -> Response:
    # As the schema has it: what PostgreSQL has kept comes back in another order.
    model: type[BaseModel] = phases.request.scope["route"].response_model
    content = model.model_validate(answer).model_dump_json()
    return Response(content, phases.status, media_type="application/json")


async def _unless_left(request: Request, answer: Awaitable[T]) -> T:
    """The answer; it is cancelled when the client leaves."""
    waiting = asyncio.ensure_future(answer)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            return waiting.result()
        raise HTTPException(_LEFT, "the client has left")
    finally:
        waiting.cancel()
        leaving.cancel()


async def _disconnected(request: Request) -> None:
    """Returns when the client has closed its connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _document_preference(
    prefer: Annotated[
        str | None,
        Header(
            max_length=200,
            description="`respond-async`: answer 202 at once; the job goes on without the client.",
        ),
    ] = None,
) -> None:
    """Puts the header into the OpenAPI document; `answer_of_job` reads it."""


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
