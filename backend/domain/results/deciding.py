"""Which evaluation says which of some runs is better: one of all their models, on unseen prompts.

Called by `backend.store.metrics.seed_groups`; pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.results.given import Given
from backend.domain.results.measurements import PromptSet, metric_on
from backend.domain.seeds.draws import Draw
from backend.schemas.metrics.registry import title_of
from backend.schemas.vocabulary import Method


@dataclass(frozen=True)
class Evaluated:
    """What evaluations found of the models of some runs on one set, all sampled alike.

    `metric` is pass@1 or else the reward, and `title` what people call it; `label` is the name of
    the set. `values` are by run. `has_chosen`: whether a run kept its checkpoint by prompts of the
    set; `is_unchecked`: whether it is not known if one was trained on some. `reward`: what scored
    the responses.
    """

    metric: str
    title: str
    label: str
    values: Mapping[str, float]
    has_chosen: bool = False
    is_unchecked: bool = False
    reward: Mapping[str, Any] | None = field(default=None, compare=False)


def evaluated(given: Given, draws: Sequence[Draw]) -> list[Evaluated]:
    """List what was found on each set that the models of all these runs were evaluated on.

    Beside runs that have succeeded, the others are not waited for: nobody can have evaluated what
    they have not left. The first set decides. Sets that a run was trained on never decide, and
    those of which that is not known come after unseen ones. Those that chose its checkpoint come
    last: the best of several numbers on a set is partly luck.
    """
    sets = [one for one in given.sets if not given.is_trained(one)]
    found = (_on(given, prompts, draws) for prompts in sets)
    return [one for one in found if one is not None]


def _on(given: Given, prompts: PromptSet, draws: Sequence[Draw]) -> Evaluated | None:
    measure = given.score(prompts)
    if measure is None:
        return None
    measured = {one.run: given.measured.chosen.get((one.run, prompts)) for one in draws}
    values = {
        run: one.readings[measure].value
        for run, one in measured.items()
        if one is not None and not one.is_own and measure in one.readings
    }
    needed = [one.run for one in draws if one.has_succeeded] or list(measured)
    if not all(run in values for run in needed):
        return None
    title = title_of(Method.EVALUATE, f"eval/{measure}")
    reward = given.one_of(prompts).sampling["reward"]
    return Evaluated(
        metric_on(prompts, measure),
        title,
        given.labels[prompts],
        values,
        has_chosen=given.has_chosen(prompts),
        is_unchecked=given.is_unchecked(prompts),
        reward=reward,
    )
