"""Who gets which slot and GPU, and what happens until it is back."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.store.runs.supervision import Waiting
from worker.process.devices import FAULT_AFTER_S, Devices, Lease
from worker.process.gpus import Gpu, visible

GIB = 2**30

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


def test_two_threads_that_see_the_same_queue_take_devices_for_two_runs() -> None:
    devices = Devices(2, GPUS)
    queue = [("gpu", 1), ("cpu", 0), ("gpu 2", 1), ("cpu 2", 0)]

    taken = [take(devices, *queue) for _ in range(5)]

    assert [one and (one[0], one[1].visible_devices) for one in taken] == [
        ("gpu", "GPU-0"),
        ("cpu", ""),
        ("gpu 2", "GPU-1"),
        ("cpu 2", ""),
        None,
    ]
    assert devices.fitting([Waiting("gpu", 1), Waiting("gpu 3", 2)]) == ["gpu 3"]


def test_a_run_that_is_tried_again_need_not_wait_for_the_memory_of_its_last_attempt() -> None:
    in_use = {"GPU-0": GIB}
    devices = Devices(0, GPUS[:2], used_bytes=lambda gpu: in_use.get(gpu.id, 0))
    first = take(devices, ("run", 1))
    assert first is not None
    in_use["GPU-0"] = 30 * GIB
    devices.give_back(first[1])

    again = take(devices, ("run", 1))

    assert again is not None
    assert again[1].visible_devices == "GPU-1"


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


def test_a_gpu_that_is_kept_back_is_not_waited_for_by_a_reservation() -> None:
    clock, meter = Clock(), Meter()
    devices = Devices(1, GPUS[:2], used_bytes=meter, clock=clock, reserve_after_s=600)
    held = take(devices, ("first", 1))
    assert held is not None
    meter.used["GPU-0"] = 40 * GIB
    devices.measure()
    devices.give_back(held[1])
    assert take(devices, ("big", 2)) is None
    clock.now = 601.0

    small = take(devices, ("big", 2), ("small", 1))

    assert small is not None, "the big run cannot begin before somebody frees GPU-0"
    assert (small[0], small[1].visible_devices) == ("small", "GPU-1")
    meter.used["GPU-0"] = GIB // 2
    assert devices.measure()
    assert take(devices, ("big", 2), ("small 2", 1)) is None, "from now on it reserves"


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
    assert visible(GPUS, "2, GPU-0,nonsense,1") == [GPUS[2], GPUS[0]]
    assert visible(GPUS, "GPU-3,3") == [GPUS[3]]
    assert visible(GPUS, "GPU-,1") == [], "the beginning of several names is none"


def test_room_is_seen_without_taking_it() -> None:
    devices = Devices(1, GPUS[:1])

    assert devices.fitting([Waiting("a", 2), Waiting("b", 1), Waiting("c", 1)]) == ["b"]
    assert devices.fitting([Waiting("a", 2)]) == []
    assert devices.fitting([]) == []


class Meter:
    """Memory in use, by GPU."""

    def __init__(self) -> None:
        self.used: dict[str, int | None] = {gpu.id: GIB // 2 for gpu in GPUS}

    def __call__(self, gpu: Gpu) -> int | None:
        return self.used[gpu.id]


def faults(devices: Devices) -> list[str]:
    return [told["fault"] for told in devices.describe() if told.get("fault")]


def test_a_gpu_whose_memory_did_not_come_back_is_kept_marked_and_tried_again() -> None:
    clock, meter = Clock(), Meter()
    devices = Devices(1, GPUS[:2], used_bytes=meter, clock=clock)
    held = take(devices, ("first", 1))
    assert held is not None
    meter.used["GPU-0"] = 40 * GIB
    devices.measure()

    devices.give_back(held[1])

    assert devices.is_waiting_for_memory
    assert faults(devices) == [], "drivers take a moment"
    other = take(devices, ("second", 1))
    assert other is not None
    assert other[1].visible_devices == "GPU-1"
    assert take(devices, ("third", 1)) is None
    clock.now += FAULT_AFTER_S
    assert not devices.measure()
    (fault,) = faults(devices)
    assert (
        "42.9 GB are still in use after its run ended; before the run 0.5 GB were in use" in fault
    )

    meter.used["GPU-0"] = GIB
    assert not devices.measure(), "half a GiB more than before is not back"
    meter.used["GPU-0"] = GIB // 2 + 1
    assert devices.measure()
    assert faults(devices) == []
    third = take(devices, ("third", 1))
    assert third is not None
    assert third[1].visible_devices == "GPU-0"


def test_the_most_that_was_in_use_is_remembered_and_silence_keeps_nothing_back() -> None:
    meter = Meter()
    devices = Devices(1, GPUS[:2], used_bytes=meter)
    held = take(devices, ("both", 2))
    assert held is not None
    for used in (10 * GIB, 60 * GIB, 20 * GIB):
        meter.used["GPU-0"] = used
        devices.measure()
    assert devices.peak_bytes(held[1]) == 60 * GIB + GIB // 2

    meter.used |= {"GPU-0": None, "GPU-1": None}
    devices.give_back(held[1])
    assert not devices.is_waiting_for_memory
    assert devices.peak_bytes(Lease("cpu", ())) is None


def test_devices_are_described_with_who_holds_them() -> None:
    devices = Devices(2, GPUS[:2])
    take(devices, ("on a gpu", 1))
    take(devices, ("on the cpu", 0))

    cpu, first, second = devices.describe()

    assert (cpu["slots"], cpu["run_ids"]) == (2, ["on the cpu"])
    assert (first["run_ids"], second["run_ids"]) == (["on a gpu"], [])


@dataclass
class Simulated:
    """One worker, its queue and its clock; every run ends after its time."""

    total: int
    devices: Devices
    clock: Clock
    queue: list[tuple[str, int, float]] = field(default_factory=list)
    working: list[tuple[float, Lease]] = field(default_factory=list)
    started: dict[str, float] = field(default_factory=dict)

    def start_all_that_fit(self) -> None:
        while taken := self.devices.take_best([Waiting(r, n) for r, n, _ in self.queue]):
            run_id, lease = taken
            (mine,) = [one for one in self.queue if one[0] == run_id]
            self.queue.remove(mine)
            assert len(lease.gpus) == mine[1]
            self.working.append((self.clock.now + mine[2], lease))
            self.started[run_id] = self.clock.now
            held = [gpu.id for _, other in self.working for gpu in other.gpus]
            assert len(held) == len(set(held)) <= self.total, "no GPU is held twice"

    def end_next(self) -> None:
        self.working.sort(key=lambda one: one[0])
        self.clock.now, lease = self.working.pop(0)
        self.devices.give_back(lease)


@settings(deadline=None, max_examples=60)
@given(
    total=st.integers(1, 4),
    arrivals=st.lists(
        st.tuples(st.integers(0, 4), st.floats(0, 900), st.floats(1, 300)), min_size=1, max_size=40
    ),
)
def test_every_run_gets_its_devices_and_small_ones_never_starve_a_big_one(
    total: int, arrivals: list[tuple[int, float, float]]
) -> None:
    clock = Clock()
    reserve_after_s, longest_s = 600.0, 300.0
    machine = Simulated(
        total, Devices(1, GPUS[:total], clock=clock, reserve_after_s=reserve_after_s), clock
    )
    arrived: dict[str, float] = {}
    wanted: dict[str, int] = {}
    at = 0.0
    coming = []
    for number, (gpus, gap_s, takes_s) in enumerate(arrivals):
        at += gap_s / 10
        coming.append((at, f"run {number}", min(gpus, total), takes_s))
    while coming or machine.queue or machine.working:
        next_end = min((end for end, _ in machine.working), default=float("inf"))
        if coming and coming[0][0] <= next_end:
            clock.now, run_id, gpus, takes_s = coming.pop(0)
            arrived[run_id], wanted[run_id] = clock.now, gpus
            machine.queue.append((run_id, gpus, takes_s))
        else:
            assert machine.working, f"nothing moves any more: {machine.queue}"
            machine.end_next()
        machine.start_all_that_fit()

    assert machine.started.keys() == arrived.keys()
    for run_id, start in machine.started.items():
        kind = bool(wanted[run_id])
        older = [
            one
            for one in arrived
            if arrived[one] <= arrived[run_id]
            and bool(wanted[one]) == kind
            and machine.started[one] >= arrived[run_id]
        ]
        limit = reserve_after_s + longest_s * (len(older) + 1)
        assert start - arrived[run_id] <= limit, f"{run_id} waited for younger ones"


def test_a_stream_of_small_runs_lets_a_big_one_through_after_its_reservation() -> None:
    clock = Clock()
    machine = Simulated(4, Devices(1, GPUS, clock=clock, reserve_after_s=600), clock)
    for number in range(4):
        machine.queue.append((f"small {number}", 1, 50.0 + number))
    machine.start_all_that_fit()
    machine.queue.append(("big", 4, 100))
    number = 4
    while "big" not in machine.started:
        while len(machine.queue) < 9:
            machine.queue.append((f"small {number}", 1, 50.0))
            number += 1
        machine.start_all_that_fit()
        machine.end_next()
        machine.start_all_that_fit()

    assert 600 <= machine.started["big"] <= 600 + 2 * 53
