"""What `podium prune` deletes, over random histories of runs and models; and what comes between."""

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from backend.artifacts import ARRIVING
from backend.errors import NotFound
from backend.ops.prune import LEFT_AFTER, Prune
from backend.schemas.vocabulary import RunState
from backend.settings import Settings
from backend.store.db import Database
from backend.store.runs import needs, outputs, pins, runs
from backend.store.runs.outputs import OutputFile
from backend.store.tables.models import Model
from backend.store.tables.runs import Artifact, Checkpoint, Run
from tests.backend.pruned_site import STEPS, Site, open_site, pruned_while
from tests.backend.runs.conftest import AT

STATES = [state.value for state in RunState]
OVER = {"succeeded", "failed", "cancelled"}
# Where a config may name a model.
PLACES: list[Callable[[str], dict[str, Any]]] = [
    lambda one: {"model": {"id": one}},
    lambda one: {"reference": {"id": one}},
    lambda one: {"reward": {"terms": [{"kind": "finished"}, {"model": {"id": one}}]}},
    lambda one: {"critic": {"model": {"id": one}}},
]


@dataclass(frozen=True)
class DrawnModel:
    """A model; `parent` is the index of an earlier one."""

    archived: bool
    parent: int | None


@dataclass(frozen=True)
class DrawnRun:
    """A run; `models` are named at places of its config, `parent` is an earlier run."""

    state: str
    archived: bool
    models: dict[int, int]
    pinned: set[int]
    shared: set[int]
    parent: int | None
    parent_step: int | None

    @property
    def may_train(self) -> bool:
        return self.state not in OVER or (self.state != "succeeded" and not self.archived)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[DrawnModel], list[DrawnRun]]:
    """Up to six models and six runs that refer to one another."""
    models, runs = [], []
    steps = st.sets(st.sampled_from(STEPS))
    for number in range(draw(st.integers(1, 6))):
        parent = st.none() | st.integers(0, number - 1) if number else st.none()
        models.append(draw(st.builds(DrawnModel, st.booleans(), parent)))
    named = st.dictionaries(
        st.integers(0, len(PLACES) - 1), st.integers(0, len(models) - 1), max_size=2
    )
    for number in range(draw(st.integers(0, 6))):
        parent = st.none() | st.integers(0, number - 1) if number else st.none()
        step = st.none() | st.sampled_from(STEPS)
        state = st.sampled_from(STATES)
        run = st.builds(DrawnRun, state, st.booleans(), named, steps, steps, parent, step)
        runs.append(draw(run))
    return models, runs


@pytest.fixture(params=["folder", "bucket"])
def site(request: pytest.FixtureRequest, tmp_path: Path, sqlite_url: str) -> Site:
    """Artifacts in a folder of the data directory, and in a bucket."""
    return open_site(tmp_path, sqlite_url, is_bucket=request.param == "bucket")


@pytest.fixture
def each_store(tmp_path: Path, database: Database) -> Site:
    """Once per kind of database, for what its locks decide."""
    return Site(Settings(data_dir=tmp_path / "data", database_url=database.url), database)


def lay_out(site: Site, models: list[DrawnModel], runs: list[DrawnRun]) -> None:
    """Make the history real."""
    for number, model in enumerate(models):
        parent = None if model.parent is None else f"model_{model.parent}"
        site.model(f"model_{number}", archived=model.archived, parent=parent)
    for number, run in enumerate(runs):
        config: dict[str, Any] = {"method": "sft"}
        for place, named in run.models.items():
            config |= PLACES[place](f"model_{named}")
        site.run(
            f"run_{number}",
            state=run.state,
            archived=run.archived,
            config=config,
            pinned=run.pinned,
            shared=run.shared,
            parent_id=None if run.parent is None else f"run_{run.parent}",
            parent_step=None if run.parent is None else run.parent_step,
        )


def expected_models(models: list[DrawnModel], runs: list[DrawnRun]) -> set[str]:
    """By plain loops: listed ones, those that a run may read, and their ancestors."""
    kept = {number for number, model in enumerate(models) if not model.archived}
    for run in runs:
        if run.may_train:
            kept |= set(run.models.values())
    for number, model in reversed(list(enumerate(models))):
        if number in kept and model.parent is not None:
            kept.add(model.parent)
    return {f"model_{number}" for number in kept}


def expected_steps(runs: list[DrawnRun], number: int) -> set[int]:
    """The checkpoints of a run that stay."""
    run = runs[number]
    if not run.archived or run.state not in OVER:
        return set(STEPS)
    children = [child for child in runs if child.parent == number and child.may_train]
    return run.pinned | {child.parent_step for child in children if child.parent_step}


def waited_for() -> tuple[list[DrawnModel], list[DrawnRun]]:
    """A pruned parent of a paused and archived child, which names an archived grandchild model."""
    models = [DrawnModel(True, None), DrawnModel(True, 0), DrawnModel(True, 1)]
    parent = DrawnRun("failed", True, {0: 0}, {1}, {2, 3}, None, None)
    return models, [parent, DrawnRun("paused", True, {2: 1}, set(), set(), 0, 2)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories(), is_bucket=st.booleans())
@example(history=waited_for(), is_bucket=False)
@example(history=waited_for(), is_bucket=True)
def test_what_a_living_thing_needs_stays_and_all_else_that_is_archived_goes(
    tmp_path: Path,
    sqlite_template: Path,
    history: tuple[list[DrawnModel], list[DrawnRun]],
    is_bucket: bool,
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    shutil.copyfile(sqlite_template, folder / "podium.sqlite3")
    site = open_site(folder, f"sqlite:///{folder / 'podium.sqlite3'}", is_bucket=is_bucket)
    models, runs = history
    lay_out(site, models, runs)

    site.prune()

    kept = expected_models(models, runs)
    for number in range(len(models)):
        model = site.row(Model, f"model_{number}")
        there = site.store.size_bytes(model.source["artifact"]) > 0
        assert there == (model.id in kept) == (model.pruned_at is None), model.id
    for number, run in enumerate(runs):
        run_id, steps = f"run_{number}", expected_steps(runs, number)
        is_pruned = run.archived and run.state in OVER
        directory = site.directory(run_id)
        assert directory.checkpoint_steps() == site.listed(run_id) == sorted(steps)
        assert (directory.path / "events.jsonl").exists() != is_pruned
        assert directory.path.exists() == bool(steps)
        assert (site.row(Run, run_id).pruned_at is not None) == is_pruned
        for step in STEPS:
            stored = site.store.size_bytes(f"runs/{run_id}/checkpoint-1-{step}") > 0
            assert stored == (step in run.shared and step in steps)
    prune = Prune(site.settings)
    assert prune.plan().items == []
    prune.close()
    site.database.close()


def test_a_pinned_checkpoint_stays_where_it_can_be_gone_on_from(site: Site) -> None:
    site.run("run_old", state="succeeded", pinned={2}, shared={2, 3})

    said = site.prune()

    assert said.startswith("Freed ")
    directory = site.directory("run_old")
    assert sorted(path.name for path in directory.path.iterdir()) == ["checkpoints", "lock"]
    assert (directory.checkpoint(2) / "state.json").read_text() == "2"
    assert [one.key for one in site.store.folders()] == ["runs/run_old/checkpoint-1-2"]
    run = site.row(Run, "run_old")
    assert (run.checkpoint_step, run.pruned_at is not None) == (2, True)
    with site.database.write() as session:
        pins.unpin(session, "run_old", 2, at=AT)
    site.prune()
    assert not directory.path.exists()
    assert site.store.folders() == []


def test_a_run_directory_that_a_model_was_registered_from_stays(site: Site) -> None:
    site.run("run_old", state="succeeded")
    with site.database.write() as session:
        made = Model(id="model_from_there", created_at=AT, name="m", kind="causal_lm", facts={})
        made.source = {"path": str(site.directory("run_old").checkpoint(3))}
        session.add(made)

    site.prune()
    assert site.directory("run_old").checkpoint_steps() == list(STEPS)

    with site.database.write() as session:
        session.query(Model).filter_by(id="model_from_there").one().archived_at = AT
    site.prune()
    assert not site.directory("run_old").path.exists()
    assert site.row(Model, "model_from_there").pruned_at is not None


def test_a_directory_that_a_trainer_still_holds_is_left_alone(site: Site) -> None:
    site.run("run_old", state="cancelled")
    held = site.directory("run_old").try_lock()
    assert held is not None

    said = site.prune()

    assert "Kept, because it is needed again" in said
    assert site.directory("run_old").checkpoint_steps() == list(STEPS)
    assert site.row(Run, "run_old").pruned_at is None
    os.close(held)


def test_a_lock_on_a_file_that_was_pruned_is_no_lock(site: Site) -> None:
    site.run("run_old", state="cancelled")
    directory = site.directory("run_old")
    site.prune()

    first = directory.try_lock()

    assert first is not None
    assert directory.try_lock() is None
    os.close(first)


def test_what_a_dead_worker_left_in_the_store_goes_after_a_day(tmp_path: Path, site: Site) -> None:
    site.run("run_dead", state="failed", archived=False)
    site.run("run_live", state="running", archived=False)
    for run_id in ("run_dead", "run_live", "run_unknown"):
        site.put(f"runs/{run_id}/model-7")
    site.model("run_dead", archived=False)
    before = {one.key for one in site.store.folders()}

    site.prune()
    assert {one.key for one in site.store.folders()} == before

    site.age(LEFT_AFTER)
    site.prune()
    assert before - {one.key for one in site.store.folders()} == {"runs/run_dead/model-7"}


def test_what_a_killed_process_was_fetching_or_putting_goes_after_a_day(site: Site) -> None:
    then = time.time() - LEFT_AFTER.total_seconds() - 60
    cache = site.settings.data_dir / "cache"
    roots = [cache, site.settings.data_dir / "artifacts"]
    is_local = site.settings.artifact_url is None
    for name in ("left", "slow", "new"):
        for root in roots:
            file = root / "runs" / "run_1" / f"{ARRIVING}{name}" / "model.safetensors"
            file.parent.mkdir(parents=True)
            file.write_bytes(b"x" * 1000)
            if name == "left":
                os.utime(file, (then, then))
            if name != "new":
                os.utime(file.parent, (then, then))

    site.prune()

    here = roots if is_local else [cache]
    for root in here:
        kept = {path.name for path in (root / "runs" / "run_1").iterdir()}
        assert kept == {f"{ARRIVING}slow", f"{ARRIVING}new"}, "somebody may be at work there"


def revive_by_restore(site: Site) -> None:
    with site.database.write() as session:
        runs.restore(session, "run_old")
        session.query(Model).filter_by(id="model_old").one().archived_at = None


def revive_by_retry(site: Site) -> None:
    with site.database.write() as session:
        runs.retry(session, "run_old", at=AT)


@pytest.mark.parametrize("revive", [revive_by_restore, revive_by_retry])
def test_what_comes_to_life_after_the_plan_keeps_its_files(
    site: Site, revive: Callable[[Site], None]
) -> None:
    site.model("model_old")
    site.run("run_old", state="failed", config={"model": {"id": "model_old"}})

    said = site.prune(meanwhile=lambda: revive(site))

    assert said.count("Kept, because it is needed again") == 2
    assert site.directory("run_old").checkpoint_steps() == list(STEPS)
    assert site.store.size_bytes("runs/model_old/model-1") > 0
    assert site.row(Run, "run_old").pruned_at is None


def test_a_model_that_a_request_has_just_taken_is_not_deleted_under_it(each_store: Site) -> None:
    site = each_store
    site.model("model_old")
    has_taken, may_commit = threading.Event(), threading.Event()

    def take() -> None:
        with site.database.write() as session:
            needs.require_models(session, {"model": {"id": "model_old"}})
            has_taken.set()
            may_commit.wait(120)
            run = Run(id="run_new", created_at=AT, project_id="project_seed", user_id="user_seed")
            run.name, run.method, run.schema_version, run.tags = "new", "sft", 1, []
            run.config, run.environment, run.summary = {"model": {"id": "model_old"}}, {}, {}
            run.state = "queued"
            session.add(run)

    waited, said = pruned_while(site, take, has_taken, may_commit)

    assert waited
    assert "Kept, because it is needed again" in said
    assert site.store.size_bytes("runs/model_old/model-1") > 0
    assert site.row(Model, "model_old").pruned_at is None


def test_an_id_in_a_config_is_found_wherever_it_stands(site: Site) -> None:
    site.model("model_old")
    for number, place in enumerate(PLACES):
        config = json.loads(json.dumps(place("model_old")))
        site.run(f"run_{number}", state="paused", config=config)
        with site.database.read() as session:
            assert "model_old" in needs.model_ids(session)
        with site.database.write() as session:
            session.execute(delete(Checkpoint))
            session.execute(delete(Run))


def test_a_pruned_model_lists_no_files(site: Site) -> None:
    site.run("run_old", state="succeeded", archived=False)
    site.model("model_old")
    with site.database.write() as session:
        for key in ("runs/model_old/model-1/a.json", "runs/model_old/model-10/a.json"):
            row = Artifact(run_id="run_old", path=key[-16:], key=key, sha256="0", size_bytes=1)
            session.add(row)

    site.prune()

    with site.database.read() as session:
        left = [row.key for row in session.query(Artifact)]
    assert left == ["runs/model_old/model-10/a.json"]
    assert datetime.now(UTC) >= site.row(Model, "model_old").pruned_at


def test_the_answers_of_a_run_stay_until_it_is_archived_and_pruned(site: Site) -> None:
    """Those of a run that is not archived are no left-overs, however old they are."""
    for run_id, is_archived in (("run_listed", False), ("run_archived", True)):
        site.run(run_id, state="succeeded", archived=is_archived)
        key = f"runs/{run_id}/answers-1"
        site.put(key)
        with site.database.write() as session:
            kept = OutputFile(outputs.ANSWERS, f"{key}/{outputs.ANSWERS}", "0" * 64, 1000)
            outputs.keep_files(session, run_id, [kept])
    site.age(LEFT_AFTER)

    said = site.prune()

    assert "Kept" not in said
    assert [one.key for one in site.store.folders()] == ["runs/run_listed/answers-1"]
    with site.database.read() as session:
        assert outputs.answers(session, "run_listed").size_bytes == 1000
        with pytest.raises(NotFound, match="run_archived has no answers"):
            outputs.answers(session, "run_archived")
