"""Jobs of one API process: asked for once, done by a child, concluded in one short transaction.

Whoever waits holds no thread and no connection. People who ask for the same thing share one job;
when the last of them has left, it is cancelled, unless somebody asked to come back for it. The row
of a job decides: whoever finds it ended, by a person or by another process that thought us dead,
gives up.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from backend.errors import Conflict, ServiceError, TooManyJobs, Unavailable, error_of
from backend.jobs import freeze_snapshot, withdrawal
from backend.jobs.children import Child, Children
from backend.jobs.messages import Message, problem_of, unexpected
from backend.jobs.turns import Place, Turn, Turns
from backend.jobs.work import JSON
from backend.machine.wall_clock import now
from backend.schemas.data import JobAnswer
from backend.schemas.vocabulary import JobState
from backend.settings import Settings
from backend.store import jobs
from backend.store.db import Database, service_errors
from backend.store.ids import new_id

T = TypeVar("T")
log = logging.getLogger("podium.jobs")

BEAT_S = 1.0
# An owner that has shown no life for so long, by the clock of whoever looks, is dead.
STALE_S = 10.0
SWEEP_S = 5.0
# Until a job that could not begin tries again.
AGAIN_S = 1.0
# What a child that was asked to stop gets before it is killed.
GRACE_S = 2.0
MOST_OF_A_PERSON = 8
KEPT = timedelta(days=7)
_FORGOTTEN_AT_ONCE = 200
# What jobs that ended early have left in the store, and who removes it.
_CLEARERS = (freeze_snapshot.clear_abandoned, withdrawal.clear_abandoned)

Finish = Callable[[Session, dict[str, JSON]], dict[str, JSON]]
OnRow = Callable[[Session, JobAnswer], None]
Begin = Callable[[Session, str], bool]


@dataclass(frozen=True)
class Order:
    """What is to be done, for whom, and what makes two orders the same.

    `cache_key`: all that the child's result depends on; it is kept for equal orders. `finish`: the
    short write that makes the result count, in the transaction that ends the job; what it returns
    is the answer. `sharing`: orders with the same text are one job while it lasts; by default those
    with one cache_key that nothing has to finish. `place`: what the job holds from before a child
    works until it has ended. `begin`: the short write before a child works, given the id of the
    job; False if the job has to wait, without a child, for what somebody else writes.
    """

    kind: str
    arguments: Mapping[str, JSON]
    caller_id: str
    project_id: str | None = None
    cache_key: str | None = None
    sharing: str | None = None
    finish: Finish | None = None
    place: Place | None = None
    begin: Begin | None = None

    @property
    def same(self) -> tuple[str, str] | None:
        """Equal for orders that may share a job; None = it shares with nobody."""
        text = self.sharing or (self.cache_key if self.finish is None else None)
        return None if text is None else (self.kind, text)


class _GivenUp(Exception):
    """Nobody wants the job any more, or its row has ended."""


@dataclass(eq=False)
class _Job:
    id: str
    order: Order
    turn: Turn
    waiting: int = 0
    # Somebody comes back for it: it goes on without anybody who waits.
    is_kept: bool = False
    has_row: asyncio.Event = field(default_factory=asyncio.Event)
    is_stopped: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    progress: tuple[int, int | None] = (0, None)
    answer: dict[str, JSON] | None = None
    error: Exception | None = None

    def leave(self) -> None:
        """Count one who waits less; the last one stops the work unless the job is kept."""
        self.waiting -= 1
        if self.waiting == 0 and not self.is_kept:
            self.is_stopped.set()

    def hear(self, message: Message) -> None:
        """Take in how far the child is, if it says so."""
        if "progress" in message:
            done, total = message["progress"]
            self.progress = (done, total)


class Waiter:
    """One request that waits for a job."""

    def __init__(self, job: _Job, row: JobAnswer | None) -> None:
        """`row`: the job as it stood, for those who come back."""
        self._job = job
        self.row = row

    async def answer(self) -> dict[str, JSON]:
        """What came of the job; whoever is cancelled while waiting has left.

        Raises what went wrong.
        """
        try:
            await self._job.is_over.wait()
        finally:
            self.leave()
        if self._job.error is not None:
            raise self._job.error
        assert self._job.answer is not None
        return self._job.answer

    def leave(self) -> None:
        """Wait no longer."""
        self._job.leave()


class Jobs:
    """The jobs that this process has taken on."""

    def __init__(
        self, database: Database, settings: Settings, children: Children | None = None
    ) -> None:
        """`children`: those of somebody else, who ends them; by default its own."""
        self._database = database
        self._settings: dict[str, JSON] = settings.model_dump(mode="json")
        self._children = Children() if children is None else children
        self._ends_children = children is None
        self._owner = f"api_{secrets.token_hex(8)}"
        self._turns = Turns()
        self._jobs: set[_Job] = set()
        self._shared: dict[tuple[str, str], _Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # One thread: these writes are short, and shall not take the threads of requests.
        self._thread = anyio.CapacityLimiter(1)
        self._is_closed = False
        # The beat of each job of others, and since when it has been the same.
        self._beats: dict[str, tuple[int, float]] = {}
        self._left_over = asyncio.Event()

    def open(self) -> None:
        """Begin to look after jobs; call in the server's loop."""
        self._spawn(self._repeat(self._beat, lambda: asyncio.sleep(BEAT_S)))
        self._spawn(self._repeat(self._sweep, self._until_next_sweep))

    def stop(self) -> None:
        """Give up all jobs, so that the server can stop; call in the server's loop."""
        self._is_closed = True
        for job in self._jobs:
            job.is_stopped.set()

    async def close(self) -> None:
        """Stop, and return when no child works for us any more."""
        self.stop()
        while self._jobs:
            await next(iter(self._jobs)).is_over.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._ends_children:
            await anyio.to_thread.run_sync(self._children.close)

    async def run(
        self,
        kind: str,
        arguments: Mapping[str, JSON],
        *,
        caller_id: str,
        project_id: str | None = None,
        cache_key: str | None = None,
    ) -> dict[str, JSON]:
        """Do something and wait for it; whoever is cancelled while waiting has left.

        Raises what went wrong.
        """
        known = await self.known(kind, cache_key)
        if known is not None:
            return known
        order = Order(kind, arguments, caller_id, project_id, cache_key)
        return await (await self.ask(order)).answer()

    async def known(self, kind: str, cache_key: str | None) -> dict[str, JSON] | None:
        """Return what came of an equal order before; None if no such answer is kept."""
        if cache_key is None:
            return None

        def read() -> dict[str, JSON] | None:
            with service_errors(), self._database.read() as session:
                return jobs.known_answer(session, kind, cache_key)

        return await self._in_thread(read)

    async def ask(self, order: Order, *, on_row: OnRow | None = None) -> Waiter:
        """Begin a job, or join one that does the same thing already; return a waiter for it.

        With `on_row` the caller comes back for the answer: the job is the caller's own and goes on
        without anybody who waits; `on_row` is called in a transaction that writes. Raises
        TooManyJobs for the ninth unfinished job of a person, Unavailable when the service stops.
        """
        job = self._same(order, is_own=on_row is not None)
        is_new = job is None
        if job is None:
            job = self._new(order)
        job.waiting += 1
        job.is_kept = job.is_kept or on_row is not None
        try:
            row = await (self._begin(job, on_row) if is_new else self._join(job, on_row))
        except BaseException:
            job.leave()
            raise
        return Waiter(job, row)

    def give_up_cancelled(self, row: JobAnswer) -> None:
        """Give up a job that its row, read now, says is cancelled; the next beat would do it."""
        for job in self._jobs:
            if job.id == row.id and row.state is JobState.CANCELLED:
                job.is_stopped.set()

    def _same(self, order: Order, *, is_own: bool) -> _Job | None:
        job = None if order.same is None else self._shared.get(order.same)
        if job is None or job.is_stopped.is_set():
            return None
        # Only the one who made a job may see its row.
        return None if is_own and job.order.caller_id != order.caller_id else job

    def _new(self, order: Order) -> _Job:
        if self._is_closed:
            raise _stopping()
        own = sum(job.order.caller_id == order.caller_id for job in self._jobs)
        if own >= MOST_OF_A_PERSON:
            raise TooManyJobs(
                f"you have {own} jobs that have not ended; {MOST_OF_A_PERSON} are allowed",
                advice="Wait until one of them has ended, or cancel one.",
            )
        job = _Job(new_id("job"), order, Turn(order.kind, order.caller_id, order.place))
        self._jobs.add(job)
        if order.same is not None:
            self._shared[order.same] = job
        return job

    async def _begin(self, job: _Job, on_row: OnRow | None) -> JobAnswer:
        def insert() -> JobAnswer:
            with service_errors(), self._database.write() as session:
                row = jobs.add(
                    session,
                    job_id=job.id,
                    kind=job.order.kind,
                    project_id=job.order.project_id,
                    user_id=job.order.caller_id,
                    cache_key=job.order.cache_key,
                    owner=self._owner,
                    at=now(),
                )
                if on_row is not None:
                    on_row(session, row)
                return row

        try:
            row = await self._in_thread(insert)
        except BaseException as error:
            self._over(job, error=error if isinstance(error, Exception) else _stopping())
            raise
        job.has_row.set()
        self._spawn(self._do(job))
        return row

    async def _join(self, job: _Job, on_row: OnRow | None) -> JobAnswer | None:
        await job.has_row.wait()
        if on_row is None:
            return None
        if job.error is not None:
            raise job.error

        def read() -> JobAnswer:
            with service_errors(), self._database.write() as session:
                row = jobs.own(session, job.id)
                on_row(session, row)
                return row

        return await self._in_thread(read)

    async def _do(self, job: _Job) -> None:
        """A job from its row to its end; whatever happens, it is over in the end."""
        try:
            answer = await self._answer(job)
        except Exception as error:  # noqa: BLE001 - the last place where an error can be told
            await self._fail(job, error)
        except BaseException:
            self._over(job, error=_stopping())
            raise
        else:
            self._over(job, answer=answer)

    async def _fail(self, job: _Job, error: Exception) -> None:
        if isinstance(error, _GivenUp):
            shown: ServiceError = _stopping() if self._is_closed else _cancelled()
        elif isinstance(error, ServiceError):
            shown = error
        else:
            log.error("job.failed job_id=%s", job.id, exc_info=error)
            shown = unexpected(job.id)
        is_cancelled = isinstance(error, _GivenUp) and not self._is_closed
        state = JobState.CANCELLED if is_cancelled else JobState.FAILED
        try:
            await self._in_thread(partial(self._end, {job.id}, state, shown))
        except (ServiceError, SQLAlchemyError):
            log.warning("job.not_ended job_id=%s", job.id)  # It will be found without an owner.
        self._over(job, error=shown)
        self._left_over.set()

    def _over(
        self, job: _Job, *, answer: dict[str, JSON] | None = None, error: Exception | None = None
    ) -> None:
        job.answer, job.error = answer, error
        self._jobs.discard(job)
        if job.order.same is not None and self._shared.get(job.order.same) is job:
            del self._shared[job.order.same]
        job.has_row.set()
        job.is_over.set()

    async def _answer(self, job: _Job) -> dict[str, JSON]:
        """Wait for a child, let it do the job, conclude it and return the answer."""
        self._turns.enter(job.turn)
        try:
            await self._begun(job)
            result = _result_of(job, await self._by_child(job))
            return await self._in_thread(partial(self._conclude, job, result))
        finally:
            self._turns.leave(job.turn)

    async def _begun(self, job: _Job) -> None:
        """Wait until the job runs. Raises _GivenUp if it is not wanted before that."""
        while True:
            await _first_of(job.turn.has_come, job.is_stopped)
            if job.is_stopped.is_set():
                raise _GivenUp
            if await self._in_thread(partial(self._leave_queue, job)):
                return
            self._turns.step_back(job.turn)
            with suppress(TimeoutError):
                await asyncio.wait_for(job.is_stopped.wait(), AGAIN_S)
            self._turns.try_again(job.turn)

    async def _by_child(self, job: _Job) -> Message:
        """How a child ended the job. Raises Unavailable if the child ended first."""
        order = {
            "job_id": job.id,
            "kind": job.order.kind,
            "arguments": dict(job.order.arguments),
            "settings": self._settings,
        }
        try:
            return await self._children.ask(
                order,
                doing="did this job",
                told=job.hear,
                beside=partial(_stop_child, job),
                is_wanted=lambda: not job.is_stopped.is_set(),
            )
        except Unavailable:
            if job.is_stopped.is_set():
                raise _GivenUp from None
            raise

    def _leave_queue(self, job: _Job) -> bool:
        """Take the job out of the queue, unless it has to wait. Raises _GivenUp."""
        begin = job.order.begin
        with service_errors(), self._database.write() as session:
            if begin is not None and not begin(session, job.id):
                return False
            if not jobs.begin(session, job.id):
                raise _GivenUp
            return True

    def _conclude(self, job: _Job, result: dict[str, JSON]) -> dict[str, JSON]:
        # What finishes a job is of its kind: the name of this function would tell nobody which.
        with service_errors(), self._database.write(by=job.order.kind) as session:
            if not jobs.end(session, {job.id}, JobState.SUCCEEDED, at=now()):
                raise _GivenUp
            finish = job.order.finish
            answer = result if finish is None else finish(session, result)
            jobs.keep_result(session, job.id, answer, found=result, progress=job.progress)
            return answer

    def _end(self, job_ids: set[str], state: JobState, error: ServiceError) -> None:
        problem = problem_of(error) if state is JobState.FAILED else None
        with service_errors(), self._database.write() as session:
            jobs.end(session, job_ids, state, error=problem, at=now())

    async def _beat(self) -> None:
        """Tell the rows how far we are; what they say of the end is the truth."""
        live = {job.id: job for job in self._jobs if job.has_row.is_set()}
        if not live:
            return
        progress = {job_id: job.progress for job_id, job in live.items()}

        def write() -> set[str]:
            with self._database.write() as session:
                return jobs.beat(session, progress)

        going = await self._in_thread(write)
        for job_id in live.keys() - going:
            live[job_id].is_stopped.set()

    async def _sweep(self) -> None:
        """End the jobs of dead processes, remove what jobs have left, forget old ones."""
        own = {job.id for job in self._jobs}
        await self._in_thread(partial(self._end_dead, own))
        for clear in _CLEARERS:
            # Its pauses must not hold up the beats.
            with suppress(_GivenUp):
                await anyio.to_thread.run_sync(partial(clear, self._database, self._check_open))
        await self._in_thread(self._forget)
        await anyio.to_thread.run_sync(self._children.reap)

    def _end_dead(self, own: set[str]) -> None:
        with self._database.read() as session:
            found = jobs.unfinished(session)
        at = time.monotonic()
        before, self._beats = self._beats, {}
        for job_id in found.keys() - own:
            beat, since = before.get(job_id, (None, at))
            self._beats[job_id] = (found[job_id], since if beat == found[job_id] else at)
        dead = {one for one, (_, since) in self._beats.items() if at - since >= STALE_S}
        if dead:
            error = Unavailable("the API process that ran this job has ended", advice="Try again.")
            self._end(dead, JobState.FAILED, error)

    def _forget(self) -> None:
        before = now() - KEPT
        with self._database.read() as session:
            old = jobs.ended_before(session, before, at_most=_FORGOTTEN_AT_ONCE)
        if old:
            with self._database.write() as session:
                jobs.forget(session, old)

    def _check_open(self) -> None:
        if self._is_closed:
            raise _GivenUp

    async def _until_next_sweep(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._left_over.wait(), SWEEP_S)
        self._left_over.clear()

    async def _repeat(
        self, do: Callable[[], Awaitable[None]], pause: Callable[[], Awaitable[None]]
    ) -> None:
        while not self._is_closed:
            try:
                await do()
            except (ServiceError, SQLAlchemyError) as error:
                log.warning("jobs.unattended error=%s", type(error).__name__)
            except Exception:
                log.exception("jobs.unattended")
            await pause()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(work, limiter=self._thread)


async def _stop_child(job: _Job, child: Child) -> None:
    """Ask the child to stop once the job is not wanted, and kill it if it does not."""
    await job.is_stopped.wait()
    with suppress(OSError):
        await child.send({"cancel": job.id})
    await asyncio.sleep(GRACE_S)
    child.kill()


def _result_of(job: _Job, outcome: Message) -> dict[str, JSON]:
    """The result in the last word of a child. Raises what it says, _GivenUp if nobody wants it."""
    if job.is_stopped.is_set() or "cancelled" in outcome:
        raise _GivenUp
    if "error" in outcome:
        raise error_of(outcome["error"])
    result: dict[str, JSON] = outcome["result"]
    return result


async def _first_of(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _stopping() -> ServiceError:
    return Unavailable("the service is stopping", advice="Try again in a moment.")


def _cancelled() -> ServiceError:
    return Conflict("the job was cancelled", advice="Send the request again to begin anew.")
