"""Jobs with real child processes: shared, cancelled, killed, found without an owner, forgotten."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backend.errors import Conflict, InvalidInput, TooManyJobs, Unavailable
from backend.jobs import runner
from backend.jobs.child import MOST_KEPT_BYTES
from backend.jobs.children import Children
from backend.jobs.runner import Jobs, Order
from backend.machine import wall_clock
from backend.schemas.data import SnapshotBody
from backend.schemas.vocabulary import JobState, SnapshotKind, Split
from backend.settings import Settings
from backend.store import jobs
from backend.store.data import snapshots
from backend.store.db import Database
from backend.store.tables.data import Snapshot, SnapshotLine
from backend.store.tables.jobs import Job
from backend.uploads.turns import UploadTurns
from tests.backend.jobs import planted
from tests.backend.jobs.slow_child import use_slow_children
from tests.backend.test_models import write_safetensors
from tests.loops import in_a_loop

PATIENCE_S = 120.0
CHILDREN = {"backend.jobs.child", "tests.backend.jobs.slow_child"}
TIB = 2**40


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see how far jobs are without waiting for it."""
    monkeypatch.setattr(runner, "BEAT_S", 0.05)


@pytest.fixture
def settings(database: Database, tmp_path: Path) -> Settings:
    """The settings of a service on this database."""
    (tmp_path / "data").mkdir()
    return Settings(data_dir=tmp_path / "data", database_url=database.url)


@pytest.fixture
def user(database: Database) -> str:
    """Somebody who asks."""
    with database.write() as session:
        return planted.project(session)[1]


@pytest.fixture
def own_children(warm_children: None) -> Iterator[Children]:
    """Processes that the test may kill."""
    children = Children()
    yield children
    children.close()


def long_order(settings: Settings, user: str, size: int = TIB, **more: Any) -> Order:
    """A terabyte to hash, which takes no disk; by slow children alone, others would not begin."""
    folder = settings.data_dir / "models" / "large"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    file = folder / "model.safetensors"
    write_safetensors(file, {"w": ("F32", [1])})
    os.truncate(file, size)
    arguments = {"source": {"path": str(folder), "hub_id": None}}
    return Order("inspect_model", arguments, user, **more)


def in_loop(
    database: Database,
    settings: Settings,
    children: Children,
    play: Callable[[Jobs], Awaitable[Any]],
) -> Any:
    """Play with the jobs of a service that ends afterwards."""

    async def run() -> Any:
        service = Jobs(database, settings, children)
        service.open()
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await play(service)
        finally:
            await service.close()

    return in_a_loop(run())


def states(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.scalars(select(Job.state).order_by(Job.number)))


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for a condition."""
    while not await asyncio.to_thread(is_so):
        await asyncio.sleep(0.02)


def child_pids() -> set[int]:
    """The processes for jobs that this test process has."""
    return {
        one.pid
        for one in psutil.Process().children()
        if one.status() != psutil.STATUS_ZOMBIE and CHILDREN & set(one.cmdline())
    }


async def begun(database: Database) -> None:
    """The only job is in the hands of a child and has read something."""

    def is_so() -> bool:
        with database.read() as session:
            return (session.scalar(select(Job.done).where(Job.state == "running")) or 0) > 0

    await until(is_so)


def test_a_job_waits_for_what_it_has_to_hold_and_can_be_cancelled_meanwhile(
    database: Database, settings: Settings, user: str, children: Children
) -> None:
    with database.write() as session:
        project = planted.project(session, "empty")[0]

    async def play(service: Jobs) -> Any:
        turns = UploadTurns()

        def order() -> Order:
            arguments = {"project_id": project, "sees_names": True}
            return Order("agreement", arguments, user, place=turns.to_import(project))

        async with turns.importing(project):
            waiting = asyncio.create_task((await service.ask(order())).answer())
            patient = await service.ask(order())
            await asyncio.sleep(0.2)
            assert states(database) == ["queued", "queued"]
            waiting.cancel()
            await until(lambda: states(database) == ["cancelled", "queued"])
        answer = await patient.answer()
        assert states(database) == ["cancelled", "succeeded"]
        assert turns.to_import(project).is_free()
        return answer

    assert in_loop(database, settings, children, play)["annotators"] == []


def test_a_result_is_what_the_work_function_returns_and_is_kept(
    database: Database, settings: Settings, user: str, children: Children
) -> None:
    with database.write() as session:
        project = planted.project(session, "empty")[0]

    async def play(service: Jobs) -> Any:
        arguments = {"project_id": project, "sees_names": True}
        first = await service.run("agreement", arguments, caller_id=user, cache_key="a")
        again = await service.run("agreement", arguments, caller_id=user, cache_key="a")
        other = await service.run("agreement", arguments, caller_id=user, cache_key="b")
        return first, again, other

    first, again, other = in_loop(database, settings, children, play)

    assert first == again == other
    assert first["everybody"]["agreement"]["value"] is None
    assert (first["judged_twice"], first["annotators"]) == (0, [])
    assert states(database) == ["succeeded", "succeeded"], "the second was answered from the first"


def test_an_error_of_the_service_comes_back_as_it_was_raised(
    database: Database, settings: Settings, user: str, children: Children
) -> None:
    async def play(service: Jobs) -> None:
        arguments = {"source": {"path": "../../etc", "hub_id": None}}
        with pytest.raises(InvalidInput, match="outside the folders") as raised:
            await service.run("inspect_model", arguments, caller_id=user)
        assert raised.value.advice is not None

    in_loop(database, settings, children, play)

    with database.read() as session:
        job = session.scalars(select(Job)).one()
    assert job.state == "failed"
    assert job.error is not None
    assert (job.error["status"], job.error["title"]) == (422, "Invalid input")


def test_a_bug_fails_its_job_and_the_child_does_the_next_one(
    database: Database, settings: Settings, user: str, own_children: Children
) -> None:
    with database.write() as session:
        project = planted.project(session, "empty")[0]

    async def play(service: Jobs) -> set[int]:
        with pytest.raises(Exception, match="unexpected error"):
            await service.run("agreement", {}, caller_id=user)
        pids = child_pids()
        await service.run("agreement", {"project_id": project, "sees_names": True}, caller_id=user)
        return pids & child_pids()

    assert in_loop(database, settings, own_children, play)
    assert states(database) == ["failed", "succeeded"]


def test_those_who_ask_for_the_same_share_a_job_and_the_last_to_leave_cancels_it(
    database: Database, settings: Settings, user: str, slow_children: Children
) -> None:
    order = long_order(settings, user, cache_key="same")

    async def play(service: Jobs) -> None:
        waiting = [asyncio.create_task((await service.ask(order)).answer()) for _ in range(3)]
        await begun(database)
        for one in waiting[:2]:
            one.cancel()
        await asyncio.wait(waiting[:2])
        assert states(database) == ["running"], "one still waits"
        waiting[2].cancel()
        await until(lambda: states(database) == ["cancelled"])
        # Whoever asks now gets a job of its own.
        small = long_order(settings, user, 2**20, cache_key="same")
        answer = await (await service.ask(small)).answer()
        assert len(answer["sha256"]) == 64

    in_loop(database, settings, slow_children, play)
    assert states(database) == ["cancelled", "succeeded"]


def test_a_job_that_somebody_comes_back_for_goes_on_alone(
    database: Database, settings: Settings, user: str, children: Children
) -> None:
    rows: list[str] = []
    size = 2**28
    order = long_order(
        settings, user, size, finish=lambda session, found: {"seen": found["sha256"]}
    )

    async def play(service: Jobs) -> None:
        waiter = await service.ask(order, on_row=lambda session, row: rows.append(row.id))
        waiter.leave()
        await until(lambda: states(database) == ["succeeded"])

    in_loop(database, settings, children, play)

    with database.read() as session:
        job = session.scalars(select(Job)).one()
    assert rows == [job.id]
    assert job.result is not None
    assert len(job.result["seen"]) == 64
    assert job.done == job.total == size + len("{}")


def test_a_job_that_a_person_cancels_ends_and_its_finish_is_never_called(
    database: Database, settings: Settings, user: str, slow_children: Children
) -> None:
    def finish(session: Session, found: Any) -> Any:
        raise AssertionError("it was cancelled")

    async def play(service: Jobs) -> None:
        waiter = await service.ask(long_order(settings, user, finish=finish))
        answer = asyncio.create_task(waiter.answer())
        await begun(database)
        with database.write() as session:
            ids = set(session.scalars(select(Job.id)))
            jobs.end(session, ids, JobState.CANCELLED, at=planted.AT)
        with pytest.raises(Conflict, match="was cancelled"):
            await answer

    in_loop(database, settings, slow_children, play)
    assert states(database) == ["cancelled"]


def test_a_child_that_is_killed_fails_its_job_and_is_replaced(
    database: Database, settings: Settings, user: str, slow_children: Children
) -> None:
    with database.write() as session:
        project = planted.project(session, "empty")[0]

    async def play(service: Jobs) -> None:
        before = child_pids()
        answer = asyncio.create_task((await service.ask(long_order(settings, user))).answer())
        await begun(database)
        (pid,) = child_pids() - before
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(Unavailable, match="ended with signal SIGKILL"):
            await answer
        await service.run("agreement", {"project_id": project, "sees_names": True}, caller_id=user)

    in_loop(database, settings, slow_children, play)
    assert states(database) == ["failed", "succeeded"]


def test_the_memory_of_the_parent_is_not_the_childs(
    database: Database, settings: Settings, user: str
) -> None:
    """The system counts it as the child's greatest, for the time before its program began."""
    with database.write() as session:
        project = planted.project(session, "empty")[0]
    ballast = bytearray(b"x") * MOST_KEPT_BYTES
    children = Children()

    async def play(service: Jobs) -> None:
        for _ in range(2):
            await service.run(
                "agreement", {"project_id": project, "sees_names": True}, caller_id=user
            )

    in_loop(database, settings, children, play)
    children.close()
    assert len(ballast) == MOST_KEPT_BYTES
    assert states(database) == ["succeeded", "succeeded"]


def test_an_idle_child_that_has_ended_is_no_failure(
    database: Database, settings: Settings, user: str, own_children: Children
) -> None:
    with database.write() as session:
        project = planted.project(session, "empty")[0]

    async def play(service: Jobs) -> None:
        before = child_pids()
        await service.run("agreement", {"project_id": project, "sees_names": True}, caller_id=user)
        (pid,) = child_pids() - before
        os.kill(pid, signal.SIGKILL)
        await service.run("agreement", {"project_id": project, "sees_names": True}, caller_id=user)

    in_loop(database, settings, own_children, play)
    assert states(database) == ["succeeded", "succeeded"]


def test_a_child_that_does_not_listen_is_killed_after_a_grace(
    database: Database, settings: Settings, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "GRACE_S", 0.1)
    use_slow_children(monkeypatch.setattr)
    children = Children()

    async def play(service: Jobs) -> None:
        before = child_pids()
        answer = asyncio.create_task((await service.ask(long_order(settings, user))).answer())
        await begun(database)
        (pid,) = child_pids() - before
        os.kill(pid, signal.SIGSTOP)
        answer.cancel()
        await until(lambda: states(database) == ["cancelled"])
        assert pid not in child_pids()

    in_loop(database, settings, children, play)
    children.close()


def test_the_children_of_a_service_end_with_it(
    database: Database, settings: Settings, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_slow_children(monkeypatch.setattr)

    async def play() -> set[int]:
        before = child_pids()
        service = Jobs(database, settings)
        service.open()
        answer = asyncio.create_task((await service.ask(long_order(settings, user))).answer())
        await begun(database)
        pids = child_pids() - before
        assert len(pids) == 1
        await service.close()
        with pytest.raises(Unavailable, match="stopping"):
            await answer
        with pytest.raises(Unavailable, match="stopping"):
            await service.ask(long_order(settings, user))
        return pids & child_pids()

    assert in_a_loop(play()) == set()
    assert states(database) == ["failed"]


def test_a_person_has_eight_jobs_at_most_and_long_ones_leave_a_child_free(
    database: Database, settings: Settings, user: str, children: Children,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    with database.write() as session:
        project, other = planted.project(session, "large")
    by_child = Jobs._by_child

    async def never_ends(service: Jobs, job: Any) -> Any:
        if job.order.kind != "freeze_snapshot":
            return await by_child(service, job)
        await job.is_stopped.wait()
        raise runner._GivenUp

    monkeypatch.setattr(Jobs, "_by_child", never_ends)
    arguments = {
        "project_id": project,
        "body": {"name": "s", "kind": "prompts"},
        "at": planted.AT.isoformat(),
    }
    freeze = Order("freeze_snapshot", arguments, user, project)

    async def play(service: Jobs) -> None:
        waiters = [await service.ask(freeze) for _ in range(8)]
        with pytest.raises(
            TooManyJobs, match="8 jobs that have not ended; 8 are allowed"
        ) as refused:
            await service.ask(freeze)
        assert refused.value.retry_after_s == 5
        await service.run("agreement", {"project_id": project, "sees_names": True}, caller_id=other)
        assert states(database)[:8] == ["running"] * 2 + ["queued"] * 6
        for waiter in waiters:
            waiter.leave()

    in_loop(database, settings, children, play)


def test_the_jobs_of_a_dead_process_are_ended_and_what_they_left_is_removed(
    database: Database, settings: Settings, user: str, children: Children,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(runner, "STALE_S", 0.3)
    monkeypatch.setattr(runner, "SWEEP_S", 0.05)
    with database.write() as session:
        project = planted.project(session, "large")[0]
        planted.prompts(session, project, 10)
        jobs.add(
            session, job_id="job_dead", kind="freeze_snapshot", project_id=project, user_id=user,
            cache_key=None, owner="another process", at=planted.AT,
        )  # fmt: skip
        body = SnapshotBody(name="s", kind=SnapshotKind.PROMPTS)
        one = snapshots.begin(session, project, body, job_id="job_dead", at=planted.AT)
        snapshots.add_lines(session, one, 0, [(Split.TRAIN, "{}")] * 3000)

    def is_clear() -> bool:
        with database.read() as session:
            counted = [select(func.count()).select_from(x) for x in (Snapshot, SnapshotLine)]
            return [session.scalar(one) for one in counted] == [0, 0]

    in_loop(database, settings, children, lambda _: until(is_clear))

    with database.read() as session:
        job = session.scalars(select(Job)).one()
    assert (job.state, job.error and job.error["status"]) == ("failed", 503)


def test_a_job_that_others_took_for_dead_does_not_conclude(
    database: Database, settings: Settings, user: str, children: Children,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Its row was ended while it did not look."""
    monkeypatch.setattr(runner, "BEAT_S", 3600)
    called: list[Any] = []
    by_child, row_has_ended = Jobs._by_child, asyncio.Event()

    def finish(session: Session, found: Any) -> Any:
        called.append(found)
        return found

    async def held_back(service: Jobs, job: Any) -> Any:
        outcome = await by_child(service, job)
        await row_has_ended.wait()
        return outcome

    monkeypatch.setattr(Jobs, "_by_child", held_back)

    async def play(service: Jobs) -> None:
        await asyncio.sleep(0)
        order = long_order(settings, user, 2**20, finish=finish)
        answer = asyncio.create_task((await service.ask(order)).answer())
        await until(lambda: states(database) == ["running"])
        with database.write() as session:
            session.execute(update(Job).values(state="failed", finished_at=planted.AT))
        row_has_ended.set()
        with pytest.raises(Conflict):
            await answer

    in_loop(database, settings, children, play)
    assert called == []


def test_old_jobs_are_forgotten_and_others_are_not(
    database: Database, settings: Settings, user: str, children: Children
) -> None:
    now = wall_clock.now()
    with database.write() as session:
        for n in range(5):
            jobs.add(
                session, job_id=f"job_{n}", kind="agreement", project_id=None, user_id=user,
                cache_key=None, owner="x", at=now,
            )  # fmt: skip
        ended = {f"job_{n}" for n in range(3)}
        jobs.end(session, ended, JobState.SUCCEEDED, at=now - runner.KEPT - timedelta(hours=1))
        jobs.end(session, {"job_3"}, JobState.SUCCEEDED, at=now)

    in_loop(database, settings, children, lambda _: until(lambda: len(states(database)) == 2))

    assert sorted(states(database)) == ["queued", "succeeded"]
