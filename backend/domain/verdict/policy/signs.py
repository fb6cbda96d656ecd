"""Signs that a policy is in trouble, whatever its reward says: collapse, inflation, distance.

The thresholds were chosen on runs of `tests/benchmarks/verdict_proof.py`, on other seeds than
those that it judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from backend.domain.dotted_path import value_at
from backend.domain.verdict.evidence import Evidence, Point, Trend, first_beyond, quietened
from backend.domain.verdict.proxy import learned
from backend.domain.verdict.words import as_sentence, as_set, percent, shown
from backend.schemas.metrics.verdicts import Happening

# Nats per token: below, nearly every token is certain.
LEAST_ENTROPY = 0.1
_ENTROPY_LEFT = 0.1
_ENTROPY_GROWN = 1.0
_SHRUNK = 0.25
_GROWN = 2.0
_CUT = 0.5
_ALL_ALIKE = 0.95
# Nats per token: the reference would hardly ever write such tokens.
_DIVERGED = 4.0
# Nats per response; the gold reward of a policy that follows a reward model has turned by then.
FAR = 10.0
# By Pinsker's inequality at most 7 of 100 responses would tell such a policy from its reference.
_NEAR = 0.01


def least_entropy(before: float) -> float:
    """Below this many nats per token a policy that began with so many has collapsed."""
    return min(LEAST_ENTROPY, _ENTROPY_LEFT * before)


@dataclass(frozen=True)
class Signs:
    """What a run shows beside its rewards."""

    evidence: Evidence

    def sentences(self, *, besides: str = "") -> list[str]:
        """Every sign as a sentence, without the one that was told already."""
        found = [*self.collapse, *([self.inflation] if self.inflation else []), *self._distance]
        return [as_sentence(text) for text in found if text != besides]

    @cached_property
    def is_learned(self) -> bool:
        """Whether a trained model gives a part of the reward, which can be wrong."""
        return bool(learned(self.evidence.config.get("reward")))

    @cached_property
    def kl(self) -> float | None:
        """Nats per response from the reference: exact where it was evaluated, else sampled."""
        exact = self.evidence.last("kl/exact")
        sampled = self.evidence.trend("kl/response")
        if exact is None:
            return None if sampled is None else sampled.after
        return exact

    @cached_property
    def kl_per_token(self) -> float | None:
        """Nats per token from the reference: sampled, else of the responses last evaluated."""
        sampled = self.evidence.trend("kl/token")
        if sampled is not None:
            return sampled.after
        exact, length = self.evidence.last("kl/exact"), self.evidence.last("eval/length")
        return None if exact is None or not length else exact / length

    @cached_property
    def kl_limit(self) -> float | None:
        """Nats per response beyond which there is a warning; a reward by rule alone has none."""
        limit: float | None = value_at(self.evidence.config, "kl.max")
        return limit or (FAR if self.is_learned else None)

    @property
    def kl_curve(self) -> Sequence[Point]:
        """The KL by step: sampled at every step, or as the evaluations measured it."""
        sampled = quietened(self.evidence.curve("kl/response"))
        return sampled or self.evidence.curve("kl/exact")

    @property
    def is_far(self) -> bool:
        """Whether the policy is so far from its reference that a learned reward means little."""
        return self.kl is not None and self.kl > FAR

    @property
    def is_near(self) -> bool:
        """Whether the policy is nearly its reference; only said, it decides no verdict."""
        if self.kl is None or self.collapse or self._is_untrained:
            return False
        sampled = self.evidence.trend("kl/response")
        known = [self.kl, *([] if sampled is None else [sampled.after])]
        return all(abs(kl) < _NEAR for kl in known)

    @property
    def _is_untrained(self) -> bool:
        """Whether the newest exact KL was measured before training, so that it says nothing."""
        exact = self.evidence.curve("kl/exact")
        steps = self.evidence.curve("length/mean")
        return bool(exact) and exact[-1].step < (steps[0].step if steps else 1)

    @property
    def is_doubted(self) -> bool:
        """Whether the policy may exploit a learned reward: it is far, or its responses grew."""
        return self.is_learned and (self.is_far or bool(self.inflation))

    def doubtful(self, judge: str) -> str:
        """Name who judged a metric that the policy may exploit; empty for any other metric."""
        is_its_own = judge.startswith("eval/")
        return " by the reward model that trains it" if is_its_own and self.is_doubted else ""

    @property
    def _distance(self) -> list[str]:
        if self.kl is None:
            return []
        moved = "has hardly moved: it is" if self.is_near else "is"
        return [f"the policy {moved} {shown(self.kl)} nats per response from its reference"]

    @cached_property
    def collapse(self) -> list[str]:
        """Signs that the policy has lost its variety, its responses or its language."""
        signs = (self._entropy(), self._shrinking(), self._sameness(), self._divergence())
        return [sign for sign in signs if sign]

    def _entropy(self) -> str:
        trend = self.evidence.trend("entropy")
        if trend is None:
            return ""
        if trend.after < least_entropy(trend.before):
            return f"the entropy fell {self._entropy_moved(trend)}"
        if trend.size > _ENTROPY_GROWN and trend.ratio > 1 + _ENTROPY_GROWN / 2:
            return f"the entropy rose {self._entropy_moved(trend)}"
        return ""

    def _entropy_moved(self, trend: Trend) -> str:
        """Tell the move from the first step, as the gauge does, or from the first of the trend if
        the entropy moved the other way since the first step.
        """
        first = self.evidence.beginning("entropy")[0].value
        is_alike = (trend.after - first) * trend.size > 0
        before = first if is_alike else trend.before
        return f"from {shown(before)} to {shown(trend.after)} nats per token"

    def _shrinking(self) -> str:
        trend = self.length
        if trend is None or trend.ratio >= _SHRUNK:
            return ""
        return f"the responses shrank from {shown(trend.before)} to {shown(trend.after)} tokens"

    def _sameness(self) -> str:
        alike = self.evidence.trend("group/zero_std_fraction")
        if alike is None or alike.after < _ALL_ALIKE:
            return ""
        return f"in {percent(alike.after)} of the groups all responses have the same reward"

    def _divergence(self) -> str:
        each = self.kl_per_token
        if each is None or each < _DIVERGED:
            return ""
        return (
            f"the KL is {shown(each)} nats per token, so the reference would hardly ever write "
            "such tokens"
        )

    @cached_property
    def length(self) -> Trend | None:
        """How the length of the responses moved, in tokens: from that of the untrained policy.

        Lengths can double within a few steps, so it starts at the first step alone, whose responses
        were sampled before the first update.
        """
        return self.evidence.trend_from_start("length/mean")

    @cached_property
    def is_cut(self) -> bool:
        """Whether the token limit came to cut most responses."""
        cut = self.evidence.trend("truncated_fraction")
        return cut is not None and cut.after >= _CUT > cut.before

    @cached_property
    def inflation(self) -> str:
        """A sign that responses grew much longer; empty if they did not."""
        trend = self.length
        if trend is None or (trend.ratio < _GROWN and not self.is_cut) or not trend.rose():
            return ""
        text = f"the responses grew from {shown(trend.before)} to {shown(trend.after)} tokens"
        cut = self.evidence.trend("truncated_fraction")
        if not self.is_cut or cut is None:
            return text
        return f"{text}, and the token limit cuts {percent(cut.after)} of them"

    def happened(self) -> list[Happening]:
        """The signs that hold, each with the step since which it does."""
        found = [
            self._since_limit(),
            self._since_length(0.5, "Length below half of its start"),
            self._since_length(_GROWN, "Length above twice its start"),
            self._since("entropy", LEAST_ENTROPY, "Entropy below {} nats per token", below=True),
            self._since(
                "truncated_fraction", _CUT, "The token limit cuts more than half of the responses"
            ),
        ]
        return [one for one in found if one is not None]

    def _since_length(self, part: float, text: str) -> Happening | None:
        if self.length is None:
            return None
        return self._since("length/mean", part * self.length.before, text, below=part < 1)

    def _since(
        self, name: str, limit: float, text: str, *, below: bool = False
    ) -> Happening | None:
        return _begun(quietened(self.evidence.curve(name)), limit, text, below=below)

    def _since_limit(self) -> Happening | None:
        if self.kl_limit is None:
            return None
        return _begun(self.kl_curve, self.kl_limit, "KL above {} nats per response")


def _begun(
    curve: Sequence[Point], limit: float, text: str, *, below: bool = False
) -> Happening | None:
    """Find since when a curve has stayed beyond a limit; None if it does not, or always did."""
    step = first_beyond(curve, limit, below=below)
    if step is None or step == curve[0].step:
        return None
    return Happening(step=step, sentence=f"{text.format(as_set(limit))}.", level="warn")
