"""Relays of one worker that wait for SQLite's writer together: one transaction, and a part each."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from backend.store import group_commit
from backend.store.db import LostTransaction
from backend.store.group_commit import GroupCommit
from backend.store.runs.supervision import Claim, GivenAway
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.runs import Run
from tests.processes import wait_until
from tests.worker.floor import Floor
from tests.worker.test_relay import append, claimed, metric
from worker.run_directory.layout import RunDirectory
from worker.run_directory.relay import Relay


class Member(NamedTuple):
    """A run whose relay has found its place and has a step to carry."""

    claim: Claim
    directory: RunDirectory
    relay: Relay


@pytest.fixture
def group(sqlite_floor: Floor, monkeypatch: pytest.MonkeyPatch) -> GroupCommit:
    """What the relays of a worker share; however slow the machine is, they do."""
    monkeypatch.setattr(group_commit, "LONGEST_GROUP_S", 600.0)
    return GroupCommit(sqlite_floor.database)


def members(floor: Floor, group: GroupCommit, count: int = 3) -> list[Member]:
    """Runs whose first step is stored and whose second is in the file."""
    found = []
    for _ in range(count):
        claim, directory, _ = claimed(floor)
        relay = Relay(floor.database, claim, directory, group)
        append(directory, metric(1, loss=1.0))
        assert relay.carry()
        append(directory, metric(2, loss=2.0))
        found.append(Member(claim, directory, relay))
    return found


@contextmanager
def at_once(
    floor: Floor, group: GroupCommit, calls: list[Callable[[], object]]
) -> Iterator[list[Future[object]]]:
    """These calls, begun one after the other while somebody else has the writer."""
    with ThreadPoolExecutor(len(calls)) as threads:
        with floor.database.write("somebody else"):
            ends = []
            for number, call in enumerate(calls, start=1):
                ends.append(threads.submit(call))
                wait_until(lambda: group.n_waiting >= number, "it waits with the others")  # noqa: B023
        yield ends


def steps_of(floor: Floor, member: Member) -> list[int]:
    """The steps of the loss that are stored."""
    run_id = member.claim.run_id
    wanted = select(MetricPoint.step).where(
        MetricPoint.run_id == run_id, MetricPoint.name == "loss"
    )
    return floor.rows(wanted.order_by(MetricPoint.step))


def assert_whole(floor: Floor, member: Member) -> None:
    """Both steps, their place in the file and their events, each once."""
    run = floor.run(member.claim.run_id)
    assert steps_of(floor, member) == floor.told_steps(run.id) == [1, 2]
    assert run.relayed_bytes == member.directory.events.stat().st_size
    assert not member.relay.carry()


def test_relays_that_wait_together_are_one_hold(sqlite_floor: Floor, group: GroupCommit) -> None:
    floor = sqlite_floor
    found = members(floor, group)
    holds: list[str] = []
    floor.database.on_hold = lambda by, _: holds.append(by)

    with at_once(floor, group, [one.relay.carry for one in found]) as ends:
        assert [end.result() for end in ends] == [True, True, True]

    assert holds == ["somebody else", "Relay"]
    for one in found:
        assert_whole(floor, one)


def test_a_run_that_was_given_away_takes_no_other_with_it(
    sqlite_floor: Floor, group: GroupCommit
) -> None:
    floor = sqlite_floor
    first, lost, last = members(floor, group)
    with floor.database.write() as session:
        session.execute(update(Run).where(Run.id == lost.claim.run_id).values(attempt=2))

    with at_once(floor, group, [one.relay.carry for one in (first, lost, last)]) as ends:
        assert isinstance(ends[1].exception(), GivenAway)

    assert_whole(floor, first)
    assert_whole(floor, last)
    assert steps_of(floor, lost) == floor.told_steps(lost.claim.run_id) == [1]


def test_a_line_that_the_store_refuses_takes_no_other_with_it(
    sqlite_floor: Floor, group: GroupCommit
) -> None:
    floor = sqlite_floor
    first, poisoned, last = members(floor, group)
    append(poisoned.directory, metric(3, poison=1.0))
    with floor.database.write() as session:
        session.execute(
            text(
                "CREATE TRIGGER refused BEFORE INSERT ON metric_points WHEN NEW.name = 'poison' "
                "BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        )

    with at_once(floor, group, [one.relay.carry for one in (first, poisoned, last)]) as ends:
        assert [end.result() for end in ends] == [True, True, True]

    for one in (first, poisoned, last):
        assert_whole(floor, one)
    alerts = {one: floor.events(one.claim.run_id, "alert") for one in (first, poisoned, last)}
    assert [len(told) for told in alerts.values()] == [0, 1, 0]
    assert alerts[poisoned][0].data["message"] == (
        "A metric line of events.jsonl was left out: the database refused its values "
        "(IntegrityError)."
    )


def test_what_the_database_undid_for_all_is_stored_once_by_the_next_try(
    sqlite_floor: Floor, group: GroupCommit
) -> None:
    floor = sqlite_floor
    found = members(floor, group)

    def lose(session: Session) -> None:
        session.execute(text("ROLLBACK"))
        session.execute(text("no sentence of SQL"))

    calls = [*(one.relay.carry for one in found), lambda: group.write(lose, by="a full disk")]
    with at_once(floor, group, calls) as ends:
        assert [type(end.exception()) for end in ends] == [LostTransaction] * 4

    assert [steps_of(floor, one) for one in found] == [[1]] * 3
    for one in found:
        assert one.relay.carry()
        assert_whole(floor, one)
