"""Every metric that a method writes has a line in its section of docs/methods.md."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.conftest import SMALL_CONFIGS, Workshop, lines, policy_gradient_config

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
SECTIONS = {text.partition("\n")[0]: text for text in PAGE.split("\n## ")}
SHARED = "What all methods share"
LETTER = {"terms": [{"kind": "regex", "pattern": "[a-m]"}]}
PROMPTS = {"prompts": {"path": "inputs/prompts.jsonl"}, "rollout": {"max_new_tokens": 4}}


def generate_config(model: Path) -> dict[str, Any]:
    """All that `generate` can measure."""
    named = {"path": str(model)}
    config = {"method": "generate", "model": named, "reference": named, "samples_per_prompt": 2}
    return config | PROMPTS | {"reward": LETTER["terms"]}


def evaluate_config(model: Path) -> dict[str, Any]:
    """All that `evaluate` can measure."""
    named = {"path": str(model)}
    config = {"method": "evaluate", "model": named, "baseline_model": named, "reward": LETTER}
    return config | PROMPTS | {"samples_per_prompt": 2}


# With all that it can measure; policy_gradient has runs of its own.
EVERY_METHOD = SMALL_CONFIGS | {"generate": generate_config, "evaluate": evaluate_config}
del EVERY_METHOD["policy_gradient"]


def policy(model: Path, **more: Any) -> dict[str, Any]:
    """One step of policy_gradient."""
    return policy_gradient_config(model, steps=1, **more)


def documented(section: str) -> set[str]:
    """The names in code marks of a section and of what all methods share."""
    return set(re.findall(r"`([^`\n]+)`", SECTIONS[section] + SECTIONS[SHARED]))


def is_documented(metric: str, names: set[str]) -> bool:
    """Itself, without the end of its interval, or by its pattern."""
    plain = re.sub(r"_(low|high)$", "", metric)
    pattern = {"reward/regex": "reward/{term}"}.get(plain, re.sub(r"@\d+$", "@k", plain))
    return not names.isdisjoint({metric, plain, pattern})


@pytest.mark.parametrize(
    "config",
    [
        *EVERY_METHOD.values(),
        lambda model: policy(model, overlong="penalize"),
        lambda model: policy(model, estimator="grpo", dynamic_sampling={"max_replacements": 2}),
        lambda model: policy(model, estimator="remax"),
        lambda model: policy(model, estimator="ppo"),
    ],
    ids=[*EVERY_METHOD, "pp", "grpo", "remax", "ppo"],
)
def test_every_metric_of_a_run_is_documented(
    workshop: Workshop, tiny_model: Path, config: Any
) -> None:
    said = config(tiny_model)
    run_dir = workshop.lay_out("run", said)

    assert workshop.run_here(run_dir)["code"] == 0

    written = {name for line in lines(run_dir, "metric") for name in line["values"]}
    names = documented(said["method"])
    assert len(written) > 5
    assert sorted(name for name in written if not is_documented(name, names)) == []


def test_the_metrics_of_another_sampler_are_documented() -> None:
    """They are seen where vllm samples: `test_vllm`."""
    names = documented("policy_gradient")
    assert {"importance/mean", "importance/cut_fraction", "logp_drift"} <= names
