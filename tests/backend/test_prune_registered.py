"""`podium prune` and the models that were registered by a path: wherever it leads, files stay."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.ops.prune import LEFT_AFTER
from backend.settings import Settings
from backend.store.db import Database
from backend.store.runs import needs, runs
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from tests.backend.pruned_site import STEPS, Site, open_site, pruned_while
from tests.backend.runs.conftest import AT


@pytest.fixture
def site(tmp_path: Path, sqlite_url: str) -> Site:
    """Everything in the data directory."""
    return open_site(tmp_path, sqlite_url, is_bucket=False)


def register(site: Site, path: Path, *, archived: bool = False) -> None:
    """A model `model_by_path` whose files were there when it was registered."""
    with site.database.write() as session:
        made = Model(id="model_by_path", created_at=AT, name="m", kind="causal_lm", facts={})
        made.source = {"path": str(path)}
        made.archived_at = AT if archived else None
        session.add(made)


def archive(site: Site) -> None:
    """Take it out of the lists."""
    with site.database.write() as session:
        session.query(Model).filter_by(id="model_by_path").one().archived_at = AT


def linked_from_a_folder(site: Site, file: Path) -> Path:
    """A folder of links, as it is made to register a few files of a larger one."""
    folder = site.settings.data_dir / "models" / "m"
    folder.mkdir(parents=True)
    (folder / file.name).symlink_to(file)
    return folder


def itself(site: Site, file: Path) -> Path:
    """The folder that holds the file."""
    return file.parent


@pytest.mark.parametrize("place", [itself, linked_from_a_folder])
@pytest.mark.parametrize("runs_are_elsewhere", [False, True])
def test_a_run_directory_stays_that_a_listed_model_reads(
    site: Site, tmp_path: Path, runs_are_elsewhere: bool, place: Callable[[Site, Path], Path]
) -> None:
    if runs_are_elsewhere:
        (tmp_path / "larger-disk").mkdir()
        site.settings.data_dir.mkdir(parents=True)
        site.settings.runs_dir.symlink_to(tmp_path / "larger-disk")
    site.run("run_old", state="succeeded")
    file = site.directory("run_old").checkpoint(3).resolve() / "state.json"
    register(site, place(site, file).resolve())

    site.prune()
    assert site.directory("run_old").checkpoint_steps() == list(STEPS)

    archive(site)
    site.prune()
    assert not site.directory("run_old").path.exists()
    assert site.row(Model, "model_by_path").pruned_at is not None


OF_A_MODEL = "runs/model_old/model-1"
OF_A_RUN = "runs/run_old/checkpoint-1-1"
OF_NOBODY = "runs/run_dead/model-7"


@pytest.mark.parametrize("place", [itself, linked_from_a_folder])
@pytest.mark.parametrize("key", [OF_A_MODEL, OF_A_RUN, OF_NOBODY])
def test_an_artifact_stays_that_a_listed_model_reads(
    site: Site, key: str, place: Callable[[Site, Path], Path]
) -> None:
    site.model("model_old")
    site.run("run_old", state="succeeded", shared={1})
    site.run("run_dead", state="failed", archived=False)
    site.put(OF_NOBODY)
    then = time.time() - LEFT_AFTER.total_seconds() - 60
    os.utime(site.settings.data_dir / "artifacts" / OF_NOBODY, (then, then))
    file = site.settings.data_dir / "artifacts" / key / "model.safetensors"
    register(site, place(site, file))

    site.prune()
    assert [one.key for one in site.store.folders()] == [key]

    archive(site)
    site.prune()
    assert site.store.folders() == []
    assert site.row(Model, "model_by_path").pruned_at is not None


def test_a_request_that_has_just_taken_such_a_model_goes_on_to_its_run(
    tmp_path: Path, database: Database
) -> None:
    """As a clone does: it holds the model, then the run that it goes on from."""
    site = Site(Settings(data_dir=tmp_path / "data", database_url=database.url), database)
    site.run("run_old", state="failed")
    register(site, site.directory("run_old").checkpoint(3), archived=True)
    has_taken, may_go_on = threading.Event(), threading.Event()

    def take() -> None:
        with site.database.write() as session:
            needs.require_models(session, {"model": {"id": "model_by_path"}})
            has_taken.set()
            may_go_on.wait(120)
            runs.locked(session, "run_old")
            made = Run(id="run_new", created_at=AT, project_id="project_seed", state="queued")
            made.user_id, made.name, made.method, made.schema_version = "user_seed", "new", "sft", 1
            made.tags, made.config = [], {"model": {"id": "model_by_path"}}
            made.environment, made.summary = {}, {}
            session.add(made)

    waited, said = pruned_while(site, take, has_taken, may_go_on)

    assert waited
    assert "Kept, because it is needed again" in said
    assert site.directory("run_old").checkpoint_steps() == list(STEPS)
    assert site.row(Model, "model_by_path").pruned_at is None
    assert site.row(Run, "run_new").state == "queued"


def test_a_retry_that_waits_for_a_model_keeps_nobody_from_its_run(
    tmp_path: Path, database: Database
) -> None:
    site = Site(Settings(data_dir=tmp_path / "data", database_url=database.url), database)
    register(site, tmp_path)
    site.run("run_old", state="failed", config={"model": {"id": "model_by_path"}})

    def retry() -> None:
        with site.database.write() as session:
            runs.retry(session, "run_old", at=AT)

    retrying = threading.Thread(target=retry)
    with site.database.write() as session:
        session.query(Model).filter_by(id="model_by_path").with_for_update().one()
        retrying.start()
        retrying.join(0.5)
        waited = retrying.is_alive()
        assert runs.locked(session, "run_old").state == "failed"
    retrying.join(120)

    assert waited
    assert site.row(Run, "run_old").state == "queued"
