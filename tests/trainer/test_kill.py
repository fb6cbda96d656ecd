"""SIGKILL in the middle of writing a checkpoint: the run goes on from the one before it."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.conftest import Workshop, lines
from tests.trainer.test_resume import METHODS, exact_metrics, sampled, weights


def kill_while_saving(process: subprocess.Popen[str], run_dir: Path, first: int) -> None:
    """Wait for a checkpoint of step `first` or later to be half written, then kill at once."""
    folder = run_dir / "checkpoints"
    while process.poll() is None:
        partial = [path for path in folder.glob(".step-*.partial") if step_of(path) >= first]
        if partial:
            process.kill()
            process.communicate()
            return
    raise AssertionError(f"no checkpoint was seen half written: {process.communicate()[1]}")


def step_of(partial: Path) -> int:
    """The step of `.step-N.partial`."""
    return int(partial.name.split("-")[1].split(".")[0])


@pytest.mark.slow
@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None])
@pytest.mark.parametrize("make_config", METHODS)
def test_a_run_killed_while_it_saves_ends_as_if_nothing_had_been(
    workshop: Workshop,
    tiny_model: Path,
    make_config: Callable[..., dict[str, Any]],
    lora: dict[str, int] | None,
) -> None:
    config = make_config(tiny_model) | {"lora": lora, "checkpoint_every": 1}
    config["log"] = {"samples_per_step": 100}
    whole, killed = workshop.lay_out("whole", config), workshop.lay_out("killed", config)
    assert workshop.run_here(whole)["code"] == 0

    kill_while_saving(workshop.start(killed), killed, first=3)
    assert not (killed / "output").exists()
    (killed / "attempts" / "2").mkdir(parents=True)
    assert workshop.run_here(killed)["code"] == 0

    assert lines(killed, "start")[-1]["step"] >= 2
    assert weights(killed) == weights(whole)
    assert exact_metrics(killed) == exact_metrics(whole)
    assert sampled(killed) == sampled(whole)
    assert not list((killed / "checkpoints").glob(".*.partial"))
