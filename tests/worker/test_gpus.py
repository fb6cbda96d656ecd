"""What a worker knows of the GPUs of its machine, read from a stand-in for NVML."""

import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from backend.store.runs import runs
from backend.store.tables.workers import Worker
from tests import processes
from tests.worker.floor import Floor
from tests.worker.gpu_machine import GIB, HARDWARE, GpuMachine
from worker.process.gpus import Gpu, GpuReader


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GpuMachine:
    """Two GPUs that this process sees."""
    made = GpuMachine(tmp_path / "gpus.json", 2)
    monkeypatch.setenv("FAKE_NVML", str(made.file))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.syspath_prepend(HARDWARE)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    return made


def test_gpus_are_found_with_their_memory(
    machine: GpuMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = GpuReader()

    first, second = reader.find()

    assert first == Gpu(id="GPU-0", name="H80", memory_bytes=80 * GIB)
    machine.use(1, 7 * GIB)
    assert [reader.used_bytes(gpu) for gpu in (first, second)] == [GIB // 2, 7 * GIB]
    machine.use(1, None)
    assert reader.used_bytes(second) is None
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert reader.find() == [Gpu("GPU-1", "H80", None)]


def test_without_a_driver_there_are_no_gpus(machine: GpuMachine) -> None:
    machine.file.unlink()

    reader = GpuReader()

    assert reader.find() == []
    assert reader.used_bytes(Gpu("GPU-0", "H80", 1)) is None


@pytest.mark.slow
def test_a_worker_gives_gpus_out_takes_them_back_and_says_so(
    sqlite_floor: Floor, tmp_path: Path
) -> None:
    floor = sqlite_floor
    machine = GpuMachine(tmp_path / "gpus.json", 2)

    def told() -> list[dict[str, object]]:
        (devices,) = floor.rows(select(Worker.devices))
        return list(devices)

    first, both = floor.new_run(gpus=1), floor.new_run(gpus=2)
    floor.behave(first, steps=2, hang=True)

    with floor.worker("--steps", "2", **machine.environment()):
        floor.wake(first)
        floor.wait_for_step(first, 2)
        processes.wait_until(
            lambda: told()[1]["run_ids"] == [first], "the GPU is told of", log=floor.newest_log()
        )
        machine.use(0, 30 * GIB)
        processes.wait_until(
            lambda: told()[1]["memory_used_bytes"] == 30 * GIB, "the memory is told of"
        )
        floor.ask(runs.cancel, first)
        floor.wait_for(first, "cancelled")
        processes.wait_until(
            lambda: "32.2 GB are still in use" in str(told()[1]["fault"]), "the fault is told of"
        )
        assert floor.run(both).state == "queued"

        machine.use(0, GIB // 2)
        run = floor.wait_for(both, "succeeded")

    assert floor.run(first).environment["visible_devices"] == "GPU-0"
    assert run.environment["visible_devices"] == "GPU-0,GPU-1"
