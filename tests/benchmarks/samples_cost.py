"""What logging samples costs: a step with the default log beside one without, and bytes a step.

Two runs of the same seed take their steps in turn in one process; processor time is compared, so
that a busy machine slows neither. The defaults log eight responses of a step, six or seven of them
token by token, with a second forward of these alone: a small part of a rollout of real size.
"""

import json
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from backend.domain.curves import histograms
from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.training import parse_run_config
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import lines, policy_gradient_config, write_inputs
from worker.trainer.methods.policy_gradient.loop import PolicyGradient
from worker.trainer.run import StopWish, open_run

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(0)]

STEPS = 12
MOST_PART = 0.03
ROLLOUT = {"prompts_per_step": 64, "samples_per_prompt": 4, "max_new_tokens": 32}


def opened(run_dir: Path, config: dict[str, Any]) -> PolicyGradient:
    """A run before its first step."""
    write_inputs(run_dir / "inputs")
    given = {"resources": {"threads": 1}, "precision": "fp32"} | config
    (run_dir / "config.json").write_text(json.dumps(given))
    complete = parse_run_config(given)
    assert isinstance(complete, PolicyGradientConfig)
    return PolicyGradient(open_run(run_dir, complete, StopWish()), complete)


def test_logging_samples_costs_less_than_three_percent_of_a_step(tmp_path: Path) -> None:
    model = make_tiny_model(tmp_path / "model", hidden_size=256)
    config = policy_gradient_config(model, lora=None, optim={"lr": 1e-5})
    config["rollout"] |= ROLLOUT
    logged = opened(tmp_path / "logged", config)
    silent = opened(tmp_path / "silent", config | {"log": {"samples_per_step": 0}})
    ratios = []
    for step in range(1, STEPS + 1):
        seconds = []
        for training in (logged, silent):
            began = time.process_time()
            training.take_step(step)
            seconds.append(time.process_time() - began)
        ratios.append(seconds[0] / seconds[1])
    for training in (logged, silent):
        training.run.events.close()
    told = lines(tmp_path / "logged", "sample")
    n_bytes = sum(len(json.dumps(line)) for line in told) / STEPS
    n_tokens = sum(len(line["tokens"] or ()) for line in told) / STEPS
    spread = [line["values"] for line in lines(tmp_path / "logged", "distribution")]
    n_packed = sum(
        len(histograms.packed(dict(zip(one["bins"], one["counts"], strict=True))))
        for values in spread
        for one in values.values()
    )
    print(f"{n_packed / STEPS:.0f} bytes of histograms a step")
    print(f"a step costs {median(ratios):.4f} times one that logs nothing; {n_bytes:.0f} bytes of")
    print(f"samples a step, {n_tokens:.0f} tokens with all numbers")
    assert median(ratios) < 1 + MOST_PART
