"""Which queued run a worker takes, and what it holds when the store does not answer."""

import pytest
from sqlalchemy.exc import OperationalError

from tests.worker.floor import Floor
from tests.worker.stepped import SteppedDatabase
from worker.process.devices import Devices
from worker.process.gpus import Gpu
from worker.worker_process import WorkerProcess

GPUS = [Gpu(id=f"GPU-{number}", name="H", memory_bytes=1) for number in range(2)]


@pytest.mark.parametrize("wanted", [0, 1])
def test_no_number_of_runs_that_do_not_fit_hides_one_that_does(floor: Floor, wanted: int) -> None:
    this_worker = WorkerProcess(floor.settings.model_copy(update={"min_free_gb": 0}))
    this_worker.devices = Devices(1, GPUS)
    this_worker.register()
    floor.new_run(gpus=1)
    assert this_worker.claim_next() is not None
    with floor.database.write() as session:
        for _ in range(101):
            floor.add_run(session, gpus=2, priority=1)
        floor.add_run(session, gpus=wanted)
        best = floor.add_run(session, gpus=wanted, priority=1)

    this_worker.wake_if_there_is_room()
    claimed = this_worker.claim_next()
    this_worker.close()

    assert claimed is not None
    assert claimed.run.id == best
    sent = "".join(path.read_text() for path in (floor.data_dir / "broker" / "queue").glob("*"))
    assert best in sent


@pytest.mark.parametrize("wanted", [0, 2])
def test_a_claim_without_an_answer_holds_no_device(floor: Floor, wanted: int) -> None:
    this_worker = WorkerProcess(floor.settings.model_copy(update={"min_free_gb": 0}))
    this_worker.devices = Devices(1, GPUS)
    this_worker.register()
    base, database = this_worker.database, SteppedDatabase(this_worker.database)
    this_worker.database = database
    floor.new_run(gpus=wanted)
    other = floor.new_run(gpus=wanted)

    database.loses_answer = True
    with pytest.raises(OperationalError):
        this_worker.claim_next()
    holders = [device["run_ids"] for device in this_worker.devices.describe()]
    claimed = this_worker.claim_next()
    base.close()

    assert holders == [[], [], []]
    assert claimed is not None
    assert claimed.run.id == other
