"""How the runs of one method are judged, and which metrics that takes; pure.

Each file of rules declares them as a `Rule` by method; `backend.domain.verdict.judging` has all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from backend.domain.verdict.evidence import Evidence
from backend.schemas.metrics.metric import is_of_part
from backend.schemas.metrics.verdicts import RunVerdict

# Evaluations, which belong to the verdict of any method.
PREFIXES = ("eval/", "gold/", "kl/exact")

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Rule:
    """The rule of a method.

    `reads`: metrics that `judge` looks at besides evaluations, each with the ends of its interval;
    one that ends in / stands for all that begin so. Nothing else is read from the store, nor given
    to `judge`.
    """

    judge: Callable[[Evidence], RunVerdict]
    reads: tuple[str, ...] = ()

    def looks_at(self, name: str) -> bool:
        """Whether the verdict depends on a metric."""
        begins = tuple(one for one in self.reads if one.endswith("/"))
        of_interval = name.removesuffix("_low").removesuffix("_high")
        return is_evaluation(name) or of_interval in self.reads or name.startswith(begins)

    def verdict(self, evidence: Evidence) -> RunVerdict:
        """Judge by what is looked at alone, in a test as in the service."""
        return self.judge(
            replace(
                evidence,
                curves=self._looked_at(evidence.curves),
                beginnings=self._looked_at(evidence.beginnings),
            )
        )

    def _looked_at(self, curves: Mapping[str, _Value]) -> dict[str, _Value]:
        return {name: curve for name, curve in curves.items() if self.looks_at(name)}


def is_evaluation(name: str) -> bool:
    """Whether a metric is one of evaluations, and not of a part of one (a breakdown)."""
    return name.startswith(PREFIXES) and not is_of_part(name)
