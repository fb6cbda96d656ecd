"""One stream whose runs change from one request to the next: what the tabs of a browser share."""

import asyncio
import random
import threading
from typing import Any

import httpx
import pytest

from backend import stream
from backend.api.several_runs import MOST_RUNS
from backend.store.db import Database
from backend.stream import Streams
from tests.backend.runs.conftest import Seed
from tests.backend.runs.test_stream import (
    PATIENCE_S,
    a_run,
    events_of,
    heads,
    person,
    write,
)
from tests.loops import in_a_loop
from tests.served import Server


def follow(client: httpx.Client, after: dict[str, int | str]) -> Any:
    """Open a stream of these runs, each behind a number or from now on."""
    pairs = ",".join(f"{run_id}:{number}" for run_id, number in after.items())
    return client.stream("GET", "/stream", params={"runs": ",".join(after), "after": pairs})


def test_runs_come_and_go_without_a_gap_or_a_repeat(
    server: Server, database: Database, seed: Seed
) -> None:
    runs = [a_run(database, seed) for _ in range(3)]
    total, chance = 60, random.Random(1)

    def produce() -> None:
        for step in range(total):
            for run_id in runs:
                write(database, run_id, range(step, step + 1))

    writer = threading.Thread(target=produce, daemon=True)
    writer.start()
    # Of each run the last event that was told; each that was ever followed stays followed.
    told: dict[str, int | str] = {}
    while any(told.get(run_id) != total + 1 for run_id in runs):
        for run_id in chance.sample(runs, 1):
            told.setdefault(run_id, "now")
        with follow(server.client, told) as response:
            events = events_of(response)
            first = next(events)
            assert first.type == "position"
            for run_id, number in told.items():
                assert number in ("now", first.data[run_id])
            told = dict(first.data)
            for _ in range(chance.randrange(30)):
                if set(told.values()) == {total + 1}:
                    break
                event = next(events)
                run_id = event.data["run"]
                assert event.data["seq"] == told[run_id] + 1
                told[run_id] = event.data["seq"]
    writer.join(PATIENCE_S)


def test_a_run_that_one_may_not_see_is_left_out(
    server: Server, database: Database, seed: Seed
) -> None:
    seen = a_run(database, seed)
    other = server.client.post("/projects", json={"name": "Not theirs"}).raise_for_status().json()
    hidden = a_run(database, Seed(project=other["id"]))
    with person(server, seed, "Vera") as vera:
        with follow(vera, {hidden: "now", seen: "now", "run_gone": 3}) as response:
            events = events_of(response)
            first = next(events)
            assert (first.type, first.data) == ("position", {seen: 1})
            write(database, hidden, range(1))
            write(database, seen, range(1))
            assert next(events).data["run"] == seen
        with follow(vera, {hidden: "now", "run_gone": 3}) as response:
            assert response.status_code == 404
        # Whoever names runs without `after` named one that is not there.
        assert vera.get("/stream", params={"runs": f"{hidden},{seen}"}).status_code == 404


def test_a_number_that_the_store_has_not_reached_resets_its_run_alone(
    server: Server, database: Database, seed: Seed
) -> None:
    a, b = a_run(database, seed), a_run(database, seed)
    write(database, b, range(2))
    with follow(server.client, {a: 7, b: 2}) as response:
        events = events_of(response)
        told = [next(events) for _ in range(3)]
        write(database, a, range(1))
        told.append(next(events))
    assert [(event.type, event.data) for event in told[:2]] == [
        ("position", {a: 1, b: 2}),
        ("reset", {"run": a, "seq": 1}),
    ]
    assert [(event.data["run"], event.data["seq"]) for event in told[2:]] == [(b, 3), (a, 2)]


def test_what_is_no_place_in_a_run_is_refused(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    numbers = [f"{run_id}:{text}" for text in ("", "-1", "1.5", "²", "later", "9" * 16)]
    lists = ["", run_id, ":1", f"{run_id}:1,", f"{run_id}:1,{run_id}:2", "run_other:1"]
    for after in [*numbers, *lists]:
        answer = server.client.get("/stream", params={"runs": run_id, "after": after})
        assert answer.status_code == 422, after
        assert "expected RUN:SEQ or RUN:now" in answer.json()["detail"]


def test_a_browser_follows_as_many_runs_as_are_allowed(
    server: Server, database: Database, seed: Seed
) -> None:
    runs = [a_run(database, seed) for _ in range(MOST_RUNS)]
    # With the longest numbers that are taken, the address is not too long.
    with follow(server.client, dict.fromkeys(runs, 10**15 - 1)) as response:
        assert next(events_of(response)).data == dict.fromkeys(runs, 1)
    more: dict[str, int | str] = dict.fromkeys([*runs, "run_more"], "now")
    with follow(server.client, more) as response:
        assert response.status_code == 422


def test_a_page_opens_no_stream_of_another_user(
    server: Server, database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    with person(server, seed, "Vera") as vera:
        me, other = vera.get("/me").json()["id"], server.client.get("/me").json()["id"]
        for path in (f"/stream?runs={run_id}", f"/runs/{run_id}/stream?since=start"):
            with vera.stream("GET", f"{path}&user_id={me}") as response:
                assert next(events_of(response)).type == "state"
            refused = vera.get(f"{path}&user_id={other}")
            assert refused.status_code == 401
            assert "another user" in refused.json()["detail"]
    waiting = f"/projects/{seed.project}/annotation/stream?user_id="
    assert server.client.get(waiting + me).status_code == 401
    with server.client.stream("GET", waiting + other) as response:
        assert response.status_code == 200


def test_a_browser_hears_pings(
    database: Database, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = a_run(database, seed)
    monkeypatch.setattr(stream, "PING_S", 0.01)

    async def first_ping(after: dict[str, int] | None) -> bytes:
        streams = Streams(database)
        chunks = streams.follow(heads(database, run_id), from_now=True, after=after)
        async with asyncio.timeout(PATIENCE_S):
            told = [await anext(chunks)]
            while b"ping" not in told[-1]:
                told.append(await anext(chunks))
        await chunks.aclose()
        streams.close()
        return told[-1]

    # A script in a browser is told of events alone, a program may take no comment for one.
    assert in_a_loop(first_ping({run_id: 1})) == b"event: ping\ndata: {}\n\n"
    assert in_a_loop(first_ping(None)) == b": ping\n\n"
