"""A slow reference: what a filter says of one run, worked out from what the API answers of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from backend.domain.filters.tree import (
    And,
    Compares,
    Contains,
    During,
    Equals,
    Has,
    Not,
    Or,
    Term,
    Tree,
)


@dataclass
class Known:
    """A run as a person would write it down: its answer, all values of its metrics in order."""

    run: Mapping[str, Any]
    experiment: str | None = None
    metrics: Mapping[str, list[float | None]] = field(default_factory=dict)


def holds(tree: Tree, known: Known) -> bool:
    """Whether the filter lets this run through."""
    match tree:
        case And(parts):
            return all(holds(part, known) for part in parts)
        case Or(parts):
            return any(holds(part, known) for part in parts)
        case Not(inside):
            return not holds(inside, known)
        case term:
            return any(_matches(term, value) for value in _values(term, known))


def _values(term: Term, known: Known) -> list[Any]:
    """Every value that the run has under the key; none of them is None."""
    found = _all_values(term.key.field, term.key.name, known)
    return [value for value in found if value is not None]


def _all_values(field: str, name: str, known: Known) -> list[Any]:
    run = known.run
    match field:
        case "tag":
            return list(run["tags"])
        case "verdict":
            return [run["verdict"]["kind"]] if run["verdict"] else []
        case "experiment":
            return [known.experiment, run["experiment_id"]]
        case "parent":
            return [run["parent_id"]]
        case "step":
            return [run["progress"]["step"]]
        case "archived":
            return ["yes" if run["archived_at"] else "no"]
        case "created" | "started" | "finished":
            at = run[f"{field}_at"]
            return [datetime.fromisoformat(at)] if at else []
        case "config":
            return [_leaf(run["config"], name)]
        case "metric" | "best" | "min" | "max":
            return [_measured(field, name, known.metrics.get(name, []))]
        case _:
            return [run[field]]


def _leaf(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, list) and part.isdecimal():
            value = value[int(part)] if int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return None if isinstance(value, dict | list) else value


def _measured(field: str, name: str, values: list[float | None]) -> float | None:
    if field == "metric":
        return values[-1] if values else None
    finite = [value for value in values if value is not None]
    is_least = field == "min" or (field == "best" and name.endswith("loss"))
    return (min if is_least else max)(finite, default=None)


def _matches(term: Term, value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match term:
        case Has():
            return True
        case Equals(key, text, number):
            if number is not None and is_number and float(value) == number:
                return True
            is_text = key.field == "config" or number is None
            return is_text and str(value).lower() == text
        case Contains(key, part):
            return (
                not (key.field == "experiment" and value.startswith("exp_"))
                and part in str(value).lower()
            )
        case Compares(_, order, number):
            if not is_number:
                return False
            return {
                "<": value < number,
                "<=": value <= number,
                ">": value > number,
                ">=": value >= number,
            }[order]
        case During(_, start, end):
            return (start is None or value >= start) and (end is None or value < end)
