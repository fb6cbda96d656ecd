"""What is said once of methods and rewards is true of the code that it names."""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from backend.domain.presets.registry import PRESETS
from backend.schemas.methods import METHODS, SAMPLERS
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.model_folder.reward_card import SAID_OF
from backend.schemas.references import wanted
from backend.schemas.rewards import RESERVED_NAMES, REWARD_TERMS, RewardTerm
from backend.schemas.training import RunConfig, TrainingConfig
from backend.schemas.vocabulary import Method, ModelKind
from worker.trainer.__main__ import loop_of
from worker.trainer.models.loading import load_to_train
from worker.trainer.rewards.sampled_response import Score
from worker.trainer.run import Run

ROOT = Path(__file__).resolve().parents[2]


def test_the_registry_has_every_method_and_every_config() -> None:
    assert list(METHODS) == list(Method)
    assert {spec.config for spec in METHODS.values()} == set(get_args(get_args(RunConfig)[0]))
    assert set(PRESETS) <= set(METHODS)
    assert {Method.GENERATE, Method.EVALUATE} <= SAMPLERS


def test_a_model_is_loaded_to_be_trained_by_every_method_that_trains() -> None:
    training = {spec.config for spec in METHODS.values() if not spec.is_sampler}

    assert set(get_args(TrainingConfig)) == training
    assert get_type_hints(load_to_train)["config"] == TrainingConfig


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_one_variant_of_the_config_and_one_loop(method: str) -> None:
    spec, loop = METHODS[method], loop_of(method)

    assert spec.config.model_fields["method"].default == method
    assert spec.config.__doc__
    inspect.signature(loop).bind(object(), object())
    assert get_type_hints(loop) == {"run": Run, "config": spec.config, "return": type(None)}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_said_to_log_samples_if_its_loop_does(method: str) -> None:
    file = Path(inspect.getfile(inspect.unwrap(loop_of(method))))
    of_package = file.parent.name == method
    files = file.parent.glob("*.py") if of_package else [file]

    logs = any("events.sample(" in one.read_text(encoding="utf-8") for one in files)
    assert METHODS[method].logs_samples == logs


@pytest.mark.parametrize("method", METHODS)
def test_a_next_step_puts_the_model_where_one_of_its_kind_fits(method: str) -> None:
    fields = wanted(METHODS[method].config)

    for step in METHODS[method].next_steps:
        field = METHODS[method].field_for(step.kind)
        assert fields[field.replace(".0.", ".*.")].fits(step.kind)


def test_no_term_can_be_called_as_what_is_told_beside_it() -> None:
    names = {metric.name for method in METHODS for metric in metrics_of(method)}
    beside = {name.removeprefix("reward/") for name in names if name.startswith("reward/")}

    assert beside - RESERVED_NAMES == {"{term}", "{term}_coverage"}
    in_samples = {"advantage", "kl", "n_tokens", "reward"}
    assert RESERVED_NAMES - beside == {"ref_logp_sum", *in_samples}


@pytest.mark.parametrize("kind", REWARD_TERMS)
def test_a_reward_is_one_variant_of_the_schema_and_one_file(kind: str) -> None:
    build = import_module(f"worker.trainer.rewards.{kind}").build
    hints = get_type_hints(build)

    assert list(inspect.signature(build).parameters) == ["term", "tokenizer", "run"]
    assert hints["term"] is REWARD_TERMS[kind]
    assert (hints["run"], hints["return"]) == (Run, Score)
    assert f"`{kind}`" in (ROOT / "docs/methods.md").read_text(encoding="utf-8")


def test_a_trainer_loads_the_code_of_no_method_and_no_reward_before_it_is_asked_for() -> None:
    program = (
        "import sys, worker.trainer.__main__ as main\n"
        "main.loop_of('sft')\n"
        "print(*(name for name in sys.modules if name.startswith('worker.trainer.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.split())

    methods = {spec.loop.split(".")[3] for spec in METHODS.values()}
    assert {name for name in methods if f"worker.trainer.methods.{name}" in loaded} == {"sft"}
    assert not {kind for kind in REWARD_TERMS if f"worker.trainer.rewards.{kind}" in loaded}


def test_the_card_of_a_reward_model_names_the_method_that_trains_it() -> None:
    with_a_head = {ModelKind.REWARD_MODEL, ModelKind.PROCESS_MODEL}
    trained = {
        spec.result: method.value for method, spec in METHODS.items() if spec.result in with_a_head
    }

    assert trained == SAID_OF


@pytest.mark.parametrize("flag", ["needs_reference", "is_share", "may_judge"])
def test_a_reward_that_leaves_a_decision_open_is_refused(flag: str) -> None:
    flags = dict.fromkeys(("needs_reference", "is_share", "may_judge"), False)
    others = flags | {"__module__": __name__}
    del others[flag]

    with pytest.raises(TypeError, match=f"Forgetful does not say {flag}; set it"):
        type("Forgetful", (RewardTerm,), others)
