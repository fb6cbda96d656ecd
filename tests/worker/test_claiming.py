"""Which queued run a worker takes, and what it holds when the store does not answer."""

import pytest
from sqlalchemy.exc import OperationalError

from tests.worker.floor import Floor
from tests.worker.stepped import SteppedDatabase
from worker.process.devices import Devices
from worker.process.gpus import Gpu
from worker.station import Station

GPUS = [Gpu(id=f"GPU-{number}", name="H", memory_bytes=1) for number in range(2)]


@pytest.mark.parametrize("wanted", [0, 1])
def test_no_number_of_runs_that_do_not_fit_hides_one_that_does(floor: Floor, wanted: int) -> None:
    station = Station(floor.settings.model_copy(update={"min_free_gb": 0}))
    station.devices = Devices(1, GPUS)
    station.register()
    floor.new_run(gpus=1)
    assert station.claim_next() is not None
    with floor.database.write() as session:
        for _ in range(101):
            floor.add_run(session, gpus=2, priority=1)
        floor.add_run(session, gpus=wanted)
        best = floor.add_run(session, gpus=wanted, priority=1)

    station.ring_if_there_is_room()
    claimed = station.claim_next()
    station.close()

    assert claimed is not None
    assert claimed.run.id == best
    rung = "".join(path.read_text() for path in (floor.data_dir / "broker" / "queue").glob("*"))
    assert best in rung


@pytest.mark.parametrize("wanted", [0, 2])
def test_a_claim_without_an_answer_holds_no_device(floor: Floor, wanted: int) -> None:
    station = Station(floor.settings.model_copy(update={"min_free_gb": 0}))
    station.devices = Devices(1, GPUS)
    station.register()
    base, database = station.database, SteppedDatabase(station.database)
    station.database = database
    floor.new_run(gpus=wanted)
    other = floor.new_run(gpus=wanted)

    database.loses_answer = True
    with pytest.raises(OperationalError):
        station.claim_next()
    holders = [device["run_ids"] for device in station.devices.describe()]
    claimed = station.claim_next()
    base.close()

    assert holders == [[], [], []]
    assert claimed is not None
    assert claimed.run.id == other
