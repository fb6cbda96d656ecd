"""What the example client says when the service refuses something or a run fails."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from podium import Podium, RunEndedBadly, _problem, _why


class Following(Podium):
    """A client that sees these states of a run, one at each look."""

    def __init__(self, *states: tuple[str, bool]) -> None:
        super().__init__("http://podium", "key")
        self._states: Iterator[tuple[str, bool]] = iter(states)

    def get(self, path: str, **query: Any) -> Any:
        state, is_retried = next(self._states)
        return {"id": "run_1", "name": "policy", "state": state, "is_retried": is_retried}


def test_a_crashed_run_is_waited_for_while_the_service_retries_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("podium.POLL_S", 0)
    seen: list[str] = []
    podium = Following(("crashed", True), ("queued", False), ("succeeded", False))

    podium.wait("run_1", lambda run: seen.append(run["state"]))

    assert seen == ["crashed", "queued", "succeeded"]
    with pytest.raises(RunEndedBadly, match="'policy' is crashed"):
        Following(("crashed", False)).wait("run_1", lambda _: None)


def test_a_refusal_is_told_in_sentences_with_one_full_stop_each() -> None:
    problem = {
        "title": "Not found",
        "detail": "there is no run run_1",
        "advice": "Check the id.",
        "errors": None,
    }
    request = httpx.Request("GET", "http://podium/api/v1/runs/run_1")
    response = httpx.Response(
        404,
        json=problem,
        headers={"content-type": "application/problem+json"},
        request=request,
    )

    assert _problem(response) == (
        "GET /api/v1/runs/run_1: 404 Not found. there is no run run_1. Check the id."
    )


def test_a_failed_run_is_told_with_its_cause_and_advice() -> None:
    run = {
        "id": "run_1",
        "name": "policy",
        "state": "crashed",
        "error": {
            "cause": "killed",
            "message": "The trainer was ended by signal 9.",
            "advice": "Read the log.",
        },
    }

    assert _why(run, "http://podium") == (
        "run 'policy' is crashed: killed. The trainer was ended by signal 9. Read the log. "
        "Look at http://podium/runs/run_1"
    )


def test_a_run_without_an_error_is_told_by_its_state() -> None:
    run = {
        "id": "run_1",
        "name": "policy",
        "state": "paused",
        "error": None,
        "state_sentence": "Paused; resume puts it back into the queue.",
    }

    assert _why(run, "http://podium") == (
        "run 'policy' is paused: Paused; resume puts it back into the queue. "
        "Look at http://podium/runs/run_1"
    )
