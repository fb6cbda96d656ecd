"""What the log and Prometheus learn of a request, and what they never learn."""

import json
import logging
import math
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.traces import requests
from backend.traces.json_log import JsonLines
from tests.backend.conftest import Service


def told(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The lines about requests, as they are written."""
    lines = [one for one in caplog.records if one.name == "podium.request"]
    return [json.loads(JsonLines().format(one)) for one in lines]


def test_a_change_is_logged_with_who_what_and_which_request(
    light_service: Service, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Slow reads are logged too; this machine may make any of them slow.
    monkeypatch.setattr(requests, "SLOW_S", math.inf)
    api = light_service.client()
    me = api.get("/me").json()["id"]
    with caplog.at_level(logging.INFO, logger="podium.request"):
        project = api.post("/projects", json={"name": "secret name"}).json()["id"]
        api.get("/projects")
        archived = api.post(f"/projects/{project}/archive")

    created, second = told(caplog)
    assert (created["operation"], created["status"], created["user_id"]) == (
        "create_project",
        201,
        me,
    )
    assert second["project_id"] == project
    assert second["request_id"] == archived.headers["X-Request-Id"]
    assert "secret name" not in json.dumps([created, second])


def test_a_refusal_is_logged_without_what_was_typed(
    light_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    browser = light_service.anonymous()
    typed = {"email": "typed@x.test", "password": "typed password"}
    with caplog.at_level(logging.INFO, logger="podium.request"):
        browser.post("/api/v1/session", json=typed)
        browser.get("/api/v1/runs/run_typed", headers={"Authorization": "Bearer pk_typed"})
        browser.get("/api/v1/typed")

    lines = told(caplog)
    assert [(one["operation"], one["status"]) for one in lines] == [
        ("sign_in", 401), ("get_run", 401), ("other", 404)
    ]  # fmt: skip
    assert "typed" not in json.dumps(lines)


def test_prometheus_reads_what_happened_and_what_is(
    service: Service, new_user: Callable[..., tuple[TestClient, dict[str, Any]]]
) -> None:
    api = service.client()
    for _ in range(3):
        api.post("/projects", json={"name": "P"})

    text = service.client().get("http://localhost/metrics").text

    assert 'podium_http_requests_total{operation="create_project",status="201"} 3.0' in text
    assert 'podium_http_request_seconds_count{operation="create_project"} 3.0' in text
    assert 'podium_write_hold_seconds_count{operation="create_project"} 3.0' in text
    assert 'podium_requests_waiting{of="write"} 0.0' in text
    assert 'podium_streams_open{of="all"} 0.0' in text
    assert "process_resident_memory_bytes" in text
    assert new_user("researcher")[0].get("http://localhost/metrics").status_code == 403
    assert service.anonymous().get("/metrics").status_code == 401
