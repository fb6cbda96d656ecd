"""Stopping and going on gives what not stopping gives, to the bit; and how runs end."""

import hashlib
import json
import math
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from torch import nn

from backend.schemas.sections import Optim
from backend.schemas.training import parse_run_config
from tests.small_disk import small_disk
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import (
    SMALL_CONFIGS,
    TRAINED,
    Finished,
    Workshop,
    lines,
    policy_gradient_config,
    reward_model_config,
    sft_config,
)
from tests.trainer.interruption import Interrupt, interrupted, wait_for_step
from tests.trainer.warm import WarmTrainer
from worker.trainer.checkpoint import load_newest
from worker.trainer.errors import StopRequested
from worker.trainer.loop import Loop
from worker.trainer.models import adapters
from worker.trainer.optim import Optimizer
from worker.trainer.run import StopWish, open_run

METHODS: list[Callable[..., dict[str, Any]]] = [
    *(SMALL_CONFIGS[method] for method in TRAINED),
    partial(policy_gradient_config, estimator="ppo", epochs_per_rollout=2),
]

POLICY_GRADIENTS: list[dict[str, Any]] = [
    {"estimator": "reinforce_pp"},
    {"estimator": "remax"},
    {"estimator": "ppo", "critic": {"lr": 1e-2}, "epochs_per_rollout": 2, "minibatch_size": 10},
    {"estimator": "ppo", "critic": {"trunk": "shared", "lr": 1e-2}},
    {
        "estimator": "grpo",
        "dynamic_sampling": {"max_replacements": 5},
        "overlong": "penalize",
        "kl": {"coef": 0.05, "target": 0.5, "horizon": 100},
    },
]


def weights(run_dir: Path) -> dict[str, str]:
    """Hash of every tensor of the output."""
    return {
        f"{path.name}:{name}": hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
        for path in sorted((run_dir / "output").glob("*.safetensors"))
        for name, tensor in load_file(path).items()
    }


# What the arrays of every token need to be in the sample lines.
EVERY_SAMPLE = {"samples_per_step": 100, "tokens": "all"}


def sampled(run_dir: Path) -> dict[int, list[dict[str, Any]]]:
    """Every sample line whole, by step; of a step that was taken again, those of the last time.

    With the scores and, per token, its text, log-probability, KL and advantage.
    """
    found: dict[int, list[dict[str, Any]]] = {}
    for text in (run_dir / "events.jsonl").read_bytes().splitlines():
        line = json.loads(text)
        if line["type"] == "start":
            # From the beginning means that step 0 comes again, too, as the relay takes it.
            last = line["step"] or -1
            found = {step: those for step, those in found.items() if step <= last}
        if line["type"] == "sample":
            found.setdefault(line["step"], []).append(line)
    return found


def exact_metrics(run_dir: Path) -> dict[tuple[int, str], float | None]:
    """Every metric that must not change, and the tokens so far; a later attempt's word wins."""
    return {
        (line["step"], name): value
        for line in lines(run_dir, "metric")
        for name, value in [*line["values"].items(), ("tokens", line["tokens"])]
        if not name.startswith(("time/", "memory/", "tokens_per_s"))
    }


def shortened(config: dict[str, Any], *, steps: int) -> dict[str, Any]:
    """The same run, over after fewer steps; only with a constant schedule."""
    if "steps" in config:
        return config | {"steps": steps}
    n_records = 72 if "solutions" in config else 12
    share = steps * config["optim"]["batch_size"] / n_records - 1e-6
    return config | {"optim": config["optim"] | {"epochs": share, "schedule": "constant"}}


@dataclass
class Counter:
    """A part of a loop that counts."""

    count: int = 0

    def state(self) -> dict[str, Any]:
        return {"count": self.count}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.count = int(state["count"])


def undisturbed(finished: Finished, config: dict[str, Any]) -> Path:
    """The run of a config that nobody interrupts, with every sample, a checkpoint at each step.

    Tests that change nothing but when it was interrupted compare themselves with the same one.
    """
    return finished(config | {"log": EVERY_SAMPLE, "checkpoint_every": 1})


def stop_after(step: int, number: signal.Signals) -> Interrupt:
    """Sends a signal when the metrics of a step are told."""

    def interrupt(process: WarmTrainer, run_dir: Path) -> None:
        wait_for_step(process, run_dir, step)
        process.send_signal(number)

    return interrupt


@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True], ids=["lora", "full"])
@pytest.mark.parametrize("make_config", METHODS)
def test_stop_and_resume_gives_the_weights_of_an_uninterrupted_run(
    workshop: Workshop,
    tiny_model: Path,
    finished: Finished,
    make_config: Callable[..., dict[str, Any]],
    full: bool,
) -> None:
    config = make_config(tiny_model)
    if full:
        config["lora"] = None
    config["log"] = EVERY_SAMPLE
    whole = undisturbed(finished, config)

    halted = interrupted(workshop, "halted", config, stop_after(3, signal.SIGTERM), code=5)
    assert json.loads((halted / "exit.json").read_text())["code"] == 5
    assert not (halted / "output").exists()
    (halted / "attempts" / "2").mkdir(parents=True)
    resumed = workshop.run(halted)

    assert (resumed["code"], resumed["attempt"]) == (0, 2)
    start = lines(halted, "start")[-1]
    assert start["attempt"] == 2
    assert start["step"] >= 3
    assert weights(halted) == weights(whole)
    assert exact_metrics(halted) == exact_metrics(whole)
    assert sampled(halted) == sampled(whole)


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None])
@pytest.mark.parametrize("change", POLICY_GRADIENTS)
def test_four_steps_are_two_and_two(
    workshop: Workshop, tiny_model: Path, change: dict[str, Any], lora: dict[str, int] | None
) -> None:
    """In every metric but those of time and memory, in every array of every response, in every
    weight.
    """
    config = policy_gradient_config(tiny_model, steps=4, eval_every=2, checkpoint_every=2)
    config |= {"lora": lora, "log": EVERY_SAMPLE} | change
    whole = workshop.lay_out("whole", config)
    halves = workshop.lay_out("halves", config | {"steps": 2})

    assert workshop.run_here(whole)["code"] == workshop.run_here(halves)["code"] == 0
    (halves / "attempts" / "2").mkdir(parents=True)
    (halves / "config.json").write_bytes((whole / "config.json").read_bytes())
    assert workshop.run_here(halves)["code"] == 0

    assert lines(halves, "start")[-1]["step"] == 2
    assert weights(halves) == weights(whole)
    assert exact_metrics(halves) == exact_metrics(whole)
    assert sampled(halves) == sampled(whole)
    found = sampled(whole)
    every = [line for those in found.values() for line in those]
    trained = [line for line in every if line["kind"] == "rollout"]
    assert [line["step"] for line in trained] == [1] * 32 + [2] * 32 + [3] * 32 + [4] * 32
    assert {line["step"] for line in every if line["kind"] == "probe"} == {0, 2, 4}
    assert all(line["advantage"] and line["change"] for line in trained)


def test_a_checkpoint_knows_nothing_of_a_step_that_was_given_up(
    workshop: Workshop, tiny_model: Path
) -> None:
    """The stop falls behind the reward, whose running statistics have seen the rollout already."""
    config = policy_gradient_config(tiny_model, steps=2)
    run_dir = workshop.lay_out("run", config)
    complete = parse_run_config(json.loads((run_dir / "config.json").read_text()))
    stop, counter, model = StopWish(), Counter(), nn.Linear(1, 1)
    # What is to stay free for others is not kept free at the cost of the work so far.
    run = replace(open_run(run_dir, complete, stop), min_free_bytes=10**18)
    optimizer = Optimizer(adapters.trainable(model), Optim(), 3)
    loop = Loop(run, model, optimizer, 3, parts={"counter": counter})

    def take_step(step: int) -> dict[str, float]:
        counter.count += 1
        if step == 2:
            stop.set()
        stop.check()
        return {}

    with pytest.raises(StopRequested):
        loop.go(take_step, lambda _step: {})
    run.events.close()

    saved, _ = load_newest(run.checkpoints)
    assert saved is not None
    assert saved.step == 1
    assert saved.state["parts"] == {"counter": {"count": 1}}


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_last_complete_checkpoint(
    workshop: Workshop, tiny_model: Path
) -> None:
    config = sft_config(tiny_model, checkpoint_every=2, lora=None)
    whole = workshop.lay_out("whole", config)
    assert workshop.run(whole)["code"] == 0

    kill = stop_after(5, signal.SIGKILL)
    killed = interrupted(workshop, "killed", config, kill, code=-signal.SIGKILL)
    newest = sorted((killed / "checkpoints").iterdir())[-1]
    (newest / "weights.safetensors").write_bytes(b"torn")
    with (killed / "events.jsonl").open("a") as file:
        file.write('{"type":"metric","st')
    report = workshop.run(killed, by_command=True)

    assert report["code"] == 0
    assert {line["rule"] for line in lines(killed, "alert")} >= {"checkpoint_skipped"}
    assert weights(killed) == weights(whole)


def test_only_the_newest_checkpoints_are_kept(workshop: Workshop, tiny_model: Path) -> None:
    run_dir = workshop.lay_out("run", sft_config(tiny_model, checkpoint_every=1))
    assert workshop.run_here(run_dir)["code"] == 0
    assert sorted(path.name for path in (run_dir / "checkpoints").iterdir()) == ["step-5", "step-6"]
    assert [line["step"] for line in lines(run_dir, "checkpoint")] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"nonsense": 1}, 2, ["nonsense"]),
        ({"model": {"path": "/does/not/exist"}}, 2, ["/does/not/exist", "does not exist"]),
        ({"model": {"id": "model_abc"}}, 2, ["model_abc"]),
        ({"demonstrations": {"path": "inputs/absent.jsonl"}}, 2, ["absent.jsonl"]),
        ({"demonstrations": {"path": "inputs/prompts.jsonl"}}, 2, ["line 1"]),
        ({"max_tokens": 8}, 2, ["demonstration d", "max_tokens"]),
        ({"resources": {"gpus": 1}}, 2, ["no usable GPU"]),
    ],
)
def test_what_cannot_be_run_ends_with_cause_and_advice(
    workshop: Workshop, tiny_model: Path, change: dict[str, Any], code: int, words: list[str]
) -> None:
    run_dir = workshop.lay_out("run", sft_config(tiny_model) | change)

    report = workshop.run_here(run_dir)

    assert report["code"] == code, report
    assert report["cause"]
    assert report["advice"]
    for word in words:
        assert word in report["message"]
    assert not (run_dir / "output").exists()


@pytest.mark.parametrize("make_config", METHODS[:-1])
def test_a_loss_that_is_not_finite_ends_with_code_four_and_its_batch_is_kept(
    workshop: Workshop, tmp_path: Path, make_config: Callable[..., dict[str, Any]]
) -> None:
    """The weights break between two attempts: the checkpoint of the first stays."""
    model = make_tiny_model(tmp_path / "model")
    config = make_config(model, checkpoint_every=1)
    run_dir = workshop.lay_out("run", shortened(config, steps=1))
    assert workshop.run_here(run_dir)["code"] == 0
    (run_dir / "config.json").write_bytes(
        (workshop.lay_out("longer", config) / "config.json").read_bytes()
    )
    tensors = load_file(model / "model.safetensors")
    tensors["model.norm.weight"][0] = math.nan
    save_file(tensors, model / "model.safetensors", metadata={"format": "pt"})

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (4, "non_finite_loss")
    assert "non_finite/step-2.jsonl" in report["message"]
    assert report["advice"]
    batch = [
        json.loads(line)
        for line in (run_dir / "non_finite" / "step-2.jsonl").read_text().splitlines()
    ]
    assert len(batch) >= 6
    assert all(row["prompt_ids"] for row in batch)
    kept, problems = load_newest(run_dir / "checkpoints")
    assert kept is not None
    assert (kept.step, problems) == (1, [])


def test_the_batch_of_a_policy_loss_that_is_not_finite_says_what_was_known(
    workshop: Workshop, tiny_model: Path, tmp_path: Path
) -> None:
    """The policy is sound and samples; its reference gives NaN, and so the KL in the reward."""
    reference = make_tiny_model(tmp_path / "reference")
    tensors = load_file(reference / "model.safetensors")
    tensors["model.norm.weight"][0] = math.nan
    save_file(tensors, reference / "model.safetensors", metadata={"format": "pt"})
    config = policy_gradient_config(tiny_model, reference={"path": str(reference)})

    run_dir = workshop.lay_out("run", config)
    report = workshop.run_here(run_dir)

    assert report["code"] == 4, report
    assert "at step 1" in report["message"]
    text = (run_dir / "non_finite" / "step-1.jsonl").read_text()
    batch = [json.loads(line) for line in text.splitlines()]
    assert len(batch) == 32
    for row in batch:
        n_tokens = len(row["response_ids"])
        assert row["ref_logp"] == [None] * n_tokens
        assert len(row["logp"]) == len(row["sampler_logp"]) == n_tokens
        assert None not in row["logp"]
        assert row["prompt_id"].startswith("p")


def test_preferences_without_a_pair_are_refused(workshop: Workshop, tiny_model: Path) -> None:
    run_dir = workshop.lay_out("run", reward_model_config(tiny_model))
    path = run_dir / "inputs" / "preferences.jsonl"
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    empty = [record | {"verdict": "all_bad", "tiers": []} for record in records]
    path.write_text("".join(json.dumps(record) + "\n" for record in empty))

    report = workshop.run_here(run_dir)

    assert (report["code"], report["cause"]) == (2, "data")
    assert "ranks at least two responses" in report["message"]
    assert report["advice"]


def test_a_full_disk_is_reported_and_what_was_there_stays(
    workshop: Workshop, tiny_model: Path, tmp_path: Path
) -> None:
    """A disk of 400 kB: the run begins, its first checkpoint does not fit."""
    disk = tmp_path / "disk"
    with small_disk(disk, 400 * 1024):
        small = Workshop(disk)
        run_dir = small.lay_out("run", sft_config(tiny_model, checkpoint_every=1, lora=None))
        report = small.run_here(run_dir)
        left = list((run_dir / "checkpoints").iterdir())

    assert (report["code"], report["cause"]) == (6, "disk")
    assert "No space left" in report["message"]
    assert "Free space" in report["advice"]
    assert left == []


@pytest.mark.slow
def test_a_run_directory_that_cannot_be_made_ends_with_code_six(
    workshop: Workshop, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    run_dir = tmp_path / "file" / "run"
    trainer = workshop.start(run_dir, log=tmp_path / "trainer.log")
    _, said = trainer.communicate(timeout=240)
    assert trainer.returncode == 6
    assert "could not write" in said
