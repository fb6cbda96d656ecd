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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from backend.prune import LEFT_AFTER, Prune
from backend.schemas.vocabulary import RunState
from backend.settings import Settings
from backend.store import needs, pins, runs
from backend.store.db import Database
from backend.store.tables import Artifact, Checkpoint, Model, Run
from tests.backend.pruned_site import STEPS, Site, open_site
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
class Drawn:
    """A random history; indices point to earlier models and to any other run."""

    # archived, parent
    models: list[tuple[bool, int]]
    # state, archived, named models with their place, pinned steps, shared steps, parent run, step
    runs: list[tuple[str, bool, list[tuple[int, int]], set[int], set[int], int, int]]


steps = st.sets(st.sampled_from(STEPS))
small = st.integers(0, 5)
histories = st.builds(
    Drawn,
    st.lists(st.tuples(st.booleans(), small), min_size=1, max_size=6),
    st.lists(
        st.tuples(
            st.sampled_from(STATES),
            st.booleans(),
            st.lists(st.tuples(small, st.integers(0, len(PLACES) - 1)), max_size=2),
            steps,
            steps,
            small,
            st.integers(0, 3),
        ),
        max_size=6,
    ),
)


@pytest.fixture(params=["folder", "bucket"])
def site(request: pytest.FixtureRequest, tmp_path: Path, sqlite_url: str) -> Site:
    """Artifacts in a folder of the data directory, and in a bucket."""
    return open_site(tmp_path, sqlite_url, is_bucket=request.param == "bucket")


@pytest.fixture
def each_store(tmp_path: Path, database: Database) -> Site:
    """Once per kind of database, for what its locks decide."""
    return Site(Settings(data_dir=tmp_path / "data", database_url=database.url), database)


def lay_out(site: Site, drawn: Drawn) -> None:
    """Make the history real."""
    for number, (archived, parent) in enumerate(drawn.models):
        parent_id = f"model_{parent}" if parent < number else None
        site.model(f"model_{number}", archived=archived, parent=parent_id)
    for number, (state, archived, named, pinned, shared, parent, step) in enumerate(drawn.runs):
        config: dict[str, Any] = {"method": "sft"}
        for model, place in named:
            config |= PLACES[place](f"model_{model}")
        given_parent = parent < number
        site.run(
            f"run_{number}",
            state=state,
            archived=archived,
            config=config,
            pinned=pinned,
            shared=shared,
            parent_id=f"run_{parent}" if given_parent else None,
            parent_step=step or None if given_parent else None,
        )


def may_train(state: str, archived: bool) -> bool:
    return state not in OVER or (state != "succeeded" and not archived)


def expected_models(drawn: Drawn) -> set[str]:
    """By plain loops: listed ones, those that a run may read, and their ancestors."""
    kept = {number for number, (archived, _) in enumerate(drawn.models) if not archived}
    for state, archived, named, *_ in drawn.runs:
        # A later reference at the same place replaces the earlier one.
        config = {place: model for model, place in named}
        if may_train(state, archived):
            kept |= {model for model in config.values() if model < len(drawn.models)}
    for number in range(len(drawn.models) - 1, -1, -1):
        parent = drawn.models[number][1]
        if number in kept and parent < number:
            kept.add(parent)
    return {f"model_{number}" for number in kept}


def expected_steps(drawn: Drawn, number: int) -> set[int]:
    """The checkpoints of a pruned run that stay."""
    waited = {
        child[6]
        for place, child in enumerate(drawn.runs)
        if child[5] == number < place and may_train(child[0], child[1])
    }
    return (drawn.runs[number][3] | waited) & set(STEPS)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=histories, is_bucket=st.booleans())
def test_what_a_living_thing_needs_stays_and_all_else_that_is_archived_goes(
    tmp_path: Path, sqlite_template: Path, drawn: Drawn, is_bucket: bool
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    shutil.copyfile(sqlite_template, folder / "podium.sqlite3")
    site = open_site(folder, f"sqlite:///{folder / 'podium.sqlite3'}", is_bucket=is_bucket)
    lay_out(site, drawn)

    site.prune()

    kept = expected_models(drawn)
    for number in range(len(drawn.models)):
        model = site.row(Model, f"model_{number}")
        there = site.store.size_bytes(model.source["artifact"]) > 0
        assert there == (model.id in kept) == (model.pruned_at is None), model.id
    for number, (state, archived, *_, shared, _, _) in enumerate(drawn.runs):
        run_id = f"run_{number}"
        is_pruned = archived and state in OVER
        steps = expected_steps(drawn, number) if is_pruned else set(STEPS)
        directory = site.directory(run_id)
        assert directory.checkpoint_steps() == site.listed(run_id) == sorted(steps)
        assert (directory.path / "events.jsonl").exists() != is_pruned
        assert directory.path.exists() == bool(steps)
        assert (site.row(Run, run_id).pruned_at is not None) == is_pruned
        for step in STEPS:
            stored = site.store.size_bytes(f"runs/{run_id}/checkpoint-1-{step}") > 0
            assert stored == (step in shared and step in steps)
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

    assert "Kept, for it is needed again" in said
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

    is_local = site.settings.artifact_url is None
    if is_local:
        for path in (site.settings.data_dir / "artifacts").glob("runs/*/*"):
            then = time.time() - LEFT_AFTER.total_seconds() - 60
            os.utime(path, (then, then))
    else:
        memory = site.store._remote()
        for entry in memory.store.values():
            entry.modified -= LEFT_AFTER
    site.prune()
    assert before - {one.key for one in site.store.folders()} == {"runs/run_dead/model-7"}


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

    assert said.count("Kept, for it is needed again") == 2
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

    prune = Prune(site.settings)
    plan = prune.plan()
    taking = threading.Thread(target=take)
    taking.start()
    assert has_taken.wait(120)
    said: list[str] = []
    deleting = threading.Thread(target=lambda: said.append(plan.carry_out()))
    deleting.start()
    deleting.join(0.5)
    waited = deleting.is_alive()
    may_commit.set()
    taking.join(120)
    deleting.join(120)
    prune.close()

    assert waited
    assert "Kept, for it is needed again" in said[0]
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
