"""What runs of every method write is what the registry of metrics says, no more and no less."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from backend.schemas.metrics.metric import Group, Metric
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.vocabulary import Method
from tests.trainer.conftest import SMALL_CONFIGS, Finished, lines, policy_gradient_config

LETTER = {"terms": [{"kind": "regex", "pattern": "[a-m]", "is_answer": True}]}
TEXTS = {"path": "inputs/demonstrations.jsonl"}
PROMPTS = {"prompts": {"path": "inputs/prompts.jsonl"}, "rollout": {"max_new_tokens": 4}}


def generate_config(model: Path) -> dict[str, Any]:
    """All that `generate` can measure."""
    named = {"path": str(model)}
    config = {"method": "generate", "model": named, "reference": named, "samples_per_prompt": 2}
    return config | PROMPTS | {"reward": LETTER["terms"]}


def evaluate_config(model: Path) -> dict[str, Any]:
    """All that `evaluate` can measure."""
    named, prompts = {"path": str(model)}, PROMPTS["prompts"]
    config = {"method": "evaluate", "model": named, "baseline_model": named, "reward": LETTER}
    more = {
        "evaluation_sets": [{"name": "ood", "prompts": prompts, "split": "heldout"}],
        "breakdown": ["place"],
        "texts": TEXTS,
        "samples_per_prompt": 2,
    }
    return config | PROMPTS | more


SEEN = {"name": "seen", "prompts": PROMPTS["prompts"], "split": "train"}
# With all that it can measure; policy_gradient has runs of its own.
EVERY_METHOD = SMALL_CONFIGS | {"generate": generate_config, "evaluate": evaluate_config}
del EVERY_METHOD["policy_gradient"]


def policy(model: Path, **more: Any) -> dict[str, Any]:
    """One step of policy_gradient."""
    return policy_gradient_config(model, steps=1, **more)


def explained(name: str, metrics: Sequence[Metric]) -> Metric | None:
    """What the registry says of a metric: by its name, as the end of an interval, or by pattern."""
    plain = re.sub(r"_(low|high)$", "", name)
    for metric in metrics:
        if metric.name == name or (metric.has_interval and metric.name == plain):
            return metric
    for metric in metrics:
        pattern = "(.+)".join(map(re.escape, re.split(r"\{\w+\}", metric.name)))
        if "{" in metric.name and re.fullmatch(pattern, plain):
            return metric
    return None


POLICIES = (
    lambda model: policy(
        model,
        overlong="penalize",
        reward=LETTER,
        evaluation_sets=[SEEN],
        breakdown=["place"],
        compare_with_reference=True,
        texts=TEXTS,
    ),
    lambda model: policy(model, estimator="grpo", dynamic_sampling={"max_replacements": 2}),
    lambda model: policy(model, estimator="remax"),
    lambda model: policy(model, estimator="ppo"),
)
RUNS = {name: [config] for name, config in EVERY_METHOD.items()} | {"policy_gradient": [*POLICIES]}
UNWRITTEN_HERE = {
    # Written where vllm samples: `test_vllm`.
    Method.POLICY_GRADIENT: {"importance/mean", "importance/cut_fraction"},
    # They need an answer to count and a reward model to choose: `test_measures`.
    Method.EVALUATE: {"eval/maj@{k}", "eval/bon@{k}", "eval/bon_reward@{k}"},
    # In these rankings no longer response wins: `test_reward_model`.
    Method.REWARD_MODEL: {"eval/accuracy_longer"},
}


@pytest.mark.parametrize("method", Method)
def test_what_runs_write_is_in_the_registry_and_the_other_way_round(
    tiny_model: Path, finished: Finished, method: Method
) -> None:
    metrics, met = metrics_of(method), set()
    for config in RUNS[method]:
        run_dir = finished(config(tiny_model))
        written = {name for line in lines(run_dir, "metric") for name in line["values"]}
        found = {name: explained(name, metrics) for name in written}
        assert [name for name, metric in found.items() if metric is None] == []
        for name, metric in found.items():
            if metric is not None and metric.has_interval:
                plain = re.sub(r"_(low|high)$", "", name)
                assert {f"{plain}_low", f"{plain}_high"} <= written
        met |= {metric.name for metric in found.values() if metric is not None}

    by_others = (Group.OUTSIDE, Group.SYSTEM)
    unwritten = {metric.name for metric in metrics if metric.group not in by_others} - met
    assert unwritten == UNWRITTEN_HERE.get(method, set())
