"""Our trainer beside TRL's on the same work, in turn, each run in a process of its own.

`make bench` measures a small Llama with random weights; PODIUM_BENCH_MODEL=FOLDER adds a real model
in bf16. Results go to PODIUM_BENCH_OUTPUT (a file of JSON lines) too, if it is set.
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

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 2

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
    name: replace(job, precision="bf16")
    for name, job in SMALL.items()
    if name
    in (
        "policy, 64-token prompts",
        "reward model, P 128, R 96",
        "dpo, P 64, R 64",
        "sft, equal lengths",
        "sft, ragged, packed",
    )
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
    compare(f"real model, {name}", replace(REAL[name], model=str(real)), tmp_path)


def compare(name: str, job: Job, folder: Path) -> None:
    """Run ours and theirs in turn and print medians, spread, memory and phases."""
    sides = {"TRL": ("peer", job), "ours, all equal": ("ours", replace(job, sharing=False))}
    if job.responses > 1:
        sides["ours, shared prompts"] = ("ours", job)
    sides["ours, defaults"] = ("ours", replace(job, default_micro_batch=True, precision="auto"))
    sides["TRL at its best"] = ("peer", replace(job, best=True))
    found: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    for _ in range(ROUNDS):
        for side, (module, its_job) in sides.items():
            found[side].append(run_side(module, its_job, folder))
    print(f"\n{name}")
    base = median(found["TRL"][0]["seconds"] + found["TRL"][1]["seconds"])
    for side, results in found.items():
        print(f"  {side:22} {describe(results, base, job)}")
    output = os.environ.get("PODIUM_BENCH_OUTPUT")
    if output is not None:
        with Path(output).open("a") as file:
            file.write(json.dumps({"name": name, "job": asdict(job), "found": found}) + "\n")


def run_side(module: str, job: Job, folder: Path) -> dict[str, Any]:
    """One process from start to end; its last line is the result."""
    process = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.{module}", str(job.save(folder / "job.json"))],
        cwd=ROOT,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-4000:]
    result: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return result


def describe(results: list[dict[str, Any]], base_s: float, job: Job) -> str:
    """Median and quartiles of a step, times as fast as the peer, memory, phases."""
    seconds = [value for result in results for value in result["seconds"]]
    low, middle, high = quantiles(seconds, n=4)
    phases = {
        phase: median(value for result in results for value in result["phases"][phase])
        for phase in results[0]["phases"]
    }
    said = ", ".join(f"{phase} {value:.2f}" for phase, value in phases.items())
    peak = max(result["peak_mib"] for result in results)
    growth = max(result["peak_mib"] - result["after_imports_mib"] for result in results)
    return (
        f"{middle:7.3f} s a step ({low:.3f}-{high:.3f}, n={len(seconds)})  {base_s / middle:5.2f}x"
        f"  {job.batch / middle:7.1f} records/s  peak {peak:6.0f} MiB, {growth:6.0f} after imports"
        + (f"  [{said}]" if said else "")
    )
