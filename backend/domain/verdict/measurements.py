"""Verdicts on runs that only measure or sample: an evaluation, generated responses.

Called by `backend.domain.verdict.judging`.
"""

from backend.domain.verdict.evidence import Estimate, Evidence
from backend.domain.verdict.measured import Judged, gauge
from backend.domain.verdict.proxy import learned
from backend.domain.verdict.words import percent, unscored_sentence, with_interval
from backend.schemas.metrics.verdicts import Gauge, Level, RunVerdict, Span
from backend.schemas.vocabulary import VerdictKind as Kind

_EVEN = 0.5
_MOST_CUT = 0.2
_SHARES = Span(low=0, high=1)
_LEARNED = (
    "The reward that judges is learned and may have trained the model, too: rank some of its "
    "responses, or evaluate it by another reward."
)
_NO_BASELINE = "No baseline: set `baseline_model`."


def evaluate(evidence: Evidence) -> RunVerdict:
    """An evaluation: does the model win against its baseline, if it has one?

    It may measure several sets; prompts that are not held out decide only where no others are.
    """
    prefix, where = _deciding_set(evidence)
    gauges = [
        gauge(evidence, f"{prefix}reward"),
        gauge(
            evidence,
            f"{prefix}win_rate",
            scale=_SHARES,
            judged=_against_even,
            missing=_NO_BASELINE,
        ),
        gauge(evidence, f"{prefix}pass@1", scale=_SHARES),
        gauge(evidence, f"{prefix}length"),
        _cut(evidence, f"{prefix}truncated_fraction"),
    ]
    won, reward = evidence.estimates(f"{prefix}win_rate"), evidence.estimates(f"{prefix}reward")
    unscored = unscored_sentence(evidence.unscored(prefix))
    if not won:
        if not reward:
            return _nothing(evidence, gauges)
        sentence = f"The mean reward{where} is {with_interval(reward[-1])}."
        reason = " ".join(filter(None, (unscored, _NO_BASELINE)))
        return _verdict(Kind.MEASURED, "none", sentence, reason, gauges)
    level, words = _against_even(won[-1])
    kinds = {"good": Kind.ABOVE_BASELINE, "bad": Kind.BELOW_BASELINE}
    sentence = f"By its reward the model {words}{where}: it wins {_share(won[-1])}."
    mean = f"The mean reward is {with_interval(reward[-1])}." if reward else ""
    reason = " ".join(filter(None, (mean, unscored)))
    kind = kinds.get(level, Kind.AT_BASELINE)
    if level == "good" and learned(evidence.config.get("reward")):
        reason = " ".join(filter(None, (reason, _LEARNED)))
        return _verdict(kind, "warn", sentence, reason, gauges)
    return _verdict(kind, level, sentence, reason, gauges)


def _deciding_set(evidence: Evidence) -> tuple[str, str]:
    """What the metrics of the set that decides begin with, and how a sentence names it."""
    if evidence.config.get("split") != "train":
        return "eval/", ""
    for one in evidence.config.get("evaluation_sets") or []:
        prefix = f"eval/{one['name']}/"
        if one.get("split") == "heldout" and evidence.curve(f"{prefix}reward"):
            is_called_so = one["name"].replace("-", "").replace("_", "") == "heldout"
            return prefix, " on held-out prompts" + ("" if is_called_so else f" ({one['name']})")
    return "eval/", " on training prompts"


def _share(won: Estimate) -> str:
    share = f"{percent(won.value)} of the comparisons"
    span = won.interval
    if span is None:
        return share
    return f"{share}, 95 % interval {percent(span.low)} to {percent(span.high)}"


def generate(evidence: Evidence) -> RunVerdict:
    """Generated responses: are they whole?"""
    terms = sorted(
        name
        for name in evidence.curves
        if name.startswith("reward/") and not name.endswith(("_low", "_high"))
    )
    gauges = [
        gauge(evidence, "length/mean"),
        _cut(evidence, "truncated_fraction"),
        gauge(
            evidence,
            "kl/exact",
            missing="No reference: set `reference`.",
        ),
        *(gauge(evidence, name) for name in terms[:2]),
    ]
    cut = evidence.last("truncated_fraction")
    if cut is None:
        return _nothing(evidence, gauges)
    sentence = f"The token limit cut {percent(cut) if cut else 'none'} of the responses."
    if cut > _MOST_CUT:
        reason = "Annotators would rank incomplete responses: raise `rollout.max_new_tokens`."
        return _verdict(Kind.TRUNCATED, "warn", sentence, reason, gauges)
    return _verdict(Kind.MEASURED, "none", sentence, "", gauges)


def _nothing(evidence: Evidence, gauges: list[Gauge]) -> RunVerdict:
    kind = Kind.UNJUDGED if evidence.is_over else Kind.WAITING
    sentence = "The run measured nothing." if evidence.is_over else "Nothing was measured yet."
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
        scale=_SHARES,
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
