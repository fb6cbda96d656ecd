"""Our trainer beside TRL's on the same work, in turn, each run in a process of its own.

`make bench` measures a small Llama with random weights. Environment variables ask for more or
less: PODIUM_BENCH_MODEL=FOLDER adds a real model in bf16; PODIUM_BENCH_THREADS (all cores), _STEPS
(10, of which 2 are dropped), _ROUNDS (2) and _ROWS (5: how many of the rows) set the effort;
PODIUM_BENCH_OUTPUT names a file that gets every number as JSON lines. Seconds of the clock compare
on a machine that does nothing else; on a busy one read processor seconds with one thread.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest

from tests.benchmarks.work import Job, small_llama, with_plain_template
from worker.process.trainer_process import environment

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = int(os.environ.get("PODIUM_BENCH_ROUNDS", "2"))
STEPS = int(os.environ.get("PODIUM_BENCH_STEPS", "10"))
ROWS = int(os.environ.get("PODIUM_BENCH_ROWS", "5"))
THREADS = os.environ.get("PODIUM_BENCH_THREADS", str(os.cpu_count()))

SMALL = {
    "policy, 9-token prompts": Job("policy_gradient", "", 9, (48, 48), batch=12, responses=4),
    "policy, 64-token prompts": Job("policy_gradient", "", 64, (48, 48), batch=12, responses=4),
    "reward model, P 128, R 96": Job("reward_model", "", 128, (96, 96), batch=4, responses=4),
    "reward model, P 32, R 96": Job("reward_model", "", 32, (96, 96), batch=4, responses=4),
    "reward model, P 512, R 96": Job("reward_model", "", 512, (96, 96), batch=2, responses=4),
    "reward model, P 6, R 200": Job("reward_model", "", 6, (200, 200), batch=4, responses=4),
    "dpo, P 64, R 64": Job("dpo", "", 64, (64, 64), batch=12, responses=2),
    "sft, equal lengths": Job("sft", "", 64, (64, 64), batch=16),
    "sft, ragged, packed": Job("sft", "", 10, (10, 116), batch=16, packing=True),
}
REAL = {
    "policy, 64-token prompts": Job("policy_gradient", "", 64, (48, 48), batch=4, responses=4),
    "reward model, P 128, R 96": Job("reward_model", "", 128, (96, 96), batch=2, responses=4),
    "dpo, P 64, R 64": Job("dpo", "", 64, (64, 64), batch=4, responses=2),
    "sft, equal lengths": Job("sft", "", 64, (64, 64), batch=8),
    "sft, ragged, packed": Job("sft", "", 10, (10, 116), batch=8, packing=True),
}


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_llama(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = os.environ.get("PODIUM_BENCH_MODEL")
    if folder is None:
        pytest.skip("PODIUM_BENCH_MODEL names no model folder")
    return with_plain_template(Path(folder), tmp_path_factory.mktemp("models") / "real")


@pytest.mark.parametrize("name", SMALL)
def test_small_llama(name: str, small: Path, tmp_path: Path) -> None:
    compare(f"small Llama, {name}", replace(SMALL[name], model=str(small)), tmp_path)


@pytest.mark.parametrize("name", REAL)
def test_real_model(name: str, real: Path, tmp_path: Path) -> None:
    compare(f"real model, {name}", replace(REAL[name], model=str(real), precision="bf16"), tmp_path)


def compare(name: str, job: Job, folder: Path) -> None:
    """Run ours and theirs in turn and print medians, spread, memory and phases."""
    job = replace(job, steps=STEPS)
    sides = {"TRL": ("peer", job), "ours, all equal": ("ours", replace(job, sharing=False))}
    if job.responses > 1:
        sides["ours, shared prompts"] = ("ours", job)
    sides["ours, defaults"] = ("ours", replace(job, default_micro_batch=True, precision="auto"))
    sides["TRL at its best"] = ("peer", replace(job, best=True))
    sides = dict(list(sides.items())[:ROWS])
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, (module, its_job) in sides.items():
            found[side].append(run_side(module, its_job, folder))
    print(f"\n{name}")
    for side, results in found.items():
        print(f"  {side:20} {describe(results, found['TRL'], job)}")
    output = os.environ.get("PODIUM_BENCH_OUTPUT")
    if output is not None:
        with Path(output).open("a") as file:
            file.write(json.dumps({"name": name, "job": asdict(job), "found": found}) + "\n")


def run_side(module: str, job: Job, folder: Path) -> dict[str, Any]:
    """One process from start to end; its last line is the result."""
    # As a worker starts a trainer.
    as_started = {"GLIBC_TUNABLES": environment("")["GLIBC_TUNABLES"]}
    process = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.{module}", str(job.save(folder / "job.json"))],
        cwd=ROOT,
        env=os.environ
        | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": THREADS}
        | (as_started if module == "ours" else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-4000:]
    result: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return result


def describe(results: list[dict[str, Any]], peer: list[dict[str, Any]], job: Job) -> str:
    """Median and quartiles of a step, times as fast as the peer, memory, phases."""
    seconds, cpu = pooled(results, "seconds"), pooled(results, "cpu_seconds")
    low, middle, high = quantiles(seconds, n=4)
    faster = median(pooled(peer, "seconds")) / middle
    cpu_faster = median(pooled(peer, "cpu_seconds")) / median(cpu)
    phases = ", ".join(
        f"{phase} {median(value for r in results for value in r['phases'][phase]):.2f}"
        for phase in results[0]["phases"]
    )
    peak = max(result["peak_mib"] for result in results)
    growth = max(result["peak_mib"] - result["after_imports_mib"] for result in results)
    return (
        f"{middle:7.3f} s ({low:.3f}-{high:.3f}, n={len(seconds)}) {faster:5.2f}x"
        f"  cpu {median(cpu):7.3f} s {cpu_faster:5.2f}x  {job.batch / median(cpu):6.1f} records/s"
        f"  peak {peak:5.0f} MiB, +{growth:5.0f}" + (f"  [{phases}]" if phases else "")
    )


def pooled(results: list[dict[str, Any]], name: str) -> list[float]:
    """The steps of all rounds."""
    return [value for result in results for value in result[name]]
