"""What the trainer leaves in the run directory, also on bad days; and the optimizer's state."""

import itertools
import json
import math
import os
import signal
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from backend.schemas.policy_gradient import Kl
from backend.schemas.run_directory import names
from backend.schemas.run_directory.events import ExitReport
from backend.schemas.sections import Optim
from backend.schemas.training import parse_run_config
from backend.schemas.vocabulary import FailureCause
from tests.trainer.conftest import Workshop, lines, policy_gradient_config, sft_config
from worker.process.trainer_process import environment
from worker.run_directory.layout import RunDirectory
from worker.trainer import checkpoint, exit_report
from worker.trainer.__main__ import as_trainer_error
from worker.trainer.errors import (
    ConfigError,
    DiskError,
    MissingModel,
    NonFiniteLoss,
    OutOfMemory,
)
from worker.trainer.events import MOST_VALUES, Events
from worker.trainer.methods.policy_gradient.kl_control import KlControl
from worker.trainer.optim import Optimizer, learning_rate
from worker.trainer.run import attempt_number, functions_of
from worker.trainer.source import ALLOWED


def written(path: Path) -> list[dict[str, object]]:
    """The lines of an event file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_attempts_of_a_past_that_a_restored_database_has_taken_back_are_forgotten(
    tmp_path: Path,
) -> None:
    directory = RunDirectory(tmp_path, "run_1")
    for number in (2, 3, 5):
        directory.attempt(number).mkdir(parents=True)
        (directory.attempt(number) / "stdout.log").write_text("step 1\n")

    directory.begin_attempt(3, None, 0)

    assert attempt_number(directory.path) == 3
    assert directory.attempts() == {2, 3}
    assert list(directory.attempt(3).iterdir()) == [], "its log is its own"


@pytest.mark.parametrize(
    ("before", "after"),
    [("", ""), ('{"a":1}\n', '{"a":1}\n'), ('{"a":1}\n{"b', '{"a":1}\n'), ('{"a"', "")],
)
def test_a_torn_last_line_is_cut_off_at_the_start(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(before)
    Events(path).close()
    assert path.read_text() == after


def test_a_long_torn_line_is_cut_back_to_the_newline_before_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("{}\n" + "x" * 200_000)
    Events(path).close()
    assert path.read_text() == "{}\n"


def test_a_number_that_is_not_finite_becomes_null_and_an_alert(tmp_path: Path) -> None:
    events = Events(tmp_path / "events.jsonl")
    events.metric(3, {"loss": math.nan, "lr": 0.1})
    metric, alert = written(tmp_path / "events.jsonl")
    events.close()
    assert metric["values"] == {"loss": None, "lr": 0.1}
    assert (alert["rule"], alert["step"]) == ("non_finite_metric", 3)
    assert "loss" in str(alert["message"])


def test_many_values_are_lines_that_a_relay_takes(tmp_path: Path) -> None:
    values = {f"eval/x/pass@1/id.{n}": float(n) for n in range(2 * MOST_VALUES + 1)}
    with closing(Events(tmp_path / "events.jsonl")) as events:
        events.metric(3, values)
        events.metric(4, {})
    *first, last = written(tmp_path / "events.jsonl")

    assert [len(line["values"]) for line in first] == [MOST_VALUES, MOST_VALUES, 1]
    assert {name: v for line in first for name, v in line["values"].items()} == values
    assert {(line["step"], line["time"]) for line in first} == {(3, first[0]["time"])}
    assert (last["step"], last["values"]) == (4, {})


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    tensors = {"weights": {"a": torch.randn(3), "b": torch.arange(4)}}
    checkpoint.save(tmp_path, checkpoint.Checkpoint(7, {"x": [1, 2.5]}, tensors), keep=2)

    found, problems = checkpoint.load_newest(tmp_path)

    assert found is not None
    assert (found.step, found.state, problems) == (7, {"x": [1, 2.5]}, [])
    for name, value in tensors["weights"].items():
        assert torch.equal(found.tensors["weights"][name], value)


@pytest.mark.parametrize("damage", ["weights.safetensors", "manifest.json", "state.json"])
def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path, damage: str) -> None:
    for step in (1, 2):
        state = checkpoint.Checkpoint(step, {}, {"weights": {"a": torch.ones(2)}})
        checkpoint.save(tmp_path, state, keep=2)
    (tmp_path / "step-2" / damage).write_bytes(b"{")
    (tmp_path / ".step-3.partial").mkdir()

    found, problems = checkpoint.load_newest(tmp_path)

    assert found is not None
    assert found.step == 1
    assert len(problems) == 1
    assert problems[0].startswith("step-2")


# Everything that changes a folder; the hook is called before it happens.
CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}


def died_saving(folder: Path, saved: checkpoint.Checkpoint, change: int) -> bool:
    """Save in a process of its own that ends before its n-th change; False if it had fewer."""
    child = os.fork()
    if child == 0:
        # A lock that a thread of the parent held is held for ever here.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)
        n_seen = 0

        def end(event: str, _arguments: object) -> None:
            nonlocal n_seen
            n_seen += event in CHANGES
            if n_seen > change:
                os._exit(9)

        sys.addaudithook(end)
        checkpoint.save(folder, saved, keep=1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_checkpoint_that_is_written_again_is_there_at_every_moment(tmp_path: Path) -> None:
    """A kill before any change of the folder leaves the old state or the new, and no third."""
    found = []
    for change in itertools.count():
        folder = tmp_path / str(change)
        checkpoint.save(folder, checkpoint.Checkpoint(7, {"is": "old"}), keep=1)
        died = died_saving(folder, checkpoint.Checkpoint(7, {"is": "new"}), change)
        loaded, problems = checkpoint.load_newest(folder)
        assert loaded is not None, change
        assert problems == []
        found.append(loaded.state["is"])
        checkpoint.save(folder, checkpoint.Checkpoint(7, {}), keep=1)
        assert [path.name for path in folder.iterdir()] == ["step-7"]
        if not died:
            break
    assert len(found) > 10
    assert found == sorted(found, reverse=True)


def steps_kept(folder: Path, *steps: int, best: int = 0, keep: int = 2) -> list[int]:
    """Save checkpoints in this order; which of them are there afterwards."""
    for step in steps:
        state = checkpoint.Checkpoint(step, {}, {}, is_best=step == best)
        checkpoint.save(folder, state, keep=keep)
    return sorted(int(path.name.removeprefix("step-")) for path in folder.glob("step-*"))


FULL = 50_000_000


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a disk of fifty megabytes."""

    def usage(folder: Path) -> Usage:
        used = sum(one.stat().st_size for one in Path(folder).rglob("*") if one.is_file())
        return Usage(FULL, used, FULL - used)

    monkeypatch.setattr("worker.trainer.checkpoint.shutil.disk_usage", usage)
    return tmp_path


class Usage(NamedTuple):
    """As `shutil.disk_usage` answers."""

    total: int
    used: int
    free: int


def save_10_mb(folder: Path, step: int, *, keep: int, min_free_bytes: int) -> None:
    tensors = {"weights": {"a": torch.full((2_500_000,), float(step))}}
    state = checkpoint.Checkpoint(step, {}, tensors)
    checkpoint.save(folder, state, keep=keep, min_free_bytes=min_free_bytes)


def test_a_checkpoint_that_would_leave_too_little_free_is_not_written(disk: Path) -> None:
    for step in (1, 2):
        save_10_mb(disk, step, keep=9, min_free_bytes=25_000_000)

    with pytest.raises(
        DiskError, match=r"step-3 takes 10\.0 MB, and 30\.0 MB are free .* 25\.0 MB"
    ):
        save_10_mb(disk, 3, keep=9, min_free_bytes=25_000_000)

    assert sorted(path.name for path in disk.iterdir()) == ["step-1", "step-2"]
    found, problems = checkpoint.load_newest(disk)
    assert found is not None
    assert (found.step, problems) == (2, [])
    save_10_mb(disk, 3, keep=9, min_free_bytes=0)


def test_a_run_that_takes_no_more_room_goes_on_when_others_have_filled_the_disk(
    disk: Path,
) -> None:
    for step in (1, 2):
        save_10_mb(disk, step, keep=2, min_free_bytes=0)
    (disk / "of_others").write_bytes(bytes(15_000_000))

    for step in (3, 4):
        save_10_mb(disk, step, keep=2, min_free_bytes=25_000_000)

    assert sorted(path.name for path in disk.glob("step-*")) == ["step-3", "step-4"]


def test_on_a_full_disk_what_the_last_checkpoint_displaces_makes_room_for_it(disk: Path) -> None:
    for step in (1, 2):
        save_10_mb(disk, step, keep=2, min_free_bytes=0)
    (disk / "of_others").write_bytes(bytes(25_000_000))

    save_10_mb(disk, 3, keep=2, min_free_bytes=0)

    assert sorted(path.name for path in disk.glob("step-*")) == ["step-2", "step-3"]


def test_the_only_checkpoint_stays_until_there_is_room_for_the_next(disk: Path) -> None:
    save_10_mb(disk, 1, keep=1, min_free_bytes=25_000_000)
    (disk / "of_others").write_bytes(bytes(15_000_000))

    with pytest.raises(DiskError):
        save_10_mb(disk, 2, keep=1, min_free_bytes=25_000_000)

    assert [path.name for path in disk.glob("step-*")] == ["step-1"]


def test_a_trainer_takes_from_its_worker_how_much_must_stay_free(
    workshop: Workshop, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = environment("", min_free_gb=1_000_000)
    monkeypatch.setenv("PODIUM_MIN_FREE_GB", given["PODIUM_MIN_FREE_GB"])
    run_dir = workshop.lay_out("run", sft_config(tiny_model, checkpoint_every=1))

    ended = workshop.run_here(run_dir)

    assert (ended["code"], ended["cause"]) == (6, "disk")
    assert not list(run_dir.glob("checkpoints/step-*"))


def test_a_run_that_goes_on_elsewhere_says_what_is_other_there(
    workshop: Workshop, tiny_model: Path
) -> None:
    """Threads and how torch is built; what is equal is not in the alert."""
    run_dir = workshop.lay_out("run", sft_config(tiny_model, checkpoint_every=1))
    assert workshop.run_here(run_dir)["code"] == 0
    saved, _ = checkpoint.load_newest(run_dir / "checkpoints")
    assert saved is not None
    here = saved.state["environment"]
    (capability,) = (part for part in here["torch_build"] if part.startswith("CPU capability"))
    build = [part for part in here["torch_build"] if part != capability]
    there = here | {"threads": 7, "torch_build": [*build, "CPU capability usage: none"]}
    moved = replace(saved, state=saved.state | {"environment": there})
    checkpoint.save(run_dir / "checkpoints", moved, keep=2)

    assert workshop.run_here(run_dir)["code"] == 0

    (alert,) = (line for line in lines(run_dir, "alert") if line["rule"] == "resumed_elsewhere")
    assert alert["message"] == (
        "The run resumed in another environment, so its results are not equal bit for bit: "
        f"threads: 7 -> 1; torch_build: CPU capability usage: none -> {capability}."
    )


def test_of_the_functions_that_a_worker_allows_a_run_records_those_that_it_names(
    workshop: Workshop, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a function that it does not call says nothing of it."""
    monkeypatch.setenv(ALLOWED, "json:loads,json:dumps")
    run_dir = workshop.lay_out("run", sft_config(tiny_model))
    assert workshop.run_here(run_dir)["code"] == 0
    (start,) = lines(run_dir, "start")
    assert start["environment"]["reward_functions"] == {}

    terms = [{"kind": "function", "function": "json:loads"}, {"kind": "finished"}]
    named, prompts = {"path": str(tiny_model)}, {"path": "inputs/prompts.jsonl"}
    for method, reward in (("generate", terms), ("evaluate", {"terms": terms})):
        sampler = {"method": method, "model": named, "prompts": prompts, "reward": reward}
        assert functions_of(parse_run_config(sampler)) == ["json:loads"]
    learns = policy_gradient_config(tiny_model, reward={"terms": terms})
    assert functions_of(parse_run_config(learns)) == ["json:loads"]


@pytest.mark.parametrize(
    ("said", "threads", "used"),
    [("3", None, 3), ("3", 2, 2), ("none", None, os.cpu_count()), (None, None, os.cpu_count())],
)
def test_a_run_without_a_number_of_threads_takes_what_the_operator_said(
    workshop: Workshop, tiny_model: Path, said: str | None, threads: int | None, used: int
) -> None:
    config = sft_config(tiny_model, resources={"threads": threads})
    run_dir = workshop.lay_out("run", config)
    with pytest.MonkeyPatch.context() as patch:
        if said is None:
            patch.delenv("OMP_NUM_THREADS", raising=False)
        else:
            patch.setenv("OMP_NUM_THREADS", said)
        assert workshop.run_here(run_dir)["code"] == 0
    (start,) = lines(run_dir, "start")
    assert start["environment"]["threads"] == used


def test_the_best_the_last_and_the_pinned_checkpoints_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    pins = tmp_path / names.PINS

    assert steps_kept(folder, 1, 2, 3, 4, best=1) == [1, 3, 4]
    assert steps_kept(folder, 5, 6, best=5) == [5, 6]
    pins.write_text('{"steps": [6]}')
    assert steps_kept(folder, 7, 8, 9, 10) == [5, 6, 9, 10]
    pins.write_text('{"steps": []}')
    assert steps_kept(folder, 11) == [5, 10, 11]


def test_pins_that_cannot_be_read_keep_everything(tmp_path: Path) -> None:
    (tmp_path / names.PINS).write_text("{")

    assert steps_kept(tmp_path / "checkpoints", 1, 2, 3, 4) == [1, 2, 3, 4]


def test_a_damaged_checkpoint_beyond_the_step_takes_no_place_of_a_good_one(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    steps_kept(folder, 4, 8)
    (folder / "step-8" / "state.json").write_text("{")

    assert steps_kept(folder, 5, keep=2) == [4, 5]


def test_the_report_takes_the_place_of_its_reserve(tmp_path: Path) -> None:
    (tmp_path / "exit.json").write_text("old")
    exit_report.reserve(tmp_path)
    assert not (tmp_path / "exit.json").exists()
    assert (tmp_path / ".exit.json.reserve").stat().st_size == 65536

    report = ExitReport(attempt=1, code=1, cause="bug", message="x" * 100_000)
    exit_report.write(tmp_path, report)

    content = (tmp_path / "exit.json").read_text()
    assert len(content) < 65536
    assert ExitReport.model_validate_json(content).message == "x" * 16_000
    assert [path.name for path in tmp_path.iterdir()] == ["exit.json"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 3),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9"), 3),
        (torch.OutOfMemoryError("CUDA out of memory"), 3),
        (RuntimeError("CUDA error: out of memory"), 3),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"), 3),
        (MissingModel("no"), 2),
        (OSError(28, "No space left on device"), 6),
        (ConfigError("no"), 2),
        (KeyError("a bug"), 1),
    ],
)
def test_every_exception_has_its_exit_code(error: Exception, code: int) -> None:
    found = as_trainer_error(error)
    assert found.code == code
    assert found.cause in set(FailureCause)
    assert found.advice or code in (1, 2)
    assert isinstance(found, OutOfMemory) == (code == 3)


def test_learning_rates_warm_up_and_follow_their_schedule() -> None:
    """10 steps, 2 of warm-up, peak 1: .5 1, then 8 steps down."""

    def rates(schedule: str) -> list[float]:
        config = Optim.model_validate({"lr": 1.0, "schedule": schedule, "warmup_ratio": 0.2})
        return [learning_rate(config, step, 10) for step in range(10)]

    assert rates("constant") == [0.5] + [1.0] * 9
    assert rates("linear") == pytest.approx(
        [0.5, 1, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125]
    )
    assert rates("cosine")[6] == pytest.approx(0.5)


def test_the_gradient_norm_is_told_before_clipping_and_a_broken_one_changes_nothing() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2))
    optimizer = Optimizer({"p": parameter}, Optim(lr=0.1, grad_clip=1.0), 10)
    parameter.grad = torch.tensor([3.0, 4.0])
    assert optimizer.step() == pytest.approx(5.0)

    before = parameter.detach().clone()
    parameter.grad = torch.tensor([math.nan, 1.0])
    with pytest.raises(NonFiniteLoss, match="optimizer step 2"):
        optimizer.step()

    assert torch.equal(parameter, before)
    assert optimizer.n_steps == 1


def test_the_kl_controller_moves_towards_its_target_by_at_most_one_percent() -> None:
    control = KlControl(Kl(coef=0.1, target=2.0), n_samples=32)
    control.update(100.0)
    assert control.coef == pytest.approx(0.101)
    control.update(0.0)
    assert control.coef == pytest.approx(0.101 * 0.99)
    fixed = KlControl(Kl(coef=0.1), n_samples=32)
    fixed.update(100.0)
    assert fixed.coef == 0.1


def test_the_horizon_says_over_how_many_responses_the_controller_moves_by_a_fifth() -> None:
    """64 of 640 responses: a tenth of 0.2 a step, whatever the KL."""
    control = KlControl(Kl(coef=0.1, target=2.0, horizon=640), n_samples=64)
    control.update(100.0)
    assert control.coef == pytest.approx(0.102)
    control.update(2.2)
    assert control.coef == pytest.approx(0.102 * 1.01)
