"""An artifact store that is away for a while, as the client of a bucket would tell."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from sqlalchemy import select

from backend.artifacts import ArtifactStore
from backend.store import supervision
from backend.store.tables import Checkpoint, Model
from tests.worker.floor import Floor, write_model
from tests.worker.test_relay import append, carry_all, claimed
from worker.checkpoint_sharing import CheckpointSharing
from worker.digests import Digests
from worker.exit_reading import RunFailed
from worker.export import Export
from worker.intake import Intake


class FlakyFileSystem(MemoryFileSystem):  # type: ignore[misc]  # fsspec ships no types
    """A bucket that takes nothing for so many calls, with an error of its client's own."""

    protocol = "flaky"
    failures_left = 0

    def put_file(self, *args: Any, **options: Any) -> None:
        if FlakyFileSystem.failures_left:
            FlakyFileSystem.failures_left -= 1
            raise RuntimeError("could not connect to the endpoint")
        super().put_file(*args, **options)


@pytest.fixture
def bucket(tmp_path: Path) -> ArtifactStore:
    """An empty bucket."""
    fsspec.register_implementation("flaky", FlakyFileSystem, clobber=True)
    FlakyFileSystem.failures_left = 0
    return ArtifactStore(f"flaky://{tmp_path.name}")


def patient(waited_s: list[float], most: int) -> Callable[[float], bool]:
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
    intake = Intake(bucket, directory, floor.run(claim.run_id))
    FlakyFileSystem.failures_left, waited_s = 3, []

    intake.collect(patient(waited_s, 10))
    with floor.database.write() as session:
        intake.keep(session, supervision.hold(session, claim))

    assert len(waited_s) == 3
    sources = floor.rows(select(Model.source).where(Model.id != "model_base"))
    assert sources == [{"artifact": f"runs/{claim.run_id}/model-1"}]


def test_a_bucket_that_stays_away_is_named_and_not_the_trainer(
    sqlite_floor: Floor, bucket: ArtifactStore
) -> None:
    claim, directory, _ = claimed(sqlite_floor)
    write_model(directory.output)
    intake = Intake(bucket, directory, sqlite_floor.run(claim.run_id))
    FlakyFileSystem.failures_left = 10_000

    with pytest.raises(RunFailed) as caught:
        intake.collect(patient([], 5))

    assert caught.value.failure.cause == "output"
    assert "could not connect to the endpoint" in caught.value.failure.message
    assert "retry" in caught.value.failure.advice
    assert "fault of the trainer" not in caught.value.failure.advice


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


class RottenDisk(Digests):
    """Files that the disk does not give any more."""

    def of(self, path: Path, *_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))


def test_a_model_that_cannot_be_read_is_what_the_failure_names(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    claim, directory, _ = claimed(floor)
    artifacts = ArtifactStore(floor.settings.resolved_artifact_url)
    export = Export(floor.settings, artifacts, RottenDisk(), directory)

    with pytest.raises(RunFailed) as caught:
        export.write(floor.database, floor.run(claim.run_id))

    failure = caught.value.failure
    assert failure.cause == "missing_model"
    assert "config.json cannot be read: Input/output error" in failure.message
