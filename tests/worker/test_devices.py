"""Who gets which slot and GPU."""

from backend.store.supervision import Waiting
from worker.devices import Devices, Gpu, Lease, visible

GPUS = [Gpu(id=f"GPU-{n}", name="H", memory_bytes=1) for n in range(4)]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def take(devices: Devices, *queue: tuple[str, int]) -> tuple[str, Lease] | None:
    return devices.take_best([Waiting(*one) for one in queue])


def test_the_first_run_that_fits_is_taken_and_its_devices_come_back() -> None:
    devices = Devices(1, GPUS)

    first = take(devices, ("big", 4))
    assert first is not None
    assert first[1].visible_devices == "GPU-0,GPU-1,GPU-2,GPU-3"
    second = take(devices, ("small", 1), ("cpu", 0))
    assert second is not None
    assert (second[0], second[1].visible_devices) == ("cpu", "")
    assert take(devices, ("small", 1), ("cpu 2", 0)) is None

    devices.give_back(first[1])
    third = take(devices, ("small", 1), ("cpu 2", 0))
    assert third is not None
    assert (third[0], len(third[1].gpus)) == ("small", 1)


def test_a_big_run_passed_over_for_long_reserves_what_comes_free() -> None:
    clock = Clock()
    devices = Devices(1, GPUS, clock=clock, reserve_after_s=600)
    held = take(devices, ("first", 2))
    assert held is not None

    early = take(devices, ("big", 4), ("small", 1))
    assert early is not None
    assert early[0] == "small"
    clock.now = 601.0
    assert take(devices, ("big", 4), ("small 2", 1)) is None
    cpu = take(devices, ("big", 4), ("small 2", 1), ("cpu", 0))
    assert cpu is not None
    assert cpu[0] == "cpu", "a reservation holds GPUs alone"

    devices.give_back(held[1])
    devices.give_back(early[1])
    big = take(devices, ("big", 4), ("small 2", 1))
    assert big is not None
    assert big[0] == "big"


def test_a_run_that_left_the_queue_waits_anew() -> None:
    clock = Clock()
    devices = Devices(1, GPUS, clock=clock, reserve_after_s=600)
    held = take(devices, ("first", 2))
    assert held is not None
    assert take(devices, ("big", 4)) is None
    assert take(devices) is None
    clock.now = 601.0

    small = take(devices, ("big", 4), ("small", 1))

    assert small is not None
    assert small[0] == "small"


def test_visible_devices_narrow_what_a_worker_has() -> None:
    assert visible(GPUS, None) == GPUS
    assert visible(GPUS, "") == []
    assert visible(GPUS, "2, GPU-0,nonsense") == [GPUS[2], GPUS[0]]


def test_room_is_seen_without_taking_it() -> None:
    devices = Devices(1, GPUS[:1])

    assert devices.has_room_for([Waiting("a", 2), Waiting("b", 1)])
    assert not devices.has_room_for([Waiting("a", 2)])
    assert not devices.has_room_for([])
