"""`podium prune` and the copies that a worker has of models in the bucket."""

import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from backend.ops.prune import LEFT_AFTER
from backend.settings import Settings
from backend.store.db import Database
from backend.store.runs import needs
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from tests.backend.pruned_site import Site, open_site, pruned_while
from tests.backend.runs.conftest import AT

KEY = "runs/model_used/model-1"


@pytest.fixture
def site(tmp_path: Path, sqlite_url: str) -> Site:
    """A worker with a bucket, and a listed model."""
    found = open_site(tmp_path, sqlite_url, is_bucket=True)
    found.model("model_used", archived=False)
    return found


def copy_of(site: Site, key: str = KEY, *, age: timedelta = LEFT_AFTER) -> Path:
    """A copy as a worker fetched it so long ago, and a minute more."""
    copy = site.settings.data_dir / "cache" / key
    site.store.fetch_folder(key, copy)
    then = time.time() - age.total_seconds() - 60
    for path in (*copy.rglob("*"), copy):
        os.utime(path, (then, then))
    return copy


def test_a_copy_that_no_run_needs_goes_and_the_model_stays(site: Site) -> None:
    copy = copy_of(site)
    site.run("run_over", state="succeeded", archived=False, config={"model": {"id": "model_used"}})

    said = site.prune()

    assert said == "Freed 0.0 MB."
    assert list(copy.parent.iterdir()) == []
    assert site.store.size_bytes(KEY) == 1000
    assert site.row(Model, "model_used").pruned_at is None
    copy_of(site)


@pytest.mark.parametrize("state", ["queued", "running", "stopping", "paused", "crashed"])
def test_a_copy_that_an_unfinished_run_names_stays(site: Site, state: str) -> None:
    copy = copy_of(site)
    site.run("run_live", state=state, config={"reference": {"id": "model_used"}})

    site.prune()

    assert copy.is_dir()


def test_a_copy_that_was_fetched_lately_stays(site: Site) -> None:
    copy = copy_of(site, age=LEFT_AFTER / 2)

    site.prune()

    assert copy.is_dir()


def test_a_copy_that_cannot_be_fetched_again_stays(site: Site) -> None:
    copy = copy_of(site)
    site.store.remove(KEY)

    site.prune()

    assert copy.is_dir()


def test_a_copy_that_another_model_was_registered_from_stays(site: Site) -> None:
    copy = copy_of(site)
    with site.database.write() as session:
        made = Model(id="model_by_path", created_at=AT, name="m", kind="causal_lm", facts={})
        made.source = {"path": str(copy)}
        session.add(made)

    site.prune()

    assert copy.is_dir()


def test_a_copy_of_a_model_that_was_pruned_on_another_machine_goes(site: Site) -> None:
    copy = copy_of(site)
    site.store.remove(KEY)
    with site.database.write() as session:
        session.query(Model).filter_by(id="model_used").one().pruned_at = AT

    site.prune()

    assert not copy.exists()


def test_a_copy_that_another_prune_has_just_deleted_stops_nothing(site: Site) -> None:
    copies = [copy_of(site)]
    site.model("model_more", archived=False)
    copies.append(copy_of(site, "runs/model_more/model-1"))

    site.prune(meanwhile=site.prune)

    assert not any(copy.exists() for copy in copies)


def test_what_no_model_of_this_database_names_stays(site: Site) -> None:
    site.put("runs/run_unknown/model-1")
    copy = copy_of(site, "runs/run_unknown/model-1")

    site.prune()

    assert copy.is_dir()


def test_a_copy_that_a_new_run_has_just_taken_is_not_deleted_under_it(
    tmp_path: Path, database: Database
) -> None:
    url = f"memory://{tmp_path.name}-{database.engine.name}"
    made = Settings(data_dir=tmp_path / "data", database_url=database.url)
    site = Site(made.model_copy(update={"artifact_url": url}), database)
    site.model("model_used", archived=False)
    copy = copy_of(site)
    has_taken, may_commit = threading.Event(), threading.Event()

    def take() -> None:
        with site.database.write() as session:
            config = {"model": {"id": "model_used"}}
            needs.require_models(session, config)
            has_taken.set()
            may_commit.wait(120)
            run = Run(id="run_new", created_at=AT, project_id="project_seed", user_id="user_seed")
            run.name, run.method, run.schema_version, run.tags = "new", "sft", 1, []
            run.config, run.environment, run.summary, run.state = config, {}, {}, "queued"
            session.add(run)

    waited, said = pruned_while(site, take, has_taken, may_commit)

    assert waited
    assert f"Kept, because it is needed again: {copy}" in said
    assert copy.is_dir()
