"""Which changes a run config may have that goes on from a checkpoint of another run.

Called by `backend.store.runs.validation` where a clone names `from_checkpoint`. A checkpoint holds
the trained weights, the optimizer's state and the place in the schedule; what would not fit these
is a problem. Knows two configs and a step, not which checkpoints there are.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from backend.domain.dotted_path import value_at
from backend.schemas.methods import METHODS
from backend.schemas.policy_gradient import Critic
from backend.schemas.references import wanted
from backend.schemas.runs import ConfigProblem
from backend.schemas.vocabulary import CRITIC_ESTIMATORS

# The saved tensors are those of this method and model, in these shapes; which records were taken is
# the step times the batch size.
_FIXED = (
    "method",
    "model.id",
    "model.hub_id",
    "lora.r",
    "lora.alpha",
    "lora.targets",
    "optim.batch_size",
)
# What the number of optimizer steps is made of, beside the data where a method passes over it; a
# warm-up and a schedule that falls to zero count on it.
_LENGTH = (
    "steps",
    "optim.epochs",
    "rollout.prompts_per_step",
    "rollout.samples_per_prompt",
    "epochs_per_rollout",
    "minibatch_size",
)
_WITHOUT = "clone without a checkpoint (API: without from_checkpoint)"


def problems_of(
    parent: Mapping[str, Any], config: Mapping[str, Any], step: int
) -> list[ConfigProblem]:
    """What keeps `config` from going on after `step` of a run with the config `parent`."""
    return [*_unfit(parent, config), *_unplanned(parent, config), *_past_the_end(config, step)]


def _unfit(parent: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    for path in _FIXED:
        before, after = value_at(parent, path), value_at(config, path)
        if before != after:
            message = f"{path} is {_told(after)}, but the checkpoint was made with {_told(before)}"
            advice = f"Set {path} back, or {_WITHOUT}."
            yield ConfigProblem(path=path, message=message, advice=advice)
    yield from _unfit_critic(parent, config)


def _told(value: Any) -> str:
    """Write a value as in the config that people send."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unfit_critic(parent: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    before, after = _trunk(parent), _trunk(config)
    if before == after:
        return
    if before is None or after is None:
        has = "no" if before is None else "a"
        message = f"estimator is {config.get('estimator')}, but the checkpoint has {has} critic"
        advice = f"Keep the estimator, or {_WITHOUT}: only ppo checkpoints hold a critic."
        yield ConfigProblem(path="estimator", message=message, advice=advice)
    else:
        message = f"critic.trunk is {after}, but the checkpoint's critic was made with {before}"
        advice = f"Set critic.trunk as in the parent, or {_WITHOUT}."
        yield ConfigProblem(path="critic.trunk", message=message, advice=advice)


def _trunk(config: Mapping[str, Any]) -> str | None:
    """Name what the critic of a run starts from; None without a critic."""
    if config.get("estimator") not in CRITIC_ESTIMATORS:
        return None
    trunk = str(value_at(config, "critic.trunk") or Critic().trunk)
    if trunk != "reward_model":
        return trunk
    models = [term["model"] for term in config["reward"]["terms"] if term["kind"] == "model"]
    return f"the reward model {models[0].get('id') or models[0].get('hub_id')}"


def _unplanned(parent: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    schedule = value_at(config, "optim.schedule")
    bound = {}
    if schedule != "constant":
        bound[f"the {schedule} schedule"] = "optim.schedule to constant"
    if value_at(config, "optim.warmup_ratio"):
        bound["the warm-up"] = "optim.warmup_ratio to 0"
    if not bound:
        return
    what, freedom = " and ".join(bound), " and ".join(bound.values())
    planned = "was planned" if len(bound) == 1 else "were planned"
    for path in (*_LENGTH, *_passed_over(config)):
        before, after = value_at(parent, path), value_at(config, path)
        if before != after:
            message = (
                f"{path} is {_told(after)}, but must stay {_told(before)} as in the parent: {what} "
                f"of the checkpoint {planned} for the parent's number of steps"
            )
            advice = f"Set {path} to {_told(before)}, or set {freedom}."
            yield ConfigProblem(path=path, message=message, advice=advice)


def _passed_over(config: Mapping[str, Any]) -> list[str]:
    """The data whose size says how many steps a run has, where `steps` does not say it."""
    method = METHODS.get(str(config.get("method")))
    if method is None or "steps" in method.config.model_fields:
        return []
    fields = wanted(method.config).items()
    return [f"{path}.id" for path, wants in fields if wants.snapshot is not None]


def _past_the_end(config: Mapping[str, Any], step: int) -> Iterator[ConfigProblem]:
    steps = config.get("steps")
    if steps is not None and steps <= step:
        message = f"steps is {steps}, but the checkpoint is already at step {step}"
        advice = f"Set steps above {step}: steps are counted from the parent's first step."
        yield ConfigProblem(path="steps", message=message, advice=advice)
