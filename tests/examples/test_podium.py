"""What the example client says when the service refuses something or a run fails."""

import httpx
from podium import _problem, _why


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
