"""Which of the newest values of a run belong together: those of one step. Pure.

The newest value of each metric is not enough: the ends of an interval may be those of an older
value, and a measure that an evaluation no longer had, such as the length of wrong responses, may be
that of an older evaluation.
"""

from collections.abc import Collection, Mapping

_READ = ("eval/", "gold/", "kl/", "length/")
_ENDS = ("_low", "_high")


def is_read(metric: str) -> bool:
    """Whether tables may show a metric, or an end of its interval."""
    return metric.startswith(_READ)


def of_one_evaluation(steps: Mapping[str, int], sets: Collection[str]) -> set[str]:
    """Keep the metrics that are of the newest evaluation of their set, and ends of their value.

    `steps`: the newest step of each metric; `sets`: the names of evaluation sets.
    """
    evaluated: dict[str, int] = {}
    for name, step in steps.items():
        if (prefix := _prefix_of(name, sets)) is not None:
            evaluated[prefix] = max(step, evaluated.get(prefix, step))
    return {
        name
        for name, step in steps.items()
        if step == evaluated.get(_prefix_of(name, sets) or "", step)
        and step == steps.get(_measure_of(name), step)
    }


def _prefix_of(name: str, sets: Collection[str]) -> str | None:
    """What the metrics of one evaluation begin with; None if it is of no evaluation."""
    kind, *rest = name.split("/")
    if kind != "eval":
        return None
    return f"eval/{rest[0]}/" if len(rest) > 1 and rest[0] in sets else "eval/"


def _measure_of(name: str) -> str:
    """The metric that this is an end of, or itself."""
    end = next((one for one in _ENDS if name.endswith(one)), "")
    return name.removesuffix(end)
