"""How a run moves in the store: every pair of states, every verb, what a move leaves behind."""

import itertools
from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from backend.domain import run_state
from backend.domain.run_state import Verb
from backend.errors import Conflict
from backend.schemas.vocabulary import RunState, StopReason
from backend.store.db import Database
from backend.store.runs import events, runs, shown
from backend.store.runs.events import NewEvent
from backend.store.runs.runs import NewRun
from tests.backend.runs.conftest import AT, Seed

PAIRS = list(itertools.product(RunState, RunState))


def a_run(database: Database, seed: Seed, state: RunState = RunState.QUEUED) -> str:
    """A run put into a state, past the table of moves."""
    config = {"method": "sft", "resources": {"gpus": 0}}
    new = NewRun(seed.project, seed.user, "a run", "sft", config, schema_version=1)
    with database.write() as session:
        run = runs.create(session, new, at=AT)
        run.state = state
        run.owner = "worker_x" if state in run_state.LIVE else None
        return run.id


def test_the_store_moves_a_run_exactly_as_the_table_says(database: Database, seed: Seed) -> None:
    for from_, to in PAIRS:
        run_id = a_run(database, seed, from_)
        if run_state.may_move(from_, to):
            with database.write() as session:
                runs.transition(session, runs.locked(session, run_id), to, at=AT)
        else:
            refused = pytest.raises(Conflict, match=f"is {from_} and cannot become {to}")
            with refused, database.write() as session:
                runs.transition(session, runs.locked(session, run_id), to, at=AT)
        with database.read() as session:
            moved = run_state.may_move(from_, to)
            assert runs.get(session, run_id).state == (to if moved else from_)
            assert len(events.after(session, run_id, 0, limit=10)) == (2 if moved else 1)


def test_a_move_that_another_writer_has_overtaken_is_refused(
    database: Database, seed: Seed
) -> None:
    run_id = a_run(database, seed)
    with database.read() as session:
        stale = runs.get(session, run_id)
    with database.write() as session:
        runs.pause(session, run_id, at=AT)

    with pytest.raises(Conflict, match="no longer queued"), database.write() as session:
        runs.transition(session, session.merge(stale, load=False), RunState.CANCELLED, at=AT)

    with database.read() as session:
        assert runs.get(session, run_id).state == RunState.PAUSED


def test_the_newest_attempt_began_when_its_trainer_did(database: Database, seed: Seed) -> None:
    """What lies between it and the first is no running: failures, and a night before a retry."""
    run_id = a_run(database, seed)

    def began() -> datetime | None:
        with database.read() as session:
            return shown.one(session, run_id).attempt_started_at

    def begin(attempt: int, hours: int, *, has_trainer: bool) -> datetime:
        at = AT + timedelta(hours=hours)
        with database.write() as session:
            run = runs.locked(session, run_id)
            run.attempt, run.owner = attempt, "worker_x"
            runs.transition(session, run, RunState.RUNNING, at=at)
            if has_trainer:
                told = {"attempt": attempt, "step": 0, "environment": {}}
                events.append(session, run_id, [NewEvent("start", told)], at=at)
            runs.transition(session, run, RunState.CRASHED, at=at + timedelta(minutes=5))
        return at

    def again() -> None:
        with database.write() as session:
            runs.transition(session, runs.locked(session, run_id), RunState.QUEUED, at=AT)

    assert began() is None
    assert begin(1, 1, has_trainer=True) == began()
    again()
    assert begin(2, 12, has_trainer=True) == began()
    again()
    begin(3, 24, has_trainer=False)
    assert began() is None


def test_a_move_keeps_time_error_and_reason(database: Database, seed: Seed) -> None:
    run_id = a_run(database, seed)
    error = {"cause": "data", "message": "line 3 is empty", "advice": "fill it"}

    with database.write() as session:
        run = runs.locked(session, run_id)
        run.owner, run.attempt = "worker_x", 1
        runs.transition(session, run, RunState.RUNNING, at=AT + timedelta(seconds=1))
    with database.write() as session:
        run = runs.locked(session, run_id)
        ended = AT + timedelta(seconds=9)
        runs.transition(session, run, RunState.FAILED, at=ended, error=error, exit_code=2)

    with database.read() as session:
        run = runs.get(session, run_id)
        assert (run.started_at, run.finished_at) == (AT + timedelta(seconds=1), ended)
        assert (run.error, run.exit_code, run.owner) == (error, 2, None)
        last = events.after(session, run_id, 0, limit=10)[-1]
        assert last.data == {"state": "failed", "attempt": 1, "reason": None, "error": error}
    with database.write() as session:
        runs.retry(session, run_id, at=AT)
    with database.read() as session:
        run = runs.get(session, run_id)
        assert (run.state, run.error, run.exit_code, run.finished_at) == (
            "queued",
            None,
            None,
            None,
        )


@pytest.mark.parametrize("reason", StopReason)
def test_a_stop_that_ends_as_it_was_meant_keeps_its_reason(
    database: Database, seed: Seed, reason: StopReason
) -> None:
    run_id = a_run(database, seed, RunState.RUNNING)
    with database.write() as session:
        runs.transition(
            session, runs.locked(session, run_id), RunState.STOPPING, at=AT, reason=reason
        )
    with database.write() as session:
        run = runs.locked(session, run_id)
        runs.transition(session, run, run_state.state_asked_for(reason), at=AT)

    with database.read() as session:
        assert runs.get(session, run_id).stop_reason == reason


def test_a_stop_that_ends_otherwise_loses_its_reason(database: Database, seed: Seed) -> None:
    run_id = a_run(database, seed, RunState.RUNNING)
    with database.write() as session:
        runs.pause(session, run_id, at=AT)
    with database.write() as session:
        runs.transition(session, runs.locked(session, run_id), RunState.SUCCEEDED, at=AT)

    with database.read() as session:
        assert runs.get(session, run_id).stop_reason is None


def test_cancel_overrules_a_pause_that_is_under_way(database: Database, seed: Seed) -> None:
    run_id = a_run(database, seed, RunState.RUNNING)
    with database.write() as session:
        runs.pause(session, run_id, at=AT)

    with database.write() as session:
        runs.cancel(session, run_id, at=AT)
    with database.write() as session:
        runs.cancel(session, run_id, at=AT)

    with database.read() as session:
        run = runs.get(session, run_id)
        assert (run.state, run.stop_reason) == (RunState.STOPPING, StopReason.CANCEL)
        told = [event.data["reason"] for event in events.after(session, run_id, 0, limit=10)]
        assert told == [None, "pause", "cancel"]


def test_a_verb_in_a_wrong_state_names_the_state_and_what_it_allows(
    database: Database, seed: Seed, api: TestClient
) -> None:
    verbs = [verb for verb in Verb if verb != Verb.CLONE]
    for state in RunState:
        for verb in verbs:
            run_id = a_run(database, seed, state)
            allowed = run_state.allowed_verbs(state)
            answer = api.post(f"/runs/{run_id}/{verb}")
            if verb in allowed:
                assert answer.status_code == 200, answer.text
                continue
            problem = answer.json()
            assert answer.status_code == 409
            assert answer.headers["content-type"] == "application/problem+json"
            assert (problem["state"], problem["allowed"]) == (state, list(allowed))
            assert f"is {state}" in problem["detail"]
            assert api.get(f"/runs/{run_id}").json()["state"] == state


def test_what_a_verb_leads_to(database: Database, seed: Seed, api: TestClient) -> None:
    leads_to = {
        ("queued", "cancel"): "cancelled",
        ("queued", "pause"): "paused",
        ("running", "cancel"): "stopping",
        ("running", "pause"): "stopping",
        ("stopping", "cancel"): "stopping",
        ("paused", "cancel"): "cancelled",
        ("paused", "resume"): "queued",
        ("crashed", "cancel"): "cancelled",
        ("crashed", "retry"): "queued",
        ("failed", "retry"): "queued",
        ("cancelled", "retry"): "queued",
    }
    for (state, verb), result in leads_to.items():
        run_id = a_run(database, seed, RunState(state))
        assert api.post(f"/runs/{run_id}/{verb}").json()["state"] == result


def test_retry_from_the_start_is_kept_for_the_worker(
    database: Database, seed: Seed, api: TestClient
) -> None:
    run_id = a_run(database, seed, RunState.CRASHED)

    api.post(f"/runs/{run_id}/retry", json={"from": "start"}).raise_for_status()

    with database.read() as session:
        assert runs.get(session, run_id).from_start is True


def test_an_archived_run_leaves_the_list_and_comes_back(
    database: Database, seed: Seed, api: TestClient
) -> None:
    run_id = a_run(database, seed, RunState.SUCCEEDED)

    api.post(f"/runs/{run_id}/archive").raise_for_status()
    assert api.get("/runs").json()["items"] == []
    assert [run["id"] for run in api.get("/runs?archived=true").json()["items"]] == [run_id]

    api.post(f"/runs/{run_id}/restore").raise_for_status()
    assert [run["id"] for run in api.get("/runs").json()["items"]] == [run_id]


@pytest.mark.parametrize(
    ("state", "verb"),
    [
        (RunState.PAUSED, "resume"),
        (RunState.FAILED, "retry"),
        (RunState.CRASHED, "retry"),
        (RunState.CANCELLED, "retry"),
    ],
)
def test_an_archived_run_that_is_queued_again_is_listed_again(
    database: Database, seed: Seed, api: TestClient, state: RunState, verb: str
) -> None:
    run_id = a_run(database, seed, state)
    api.post(f"/runs/{run_id}/archive").raise_for_status()

    assert api.post(f"/runs/{run_id}/{verb}").json()["archived_at"] is None

    assert [run["id"] for run in api.get("/runs").json()["items"]] == [run_id]
