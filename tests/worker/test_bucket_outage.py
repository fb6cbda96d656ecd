"""An artifact store that is away for a while, as the client of a bucket would tell."""

import errno
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from sqlalchemy import select

from backend.artifacts import ArtifactStore
from backend.digest import go_on
from backend.schemas.records import EvaluatedRecord
from backend.schemas.vocabulary import FinishReason, RunState
from backend.store.runs import outputs, runs, supervision
from backend.store.runs.supervision import GivenAway
from backend.store.tables.models import Model
from backend.store.tables.runs import Checkpoint
from tests.worker.floor import Floor, write_model
from tests.worker.test_relay import append, carry_all, claimed
from worker.cancellation import Cancellation
from worker.digests import Digests
from worker.outage import delay_s
from worker.run_directory.checkpoint_sharing import CheckpointSharing
from worker.run_directory.export import Export
from worker.run_directory.failures import RunFailed
from worker.run_directory.intake import Intake
from worker.run_directory.layout import RunDirectory
from worker.run_directory.preparation import CalledOff, Preparation
from worker.supervisor import Supervisor
from worker.worker_process import Claimed, WorkerProcess


class FlakyFileSystem(MemoryFileSystem):  # type: ignore[misc]  # fsspec ships no types
    """Takes and gives nothing for so many calls, with an error of its client's own."""

    protocol = "flaky"
    failures_left = 0

    def put_file(self, *args: Any, **options: Any) -> None:
        self._reach()
        super().put_file(*args, **options)

    def cat_file(self, *args: Any, **options: Any) -> Any:
        self._reach()
        return super().cat_file(*args, **options)

    def _reach(self) -> None:
        if FlakyFileSystem.failures_left:
            FlakyFileSystem.failures_left -= 1
            raise RuntimeError("could not connect to the endpoint")


@pytest.fixture
def bucket(tmp_path: Path) -> ArtifactStore:
    """An empty bucket."""
    fsspec.register_implementation("flaky", FlakyFileSystem, clobber=True)
    FlakyFileSystem.failures_left = 0
    return ArtifactStore(f"flaky://{tmp_path.name}")


def patient(waited_s: list[float], most: int) -> Callable[[float], bool]:
    """Sleeps no second, and goes on until it was asked `most` times."""

    def wait(seconds: float) -> bool:
        waited_s.append(seconds)
        return len(waited_s) < most

    return wait


def test_a_trained_model_waits_for_a_bucket_that_is_away(
    sqlite_floor: Floor, bucket: ArtifactStore
) -> None:
    floor = sqlite_floor
    claim, directory, _ = claimed(floor)
    write_model(directory.output)
    intake = Intake(sqlite_floor.database, bucket, directory, floor.run(claim.run_id))
    FlakyFileSystem.failures_left, waited_s = 3, []

    intake.collect(Cancellation(patient(waited_s, 10), go_on))
    with floor.database.write() as session:
        intake.keep(session, supervision.hold(session, claim))

    assert FlakyFileSystem.failures_left == 0
    assert sum(waited_s) >= delay_s(0) + delay_s(1) + delay_s(2)
    sources = floor.rows(select(Model.source).where(Model.id != "model_base"))
    assert sources == [{"artifact": f"runs/{claim.run_id}/model-1"}]


def test_the_answers_of_an_evaluation_wait_for_a_bucket_that_is_away(
    sqlite_floor: Floor, bucket: ArtifactStore
) -> None:
    floor = sqlite_floor
    claim, directory, _ = claimed(floor, "evaluate")
    directory.output.mkdir(parents=True)
    (directory.output / "results.json").write_text('{"eval/reward": 0.5}')
    line = EvaluatedRecord(
        prompt_id="prompt_0", index=0, content="ü", finish_reason=FinishReason.STOP, n_tokens=1
    )
    (directory.output / "responses.jsonl").write_text(line.model_dump_json() + "\n")
    intake = Intake(sqlite_floor.database, bucket, directory, floor.run(claim.run_id))
    FlakyFileSystem.failures_left, waited_s = 3, []

    intake.collect(Cancellation(patient(waited_s, 10), go_on))
    with floor.database.write() as session:
        intake.keep(session, supervision.hold(session, claim))

    assert sum(waited_s) >= delay_s(0) + delay_s(1) + delay_s(2)
    with floor.database.read() as session:
        kept = outputs.answers(session, claim.run_id)
    with bucket.open(kept.key) as file:
        assert EvaluatedRecord.model_validate_json(file.read()) == line
    # The numbers are in the store of metrics alone.
    assert [file.path for file in bucket.manifest(f"runs/{claim.run_id}/answers-1")] == [kept.path]


def test_a_bucket_that_stays_away_is_named_and_not_the_trainer(
    sqlite_floor: Floor, bucket: ArtifactStore
) -> None:
    claim, directory, _ = claimed(sqlite_floor)
    write_model(directory.output)
    intake = Intake(sqlite_floor.database, bucket, directory, sqlite_floor.run(claim.run_id))
    FlakyFileSystem.failures_left = 10_000

    with pytest.raises(RunFailed) as caught:
        intake.collect(Cancellation(patient([], 5), go_on))

    assert caught.value.failure.cause == "output"
    assert "could not connect to the endpoint" in caught.value.failure.message
    assert "retry" in caught.value.failure.advice
    assert "bug of the trainer" not in caught.value.failure.advice


def test_what_a_run_that_was_given_away_has_made_is_uploaded_no_further(
    sqlite_floor: Floor, bucket: ArtifactStore
) -> None:
    claim, directory, _ = claimed(sqlite_floor)
    write_model(directory.output)
    intake = Intake(sqlite_floor.database, bucket, directory, sqlite_floor.run(claim.run_id))

    def lost() -> None:
        raise GivenAway(claim.run_id)

    with pytest.raises(GivenAway):
        intake.collect(Cancellation(patient([], 10), lost))
    assert bucket.folders() == []


def test_the_last_checkpoint_is_shared_though_the_bucket_is_away_at_first(
    sqlite_floor: Floor, bucket: ArtifactStore
) -> None:
    claim, directory, relay = claimed(sqlite_floor)
    folder = directory.checkpoint(4)
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    append(directory, {"type": "checkpoint", "step": 4, "path": f"checkpoints/{folder.name}"})
    carry_all(relay)
    FlakyFileSystem.failures_left, waited_s = 3, []
    database = sqlite_floor.database

    with CheckpointSharing(database, bucket, claim, directory, patient(waited_s, 10)):
        pass

    assert len(waited_s) == 3
    assert sqlite_floor.rows(select(Checkpoint.artifact)) == [f"runs/{claim.run_id}/checkpoint-1-4"]


class RestlessWorker(WorkerProcess):
    """A worker on which time does not pass while it waits."""

    waits = 0

    def wait(self, seconds: float) -> bool:
        self.waits += 1
        return True


@pytest.fixture
def moved(sqlite_floor: Floor, bucket: ArtifactStore, tmp_path: Path) -> Iterator[RestlessWorker]:
    """Another machine than the one where step 4 of a run was shared, and its worker."""
    floor = sqlite_floor
    claim, directory, relay = claimed(floor)
    folder = directory.checkpoint(4)
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    append(directory, {"type": "checkpoint", "step": 4, "path": f"checkpoints/{folder.name}"})
    carry_all(relay)
    with CheckpointSharing(floor.database, bucket, claim, directory, patient([], 10)):
        pass
    with floor.database.write() as session:
        run = supervision.hold(session, claim)
        runs.transition(session, run, RunState.QUEUED, at=datetime.now(UTC))
    floor.move_to(tmp_path / "second")
    this_worker = RestlessWorker(floor.settings)
    this_worker.artifacts = bucket
    this_worker.id = "worker_other"
    yield this_worker
    this_worker.database.close()


def taken_over(this_worker: WorkerProcess) -> Claimed:
    found = this_worker.claim_next()
    assert found is not None
    assert found.claim.attempt == 2
    return found


def preparation(
    this_worker: WorkerProcess, taken: Claimed, check: Callable[[], None]
) -> Preparation:
    directory = RunDirectory(this_worker.settings.runs_dir, taken.run.id)
    cancellation = Cancellation(this_worker.wait, check)
    return Preparation(this_worker, taken.claim, taken.run, directory, cancellation)


def test_a_run_that_moves_to_another_machine_waits_for_a_bucket_that_is_away(
    moved: RestlessWorker,
) -> None:
    taken = taken_over(moved)
    FlakyFileSystem.failures_left = 3

    preparation(moved, taken, go_on).find_progress()

    directory = RunDirectory(moved.settings.runs_dir, taken.run.id)
    assert directory.checkpoint_steps() == [4]
    assert moved.waits >= 3


def test_a_run_that_waits_for_a_bucket_hears_that_it_is_to_stop(moved: RestlessWorker) -> None:
    taken = taken_over(moved)
    FlakyFileSystem.failures_left = 10_000

    def called_off() -> None:
        raise CalledOff

    with pytest.raises(CalledOff):
        preparation(moved, taken, called_off).find_progress()
    assert moved.waits == 1


def test_a_run_that_cannot_begin_for_want_of_a_bucket_crashes_and_is_tried_again(
    sqlite_floor: Floor, moved: RestlessWorker
) -> None:
    taken = taken_over(moved)
    FlakyFileSystem.failures_left = 10_000

    Supervisor(moved, taken).see_through()

    run = sqlite_floor.run(taken.run.id)
    assert (run.state, run.crashes, run.error["cause"]) == ("crashed", 1, "not_started")
    assert "could not connect to the endpoint" in run.error["message"]
    assert "Podium retries the run automatically from step 4." in run.error["advice"]


class RottenDisk(Digests):
    """Files that the disk does not give any more."""

    def of(self, path: Path, *_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))


def test_a_model_that_cannot_be_read_is_what_the_failure_names(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    claim, directory, _ = claimed(floor)
    artifacts = ArtifactStore(floor.settings.resolved_artifact_url)
    export = Export(floor.settings, artifacts, RottenDisk(), directory, floor.cancellation)

    with pytest.raises(RunFailed) as caught:
        export.write(floor.database, floor.run(claim.run_id))

    failure = caught.value.failure
    assert failure.cause == "missing_model"
    assert "config.json cannot be read: Input/output error" in failure.message
