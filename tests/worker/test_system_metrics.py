"""What the machine had to do, as metrics: one value a step, never 0 for what nobody knows."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from backend.schemas.metrics.registry import metric_of
from backend.schemas.run_directory.events import MetricLine, StartLine, TrainerLine
from backend.schemas.vocabulary import Method
from backend.store.runs import runs
from backend.store.tables.metrics import MetricPoint
from tests import processes
from tests.worker.floor import Floor
from tests.worker.gpu_machine import GIB, HARDWARE, GpuMachine
from tests.worker.test_relay import append, carry_all, claimed, metric
from worker.process.gpus import GpuReader
from worker.process.system_sampler import SystemSampler
from worker.process.system_usage import SystemUsage
from worker.run_directory.system_means import SystemMeans

_BURN = "import sys; sys.stdout.write('x'); sys.stdout.flush()\nwhile True: pass"


def line(step: int, tokens: int = 0) -> MetricLine:
    return MetricLine(step=step, time=0.0, tokens=tokens, values={"loss": 1.0})


def told(means: SystemMeans, *lines: TrainerLine) -> MetricLine | None:
    found = means.after(lines)
    means.stored()
    return found


def test_a_point_is_the_mean_since_the_point_before_at_the_newest_step() -> None:
    means = SystemMeans()
    means.add(10.0, {"system/cpu_cores": 1.0})
    assert means.after([]) is None
    first = told(means, StartLine(attempt=1, step=0))
    assert first is not None
    assert (first.step, first.time, first.values) == (0, 10.0, {"system/cpu_cores": 1.0})

    means.add(20.0, {"system/cpu_cores": 2.0})
    means.add(30.0, {"system/cpu_cores": 4.0, "system/memory_gib": 8.0})
    # The trainer has not got further: a step has one value.
    assert told(means) is None
    second = told(means, line(1, 100), line(2, 200))
    assert second is not None
    assert (second.step, second.time, second.tokens) == (2, 30.0, 200)
    assert second.values == {"system/cpu_cores": 3.0, "system/memory_gib": 8.0}
    assert told(means, line(3)) is None


def test_an_attempt_that_resumes_leaves_the_point_of_that_step_as_it_is() -> None:
    means = SystemMeans()
    means.add(1.0, {"system/cpu_cores": 1.0})

    assert told(means, StartLine(attempt=2, step=40)) is None
    resumed = told(means, line(41))

    assert resumed is not None
    assert resumed.step == 41


def test_what_was_not_stored_is_told_again() -> None:
    means = SystemMeans()
    means.add(1.0, {"system/cpu_cores": 1.0})
    offered = means.after([StartLine(attempt=1, step=0)])
    means.add(2.0, {"system/cpu_cores": 5.0})

    assert means.after([line(1)]) == offered
    means.stored()
    later = means.after([])
    assert later is not None
    assert (later.step, later.values) == (1, {"system/cpu_cores": 5.0})


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_each_step_has_one_point_and_each_sample_is_in_at_most_one(
    turns: list[tuple[int, int]],
) -> None:
    """Law: samples told and samples waiting are all samples; steps ascend."""
    means, step, added = SystemMeans(), 0, 0
    found: list[tuple[MetricLine, int]] = []
    waiting = 0
    means.after([StartLine(attempt=1, step=0)])
    for samples, steps in turns:
        for _ in range(samples):
            added += 1
            waiting += 1
            means.add(float(added), {"system/cpu_cores": float(added)})
        step += steps
        point = told(means, line(step))
        if point is not None:
            found.append((point, waiting))
            waiting = 0

    steps_told = [point.step for point, _ in found]
    assert steps_told == sorted(set(steps_told))
    total = sum(point.values["system/cpu_cores"] * n for point, n in found)  # type: ignore[operator]
    assert total == pytest.approx(sum(range(1, added - waiting + 1)))


def test_the_relay_stores_samples_beside_what_the_trainer_says(floor: Floor) -> None:
    claim, directory, relay = claimed(floor)
    append(directory, {"type": "start", "attempt": 1, "step": 0}, metric(1, loss=1.0))
    relay.system.add(5.0, {"system/cpu_cores": 1.5})
    carry_all(relay)
    relay.system.add(6.0, {"system/cpu_cores": 2.5, "system/gpu_busy/0": 0.75})
    carry_all(relay)
    append(directory, metric(2, loss=0.5))
    carry_all(relay)

    points = floor.rows(select(MetricPoint).where(MetricPoint.name.startswith("system/")))
    assert {(one.name, one.step, one.value, one.tokens, one.attempt) for one in points} == {
        ("system/cpu_cores", 1, 1.5, 1, 1),
        ("system/cpu_cores", 2, 2.5, 2, 1),
        ("system/gpu_busy/0", 2, 0.75, 2, 1),
    }
    assert floor.run(claim.run_id).summary["system/cpu_cores"] == 2.5
    assert floor.told_steps(claim.run_id) == [1, 2]


@pytest.fixture
def busy() -> Iterator[int]:
    """The id of a process that computes on one core."""
    with subprocess.Popen([sys.executable, "-c", _BURN], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        yield process.pid
        process.kill()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GpuMachine:
    """Two GPUs that this process sees."""
    made = GpuMachine(tmp_path / "gpus.json", 2)
    monkeypatch.setenv("FAKE_NVML", str(made.file))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.syspath_prepend(HARDWARE)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    return made


def test_what_a_process_uses_is_read_and_what_nobody_knows_is_left_out(
    busy: int, machine: GpuMachine, tmp_path: Path
) -> None:
    reader = GpuReader()
    usage = SystemUsage(tmp_path, reader.find(), reader)
    machine.compute(0, 85)
    machine.use(1, None)

    first = usage.read(busy, 0.0)
    used_s = _used_s(busy)
    processes.wait_until(lambda: _used_s(busy) >= used_s + 0.05, "it has computed")
    second = usage.read(busy, 100.0)

    assert first["system/gpu_busy/0"] == 0.85
    assert first["system/gpu_memory_gib/0"] == 0.5 * GIB / 2**30
    assert {"system/gpu_busy/1", "system/gpu_memory_gib/1"}.isdisjoint(first)
    # A rate needs two readings.
    assert {"system/cpu_cores", "system/machine_cpu"}.isdisjoint(first)
    # It cannot have used more in a hundred seconds than in the moment that really passed.
    assert 0 < second["system/cpu_cores"] < 0.5
    assert 0 < second["system/machine_cpu"] <= 1
    assert 0.001 < second["system/memory_gib"] < 1
    assert second["system/disk_free_gib"] > 0
    for name in second:
        assert metric_of(Method.SFT, name) is not None, name


def test_a_process_that_is_gone_is_no_process_that_uses_nothing(tmp_path: Path) -> None:
    usage = SystemUsage(tmp_path, (), GpuReader())

    found = usage.read(2**22 + 1, 0.0)

    assert not [name for name in found if "trainer" in name or name == "system/memory_gib"]
    assert not [name for name in found if "gpu" in name]


def test_the_sampler_outlives_a_reading_that_fails(tmp_path: Path) -> None:
    came = threading.Event()

    class Moody(SystemUsage):
        calls = 0

        def read(self, pid: int, now: float) -> dict[str, float]:
            self.calls += 1
            if self.calls == 1:
                raise RuntimeError("the driver is away")
            return {"system/cpu_cores": float(pid)}

    heard: list[Mapping[str, float]] = []

    def hear(_at: float, values: Mapping[str, float]) -> None:
        heard.append(values)
        came.set()

    with SystemSampler(Moody(tmp_path, (), GpuReader()), 0.001, pid=lambda: 7, on_sample=hear):
        assert came.wait(30)
    assert heard[0] == {"system/cpu_cores": 7.0}


def _used_s(pid: int) -> float:
    """The processor seconds of this process."""
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def _steps_of_cores(floor: Floor) -> list[int]:
    statement = select(MetricPoint.step).where(MetricPoint.name == "system/cpu_cores")
    return floor.rows(statement)


@pytest.mark.slow
def test_a_run_tells_what_its_machine_had_to_do(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    run_id = floor.new_run()
    floor.behave(run_id, steps=100_000, step_s=0.05)

    with floor.worker(PODIUM_SYSTEM_METRICS_S="0.1"):
        floor.wake(run_id)
        processes.wait_until(lambda: len(_steps_of_cores(floor)) > 2, "three points")
        floor.ask(runs.cancel, run_id)
        floor.wait_for(run_id, "cancelled")

    steps = _steps_of_cores(floor)
    assert steps == sorted(set(steps))
    assert "system/gpu_busy/0" not in floor.run(run_id).summary
