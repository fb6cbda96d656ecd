"""What a run that learns from records has held out, and why a number of it may be missing.

Called by `backend.domain.verdict.learners`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from backend.domain.verdict.evidence import Estimate, Evidence
from backend.domain.verdict.measured import why_missing
from backend.domain.verdict.words import EVALUATE_OFTEN, HOLD_OUT, as_sentence
from backend.plural import plural
from backend.schemas.vocabulary import HELDOUT_FRACTION

# What an accuracy is the share of; "" = there is none, and every record counts.
Counted = Literal["pairs", "steps", ""]

NO_HELDOUT = f"No held-out records. {HOLD_OUT}."
_RAISE = f"Raise {HELDOUT_FRACTION} when you freeze the snapshot"
_FEW_HELDOUT = f"{_RAISE}: a single held-out prompt gives no interval."
_TRAINING_ALONE = "The training loss alone cannot tell learning from memorizing."
# Why an evaluation has no accuracy, by what is counted.
_NONE_COUNTS = {
    "pairs": "no held-out ranking places one response above another",
    "steps": "no held-out step has a label other than .5",
}


@dataclass(frozen=True)
class HeldOut:
    """The held-out records of a run, as far as it is known what they can show."""

    evidence: Evidence
    counted: Counted = ""

    @cached_property
    def has_none(self) -> bool:
        """Whether nothing is held out.

        Where no snapshot tells: whether the first step was measured and no evaluation before it, or
        none at the end. What starts from a checkpoint has no first step, and may be evaluated first
        after many steps; a run that has left its weights was evaluated after its last one.
        """
        evidence = self.evidence
        if evidence.is_evaluated():
            return False
        if evidence.n_heldout is not None:
            return evidence.n_heldout == 0
        steps = evidence.beginning("loss")
        return len(steps) > 0 and (steps[0].step <= 1 or evidence.shipped_step is not None)

    @cached_property
    def none_counts(self) -> str:
        """Say that no accuracy can be measured on what is held out; empty if one can, or may."""
        evidence = self.evidence
        n = evidence.last(f"eval/{self.counted}")
        if not self.counted or n:
            return ""
        is_without = evidence.is_evaluated() and "eval/accuracy" not in evidence.curves
        # As earlier releases left a run all of whose held-out rankings are ties.
        is_left = evidence.shipped_step is not None and not evidence.is_evaluated()
        is_untold = self.counted == "pairs" and is_left and bool(evidence.n_heldout)
        return _NONE_COUNTS[self.counted] if n == 0 or is_without or is_untold else ""

    def missing(self, metric: str, why: str = "") -> str:
        """Say why a held-out metric has no value; `why`: why an evaluation may lack this one."""
        return why_missing(self.evidence, metric, self._why_not_measured(why))

    def _why_not_measured(self, why: str) -> str:
        if not self.evidence.has_begun:
            return ""
        if self.has_none:
            return NO_HELDOUT
        if self.evidence.is_evaluated() or self.none_counts:
            return as_sentence(why or self.none_counts)
        return "It was not evaluated." if self.evidence.is_over else "It was not evaluated yet."

    def why_undecided(self, metric: str, found: Sequence[Estimate]) -> tuple[str, str]:
        """Why what was found of a metric decides nothing, and what to do or to know.

        Empty where a run that goes on may yet find more.
        """
        if self.has_none:
            are = "were" if self.evidence.is_over else "are"
            return f"there {are} no held-out records", _TRAINING_ALONE
        if self.none_counts:
            return self.none_counts, f"{_RAISE}."
        if found and self.counted:
            return "its held-out accuracy has no interval", _FEW_HELDOUT
        return self._why_too_few(metric, found) if self.evidence.is_over else ("", "")

    def _why_too_few(self, metric: str, found: Sequence[Estimate]) -> tuple[str, str]:
        n = len(self.evidence.evaluated_at())
        called = "accuracy" if self.counted else "loss"
        if found and n > 1:
            return f"only one of its {plural(n, 'evaluation')} has a finite held-out {called}", ""
        if found:
            return "it was evaluated only once", EVALUATE_OFTEN
        if metric in self.evidence.curves or (self.evidence.is_evaluated() and not self.counted):
            return f"the held-out {called} is not finite", ""
        if self.evidence.is_evaluated():
            return f"the held-out {called} was not measured", ""
        return "it was not evaluated", EVALUATE_OFTEN
