"""Which changes a run config may have that goes on from a checkpoint of another run.

Called by `backend.store.run_inputs` where a clone names `from_checkpoint`. A checkpoint holds the
trained weights, the optimizer's state and the place in the schedule; what would not fit these is a
problem. Knows two configs and a step, not which checkpoints there are.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.schemas.runs import ConfigProblem
from backend.schemas.vocabulary import Estimator

# The saved tensors are those of this method and model, in these shapes.
_FIXED = ("method", "model.id", "model.hub_id", "lora.r", "lora.alpha", "lora.targets")
# What the number of optimizer steps is made of; a schedule that falls to zero counts on it.
_LENGTH = (
    "steps",
    "optim.epochs",
    "optim.batch_size",
    "rollout.prompts_per_step",
    "rollout.samples_per_prompt",
    "epochs_per_rollout",
    "minibatch_size",
    "solutions.id",
    "demonstrations.id",
    "preferences.id",
    "solutions.id",
)


def problems_of(
    parent: Mapping[str, Any], config: Mapping[str, Any], step: int
) -> list[ConfigProblem]:
    """What keeps `config` from going on after `step` of a run with the config `parent`."""
    return [*_unfit(parent, config), *_unplanned(parent, config), *_past_the_end(config, step)]


def _unfit(parent: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    for path in _FIXED:
        before, after = _value(parent, path), _value(config, path)
        if before != after:
            message = f"{path} is {after}, and the checkpoint was made with {before}"
            advice = f"Leave {path} as it was, or clone without from_checkpoint."
            yield ConfigProblem(path=path, message=message, advice=advice)
    has_critic = [one.get("estimator") == Estimator.PPO for one in (parent, config)]
    if has_critic[0] != has_critic[1]:
        has = "a" if has_critic[0] else "no"
        message = f"estimator is {config.get('estimator')}, and the checkpoint has {has} critic"
        advice = "Go between ppo and the others with a clone without from_checkpoint."
        yield ConfigProblem(path="estimator", message=message, advice=advice)


def _unplanned(parent: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    schedule = _value(config, "optim.schedule")
    if schedule == "constant":
        return
    for path in _LENGTH:
        before, after = _value(parent, path), _value(config, path)
        if before != after:
            message = (
                f"{path} is {after} and was {before}: the {schedule} schedule would end elsewhere "
                "than the one that the checkpoint stands in"
            )
            advice = f"Leave {path} as it was, or set optim.schedule to constant."
            yield ConfigProblem(path=path, message=message, advice=advice)


def _past_the_end(config: Mapping[str, Any], step: int) -> Iterator[ConfigProblem]:
    steps = config.get("steps")
    if steps is not None and steps <= step:
        message = f"steps is {steps}, and the checkpoint stands at step {step} already"
        advice = f"Set steps above {step}; it counts from the parent's first step."
        yield ConfigProblem(path="steps", message=message, advice=advice)


def _value(config: Mapping[str, Any], path: str) -> Any:
    here: Any = config
    for part in path.split("."):
        here = here.get(part) if isinstance(here, Mapping) else None
    return here
