"""Without a KL penalty no step has a reference: evaluations alone load and ask one."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.training import parse_run_config
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import Workshop, lines, policy_gradient_config, series
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.models import adapters
from worker.trainer.run import StopWish, open_run

NO_KL = {"kl": {"coef": 0.0}}


@pytest.fixture(autouse=True)
def _deterministic() -> Iterator[None]:
    before = torch.are_deterministic_algorithms_enabled()
    yield
    torch.use_deterministic_algorithms(before)


@contextmanager
def training_in(run_dir: Path) -> Iterator[PolicyGradient]:
    """What would train in this directory, its models loaded."""
    config = parse_run_config(json.loads((run_dir / "config.json").read_text()))
    assert isinstance(config, PolicyGradientConfig)
    run = open_run(run_dir, config, StopWish())
    with closing(run.events):
        yield PolicyGradient(run, config)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A reference that is not the model to train."""
    return make_tiny_model(tmp_path / "other", seed=7)


@pytest.mark.parametrize("lora", [None, {"r": 2, "alpha": 4}])
def test_a_run_without_evaluations_never_opens_its_reference(
    workshop: Workshop, tiny_model: Path, tmp_path: Path, lora: dict[str, Any] | None
) -> None:
    """The reference's folder has no weights: to load it would end the run."""
    empty = make_tiny_model(tmp_path / "empty")
    (empty / "model.safetensors").unlink()
    config = policy_gradient_config(tiny_model, steps=2, lora=lora, **NO_KL)
    run_dir = workshop.lay_out("run", config | {"reference": {"path": str(empty)}})
    prompts = run_dir / "inputs" / "prompts.jsonl"
    prompts.write_text(prompts.read_text().replace('"heldout"', '"train"'))

    assert workshop.run_here(run_dir)["code"] == 0

    assert sorted(series(run_dir, "loss")) == [1, 2]
    assert series(run_dir, "kl/response") == series(run_dir, "kl/exact") == {}
    sample = lines(run_dir, "sample")[0]
    assert "kl" not in sample["scores"]
    assert sample.get("kl") is None
    assert len(sample["logp"]) == len(sample["tokens"])


def test_a_step_runs_no_reference_and_an_evaluation_loads_and_runs_one(
    workshop: Workshop, tiny_model: Path, other: Path
) -> None:
    """The KL of the evaluation is that of a run which had its reference all the time."""
    config = policy_gradient_config(tiny_model, steps=1, lora=None, **NO_KL)
    config |= {"reference": {"path": str(other)}}
    with training_in(workshop.lay_out("without", config)) as without:
        assert without.policy._reference is None
        assert "kl/response" not in without.take_step(1)
        assert without.policy._reference is None
        measured = without.evaluate(1)
        assert without.policy._reference is None
    with training_in(workshop.lay_out("beside", config | {"kl": {"coef": 1e-9}})) as beside:
        assert beside.policy._reference is not None
        beside.take_step(1)
        expected = beside.evaluate(1)

    assert measured["kl/exact"] == pytest.approx(expected["kl/exact"], rel=1e-4)
    assert measured["kl/exact"] > 0.01
    assert measured["eval/objective"] == measured["eval/reward"]


def test_with_adapters_a_step_never_switches_them_off(
    workshop: Workshop, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = policy_gradient_config(tiny_model, steps=1, lora={"r": 2, "alpha": 4}, **NO_KL)
    asked: list[int] = []
    switch_off = adapters.switched_off
    monkeypatch.setattr(
        adapters, "switched_off", lambda model: asked.append(1) or switch_off(model)
    )
    with training_in(workshop.lay_out("run", config)) as training:
        training.take_step(1)
        assert asked == []
        training.evaluate(1)
        assert asked != []


def test_kl_max_is_measured_at_the_planned_evaluations(
    workshop: Workshop, tiny_model: Path
) -> None:
    """Without a penalty no rollout tells a KL that would call for one more."""
    config = policy_gradient_config(tiny_model, steps=6, lora=None, optim={"lr": 0.05})
    config |= {"eval_every": 3, "kl": {"coef": 0.0, "max": 1e-3}}
    run_dir = workshop.lay_out("run", config)

    assert workshop.run_here(run_dir)["code"] == 0

    assert sorted(series(run_dir, "kl/exact")) == [0, 3]
    assert max(series(run_dir, "loss")) == 3
