"""Sampling in another interpreter: weights go over, tokens and log-probabilities come back.

With a stand-in for vllm; and with vllm itself where PODIUM_TEST_VLLM_PYTHON names the python of an
environment that has it.
"""

import os
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.records import GeneratedRecord
from backend.schemas.training import parse_run_config
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import (
    Workshop,
    lines,
    policy_gradient_config,
    series,
)
from worker.trainer.sampling import vllm_engine

STAND_IN = Path(__file__).with_name("vllm_stand_in")
REAL = os.environ.get("PODIUM_TEST_VLLM_PYTHON")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with heads as large as vllm's kernels want them."""
    return make_tiny_model(tmp_path_factory.mktemp("models") / "wide", hidden_size=128)


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """An interpreter whose `vllm` is the stand-in."""
    return _stand_in(tmp_path, shlex.quote(sys.executable))


@pytest.fixture
def warm_stand_in(tmp_path: Path, warm_python: str) -> Path:
    """The same with its libraries loaded."""
    return _stand_in(tmp_path, warm_python)


@pytest.fixture(params=["stand-in", "vllm"])
def vllm_python(request: pytest.FixtureRequest) -> str:
    """The interpreter to sample in."""
    if request.param == "stand-in":
        return str(request.getfixturevalue("warm_stand_in"))
    if REAL is None:
        pytest.skip("PODIUM_TEST_VLLM_PYTHON names no interpreter with vllm")
    return REAL


def _stand_in(folder: Path, python: str) -> Path:
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{STAND_IN}" exec {python} "$@"\n')
    path.chmod(0o755)
    return path


def config_of(model: Path, **more: Any) -> dict[str, Any]:
    """Four steps, large enough to move the weights far."""
    config = policy_gradient_config(model, steps=4, eval_every=4, **more)
    config["rollout"] = config["rollout"] | {"engine": "vllm", "prompts_per_step": 4}
    return config


@pytest.mark.parametrize(
    ("rollout", "own", "mode"),
    [
        ({}, {}, "processed_logprobs"),
        ({}, {"top_p": 0.9}, "raw_logprobs"),
        ({}, {"temperature": 0.5}, "processed_logprobs"),
        ({"temperature": 0.5}, {"temperature": 0.0}, "processed_logprobs"),
        ({"top_p": 0.9}, {"temperature": 0.0}, "raw_logprobs"),
    ],
)
def test_log_probabilities_are_those_of_the_rollout_and_else_of_its_sets(
    rollout: dict[str, Any], own: dict[str, Any], mode: str
) -> None:
    said = parse_run_config(
        {
            "method": "policy_gradient",
            "model": {"id": "model_a"},
            "prompts": {"id": "snap_a"},
            "reward": {"terms": [{"kind": "finished"}]},
            "rollout": rollout | {"engine": "vllm"},
            "evaluation_sets": [{"name": "ood", "prompts": {"id": "snap_b"}, **own}],
        }
    )
    assert isinstance(said, PolicyGradientConfig)
    assert vllm_engine._logprobs_mode(said.rollout, said) == mode


def test_an_evaluation_whose_log_probabilities_vllm_cannot_report_is_refused() -> None:
    config = {
        "method": "evaluate",
        "model": {"id": "model_a"},
        "prompts": {"id": "snap_a"},
        "reward": {"terms": [{"kind": "finished"}]},
        "rollout": {"engine": "vllm", "temperature": 0.7},
        "evaluation_sets": [
            {"name": "ood", "prompts": {"id": "snap_b"}, "temperature": 1, "top_p": 0.9}
        ],
    }
    with pytest.raises(ValueError, match="cannot report the log-probabilities of both"):
        parse_run_config(config)
    parse_run_config(config | {"rollout": {"engine": "transformers", "temperature": 0.7}})


def test_a_set_is_not_cut_at_the_limit_of_the_rollout(
    workshop: Workshop, model: Path, warm_stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PODIUM_VLLM_PYTHON", str(warm_stand_in))
    long = {"name": "long", "prompts": {"path": "inputs/prompts.jsonl"}, "split": "train"}
    config = config_of(model, evaluation_sets=[long | {"max_new_tokens": 100}]) | {"steps": 1}
    config["rollout"] = config["rollout"] | {"max_prompt_tokens": 60}
    run_dir = workshop.lay_out("run", config)

    report = workshop.run_here(run_dir)

    assert report["code"] == 0, report
    assert series(run_dir, "eval/long/length")[1] > config["rollout"]["max_new_tokens"]


@pytest.mark.parametrize("lora", [None, {"r": 4, "alpha": 8}])
def test_what_is_sampled_follows_the_weights(
    workshop: Workshop, model: Path, vllm_python: str, lora: dict[str, Any] | None
) -> None:
    run_dir = workshop.lay_out("run", config_of(model, lora=lora))

    report = workshop.run(run_dir, environment={"PODIUM_VLLM_PYTHON": vllm_python}, timeout_s=900)

    assert report["code"] == 0, report
    assert series(run_dir, "kl/response")[4] > 0.1  # the weights have gone somewhere,
    drift = series(run_dir, "logp_drift")
    assert max(drift.values()) < 1e-3, drift  # and the sampler with them
    assert series(run_dir, "importance/mean")[4] == pytest.approx(1, abs=1e-3)
    assert set(series(run_dir, "importance/cut_fraction").values()) == {0.0}
    assert any(
        "samples the responses. A resumed run" in line["message"]
        for line in lines(run_dir, "alert")
    )
    assert not (run_dir / ".vllm").exists()


def test_the_reference_samples_there_while_the_policy_holds_nothing(
    workshop: Workshop, model: Path, warm_stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first step both are one model, with the same seeds."""
    monkeypatch.setenv("PODIUM_VLLM_PYTHON", str(warm_stand_in))
    seen = {"name": "seen", "prompts": {"path": "inputs/prompts.jsonl"}, "split": "train"}
    config = config_of(model, evaluation_sets=[seen], compare_with_reference=True)
    run_dir = workshop.lay_out("run", config)

    report = workshop.run_here(run_dir)

    assert report["code"] == 0, report
    won = series(run_dir, "eval/seen/win_rate")
    assert (sorted(won), won[0]) == ([0, 4], 0.5)
    assert len(set(series(run_dir, "baseline/seen/reward").values())) == 1
    assert series(run_dir, "eval/seen/gain")[4] != 0
    drift = series(run_dir, "logp_drift")
    assert max(drift.values()) < 1e-3, drift
    assert [line["rule"] for line in lines(run_dir, "alert")].count("vllm") == 1
    assert not (run_dir / ".vllm").exists()


def test_generate_samples_there_too(workshop: Workshop, model: Path, vllm_python: str) -> None:
    config = {
        "method": "generate",
        "model": {"path": str(model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "samples_per_prompt": 2,
        "rollout": {"engine": "vllm", "max_new_tokens": 6},
        "reference": {"path": str(model)},
        "split": "all",
    }
    run_dir = workshop.lay_out("run", config)

    report = workshop.run(run_dir, environment={"PODIUM_VLLM_PYTHON": vllm_python}, timeout_s=900)

    assert report["code"] == 0, report
    records = (run_dir / "output" / "responses.jsonl").read_text().splitlines()
    assert len(records) == 32
    assert series(run_dir, "kl/exact")[1] == pytest.approx(0, abs=1e-5)


def test_greedy_responses_and_their_stop_strings_are_the_same_there(
    workshop: Workshop, model: Path, warm_stand_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vllm knows no stop string: what it samples after one is left out."""
    monkeypatch.setenv("PODIUM_VLLM_PYTHON", str(warm_stand_in))
    rollout = {"max_new_tokens": 16, "temperature": 0}
    config = {
        "method": "generate",
        "model": {"path": str(model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "samples_per_prompt": 1,
        "split": "heldout",
    }

    def generated(name: str, **more: Any) -> list[GeneratedRecord]:
        run_dir = workshop.lay_out(name, config | {"rollout": rollout | more})
        report = workshop.run_here(run_dir)
        assert report["code"] == 0, report
        written = (run_dir / "output" / "responses.jsonl").read_bytes().splitlines()
        return [GeneratedRecord.model_validate_json(line) for line in written]

    whole = generated("ours")
    stop = next(one for text in whole for one in text.content[2:] if one.isprintable())
    cut = generated("theirs", engine="vllm", stop=[stop])

    for one, other in zip(whole, cut, strict=True):
        assert one.token_ids is not None
        assert other.token_ids is not None
        kept = one.content[: one.content.index(stop) + 1] if stop in one.content else one.content
        assert other.content == kept
        assert other.token_ids.ids == one.token_ids.ids[: other.n_tokens]
        if kept == one.content:
            assert other.logp_sum == pytest.approx(one.logp_sum, abs=1e-3)
        else:
            assert other.finish_reason == "stop"
    assert any(stop in one.content for one in cut)


def test_the_same_weights_go_over_once(
    workshop: Workshop, model: Path, stand_in: Path, tmp_path: Path
) -> None:
    """An evaluation before the first step, four steps, an evaluation: five sets of weights."""
    loads = tmp_path / "loads"
    environment = {"PODIUM_VLLM_PYTHON": str(stand_in), "STAND_IN_LOADS": str(loads)}

    run_dir = workshop.lay_out("run", config_of(model))
    assert workshop.run(run_dir, environment=environment)["code"] == 0

    assert sorted(series(run_dir, "eval/reward")) == [0, 4]
    written_at = loads.read_text().splitlines()
    assert len(written_at) == len(set(written_at)) == 5


def test_the_same_seeds_draw_the_same_tokens(
    workshop: Workshop, model: Path, stand_in: Path, warm_python: str, tmp_path: Path
) -> None:
    """Also in an interpreter that shares neither hashes nor random numbers with the other one."""
    (tmp_path / "warm").mkdir()
    warm_stand_in = _stand_in(tmp_path / "warm", warm_python)
    texts = []
    for name, python in (("one", stand_in), ("two", warm_stand_in)):
        run_dir = workshop.lay_out(name, config_of(model))
        workshop.run(run_dir, environment={"PODIUM_VLLM_PYTHON": str(python)})
        texts.append([line["response"] for line in lines(run_dir, "sample")])
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 3


def test_a_worker_without_vllm_says_so_before_it_loads_anything(
    workshop: Workshop, model: Path
) -> None:
    run_dir = workshop.lay_out("run", config_of(model))

    report = workshop.run(run_dir, environment={"PODIUM_VLLM_PYTHON": ""})

    assert (report["code"], report["cause"]) == (2, "config")
    assert "PODIUM_VLLM_PYTHON" in report["advice"]
    assert not (run_dir / ".vllm").exists()


def test_an_engine_that_dies_ends_the_run_with_its_code(
    workshop: Workshop, model: Path, stand_in: Path
) -> None:
    run_dir = workshop.lay_out("run", config_of(model))

    report = workshop.run(
        run_dir, environment={"PODIUM_VLLM_PYTHON": str(stand_in), "STAND_IN_DOES": "die"}
    )

    assert report["code"] == 1
    assert "vllm ended with code 7" in report["message"]


def test_a_stop_does_not_wait_for_the_engine(
    workshop: Workshop, model: Path, stand_in: Path
) -> None:
    run_dir = workshop.lay_out("run", config_of(model))
    process = workshop.start(
        run_dir,
        environment={"PODIUM_VLLM_PYTHON": str(stand_in), "STAND_IN_DOES": "stall"},
    )
    deadline = time.monotonic() + 120
    while not (run_dir / "events.jsonl").exists() or not [
        line for line in lines(run_dir, "alert") if "A resumed run" in line["message"]
    ]:
        assert time.monotonic() < deadline, "the engine did not start"
        time.sleep(0.1)

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)

    assert process.returncode == 5
