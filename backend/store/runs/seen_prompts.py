"""Sets of prompts that a policy has seen through another snapshot: a warning before the run begins.

Called by `validation`. The same snapshot is not looked at: tables of results mark its sets.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain.differences.prompts import InCommon
from backend.plural import plural
from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import Reference
from backend.schemas.runs import ConfigProblem
from backend.schemas.training import EvaluateConfig, RunConfig
from backend.store.overlaps.counts import CommonPrompts, Most
from backend.store.tables.models import Model
from backend.store.tables.runs import Run

# What one validation reads: a part of a second. The trainer and the tables count again.
MOST = Most(records=20_000, characters=32 * 2**20)


class _Set(NamedTuple):
    """A set of prompts, and where the config names its snapshot."""

    path: str
    prompts: Reference
    split: str


def warnings(session: Session, config: RunConfig) -> Iterator[ConfigProblem]:
    """A warning for each set with prompts that the measured policy was trained on or chosen by.

    It reads snapshots: never call it within the write turn.
    """
    trained = _trained_on(session, config)
    if trained is None:
        return
    counts = CommonPrompts(session, MOST)
    for one in _sets(config):
        if one.prompts.id is None or one.prompts.id == trained:
            continue
        found = counts.of(trained, one.prompts.id, one.split)
        if found is not None and (found.training or found.heldout):
            yield ConfigProblem(
                path=one.path,
                message=_told(found, config),
                advice="Numbers on these prompts say nothing of unseen ones: freeze a snapshot "
                "without them.",
                level="warning",
            )


def _trained_on(session: Session, config: RunConfig) -> str | None:
    """The snapshot that the measured policy is trained on: the run's, or its model's maker's."""
    if isinstance(config, PolicyGradientConfig):
        return config.prompts.id
    if not isinstance(config, EvaluateConfig) or config.model.id is None:
        return None
    made_it = select(Run.config).join(Model, Model.run_id == Run.id)
    made = session.scalars(made_it.where(Model.id == config.model.id)).one_or_none() or {}
    return str(made["prompts"]["id"]) if "estimator" in made else None


def _sets(config: RunConfig) -> Iterator[_Set]:
    assert isinstance(config, PolicyGradientConfig | EvaluateConfig)
    if isinstance(config, EvaluateConfig):
        yield _Set("prompts", config.prompts, config.split)
    for place, one in enumerate(config.evaluation_sets):
        yield _Set(f"evaluation_sets.{place}.prompts", one.prompts, one.split)


def _told(found: InCommon, config: RunConfig) -> str:
    is_own = isinstance(config, PolicyGradientConfig)
    sides = ((found.training, "training prompt"), (found.heldout, "held-out prompt"))
    seen = " and ".join(plural(n, one) for n, one in sides if n)
    whose = "this run" if is_own else "the run that made the model"
    return f"has {seen} of {whose} among its {plural(found.of, 'prompt')}"
