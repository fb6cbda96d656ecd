"""A disk that is full in the middle of a checkpoint, and what can be done about it."""

import json
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import select

from backend.store.runs import runs
from backend.store.tables.models import Model
from tests.small_disk import small_disk
from tests.worker.conftest import sqlite_floor  # noqa: F401 - a fixture for the test here
from tests.worker.floor import Floor
from tests.worker.test_real_trainer import SMALL
from tests.worker.tiny_floor import plant_tiny_model
from worker.run_directory.layout import RunDirectory
from worker.trainer.checkpoint import find_damage

pytestmark = pytest.mark.slow

STEPS = {"checkpoint_every": 1, "max_checkpoints": 5, "demonstrations": {"id": "snapshot_more"}}


def size_of(folder: Path) -> int:
    """Bytes of all files, each in whole pages as a tmpfs has them."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in files)


def test_a_disk_full_in_the_middle_of_a_checkpoint_leaves_the_one_before(
    sqlite_floor: Floor,  # noqa: F811
    warm_trainer: str,
) -> None:
    floor = sqlite_floor
    plant_tiny_model(floor)

    with floor.worker(PODIUM_TRAINER_COMMAND=warm_trainer, PODIUM_STOP_GRACE_S="30"):
        whole = floor.new_run(**(SMALL | STEPS))
        run = floor.wait_for(whole, "succeeded", "failed", timeout_s=180)
        assert run.state == "succeeded", run.error
        peaceful = RunDirectory(floor.settings.runs_dir, whole)
        checkpoint = size_of(peaceful.checkpoint(1))
        # Room for one checkpoint and half of the next.
        room = size_of(peaceful.path) - size_of(peaceful.checkpoints) - size_of(peaceful.output)
        room += checkpoint * 3 // 2 + 65536

        with ExitStack() as disks:
            # Mounted before the run is committed: a worker would have its directory first.
            with floor.database.write() as session:
                starved = floor.add_run(session, **(SMALL | STEPS))
                directory = RunDirectory(floor.settings.runs_dir, starved)
                disks.enter_context(small_disk(directory.path, room))
            floor.wake(starved)
            run = floor.wait_for(starved, "failed", "succeeded", "crashed", timeout_s=180)
            assert (run.state, run.exit_code) == ("failed", 6), run.error
            assert run.error["cause"] == "disk"
            assert "No space left" in run.error["message"]
            assert "free space" in run.error["advice"].lower()
            assert json.loads(directory.exit_report.read_text().strip("\0 \n"))["code"] == 6
            assert directory.checkpoint_steps() == [1]
            assert find_damage(directory.checkpoint(1)) is None
            assert not list(directory.checkpoints.glob(".*"))

            more = f"remount,size={room + 20 * checkpoint}"
            subprocess.run(["mount", "-o", more, str(directory.path)], check=True)
            floor.ask(runs.retry, starved)
            floor.wake(starved)
            run = floor.wait_for(starved, "failed", "succeeded", "crashed", timeout_s=180)
            assert run.state == "succeeded", run.error
            assert [event.data["step"] for event in floor.events(starved, "start")] == [0, 1]

    hashes = {m.sha256 for m in floor.rows(select(Model).where(Model.run_id.is_not(None)))}
    assert len(hashes) == 1
