"""Which queued run a worker takes when many are ahead that do not fit what is free."""

import pytest

from tests.worker.floor import Floor
from worker.devices import Devices
from worker.gpus import Gpu
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
