"""Verdicts on runs that only measure or sample: an evaluation, generated responses.

Called by `backend.domain.verdict.judging`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.verdict.evidence import Estimate, Evidence
from backend.domain.verdict.measured import SHARES, Judged, gauge, not_measured, not_scored
from backend.domain.verdict.proxy import learned, passes_by_learned_score
from backend.domain.verdict.rule import Rule
from backend.domain.verdict.words import (
    percent,
    share_and_interval,
    unscored_sentence,
    with_interval,
)
from backend.schemas.metrics.verdicts import Gauge, Level, RunVerdict, Span
from backend.schemas.references import known_by
from backend.schemas.rewards import RESERVED_ENDS
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind

_EVEN = 0.5
_MOST_CUT = 0.2
_LEARNED = (
    "A learned reward judges here, and the model may have been trained on it: rank some of the "
    "model's responses, or evaluate the model by another reward."
)
_SEEN = (
    "The model may have learned the training prompts by heart: set `split` to heldout, or add a "
    "held-out set to `evaluation_sets`."
)


def evaluate(evidence: Evidence) -> RunVerdict:
    """An evaluation: does the model win against its baseline, if it has one?

    It may measure several sets; prompts that the model may have learned decide only where no others
    are, and then never in green.
    """
    deciding = _deciding_set(evidence)
    prefix, where = deciding.prefix, deciding.where
    gauges = [
        gauge(evidence, f"{prefix}reward", missing=not_scored(evidence, prefix)),
        gauge(
            evidence,
            f"{prefix}win_rate",
            scale=SHARES,
            judged=_against_even,
            missing=_why_not_compared(evidence, prefix),
        ),
        *_passed(evidence, prefix),
        gauge(evidence, f"{prefix}length"),
        _cut(evidence, f"{prefix}truncated_fraction"),
    ]
    won, reward = evidence.estimates(f"{prefix}win_rate"), evidence.estimates(f"{prefix}reward")
    unscored = unscored_sentence(evidence.unscored(prefix))
    if not won:
        if not reward:
            return _without_reward(evidence, prefix, gauges)
        sentence = f"The mean reward{_closed(where)} is {with_interval(reward[-1])}."
        reason = " ".join(filter(None, (unscored, _why_not_compared(evidence, prefix))))
        return _verdict(Kind.MEASURED, "none", sentence, reason, gauges)
    level, words = _against_even(won[-1])
    kind = {"good": Kind.ABOVE_BASELINE, "bad": Kind.BELOW_BASELINE}.get(level, Kind.AT_BASELINE)
    sentence = f"By its reward the model {words}{where}: its win rate is {_share(won[-1])}."
    if won[-1].interval is None:
        kind = Kind.MEASURED
        sentence = f"The win rate{_closed(where)} is {_share(won[-1])}, without an interval."
    mean = f"The mean reward is {with_interval(reward[-1])}." if reward else ""
    reason = " ".join(filter(None, (mean, unscored)))
    doubts = [
        doubt
        for doubt, is_there in (
            (_SEEN, deciding.is_seen),
            (_LEARNED, bool(learned(evidence.config.get("reward")))),
        )
        if is_there
    ]
    if level == "good" and doubts:
        reason = " ".join(filter(None, (reason, *doubts)))
        return _verdict(kind, "warn", sentence, reason, gauges)
    return _verdict(kind, level, sentence, reason, gauges)


def _without_reward(evidence: Evidence, prefix: str, gauges: list[Gauge]) -> RunVerdict:
    if f"{prefix}coverage" not in evidence.curves:
        return _nothing(evidence, "reward", gauges)
    return _verdict(Kind.UNJUDGED, "warn", not_scored(evidence, prefix), "", gauges)


@dataclass(frozen=True)
class _Set:
    """The set that decides: what its metrics begin with, how a sentence names it."""

    prefix: str
    where: str = ""
    is_seen: bool = False


def _deciding_set(evidence: Evidence) -> _Set:
    """The run's own prompts if none of them is a training prompt, else a held-out set if any."""
    seen = _seen(evidence)
    if not seen:
        return _Set("eval/")
    for one in evidence.config.get("evaluation_sets") or []:
        prefix = f"eval/{one['name']}/"
        if one.get("split") == "heldout" and evidence.curve(f"{prefix}reward"):
            is_called_so = one["name"].replace("-", "").replace("_", "") == "heldout"
            where = " on held-out prompts" + ("" if is_called_so else f" ({one['name']})")
            return _Set(prefix, where)
    return _Set("eval/", seen, is_seen=True)


def _seen(evidence: Evidence) -> str:
    """How a sentence names the run's own prompts if training prompts are among them; else empty.

    A snapshot without a held-out side is a set of test prompts, unless the model has learned them.
    """
    split, sides = evidence.config.get("split", "all"), evidence.sides
    if split == "train":
        return " on training prompts"
    if split != "all" or sides is None or not sides.n_train:
        return ""
    if sides.n_heldout:
        n = sides.n_train + sides.n_heldout
        return f" on all {n:,} prompts, {sides.n_train:,} of them training prompts"
    is_learned = evidence.has_learned(known_by(evidence.config.get("prompts")))
    return " on training prompts" if is_learned else ""


def _why_not_compared(evidence: Evidence, prefix: str) -> str:
    """Say why there is no win rate."""
    if not evidence.config.get("baseline_model"):
        return "No baseline: set `baseline_model`."
    if evidence.curve(f"{prefix}reward"):
        return "No pair of responses could be scored."
    return not_scored(evidence, prefix)


def _passed(evidence: Evidence, prefix: str) -> list[Gauge]:
    """The gauge of pass@1; none where only a threshold of a learned reward says what passes."""
    if passes_by_learned_score(evidence.config.get("reward")):
        return []
    missing = _why_none_passed(evidence, prefix)
    return [gauge(evidence, f"{prefix}pass@1", scale=SHARES, missing=missing)]


def _why_none_passed(evidence: Evidence, prefix: str) -> str:
    """Say why nobody knows which responses passed; empty where the set was not evaluated."""
    if not evidence.is_evaluated(prefix) or evidence.config.get("pass_reward") is not None:
        return ""
    return "Nothing says of every response whether it is correct: set `pass_reward`."


def _closed(where: str) -> str:
    """What stands within a sentence, with the comma that ends it if it has one inside."""
    return f"{where}," if "," in where else where


def _share(won: Estimate) -> str:
    # Not "it wins": 53 % may be 9 % won and 88 % tied.
    if won.interval is None:
        return f"{percent(won.value)}, a tie counting half"
    share, around = share_and_interval(won.value, won.interval)
    return f"{share}, a tie counting half, {around}"


def generate(evidence: Evidence) -> RunVerdict:
    """Generated responses: are they whole?"""
    terms = sorted(
        name
        for name in evidence.curves
        if name.startswith("reward/") and not name.endswith(RESERVED_ENDS)
    )
    gauges = [
        gauge(evidence, "length/mean"),
        _cut(evidence, "truncated_fraction"),
        gauge(
            evidence,
            "kl/exact",
            missing=(
                not_measured(evidence)
                if evidence.config.get("reference")
                else "No reference: set `reference`."
            ),
        ),
        *(gauge(evidence, name) for name in terms[:2]),
    ]
    cut = evidence.last("truncated_fraction")
    if cut is None:
        return _nothing(evidence, "share of cut responses", gauges)
    sentence = f"The token limit cut {percent(cut) if cut else 'none'} of the responses."
    if cut > _MOST_CUT:
        reason = "Annotators would rank incomplete responses: raise `rollout.max_new_tokens`."
        return _verdict(Kind.TRUNCATED, "warn", sentence, reason, gauges)
    return _verdict(Kind.MEASURED, "none", sentence, "", gauges)


def _nothing(evidence: Evidence, what: str, gauges: list[Gauge]) -> RunVerdict:
    """Say that a run has not measured what its verdict is of, or nothing at all."""
    kind = Kind.UNJUDGED if evidence.is_over else Kind.WAITING
    sentence = "The run measured nothing." if evidence.is_over else "Nothing was measured yet."
    if evidence.has_begun:
        sentence = f"The run has not measured its {what}{'' if evidence.is_over else ' yet'}."
    return _verdict(kind, "none", sentence, "", gauges)


def _against_even(found: Estimate) -> Judged:
    if found.interval is None:
        return "none", "was measured without an interval"
    if found.interval.low > _EVEN:
        return "good", "is better than its baseline"
    if found.interval.high < _EVEN:
        return "bad", "is worse than its baseline"
    return "warn", "is not clearly different from its baseline"


def _cut(evidence: Evidence, metric: str) -> Gauge:
    return gauge(
        evidence,
        metric,
        healthy=Span(low=0, high=_MOST_CUT),
        scale=SHARES,
        judged=lambda found: ("good", "") if found.value <= _MOST_CUT else ("warn", "many are cut"),
    )


def _verdict(
    kind: Kind, level: Level, sentence: str, reason: str, gauges: list[Gauge]
) -> RunVerdict:
    return RunVerdict(
        kind=kind,
        level=level,
        sentence=sentence,
        reason=reason,
        judged_by=None,
        gauges=gauges,
        best_step=None,
        shipped_step=None,
        happened=[],
    )


RULES: Mapping[Method, Rule] = {
    Method.GENERATE: Rule(generate, reads=("length/mean", "truncated_fraction", "reward/")),
    Method.EVALUATE: Rule(evaluate),
}
