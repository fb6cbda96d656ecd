"""The loop of all methods: which evaluation is the best, also across an interruption."""

import json
import math
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from torch import nn

from backend.schemas.sections import Optim
from backend.schemas.training import parse_run_config
from tests.trainer.conftest import Workshop, lines, series, sft_config
from worker.trainer import checkpoint
from worker.trainer.errors import ConfigError
from worker.trainer.loop import Loop
from worker.trainer.models import adapters
from worker.trainer.optim import Optimizer
from worker.trainer.run import StopWish, open_run


@dataclass
class Measure:
    """Rewards in deviations from a mean; both move."""

    mean: float = 0.0
    std: float = 1.0

    def __call__(self, values: Mapping[str, float]) -> float:
        return (values["eval/reward"] - self.mean) / self.std


def go_on(
    run_dir: Path, measure: "Measure | Ceiling", rewards: list[float], name: str = ""
) -> None:
    """Go on up to the last of these rewards of the steps 0, 1, ..., and save.

    `name` is what the loop is told of what they measure.
    """
    config = parse_run_config(json.loads((run_dir / "config.json").read_text()))
    run, model = open_run(run_dir, config, StopWish()), nn.Linear(1, 1)
    n_steps = len(rewards) - 1
    optimizer = Optimizer(adapters.trainable(model), Optim(), n_steps)
    limit = measure if isinstance(measure, Ceiling) else None
    loop = Loop(run, model, optimizer, n_steps, objective=measure, measure=name, limit=limit)
    with closing(run.events):
        loop.go(lambda _step: {}, lambda step: {"eval/reward": rewards[step]})
        loop.save()


@dataclass
class Ceiling:
    """A limit of the reward, which also says which evaluations count."""

    most: float
    is_passed: bool = False
    calls_for_evaluation: bool = False

    def nothing_within(self) -> ConfigError:
        return ConfigError("nothing within the ceiling")

    def __call__(self, values: Mapping[str, float]) -> float:
        return values["eval/reward"] if values["eval/reward"] <= self.most else -math.inf


@pytest.mark.parametrize("is_passed", [False, True])
def test_the_best_of_a_checkpoint_that_is_beyond_a_lowered_limit_is_no_output(
    workshop: Workshop, tiny_model: Path, is_passed: bool
) -> None:
    run_dir = workshop.lay_out("run", sft_config(tiny_model, eval_every=1))
    go_on(run_dir, Ceiling(1.0), [0.1, 0.9])
    lowered = Ceiling(0.05, is_passed)

    if is_passed:
        with pytest.raises(ConfigError, match="nothing within"):
            go_on(run_dir, lowered, [0.1, 0.9])
    else:
        go_on(run_dir, lowered, [0.1, 0.9])
    before = [line for line in lines(run_dir, "alert") if line["rule"] == "best_checkpoint"]
    assert len(before) == 1


@pytest.mark.parametrize("interrupted", [False, True])
def test_two_evaluations_are_compared_by_one_measure(
    workshop: Workshop, tiny_model: Path, interrupted: bool
) -> None:
    """A reward of .5 is less than .1 was worth when nothing was known; today it is worth more."""
    run_dir = workshop.lay_out("run", sft_config(tiny_model, eval_every=1))
    measure = Measure()
    go_on(run_dir, measure, [0.1, 0.2][: 1 + interrupted])
    measure.mean, measure.std = 0.6, 0.1

    go_on(run_dir, measure, [0.1, 0.2, 0.5, 0.4])

    assert series(run_dir, "eval/best_step")[3] == 2


def test_an_evaluation_of_something_else_is_no_rival_and_the_first_one_is_made_at_once(
    workshop: Workshop, tiny_model: Path
) -> None:
    """9 under one reward says nothing of .2 and .3 under another; .25 is of the step gone on from.

    Of three evaluations a retry makes none again.
    """
    run_dir = workshop.lay_out("run", sft_config(tiny_model, eval_every=2))
    go_on(run_dir, Measure(), [0.1, 9.0], "weight 10")

    go_on(run_dir, Measure(), [0.1, 0.25, 0.2, 0.3], "weight 1")
    go_on(run_dir, Measure(), [7.0, 7.0, 7.0, 7.0], "weight 1")

    assert series(run_dir, "eval/reward") == {0: 0.1, 1: 0.25, 2: 0.2, 3: 0.3}
    assert series(run_dir, "eval/best_step") == {0: 0, 1: 1, 2: 1, 3: 3}
    assert [
        line["step"] for line in lines(run_dir, "alert") if line["rule"] == "measured_anew"
    ] == [1]


def test_fewer_steps_than_are_done_are_refused(workshop: Workshop, tiny_model: Path) -> None:
    """A clone with larger batches or fewer epochs would end at once with its parent's weights."""
    run_dir = workshop.lay_out("run", sft_config(tiny_model, eval_every=2))
    go_on(run_dir, Measure(), [0.1, 0.2, 0.3])

    with pytest.raises(ConfigError, match="is at step 2, but this config has only 1 steps"):
        go_on(run_dir, Measure(), [0.1, 0.2])


@dataclass
class Clock:
    """Seconds that pass only when a step says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def saved_after(turns_s: list[float], every: int | None) -> list[int]:
    """The steps that a checkpoint is due after, of turns of these seconds."""
    clock = Clock()
    schedule, found = checkpoint.Schedule(every, clock), []
    for step, seconds in enumerate(turns_s, start=1):
        clock.now += seconds
        if schedule.is_due(step):
            found.append(step)
    return found


def test_by_default_a_crash_costs_at_most_ten_minutes() -> None:
    """Turns of 100 s: after the fifth a sixth ends at 600, which is not more; one of 700 at once.

    Turns of 250 s: a third after the first two could end at 750. Numbers of steps are kept to.
    """
    assert saved_after([100.0] * 13, None) == [6, 12]
    assert saved_after([250.0] * 5, None) == [2, 4]
    assert saved_after([700.0] * 3, None) == [1, 2, 3]
    assert saved_after([1.0] * 9, None) == []
    assert saved_after([700.0] * 5, 2) == [2, 4]
    assert saved_after([700.0] * 5, 0) == []


def test_a_run_whose_config_says_nothing_writes_checkpoints_by_time(
    workshop: Workshop, tiny_model: Path
) -> None:
    """Steps of four minutes: a third could end after twelve."""
    run_dir = workshop.lay_out("run", sft_config(tiny_model))
    config = parse_run_config(json.loads((run_dir / "config.json").read_text()))
    run, model, clock = open_run(run_dir, config, StopWish()), nn.Linear(1, 1), Clock()
    optimizer = Optimizer(adapters.trainable(model), Optim(), 5)

    def take_step(_step: int) -> dict[str, float]:
        clock.now += 240.0
        return {}

    with closing(run.events):
        Loop(run, model, optimizer, 5, clock=clock).go(take_step, lambda _step: {})

    assert [line["step"] for line in lines(run_dir, "checkpoint")] == [2, 4]
