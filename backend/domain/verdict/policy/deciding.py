"""Which evaluations of a policy decide: from outside, on its held-out prompts, on a named set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backend.domain.verdict import win_rate
from backend.domain.verdict.evidence import Estimate, Evidence, prefix_of
from backend.domain.verdict.gold import gold_metrics
from backend.plural import plural
from backend.schemas.references import known_by

OWN = "eval/reward"
# A course has at least two values.
_FEWEST = 2


@dataclass(frozen=True)
class Deciding:
    """The reward that decides, and what the sentences call it."""

    evidence: Evidence

    @cached_property
    def metric(self) -> str:
        """`gold/NAME` if it reaches what is judged, else the reward on prompts held out."""
        return next((name for name in self._outside if self._reaches_end(name)), self._heldout)

    @property
    def is_outside(self) -> bool:
        """Whether it was measured outside the run."""
        return self.metric.startswith("gold/")

    @cached_property
    def evaluations(self) -> list[Estimate]:
        """What decides, by step."""
        return self.evidence.estimates(self.metric)

    @property
    def name(self) -> str:
        """What the evaluations measure."""
        return called(self.metric)

    @property
    def prefix(self) -> str:
        """What the metrics of the set begin with on which the run measures the reward."""
        return prefix_of(self._heldout)

    @property
    def responses(self) -> str:
        """Which responses those of that set are."""
        name = _set_of(self._heldout)
        return f"the evaluation set {name}" if name else "a held-out prompt"

    @property
    def is_evaluated(self) -> bool:
        """Whether the set was evaluated, even if no response could be scored."""
        return self.evidence.is_evaluated(self.prefix)

    @property
    def is_expected(self) -> bool:
        """Whether the run evaluates anything that its model has not learned."""
        return bool(self.evidence.n_heldout) or self._heldout != OWN or self.is_evaluated

    @property
    def has_chosen(self) -> bool:
        """Whether it is measured on the prompts by which the run chooses its output."""
        return self.metric == OWN or any(
            self.metric == reward_on(one) and _is_own(one, self.evidence)
            for one in unseen_sets(self.evidence)
        )

    @property
    def besides(self) -> list[str]:
        """Rewards that choose no output: from outside, on unseen sets of other prompts.

        Without the win rate, which is told on its own (`win_rate.named`).
        """
        evidence = self.evidence
        outside = [one for one in gold_metrics(evidence.curves) if one != win_rate.METRIC]
        sets = (one for one in unseen_sets(evidence) if not _is_own(one, evidence))
        return [*outside, *map(reward_on, sets)]

    @property
    def n_heldout(self) -> int | None:
        """The prompts that it is measured on; None = not known."""
        return self.evidence.n_heldout if self.metric == OWN else None

    @property
    def prompts(self) -> str:
        """Which prompts those are, as far as it is known."""
        if name := _set_of(self.metric):
            return f"the prompts of the evaluation set {name}"
        return "prompts" if self.n_heldout is None else plural(self.n_heldout, "held-out prompt")

    @property
    def unscored(self) -> float:
        """The share of the responses last evaluated that the reward which decides leaves out."""
        return 0.0 if self.is_outside else self.evidence.unscored(self.prefix)

    @property
    def ended_early(self) -> str:
        """Say that `gold/NAME` ended too early to decide; empty if it decides."""
        if self.is_outside or not self._outside:
            return ""
        end = self.evidence.curve(self._outside[0])[-1].step
        return (
            f"The {called(self._outside[0])} is known only up to step {end:,}, so the {self.name} "
            "decides."
        )

    @cached_property
    def _outside(self) -> list[str]:
        curves = self.evidence.curves
        return gold_metrics(name for name, curve in curves.items() if len(curve) >= _FEWEST)

    def _reaches_end(self, name: str) -> bool:
        """Whether a metric has a value of the newest evaluated weights, or of those shipped."""
        heldout, curve = self.evidence.curve(self._heldout), self.evidence.curve(name)
        if len(heldout) < _FEWEST or curve[-1].step >= heldout[-1].step:
            return True
        return any(step == self.evidence.shipped_step for step, _ in curve)

    @cached_property
    def _heldout(self) -> str:
        """The reward that has a course, else one value, else none yet: on the run's own prompts
        before named sets, and those in the order of the config.
        """
        evidence = self.evidence
        sets = list(map(reward_on, unseen_sets(evidence)))
        for fewest in (_FEWEST, 1):
            for metric in (OWN, *sets):
                if len(evidence.curve(metric)) >= fewest:
                    return metric
        is_own = bool(evidence.n_heldout) or evidence.is_evaluated()
        return OWN if is_own or not sets else sets[0]


def unseen_sets(evidence: Evidence) -> Iterator[dict[str, Any]]:
    """The named sets whose prompts neither the policy nor what it began with was trained on.

    The held-out side of a snapshot is unseen, and all of a snapshot that nobody learned from.
    """
    own = known_by(evidence.config.get("prompts"))
    for one in evidence.config.get("evaluation_sets") or []:
        data = known_by(one.get("prompts"))
        if one.get("split") == "heldout" or not (data & own or evidence.has_learned(data)):
            yield one


def reward_on(one: Mapping[str, Any]) -> str:
    """The metric that is the reward on a named set."""
    return f"eval/{one['name']}/reward"


def _is_own(one: Mapping[str, Any], evidence: Evidence) -> bool:
    """Whether a named set has the prompts that the run holds out."""
    own = known_by(evidence.config.get("prompts"))
    return one.get("split") == "heldout" and bool(known_by(one.get("prompts")) & own)


def called(metric: str) -> str:
    """Name what the evaluations of a metric measure."""
    if metric == OWN:
        return "held-out reward"
    if name := _set_of(metric):
        return f"reward on the evaluation set {name}"
    return metric.removeprefix("gold/").replace("_", " ") + " measured outside the run"


def _set_of(metric: str) -> str:
    """The name of the set of `eval/NAME/reward`; empty of any other metric."""
    parts = metric.split("/")
    return parts[1] if parts[0] == "eval" and len(parts) == 3 else ""
