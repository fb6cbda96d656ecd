"""Policies of three estimators and their evaluations, stored as if they had been trained."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from backend.schemas.run_directory.events import MetricLine
from tests.e2e.workshop import Workshop

# pass@1 by the number of people in a puzzle; the start is far behind.
LEVELS = {
    "grpo": {2: 0.93, 3: 0.52, 4: 0.21, 5: 0.08, 10: 0.01},
    "reinforce_pp": {2: 0.91, 3: 0.61, 4: 0.34, 5: 0.17, 10: 0.05},
    "rloo": {2: 0.9, 3: 0.5, 4: 0.22, 5: 0.09, 10: 0.02},
}
START = {2: 0.6, 3: 0.2, 4: 0.08, 5: 0.02, 10: 0.0}


@dataclass(frozen=True)
class Paper:
    """Ids of a project with an experiment of nine policies, and their evaluations."""

    project: str
    experiment: str
    policies: list[str]
    evaluations: list[str]


def paper(workshop: Workshop, name: str) -> Paper:
    """Three seeds of three estimators; each of their models and the start were evaluated."""
    project = workshop.new_project(name)
    first = workshop.get(f"/runs/{workshop.policy_run(project)}")
    start, train = first["config"]["model"]["id"], first["config"]["prompts"]
    # Prompts that no policy was trained on.
    puzzles = [{"prompt": f"Who of {n} lies?", "tags": ["test"]} for n in range(20)]
    workshop.take_in(project, "prompts", puzzles)
    other = {"name": "test", "kind": "prompts", "heldout_fraction": 0.25, "seed": 2,
             "filter": {"tags": ["test"]}}  # fmt: skip
    test = {"id": workshop.post(f"/projects/{project}/snapshots", other)["id"]}
    configs = {
        f"{estimator} seed {seed}": first["config"]
        | {"estimator": estimator, "seed": seed, "rollout": {**first["config"]["rollout"],
           "samples_per_prompt": 4}}
        for estimator in LEVELS
        for seed in range(3)
    }  # fmt: skip
    policies = workshop.runs_like(first, configs)
    models = [workshop.left_by(run, project) for run in policies]
    asked = {
        "method": "evaluate", "model": {"id": start}, "prompts": train, "split": "train",
        "reward": {"terms": [{"kind": "length"}]}, "samples_per_prompt": 16,
        "breakdown": ["people"],
        "evaluation_sets": [
            {"name": name, "prompts": prompts, "split": "heldout", "samples_per_prompt": 16}
            for name, prompts in (("unseen", test), ("word-problems", test), ("own", train))
        ],
    }  # fmt: skip
    body = {"project_id": project, "name": "e", "config": asked}
    config = workshop.post("/runs/validate", body)["config"]
    evaluations = workshop.runs_like(
        first | {"method": "evaluate"},
        {f"evaluate {model}": config | {"model": {"id": model}} for model in (start, *models)},
    )
    measured = [_values(START, 0.0, 34.0)]
    for place in range(len(policies)):
        levels = LEVELS[list(LEVELS)[place // 3]]
        measured.append(_values(levels, 0.01 * (place % 3 - 1), 20.0 + place))
    for run, values in zip(evaluations, measured, strict=True):
        workshop.report(run, MetricLine(step=1, time=1.0, values=values))
    for place, run in enumerate(policies):
        workshop.report(run, *_course(place))
    body = {"project_id": project, "name": "The paper in miniature",
            "question": "Which estimator generalizes?"}  # fmt: skip
    experiment = str(workshop.post("/experiments", body)["id"])
    workshop.post(f"/experiments/{experiment}/runs", {"run_ids": policies})
    return Paper(project, experiment, policies, evaluations)


def _values(levels: Mapping[int, float], luck: float, length: float) -> dict[str, float]:
    """What an evaluate run reports of its four sets."""
    found: dict[str, float] = {}
    mean = sum(levels.values()) / len(levels)
    easier = {"": 0.15, "unseen/": 0.0, "word-problems/": -0.1, "own/": 0.05}
    for name, by in easier.items():
        prefix, score = f"eval/{name}", max(0.0, mean + by + luck)
        for k in (1, 2, 4, 8, 16):
            found |= _spread(f"{prefix}pass@{k}", score ** (1 / k**0.25))
            if k > 1 and not name:
                found |= _spread(f"{prefix}maj@{k}", score ** (1 / k**0.1))
                found |= _spread(f"{prefix}bon@{k}", score ** (1 / k**0.15))
        found |= _spread(f"{prefix}length", length, 1.2)
        found |= _spread(f"{prefix}score_per_token", score / length, 0.001)
        for people, level in levels.items():
            found |= _spread(f"{prefix}pass@1", max(0.0, level + luck), part=f"/people.{people}")
    return found


def _course(place: int) -> Iterator[MetricLine]:
    """Reward, KL and length of a policy over its steps."""
    for step in range(1, 41):
        done = 1 - 0.95**step
        values = {
            "reward/mean": 0.3 + 0.6 * done + 0.01 * (place % 3),
            "kl/response": (1 + place // 3) * 3 * done,
            "length/mean": 20.0 + step / 4,
        }
        yield MetricLine(step=step, time=float(step), values=values)


def _spread(name: str, value: float, half: float = 0.03, part: str = "") -> dict[str, Any]:
    return {f"{name}{part}": value, f"{name}{part}_low": value - half,
            f"{name}{part}_high": value + half}  # fmt: skip
