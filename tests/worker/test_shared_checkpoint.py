"""What is left of a run directory's checkpoints when one from elsewhere takes their place."""

from pathlib import Path

from backend.artifacts import ArtifactStore
from backend.digest import go_on
from backend.store.runs.checkpoints import Shared
from worker.cancellation import Cancellation
from worker.run_directory import checkpoint_sharing
from worker.run_directory.layout import RunDirectory


def directory_with(tmp_path: Path, *names: str) -> RunDirectory:
    directory = RunDirectory(tmp_path / "runs", "run_a")
    for name in names:
        (directory.checkpoints / name).mkdir(parents=True)
    return directory


def names(directory: RunDirectory) -> set[str]:
    return {path.name for path in directory.checkpoints.iterdir()}


def test_nothing_of_another_past_comes_back_beside_a_shared_checkpoint(tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    (tmp_path / "step").mkdir()
    (tmp_path / "step" / "state.json").write_text("{}")
    store.put_folder(tmp_path / "step", "runs/run_a/checkpoint-2-4")
    directory = directory_with(tmp_path, "step-2", "step-6", ".step-8.replaced", ".step-9.partial")

    shared = Shared(4, "runs/run_a/checkpoint-2-4")
    checkpoint_sharing.fetch(store, directory, shared, {2}, Cancellation(lambda _: True, go_on))

    assert names(directory) == {"step-2", "step-4"}
    assert (directory.checkpoint(4) / "state.json").read_text() == "{}"
    assert [path.name for path in directory.path.iterdir()] == ["checkpoints"]


def test_a_checkpoint_that_stepped_aside_can_be_put_back_by_the_trainer(tmp_path: Path) -> None:
    directory = directory_with(tmp_path, "step-2", "step-6", ".step-4.replaced")

    directory.drop_checkpoints_but({2})

    assert names(directory) == {"step-2", ".step-4.replaced"}
