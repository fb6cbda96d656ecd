"""SIGKILL, while a checkpoint is being written and at any moment: as if nothing had been."""

import json
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest

from backend.schemas.vocabulary import Estimator
from tests.trainer.conftest import (
    SMALL_CONFIGS,
    TRAINED,
    Finished,
    Workshop,
    lines,
    policy_gradient_config,
    series,
)
from tests.trainer.interruption import interrupted, wait_for, wait_for_step
from tests.trainer.test_resume import (
    EVERY_SAMPLE,
    METHODS,
    exact_metrics,
    sampled,
    undisturbed,
    weights,
)
from tests.trainer.warm import WarmTrainer

log = logging.getLogger(__name__)

ADAPTERS = {"lora": {"r": 4, "alpha": 8}, "full": None}
EVERY_METHOD: dict[str, Callable[..., dict[str, Any]]] = {
    method: SMALL_CONFIGS[method] for method in TRAINED if method != "policy_gradient"
} | {
    str(estimator): partial(policy_gradient_config, estimator=estimator) for estimator in Estimator
}
# Each method once, with adapters and without in turn.
ONCE = [
    ("ppo" if method == "policy_gradient" else method, list(ADAPTERS)[place % 2])
    for place, method in enumerate(TRAINED)
]


@dataclass(frozen=True)
class Moment:
    """So many shares of a step's time after the metrics of a step; the same for the same words."""

    step: int
    share: float

    @classmethod
    def of(cls, words: str, n_steps: int) -> "Moment":
        """After the first checkpoint may have begun, and at least two steps before the end."""
        random = Random(words)
        return cls(random.randint(1, n_steps - 3), random.random())


def kill_while_saving(process: WarmTrainer, run_dir: Path, *, first: int) -> None:
    """Wait for a checkpoint of step `first` or later to be half written, then kill at once."""
    folder = run_dir / "checkpoints"

    def is_saving() -> bool:
        return any(step_of(path) >= first for path in folder.glob(".step-*.partial"))

    wait_for(is_saving, process, look_s=0.001)
    process.kill()


def step_of(partial: Path) -> int:
    """The step of `.step-N.partial`."""
    return int(partial.name.split("-")[1].split(".")[0])


def kill_at(process: WarmTrainer, run_dir: Path, *, moment: Moment) -> None:
    """Kill the trainer there; a step takes as long as those before it, of the same run."""
    if wait_for_step(process, run_dir, moment.step):
        time.sleep(moment.share * step_s(run_dir))
    process.kill()


def step_s(run_dir: Path) -> float:
    """How long the steps of a run have taken that may be writing its next line."""
    text = (run_dir / "events.jsonl").read_text()
    told = map(json.loads, text[: text.rindex("\n")].splitlines())
    values = [line["values"] for line in told if line["type"] == "metric"]
    return median(one["time/step_s"] for one in values if "time/step_s" in one)


def check_goes_on(workshop: Workshop, killed: Path, whole: Path) -> int:
    """The killed run, resumed, is equal to the whole one to the bit; the step it resumed from."""
    assert not (killed / "output").exists()
    (killed / "attempts" / "2").mkdir(parents=True)
    assert workshop.run_here(killed)["code"] == 0

    assert weights(killed) == weights(whole)
    assert exact_metrics(killed) == exact_metrics(whole)
    assert sampled(killed) == sampled(whole)
    assert not list((killed / "checkpoints").glob(".*.partial"))
    return int(lines(killed, "start")[-1]["step"])


def check_a_random_kill(
    workshop: Workshop, finished: Finished, config: dict[str, Any], words: str
) -> None:
    """Run once undisturbed, once killed at the moment that the words stand for."""
    config = config | {"checkpoint_every": 1, "log": EVERY_SAMPLE}
    whole = undisturbed(finished, config)
    moment = Moment.of(words, max(series(whole, "time/step_s")))

    kill = partial(kill_at, moment=moment)
    killed = interrupted(workshop, "killed", config, kill, code=-signal.SIGKILL)
    step = check_goes_on(workshop, killed, whole)

    killed_at = moment.step + moment.share
    log.info("%s: killed after %.2f steps, resumed from step %d", words, killed_at, step)


def test_every_method_is_killed_while_it_saves() -> None:
    methods = {make_config(Path("model"))["method"] for make_config in METHODS}
    assert methods == set(TRAINED)


@pytest.mark.slow
@pytest.mark.parametrize("lora", ADAPTERS.values(), ids=ADAPTERS)
@pytest.mark.parametrize("make_config", METHODS)
def test_a_run_killed_while_it_saves_ends_as_if_nothing_had_been(
    workshop: Workshop,
    tiny_model: Path,
    finished: Finished,
    make_config: Callable[..., dict[str, Any]],
    lora: dict[str, int] | None,
) -> None:
    config = make_config(tiny_model) | {"lora": lora, "checkpoint_every": 1}
    config["log"] = EVERY_SAMPLE
    whole = undisturbed(finished, config)

    kill = partial(kill_while_saving, first=3)
    killed = interrupted(workshop, "killed", config, kill, code=-signal.SIGKILL)
    assert check_goes_on(workshop, killed, whole) >= 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "adapters"), ONCE)
def test_a_run_killed_at_any_moment_ends_as_if_nothing_had_been(
    workshop: Workshop, tiny_model: Path, finished: Finished, name: str, adapters: str
) -> None:
    """Once for each method; `make chaos` has every estimator, with adapters and without."""
    config = EVERY_METHOD[name](tiny_model) | {"lora": ADAPTERS[adapters]}
    check_a_random_kill(workshop, finished, config, f"{name} {adapters} 0")


@pytest.mark.chaos
@pytest.mark.parametrize("adapters", ADAPTERS)
@pytest.mark.parametrize("name", EVERY_METHOD)
def test_runs_of_every_method_are_killed_at_random_moments(
    workshop: Workshop, tiny_model: Path, finished: Finished, name: str, adapters: str
) -> None:
    """PODIUM_CHAOS_ROUNDS moments for each, 3 by default."""
    config = EVERY_METHOD[name](tiny_model) | {"lora": ADAPTERS[adapters]}
    for round_ in range(int(os.environ.get("PODIUM_CHAOS_ROUNDS", "3"))):
        place = Workshop(workshop.folder / str(round_))
        check_a_random_kill(place, finished, config, f"{name} {adapters} {round_}")
