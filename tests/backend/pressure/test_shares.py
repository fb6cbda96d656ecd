"""Shares: who takes much rests while others ask, and whoever is alone never does."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.pressure import shares
from backend.pressure.shares import SAVED_S, SHARE, Shares
from backend.pressure.turns import READING_EACH, Line, Turns
from backend.pressure.visitors import UNKNOWN
from backend.store.db import Database
from tests.loops import looped


def test_whoever_is_alone_never_rests() -> None:
    used = Shares()
    assert [used.rest_s("ann", 1.0, at=float(n)) for n in range(1, 20)] == [0.0] * 19


def test_what_is_saved_up_is_free_and_the_rest_is_waited_for() -> None:
    used = Shares()
    used.rest_s("bob", 0.001, at=9.9)
    # 0.3 s at once; the next 0.1 s are four times as long in coming.
    assert used.rest_s("ann", 0.3, at=10.0) == pytest.approx(0.0)
    used.rest_s("bob", 0.001, at=10.0)
    assert used.rest_s("ann", 0.1, at=10.0) == pytest.approx(0.4)


def test_others_who_asked_long_ago_do_not_count() -> None:
    used = Shares()
    assert used.is_alone("ann", at=0.0)
    used.rest_s("bob", 0.001, at=0.0)
    assert used.is_alone("bob", at=0.0)
    assert not used.is_alone("ann", at=0.1)
    assert used.is_alone("ann", at=1.0)
    assert used.rest_s("ann", 5.0, at=1.0) == 0.0


@given(st.lists(st.floats(0.001, 0.5), min_size=20, max_size=60))
def test_beside_others_nobody_takes_more_than_a_share(turns_s: list[float]) -> None:
    used, now, taken = Shares(), 100.0, 0.0
    for took_s in turns_s:
        now += took_s
        taken += took_s
        used.rest_s("bob", 0.0, at=now)
        now += used.rest_s("ann", took_s, at=now)
    assert taken <= SHARE * (now - 100.0) + SAVED_S + max(turns_s)


def test_persons_with_nothing_to_wait_for_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "MOST_PERSONS", 10)
    used = Shares()
    for n in range(1000):
        used.rest_s(f"person {n}", 0.05, at=n * 0.1)
    assert len(used._even_at) <= 11


@looped
async def test_a_person_rests_and_the_place_is_another_s_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shares, "SAVED_S", 0.0)
    # However long this machine takes, bob asked lately, and the rest is longer than the test.
    monkeypatch.setattr(shares, "OTHERS_WITHIN_S", 3600.0)
    monkeypatch.setattr(shares, "SHARE", 1e-5)
    line = Line(1, each=1, shares=Shares())
    order: list[str] = []

    async def take(person: str, seconds: float) -> None:
        async with line.turn(person):
            order.append(person)
            await asyncio.sleep(seconds)

    await take("bob", 0.0)
    first = asyncio.create_task(take("ann", 0.05))
    await asyncio.sleep(0)
    resting, *others = [asyncio.create_task(take(one, 0.0)) for one in ("ann", "bob", "eve")]
    await asyncio.gather(first, *others)
    assert order == ["bob", "ann", "bob", "eve"]
    line._end_rest("ann")
    await resting
    assert order[4:] == ["ann"]
    assert line.n_waiting == 0


@looped
async def test_who_is_not_known_does_not_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "SAVED_S", 0.0)
    used = Shares()
    line = Line(1, each=1, shares=used)
    for person in ("bob", f"{UNKNOWN}10.0.0.1"):
        async with line.turn(person):
            await asyncio.sleep(0.01)
    assert not [one for one in used._even_at if one.startswith(UNKNOWN)]


@looped
async def test_who_reads_much_rests_for_others_who_only_write(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "SAVED_S", 0.0)
    monkeypatch.setattr(shares, "OTHERS_WITHIN_S", 3600.0)
    monkeypatch.setattr(shares, "SHARE", 1e-5)
    turns = Turns(database)

    async def read(person: str) -> None:
        async with turns.reading(person):
            await asyncio.sleep(0.01)

    async with turns.writing("bob"):
        pass
    much = [asyncio.create_task(read("ann")) for _ in range(READING_EACH + 1)]
    # All that ann may have at once was used, and rests: the last one waits.
    first, *_, last = much
    await first
    await asyncio.wait([last], timeout=0.2)
    await read("bob")
    assert not last.done()
    for one in much:
        one.cancel()
    await asyncio.gather(*much, return_exceptions=True)
