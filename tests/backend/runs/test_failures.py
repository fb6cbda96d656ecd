"""How runs ended badly, through the REST API."""

from datetime import UTC, datetime
from typing import Any

from fastapi.testclient import TestClient

from backend.domain.run_state import CRASH_LIMIT
from backend.settings import Settings
from backend.store.db import Database
from backend.store.runs import runs, supervision
from backend.store.runs.failures import LOG_LINES, Evidence
from backend.store.runs.logs import Printed
from tests.backend.runs.conftest import Seed

ERROR = {"cause": "killed", "message": "by SIGSEGV", "advice": "Read the log."}


def crashed(api: TestClient, seed: Seed, database: Database, error: dict[str, Any]) -> str:
    """A run that has crashed with 300 lines of log."""
    run_id = str(api.post("/runs", json=seed.body(seed.sft())).json()["id"])
    log = [Printed("stderr", f"line {number}") for number in range(300)]
    at = datetime.now(UTC)
    with database.write() as session:
        run = supervision.claim(session, run_id, "worker_x", at=at)
        assert run is not None
        evidence = Evidence(log, {"ran_s": 4.5, "gpu_peak_bytes": None})
        supervision.crash(session, run, error, at=at, evidence=evidence)
    return run_id


def test_a_bad_end_is_told_with_its_evidence(
    api: TestClient, seed: Seed, database: Database
) -> None:
    run_id = crashed(api, seed, database, ERROR)

    (end,) = api.get(f"/runs/{run_id}/failures").json()["items"]

    assert (end["cause"], end["attempt"], end["message"]) == ("killed", 1, "by SIGSEGV")
    assert end["sentence"] == "The trainer was ended by a signal that Podium did not send."
    assert end["advice"] == "Read the log. Podium retries the run automatically from the beginning."
    assert end["resources"] == {"ran_s": 4.5, "gpu_peak_bytes": None}
    assert len(end["log"]) == LOG_LINES
    assert end["log"][-1] == {"stream": "stderr", "text": "line 299"}
    error = api.get(f"/runs/{run_id}").json()["error"]
    told = {name: end[name] for name in ("cause", "sentence", "message", "advice")}
    assert error == told | {"changes": {}}


def test_a_cause_of_another_release_is_unexplained(
    api: TestClient, seed: Seed, database: Database
) -> None:
    run_id = crashed(api, seed, database, ERROR | {"cause": "solar_flare"})

    assert api.get(f"/runs/{run_id}").json()["error"]["cause"] == "unexplained"
    (end,) = api.get(f"/runs/{run_id}/failures").json()["items"]
    assert end["cause"] == "unexplained"


def test_a_crashed_run_is_said_to_be_tried_again_only_while_it_is(
    api: TestClient, seed: Seed, database: Database
) -> None:
    run_id = crashed(api, seed, database, ERROR)
    again = (
        "Crashed; the error says what is known. Podium retries the run automatically; Retry queues "
        "it now."
    )
    never = (
        "Crashed; the error says what is known. Podium does not retry the run automatically; use "
        "Retry."
    )

    def said() -> tuple[str, bool]:
        run = api.get(f"/runs/{run_id}").json()
        return run["state_sentence"], run["is_retried"]

    assert said() == (again, True)
    api.post(f"/runs/{run_id}/archive").raise_for_status()
    assert said() == (never, False)
    api.post(f"/runs/{run_id}/restore").raise_for_status()
    assert said() == (again, True)
    with database.write() as session:
        run = runs.get(session, run_id)
        run.crashes = CRASH_LIMIT
    assert said() == (never, False)


def test_the_default_back_off_has_a_wait_for_each_crash_that_is_tried_again() -> None:
    waits_s = Settings.model_fields["crash_back_off_s"].default

    assert len(waits_s) == CRASH_LIMIT - 1


def test_bad_ends_are_for_those_who_may_see_the_run(
    api: TestClient, seed: Seed, database: Database, new_user: Any
) -> None:
    address = f"/runs/{crashed(api, seed, database, ERROR)}/failures"

    clients = {
        "stranger": new_user("researcher")[0],
        "annotator": new_user("annotator", seed.project)[0],
        "viewer": new_user("viewer", seed.project)[0],
    }

    seen = {name: client.get(address).status_code for name, client in clients.items()}
    assert seen == {"stranger": 404, "annotator": 403, "viewer": 200}
    assert api.get("/runs/run_nothing/failures").status_code == 404


def test_a_run_that_never_ended_badly_has_none(api: TestClient, seed: Seed) -> None:
    run_id = api.post("/runs", json=seed.body(seed.sft())).json()["id"]

    assert api.get(f"/runs/{run_id}/failures").json()["items"] == []
