"""The live stream over a real server: order, reconnecting, slow readers, permission, shutdown."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import httpx
import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session

from backend import stream
from backend.api.stream import MOST_STREAMS
from backend.domain.operations import OPERATIONS, Of
from backend.pressure.open_streams import PING, PING_S
from backend.pressure.permissions import FRESH_S
from backend.reading.calls import Made
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Role
from backend.store.db import MOST_CONNECTIONS, Database
from backend.store.metrics import points
from backend.store.runs import events as run_events
from backend.store.runs import runs
from backend.store.runs.events import KeptEvent
from backend.store.runs.runs import NewRun
from backend.store.tables.people import Membership
from backend.stream import Streams
from tests.backend.runs.conftest import AT, Seed
from tests.backend.test_access import HOLDERS, STREAMS, shown_of
from tests.loops import in_a_loop
from tests.processes import wait_until
from tests.served import Server

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Event:
    """One event as a client reads it."""

    id: str
    type: str
    data: dict[str, Any]


# Seconds within which what was written must be told, on a busy machine.
PATIENCE_S = 120.0
# Less than those between two pings, at which a stream would end anyhow.
STOP_S = 0.8 * PING_S
# Promised is one second; a test run's machine has other things to do. Without asking, a stream
# that has nothing to tell would last for 15 minutes.
END_S = 10 * FRESH_S


def events_of(response: httpx.Response) -> Iterator[Event]:
    """The events of an open stream, comments and id-only blocks left out.

    The server's pings keep the connection alive, so an event that never comes is noticed here.
    """
    fields: dict[str, str] = {}
    waits_since = time.monotonic()
    for line in response.iter_lines():
        assert time.monotonic() - waits_since < PATIENCE_S, "pings come, but no event"
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        if "data" in fields:
            yield Event(fields["id"], fields["event"], json.loads(fields["data"]))
            waits_since = time.monotonic()
        fields = {}


def a_run(database: Database, seed: Seed) -> str:
    """A queued run; its history has one event."""
    new = NewRun(seed.project, seed.user, "a run", "sft", {}, schema_version=1)
    with database.write() as session:
        return runs.create(session, new, at=AT).id


def write(database: Database, run_id: str, steps: range) -> None:
    """One metric event per step."""
    with database.write() as session:
        for step in steps:
            line = MetricLine(step=step, time=float(step), values={"loss": step / 7})
            points.append(session, run_id, 1, [line], at=AT)


def losses_of(event: Event) -> dict[int, float]:
    """What an event tells of the loss, by step."""
    return {point["step"]: point["values"]["loss"] for point in event.data["points"]}


def heads(database: Database, *run_ids: str) -> dict[str, int]:
    """Where these runs are, as a stream wants to know it at its beginning."""
    with database.read() as session:
        return run_events.heads(session, run_ids)


def test_reconnecting_leaves_no_gap_and_repeats_nothing(
    server: Server, database: Database, seed: Seed
) -> None:
    a, b = a_run(database, seed), a_run(database, seed)
    total = 400

    def produce() -> None:
        for step in range(0, total, 4):
            write(database, a, range(step, step + 4))
            write(database, b, range(step, step + 4))

    writer = threading.Thread(target=produce, daemon=True)
    writer.start()
    seen: list[Event] = []
    last_id, connections = None, 0
    while len(seen) < 2 * (total + 1):
        connections += 1
        headers = {} if last_id is None else {"Last-Event-ID": last_id}
        with server.client.stream("GET", f"/stream?runs={a},{b}", headers=headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["x-accel-buffering"] == "no"
            for count, event in enumerate(events_of(response), start=1):
                seen.append(event)
                last_id = event.id
                if count == 97 or len(seen) == 2 * (total + 1):
                    break
    writer.join(PATIENCE_S)

    assert connections >= 8
    for run_id in (a, b):
        mine = [event for event in seen if event.data["run"] == run_id]
        assert [event.data["seq"] for event in mine] == list(range(1, total + 2))
        assert [event.type for event in mine] == ["state"] + ["metric"] * total
        assert [losses_of(event) for event in mine[1:]] == [
            {step: step / 7} for step in range(total)
        ]


def test_what_is_written_reaches_an_open_stream_within_a_second(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    with server.client.stream("GET", f"/runs/{run_id}/stream") as response:
        events = events_of(response)
        assert next(events).type == "state"
        seconds = []
        for step in range(10):
            started = time.monotonic()
            write(database, run_id, range(step, step + 1))
            assert losses_of(next(events)) == {step: step / 7}
            seconds.append(time.monotonic() - started)
    # The best of ten: the machine of a test run has other things to do.
    assert min(seconds) < 1, seconds


def test_since_now_sends_only_what_comes_next(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    write(database, run_id, range(50))
    with server.client.stream("GET", f"/runs/{run_id}/stream?since=now") as response:
        write(database, run_id, range(50, 51))
        assert losses_of(next(events_of(response))) == {50: 50 / 7}


def test_now_is_before_the_answer_begins(database: Database, seed: Seed) -> None:
    run_id = a_run(database, seed)
    write(database, run_id, range(50))

    async def read() -> bytes:
        streams = Streams(database)
        chunks = streams.follow(heads(database, run_id), from_now=True)
        await asyncio.to_thread(write, database, run_id, range(50, 51))
        async with asyncio.timeout(PATIENCE_S):
            text = await anext(chunks) + await anext(chunks)
        await chunks.aclose()
        streams.close()
        return text

    assert b'"step": 50' in in_a_loop(read())


def test_an_unknown_id_resets_and_goes_on_from_now(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id, other = a_run(database, seed), a_run(database, seed)
    with server.client.stream("GET", f"/runs/{other}/stream") as response:
        foreign = next(events_of(response)).id
    for last_id in ("nonsense", foreign, foreign[:-1] + "f"):
        with server.client.stream("GET", f"/runs/{run_id}/stream?last_id={last_id}") as response:
            events = events_of(response)
            assert next(events).type == "reset"
            write(database, run_id, range(1))
            assert next(events).type == "metric"


def test_a_stream_asks_for_permission(server: Server) -> None:
    assert httpx.get(f"{server.url}/api/v1/stream?runs=run_x", verify=False).status_code == 401
    assert server.client.get("/stream?runs=run_x").status_code == 404
    assert server.client.get("/stream?runs=").status_code == 422


def test_each_role_follows_in_its_project_what_the_table_says_and_nothing_else(
    server: Server, database: Database, seed: Seed
) -> None:
    """As tests/backend/test_access.py asks for everything whose answer has an end."""
    foreign = server.client.post("/projects", json={"name": "foreign"}).json()["id"]
    own_run, other_run = a_run(database, seed), a_run(database, replace(seed, project=foreign))
    run_ids = (own_run, other_run, f"{other_run[:-4]}2222")
    projects = (seed.project, foreign, f"{foreign[:-4]}2222")
    addresses = {
        "stream_run": [f"/runs/{one}/stream" for one in run_ids],
        "stream_runs": [f"/stream?runs={one}" for one in run_ids],
        "stream_work": [f"/projects/{one}/annotation/stream" for one in projects],
    }
    assert set(addresses) == STREAMS
    wrong = []
    with ExitStack() as clients:
        for role in Role:
            client = server.client
            if role is not Role.ADMIN:
                client = clients.enter_context(person(server, seed, role, role))
            for name, paths in addresses.items():
                may = role in HOLDERS[OPERATIONS[name].role]
                # Without a project in the address, the role is looked at first.
                unseen = 403 if OPERATIONS[name].of is Of.ANYWHERE and not may else 404
                own, theirs, nothing = (opened(client, path) for path in paths)
                statuses = [one.status_code for one in (own, theirs, nothing)]
                foreign_status = 200 if role is Role.ADMIN else unseen
                if statuses != [200 if may else 403, foreign_status, unseen]:
                    wrong.append((name, role, statuses))
                if role is not Role.ADMIN:
                    assert shown_of(theirs) == shown_of(nothing), (name, role)
        stranger = httpx.Client(
            base_url=server.client.base_url, headers={"Authorization": "Bearer x"}, verify=False
        )
        clients.enter_context(stranger)
        for path in (path for paths in addresses.values() for path in paths):
            assert opened(stranger, path).status_code == 401
    assert wrong == []


def opened(client: httpx.Client, path: str) -> httpx.Response:
    """The answer to whoever opens a stream and leaves at once; whole if it is a refusal."""
    with client.stream("GET", path) as answer:
        if answer.status_code != 200:
            answer.read()
        return answer


@pytest.mark.parametrize(
    "how", ["revoked key", "lost membership", "signed out", "sessions ended", "new password"]
)
def test_who_may_see_no_more_is_told_no_more(
    server: Server, database: Database, seed: Seed, how: str
) -> None:
    run_id = a_run(database, seed)
    secret = {"email": "vera@example.org", "password": "correct horse battery"}
    body = {"name": "Vera", "role": "viewer", "project_ids": [seed.project], **secret}
    user = server.client.post("/users", json=body).raise_for_status().json()
    key = server.client.post(f"/users/{user['id']}/keys", json={"name": "laptop"}).json()
    ended_s: list[float] = []
    with httpx.Client(base_url=server.client.base_url, timeout=60, verify=False) as vera:
        if how in ("revoked key", "lost membership"):
            vera.headers["Authorization"] = f"Bearer {key['key']}"
        else:
            vera.post("/session", json=secret).raise_for_status()
        with vera.stream("GET", f"/runs/{run_id}/stream") as response:
            events = events_of(response)
            assert next(events).type == "state"
            write(database, run_id, range(1))
            assert losses_of(next(events)) == {0: 0.0}

            if how == "revoked key":
                server.client.delete(f"/users/{user['id']}/keys/{key['id']}").raise_for_status()
            elif how == "signed out":
                origin = {"Origin": server.url}
                vera.delete("/session", headers=origin).raise_for_status()
            elif how == "sessions ended":
                server.client.delete(f"/users/{user['id']}/sessions").raise_for_status()
            elif how == "new password":
                new = {"password": "another horse battery"}
                server.client.patch(f"/users/{user['id']}", json=new).raise_for_status()
            else:
                with database.write() as session:
                    session.execute(delete(Membership).where(Membership.user_id == user["id"]))
            began = time.monotonic()
            assert next(events, None) is None
            ended_s.append(time.monotonic() - began)
    assert ended_s[0] < END_S


def test_open_streams_hold_no_session_and_all_hear_the_same(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    people = [person(server, seed, f"person {n}") for n in range(3)]
    many = 3 * MOST_STREAMS
    assert many > MOST_CONNECTIONS
    with ExitStack() as opened:
        streams = [
            opened.enter_context(people[n % 3].stream("GET", f"/runs/{run_id}/stream"))
            for n in range(many)
        ]
        readers = [events_of(response) for response in streams]
        for reader in readers:
            assert next(reader).type == "state"

        assert server.client.get(f"/runs/{run_id}").json()["state"] == "queued"
        assert server.client.post(f"/runs/{run_id}/pause").json()["state"] == "paused"

        told = [next(reader).data for reader in readers]
        assert {(data["seq"], data["state"]) for data in told} == {(2, "paused")}


def person(server: Server, seed: Seed, name: str, role: Role = Role.VIEWER) -> httpx.Client:
    """A client with a key of its own person."""
    body = {"name": name, "role": role, "project_ids": [seed.project]}
    user = server.client.post("/users", json=body).raise_for_status().json()
    key = server.client.post(f"/users/{user['id']}/keys", json={"name": "test"}).json()["key"]
    limits = httpx.Limits(max_connections=None)
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(
        base_url=server.client.base_url, headers=headers, limits=limits, timeout=60, verify=False
    )


def test_a_person_has_twenty_streams_with_all_keys_together_and_keeps_the_oldest(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    vera = person(server, seed, "Vera")
    other_key = dict(vera.headers)
    user_id = vera.get("/me").json()["id"]
    key = server.client.post(f"/users/{user_id}/keys", json={"name": "second"}).json()["key"]
    other_key["authorization"] = f"Bearer {key}"
    with ExitStack() as opened:
        streams = [
            opened.enter_context(vera.stream("GET", f"/runs/{run_id}/stream"))
            for _ in range(MOST_STREAMS)
        ]
        readers = [events_of(response) for response in streams]
        assert [next(reader).type for reader in readers] == ["state"] * MOST_STREAMS

        for headers in (dict(vera.headers), other_key):
            refused = vera.get(f"/runs/{run_id}/stream", headers=headers)
            assert refused.status_code == 429
            assert int(refused.headers["Retry-After"]) >= 1
        assert server.client.get(f"/runs/{run_id}").status_code == 200

        write(database, run_id, range(1))
        assert [next(reader).type for reader in readers] == ["metric"] * MOST_STREAMS
    # Those that were left make room, as soon as the server has seen it.
    wait_until(lambda: opens(vera, run_id), "a place among the streams is free again")


def opens(client: httpx.Client, run_id: str) -> bool:
    """Whether this person may open a stream now."""
    with client.stream("GET", f"/runs/{run_id}/stream") as response:
        return response.status_code == 200


def test_the_server_stops_at_once_while_streams_are_open(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    with (
        server.client.stream("GET", f"/runs/{run_id}/stream") as first,
        server.client.stream("GET", f"/stream?runs={run_id}") as second,
    ):
        readers = [events_of(first), events_of(second)]
        for reader in readers:
            next(reader)

        assert server.stop(STOP_S) < STOP_S
        for reader in readers:
            assert list(reader) == []


def test_a_reader_that_falls_behind_catches_up_from_the_store(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = a_run(database, seed)
    monkeypatch.setattr(stream, "QUEUE_LENGTH", 3)
    monkeypatch.setattr(stream, "PAGE", 5)
    monkeypatch.setattr(stream, "POLL_S", 0.01)

    async def read_slowly() -> list[int]:
        streams = Streams(database)
        chunks = streams.follow(heads(database, run_id))
        text = b""
        while text.count(b"event: metric") < 120:
            async with asyncio.timeout(PATIENCE_S):
                text += await anext(chunks)
            written = text.count(b"event: metric")
            if written % 20 == 0 and written < 120:
                # Twenty events at once overflow a queue of three.
                await asyncio.to_thread(write, database, run_id, range(written, written + 20))
        await chunks.aclose()
        streams.close()
        lines = [line for line in text.decode().splitlines() if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: "))["seq"] for line in lines]

    assert in_a_loop(read_slowly()) == list(range(1, 122))


class Counted(Streams):
    """Streams that count what is read to catch up; `written` is called after each read."""

    n_read = 0

    def __init__(self, database: Database, written: Callable[[int], None] = lambda _: None) -> None:
        super().__init__(database)
        self._written = written

    def _older(self, run_id: str, at: dict[str, int], *, is_long: bool) -> Made:
        """As ever."""
        self.n_read += 1
        page = super()._older(run_id, at, is_long=is_long)
        self._written(self.n_read)
        return page


def test_a_stream_of_a_run_that_never_rests_catches_up_once(database: Database, seed: Seed) -> None:
    """What is written while it reads waits for it; read as well, it would never come to an end."""
    run_id = a_run(database, seed)
    write(database, run_id, range(5))

    async def read() -> list[int]:
        streams = Counted(database, lambda n: write(database, run_id, range(4 + n, 5 + n)))
        chunks, text = streams.follow(heads(database, run_id)), b""
        async with asyncio.timeout(PATIENCE_S):
            while text.count(b"event: metric") < 6:
                text += await anext(chunks)
        await chunks.aclose()
        streams.close()
        assert streams.n_read == 1
        lines = [line for line in text.decode().splitlines() if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: "))["seq"] for line in lines]

    assert in_a_loop(read()) == list(range(1, 8))


def test_a_stream_that_has_missed_nothing_reads_nothing(database: Database, seed: Seed) -> None:
    run_id = a_run(database, seed)

    async def read() -> bytes:
        streams = Counted(database)
        chunks = streams.follow(heads(database, run_id), from_now=True)
        text = await anext(chunks)
        following = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)
        await asyncio.to_thread(write, database, run_id, range(1))
        async with asyncio.timeout(PATIENCE_S):
            text += await following
        await chunks.aclose()
        streams.close()
        assert streams.n_read == 0
        return text

    assert in_a_loop(read()).count(b"event: metric") == 1


def test_streams_that_wait_to_catch_up_end_with_the_server(database: Database, seed: Seed) -> None:
    run_id = a_run(database, seed)

    async def end() -> int:
        streams = Counted(database)

        async def follow() -> None:
            async for _ in streams.follow(heads(database, run_id)):
                pass

        await streams._catch_up_turn.acquire()
        following = [asyncio.create_task(follow()) for _ in range(3)]
        async with asyncio.timeout(PATIENCE_S):
            while streams._catch_up_turn.statistics().tasks_waiting < len(following):
                await asyncio.sleep(0.01)
            streams.close()
            streams._catch_up_turn.release()
            await asyncio.gather(*following)
        return streams.n_read

    assert in_a_loop(end()) == 0


def test_a_stream_that_waits_for_its_turn_to_catch_up_is_heard(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy closes what says nothing for a minute."""
    run_id = a_run(database, seed)
    monkeypatch.setattr(stream, "PING_S", 0.02)

    async def read() -> list[bytes]:
        streams = Streams(database)
        chunks = streams.follow(heads(database, run_id))
        await streams._catch_up_turn.acquire()
        async with asyncio.timeout(PATIENCE_S):
            told = [await anext(chunks) for _ in range(3)]
            streams._catch_up_turn.release()
            while (chunk := await anext(chunks)) == PING:
                pass
        await chunks.aclose()
        streams.close()
        return [*told[1:], chunk]

    *pings, caught_up = in_a_loop(read())
    assert pings == [PING, PING]
    assert caught_up.count(b"event: state") == 1


def test_what_many_runs_write_at_once_is_read_some_runs_at_a_time(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ids = [a_run(database, seed) for _ in range(5)]
    monkeypatch.setattr(stream, "RUNS_AT_ONCE", 2)
    asked: list[int] = []
    told_after = points.told_after

    def watched(session: Session, seqs: Mapping[str, int], *, limit: int) -> list[KeptEvent]:
        asked.append(len(seqs))
        return told_after(session, seqs, limit=limit)

    monkeypatch.setattr(points, "told_after", watched)

    async def read() -> bytes:
        streams = Streams(database)
        chunks = streams.follow(heads(database, *run_ids), from_now=True)
        text = await anext(chunks)
        following = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)
        with database.write() as session:
            for run_id in run_ids:
                line = MetricLine(step=0, time=0.0, values={"loss": 1.0})
                points.append(session, run_id, 1, [line], at=AT)
        async with asyncio.timeout(PATIENCE_S):
            text += await following
            while text.count(b"event: metric") < len(run_ids):
                text += await anext(chunks)
        await chunks.aclose()
        streams.close()
        return text

    text = in_a_loop(read()).decode()
    assert all(text.count(f'"run": "{run_id}"') == 1 for run_id in run_ids)
    assert sorted(asked) == [1, 2, 2]


def test_whoever_leaves_while_a_page_is_read_keeps_the_turn_until_it_is_read(
    database: Database, seed: Seed
) -> None:
    """A thread cannot be stopped: else whoever opens and closes streams has one for each."""
    run_id = a_run(database, seed)
    begun, may_go_on = threading.Event(), threading.Event()
    n_reading = 0

    class Slow(Streams):
        def _older(self, run_id: str, at: dict[str, int], *, is_long: bool) -> Made:
            nonlocal n_reading
            n_reading += 1
            begun.set()
            assert may_go_on.wait(PATIENCE_S)
            return super()._older(run_id, at, is_long=is_long)

    async def leave_and_come_back() -> bytes:
        streams = Slow(database)

        async def follow() -> bytes:
            async for chunk in streams.follow(heads(database, run_id)):
                if b"event: state" in chunk:
                    return chunk
            raise AssertionError("the stream ended")

        async with asyncio.timeout(PATIENCE_S):
            for _ in range(3):
                left = asyncio.create_task(follow())
                await asyncio.to_thread(begun.wait, PATIENCE_S)
                await asyncio.sleep(0.05)
                left.cancel()
                await asyncio.wait([left])
            assert n_reading == 1
            back = asyncio.create_task(follow())
            await asyncio.sleep(0.05)
            assert n_reading == 1
            may_go_on.set()
            chunk = await back
        streams.close()
        return chunk

    assert in_a_loop(leave_and_come_back()).count(b"event: state") == 1
    assert n_reading == 2
