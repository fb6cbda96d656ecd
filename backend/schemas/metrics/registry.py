"""Which metrics each method writes, in the order in which they are shown.

`GET /methods` tells it, charts and tables explain themselves by it, docs/methods.md has a table of
each, and a test compares it with what the trainer writes.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from backend.schemas.methods import SAMPLERS
from backend.schemas.metrics import every_method, learners, samplers
from backend.schemas.metrics.metric import (
    EVALUATED,
    FROM_OUTSIDE,
    Aspect,
    Group,
    Metric,
    is_of_part,
)
from backend.schemas.metrics.policy_gradient import POLICY_GRADIENT
from backend.schemas.vocabulary import Method

OWN: Mapping[Method, tuple[Metric, ...]] = {
    **learners.OWN,
    Method.POLICY_GRADIENT: POLICY_GRADIENT,
    **samplers.OWN,
}


@cache
def metrics_of(method: Method) -> tuple[Metric, ...]:
    """All that a run of this method may have, ordered by group."""
    of_training = () if method in SAMPLERS else every_method.TRAINING
    found = (*OWN[method], *of_training, *every_method.OUTSIDE, *every_method.SYSTEM)
    groups = list(Group)
    return tuple(sorted(found, key=lambda metric: groups.index(metric.group)))


def metric_of(method: Method, name: str) -> Metric | None:
    """What is said of a metric of this method: by its own name, or by a pattern that it fits."""
    found = metrics_of(method)
    for metric in found:
        if metric.name == name:
            return metric
    for metric in found:
        if parts := _parts(metric.name, name):
            return metric.model_copy(update={"title": metric.title.format(**parts)})
    return None


# Names come from requests, too.
@lru_cache(maxsize=4096)
def measure_of(name: str) -> Metric | None:
    """What is said of a metric whichever method writes it.

    Of a named set or of a part of it (`eval/ood/pass@1/level.3`), and of a measure without its
    `eval/`, it is what is said of the measure. Results from outside have no such row.
    """
    parts = name.split("/")
    if parts[0] in FROM_OUTSIDE:
        return None
    if is_of_part(name):
        parts.pop()
    names = ("/".join(parts), f"eval/{parts[-1]}")
    found = (
        metric
        for one in names
        for method in Method
        if (metric := metric_of(method, one)) is not None
        and metric.group != Group.OUTSIDE
        and "{measure}" not in metric.name
    )
    return next(found, None)


# Of metrics that say nothing else, by what their names begin with.
_DEPENDS_ON: Mapping[str, frozenset[Aspect]] = {
    "eval": EVALUATED,
    "baseline": EVALUATED | {"baseline"},
    "reward": EVALUATED,
    "kl": frozenset({"reference"}),
}


def depends_on(name: str) -> frozenset[Aspect]:
    """What the value of a metric depends on besides the model; nothing of what comes from outside.

    Where these are the same in two runs, the better number is the better model.
    """
    known = measure_of(name)
    if known is not None and known.depends_on is not None:
        return known.depends_on
    return _DEPENDS_ON.get(name.partition("/")[0], frozenset())


def title_of(method: Method, name: str) -> str:
    """What people call a metric of this method; its name if nobody says."""
    known = metric_of(method, name)
    return name if known is None else known.title


def _parts(pattern: str, name: str) -> dict[str, str]:
    """Return what a name has where the pattern has `{term}` and the like; empty if it misfits."""
    fits = _expression(pattern).fullmatch(name) if "{" in pattern else None
    return fits.groupdict() if fits else {}


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    literal = re.split(r"(\{\w+\})", pattern)
    return re.compile(
        "".join(
            f"(?P<{part[1:-1]}>[^/]+)" if part.startswith("{") else re.escape(part)
            for part in literal
        )
    )
