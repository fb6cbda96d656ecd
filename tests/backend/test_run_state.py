"""The table of moves and verbs, against the plan of a run's life, over every pair."""

import itertools

import pytest

from backend.domain import run_state
from backend.domain.run_state import Verb
from backend.schemas.methods import SAMPLERS
from backend.schemas.vocabulary import Method, RunState, StopReason

# Written down by hand from the description of a run's life; the code has its own table.
MOVES = """
queued    -> running paused cancelled
running   -> stopping succeeded failed crashed queued
stopping  -> cancelled paused queued succeeded failed crashed
paused    -> queued cancelled
crashed   -> queued cancelled
succeeded ->
failed    ->
cancelled ->
"""
RETRIED = {"failed", "cancelled", "crashed"}

VERBS = {
    "cancel": {"queued", "running", "stopping", "paused", "crashed"},
    "pause": {"queued", "running"},
    "resume": {"paused"},
    "retry": {"failed", "crashed", "cancelled"},
    "clone": set(RunState),
    "archive": {"paused", "succeeded", "failed", "crashed", "cancelled"},
}


def _expected() -> dict[str, set[str]]:
    lines = [line.split("->") for line in MOVES.strip().splitlines()]
    return {from_.strip(): set(to.split()) for from_, to in lines}


@pytest.mark.parametrize(("from_", "to"), list(itertools.product(RunState, RunState)))
def test_a_run_moves_as_its_life_says(from_: RunState, to: RunState) -> None:
    allowed = to in _expected()[from_]

    assert run_state.may_move(from_, to) is allowed
    assert run_state.may_move(from_, to, "pause") is allowed


@pytest.mark.parametrize(("from_", "to"), list(itertools.product(RunState, RunState)))
def test_retry_alone_brings_an_ended_run_back(from_: RunState, to: RunState) -> None:
    by_table = to in _expected()[from_]
    by_retry = from_ in RETRIED and to == RunState.QUEUED

    assert run_state.may_move(from_, to, run_state.RETRY) is (by_table or by_retry)


@pytest.mark.parametrize(("verb", "state"), list(itertools.product(Verb, RunState)))
def test_each_verb_is_allowed_in_its_states_only(verb: Verb, state: RunState) -> None:
    assert (verb in run_state.allowed_verbs(state)) is (state in VERBS[verb])


@pytest.mark.parametrize("reason", StopReason)
def test_a_stopping_run_may_become_what_was_asked_for(reason: StopReason) -> None:
    assert run_state.may_move(RunState.STOPPING, run_state.state_asked_for(reason))


@pytest.mark.parametrize(
    ("state", "reason"), list(itertools.product(RunState, [None, *StopReason]))
)
def test_every_state_and_reason_has_one_sentence(
    state: RunState, reason: StopReason | None
) -> None:
    sentence = run_state.sentence(state, reason)

    assert sentence.endswith(".")
    assert sentence[0].isupper()


@pytest.mark.parametrize(
    ("state", "reason"), list(itertools.product(RunState, [None, *StopReason]))
)
@pytest.mark.parametrize("method", sorted(SAMPLERS))
def test_a_method_that_trains_nothing_is_promised_no_checkpoint(
    state: RunState, reason: StopReason | None, method: Method
) -> None:
    sentence = run_state.sentence(state, reason, method=method)

    assert "checkpoint" not in sentence
    assert sentence.endswith(".")


def test_a_stopping_run_says_why_it_stops() -> None:
    sentences = {run_state.sentence(RunState.STOPPING, reason) for reason in StopReason}

    assert len(sentences) == len(StopReason)
