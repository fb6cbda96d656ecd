"""Problems that are being made when their client leaves or their child dies: nothing is left."""

import json
from pathlib import Path

from backend.store.db import Database
from tests import processes
from tests.backend.jobs.test_leaving import Site, plant, serving, states

# Slow children write twenty at a time, ten times a second.
ASKED = {"set": "lists", "levels": [2, 3], "count": 1000}


def n_rows(database: Database) -> int:
    """The prompts and imports that there are, seen or not."""
    with database.engine.connect() as connection:
        return sum(
            connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
            for name in ("prompts", "imports")
        )


def is_empty(site: Site, project: str) -> bool:
    prompts = site.api.get(f"/projects/{project}/prompts").raise_for_status().json()["items"]
    return prompts == []


def test_what_nobody_waits_for_or_whose_child_is_killed_leaves_nothing(
    store_url: str, database: Database, tmp_path: Path
) -> None:
    project = plant(database, 0)
    address = f"/projects/{project}/problem-sets"
    with serving(store_url, tmp_path) as site:
        making = site.half_asked("POST", address, json.dumps(ASKED).encode())
        processes.wait_until(lambda: n_rows(database) > 50, "problems are written")
        assert is_empty(site, project)
        making.close()
        processes.wait_until(lambda: states(database, "problem_set") == ["cancelled"], "an end")
        processes.wait_until(lambda: n_rows(database) == 0, "nothing is left")

        headers = {"Prefer": "respond-async"}
        taken = site.api.post(address, json=ASKED, headers=headers).raise_for_status().json()
        processes.wait_until(lambda: n_rows(database) > 50, "problems are written")
        for pid in site.children():
            processes.kill(pid)
        processes.wait_until(lambda: "failed" in states(database, "problem_set"), "it has failed")
        job = site.api.get(f"/jobs/{taken['id']}").json()
        assert (job["state"], job["error"]["status"]) == ("failed", 503)
        assert "signal SIGKILL" in job["error"]["detail"]
        processes.wait_until(lambda: n_rows(database) == 0, "nothing is left")

        # Whoever comes next does not wait until the dead import is taken for dead.
        few = {**ASKED, "count": 5}
        made = site.api.post(address, json=few, timeout=30).raise_for_status().json()
        assert (made["accepted"], made["rejected_total"]) == (10, 0)
        assert n_rows(database) == 11
