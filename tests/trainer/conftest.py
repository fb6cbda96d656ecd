"""A tiny model, and a workshop that lays out run directories and runs the trainer in them."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from backend.schemas.methods import METHODS
from backend.schemas.references import PointsTo
from tests.least_config import least_config
from tests.once import Once
from tests.tiny_model import make_tiny_model
from tests.trainer.warm import WarmTrainer
from worker.trainer.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
SYSTEM = "Be brief."


@pytest.fixture(scope="session")
def tiny_model(once: Once) -> Path:
    """Folder of a tiny chat model."""
    torch.set_num_threads(1)
    return once.folder("tiny", make_tiny_model)


@dataclass(frozen=True)
class Workshop:
    """Makes run directories with inputs and runs the trainer there as its own process."""

    folder: Path
    started: list["subprocess.Popen[str] | WarmTrainer"] = field(default_factory=list)

    def lay_out(self, name: str, config: dict[str, Any]) -> Path:
        """A run directory with this config and the inputs of `write_inputs`."""
        run_dir = self.folder / name
        write_inputs(run_dir / "inputs")
        complete = {"resources": {"threads": 1}, "precision": "fp32"} | config
        (run_dir / "config.json").write_text(json.dumps(complete))
        return run_dir

    def start(
        self,
        run_dir: Path,
        *,
        environment: dict[str, str] | None = None,
        log: Path | None = None,
    ) -> WarmTrainer:
        """The trainer's process, a fork of one that has loaded the libraries."""
        trainer = WarmTrainer(run_dir, environment or {}, log)
        self.started.append(trainer)
        return trainer

    def start_by_command(self, run_dir: Path) -> "subprocess.Popen[str]":
        """The trainer's process, by its command line."""
        process = subprocess.Popen(
            command(run_dir),
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def close(self) -> None:
        """End what a failed test has left at work."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def run_here(self, run_dir: Path) -> dict[str, Any]:
        """Run to the end inside this process, which saves its start; returns exit.json."""
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        deterministic = torch.are_deterministic_algorithms_enabled()
        try:
            main([str(run_dir / "config.json"), "--run-dir", str(run_dir)])
        finally:
            torch.use_deterministic_algorithms(deterministic)
            for number, handler in before.items():
                signal.signal(number, handler)
        report: dict[str, Any] = json.loads((run_dir / "exit.json").read_text())
        return report

    def run(
        self,
        run_dir: Path,
        *,
        timeout_s: float = 240,
        environment: dict[str, str] | None = None,
        by_command: bool = False,
    ) -> dict[str, Any]:
        """Run to the end in another process; returns exit.json."""
        process = (
            self.start_by_command(run_dir)
            if by_command
            else self.start(run_dir, environment=environment)
        )
        _, stderr = process.communicate(timeout=timeout_s)
        report: dict[str, Any] = json.loads((run_dir / "exit.json").read_text())
        assert report["code"] == process.returncode, stderr
        report["stderr"] = stderr
        return report


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A workshop in a temporary folder."""
    workshop = Workshop(tmp_path)
    yield workshop
    workshop.close()


@dataclass(frozen=True)
class Finished:
    """Runs that came to a good end, each made once for all tests that only read it."""

    once: Once

    def __call__(self, config: dict[str, Any]) -> Path:
        """The directory of the run of this config; who changes anything there copies it first."""
        text = json.dumps(config, sort_keys=True)
        name = f"{config['method']}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

        def make(folder: Path) -> None:
            workshop = Workshop(folder.parent)
            report = workshop.run_here(workshop.lay_out(folder.name, config))
            assert report["code"] == 0, report

        return self.once.folder(name, make)


@pytest.fixture(scope="session")
def finished(once: Once) -> Finished:
    """Gives the directory of a run that was made before, or makes it."""
    return Finished(once)


def command(run_dir: Path) -> Sequence[str]:
    """The trainer's command line."""
    config = str(run_dir / "config.json")
    return [sys.executable, "-m", "worker.trainer", config, "--run-dir", str(run_dir)]


def lines(run_dir: Path, kind: str) -> list[dict[str, Any]]:
    """Event lines of one type."""
    found = [json.loads(line) for line in (run_dir / "events.jsonl").read_bytes().splitlines()]
    return [line for line in found if line["type"] == kind]


def series(run_dir: Path, name: str) -> dict[int, float]:
    """The values of a metric by step; what a later attempt says wins."""
    return {
        line["step"]: line["values"][name]
        for line in lines(run_dir, "metric")
        if name in line["values"]
    }


def write_inputs(folder: Path, *, n_prompts: int = 16) -> None:
    """Prompts, demonstrations, preferences and solutions; every fourth prompt is held out.

    The rankings like short responses, with a tie and an unranked response in each. Steps of the
    letter a are right, those of z wrong.
    """
    folder.mkdir(parents=True)
    questions = [f"say {word * (1 + i % 3)} {i}" for i, word in enumerate(["a", "bc"] * 8)]
    heads = [
        {
            "prompt_id": f"p{i}",
            "messages": [{"role": "user", "content": question}],
            "split": "heldout" if i % 4 == 0 else "train",
        }
        for i, question in enumerate(questions[:n_prompts])
    ]
    places = [{"metadata": {"place": "odd" if i % 2 else "even"}} for i in range(len(heads))]
    _write(folder / "prompts.jsonl", [head | own for head, own in zip(heads, places, strict=True)])
    _write(
        folder / "demonstrations.jsonl",
        [head | {"demonstration_id": f"d{i}", "response": "ok!"} for i, head in enumerate(heads)],
    )
    _write(folder / "preferences.jsonl", [_preference(i, head) for i, head in enumerate(heads)])
    _write(
        folder / "solutions.jsonl",
        [_solution(i, k, head) for i, head in enumerate(heads) for k in range(6)],
    )


def _solution(i: int, k: int, head: dict[str, Any]) -> dict[str, Any]:
    letters = f"{5 * i + 7 * k:b}"[-3:].replace("0", "a").replace("1", "z")
    return head | {
        "solution_id": f"s{i}_{k}",
        "steps": [
            {"content": letter * (1 + (i + k + place) % 4), "label": float(letter == "a")}
            for place, letter in enumerate(letters)
        ],
    }


def _preference(i: int, head: dict[str, Any]) -> dict[str, Any]:
    sizes = [1 + i % 3, 6, 7, 14]
    responses = [
        {
            "id": f"r{i}_{k}",
            "content": "xyz"[i % 3] * size,
            "finish_reason": "length" if k == 3 else "stop",
        }
        for k, size in enumerate(sizes)
    ]
    ids = [response["id"] for response in responses]
    return head | {
        "judgment_id": f"j{i}",
        "comparison_id": f"c{i}",
        "responses": responses,
        "tiers": [[ids[0]], [ids[1], ids[2]]] if i % 2 else [[ids[0]], [ids[1]], [ids[3]]],
        "unranked": [ids[3]] if i % 2 else [ids[2]],
        "verdict": "ranked",
        "annotator": "test",
        "presented_order": ids,
    }


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def sft_config(model: Path, **more: Any) -> dict[str, Any]:
    """A small sft run with adapters."""
    lora = {"r": 4, "alpha": 8, "dropout": 0.1}
    optim = optim_of(epochs=3) | {"schedule": "cosine"}
    return config_of("sft", model, "demonstrations", lora=lora, optim=optim) | more


def reward_model_config(model: Path, **more: Any) -> dict[str, Any]:
    """A small reward_model run with adapters."""
    return config_of("reward_model", model, "preferences", optim=optim_of(epochs=3)) | more


def process_reward_model_config(model: Path, **more: Any) -> dict[str, Any]:
    """A small process_reward_model run with adapters."""
    optim = optim_of(batch_size=12, epochs=1)
    return config_of("process_reward_model", model, "solutions", optim=optim) | more


def dpo_config(model: Path, **more: Any) -> dict[str, Any]:
    """A small dpo run with adapters."""
    return config_of("dpo", model, "preferences", optim=optim_of(epochs=3)) | more


def policy_gradient_config(model: Path, **more: Any) -> dict[str, Any]:
    """A small policy_gradient run with adapters; a letter of a-m is the reward."""
    return {
        "method": "policy_gradient",
        "model": {"path": str(model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "reward": {"terms": [{"kind": "regex", "pattern": "[a-m]"}], "normalize": "running"},
        "rollout": {
            "prompts_per_step": 8,
            "samples_per_prompt": 4,
            "max_new_tokens": 8,
            "system": SYSTEM,
        },
        "lora": {"r": 4, "alpha": 8},
        "optim": {"lr": 1e-2},
        "steps": 6,
        "eval_every": 2,
        "kl": {"coef": 0.05, "target": 0.5},
    } | more


def config_of(method: str, model: Path, data: str, **more: Any) -> dict[str, Any]:
    """What the small runs on records have in common; `data` names their input and its file."""
    return {
        "method": method,
        "model": {"path": str(model)},
        data: {"path": f"inputs/{data}.jsonl"},
        "system": SYSTEM,
        "lora": {"r": 4, "alpha": 8},
    } | more


def optim_of(*, epochs: int, batch_size: int = 6) -> dict[str, Any]:
    """Passes over the few records of `write_inputs`, with a high learning rate."""
    return {"lr": 1e-2, "batch_size": batch_size, "epochs": epochs}


def small_config(method: str, model: Path, **more: Any) -> dict[str, Any]:
    """A small run of any method of the registry, with adapters where it trains."""

    def refer(name: str, wants: PointsTo) -> dict[str, str]:
        return {"path": str(model) if wants.snapshot is None else f"inputs/{name}.jsonl"}

    config = least_config(method, refer)
    if "system" in METHODS[method].config.model_fields:
        config["system"] = SYSTEM
    if not METHODS[method].is_sampler:
        config |= {"lora": {"r": 4, "alpha": 8}, "optim": optim_of(epochs=3)}
    return config | more


MakeConfig = Callable[..., dict[str, Any]]
_OWN: dict[str, MakeConfig] = {
    "sft": sft_config,
    "reward_model": reward_model_config,
    "process_reward_model": process_reward_model_config,
    "dpo": dpo_config,
    "policy_gradient": policy_gradient_config,
}
# One small run of every method: those above where a method has one of its own.
SMALL_CONFIGS: dict[str, MakeConfig] = {
    str(method): _OWN.get(method, partial(small_config, method)) for method in METHODS
}
TRAINED = [str(method) for method, spec in METHODS.items() if not spec.is_sampler]
