"""Verdicts on runs that learn from records: demonstrations, rankings, rated steps.

Held-out records decide, as everywhere. Called by `backend.domain.verdict.judging`.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from backend.domain.verdict import calibration, divergence
from backend.domain.verdict.evidence import Change, Estimate, Evidence, change, z_of_best
from backend.domain.verdict.measured import LAST_PART, SHARES, Judged, gauge, not_measured
from backend.domain.verdict.rule import Rule
from backend.domain.verdict.words import (
    EVALUATE_OFTEN,
    HOLD_OUT,
    apart,
    difference,
    output_sentence,
    percent,
    shown,
    with_span,
)
from backend.plural import plural
from backend.schemas.metrics.verdicts import Gauge, Happening, Level, RunVerdict, Span
from backend.schemas.vocabulary import HELDOUT_FRACTION, Method
from backend.schemas.vocabulary import VerdictKind as Kind
from intervals.interval import Z95

_CHANCE = 0.5
_BETTER_THAN_CHANCE = Span(low=_CHANCE, high=1)
# A held-out loss that has risen by this part of what it had fallen is a turn.
_TURN = 0.1
# A loss that moves by less than this part has hardly moved.
_LEAST_PROGRESS = 0.01
# By so much it has to move where its interval is not known.
_LEAST_UNSURE = 0.05
_LARGEST_GAP = 0.2
# From here on a correlation of score and length is a strong one.
_FOLLOWS_LENGTH = 0.5
_NO_HELDOUT = f"No held-out records. {HOLD_OUT}."
_RAISE = f"Raise {HELDOUT_FRACTION} when you freeze the snapshot"
_FEW_HELDOUT = f"{_RAISE}: a single held-out prompt gives no interval."
_TRAINING_ALONE = "The training loss alone cannot tell learning from memorizing."
_NOT_FINITE = "the held-out loss is not finite"
# Why an evaluation has no accuracy, by what is counted.
_NO_ACCURACY = {
    "pairs": "no held-out ranking places one response above another",
    "steps": "no held-out step has a label other than .5",
}


def sft(evidence: Evidence) -> RunVerdict:
    """Supervised fine-tuning: does the held-out loss fall?"""
    gauges = [
        gauge(evidence, "eval/loss", missing=_missing(evidence, _NOT_FINITE)),
        _course(evidence, "loss"),
        _course(evidence, "grad_norm"),
    ]
    losses = _losses(evidence)
    if len(losses) < 2:
        return _undecided(evidence, "eval/loss", losses, gauges)
    moved, best = change(losses[0], losses[-1]), min(losses, key=lambda one: one.value)
    kind, level, sentence = _told(losses, moved, divergence.training_rose(evidence))
    lowest = f"the lowest was {shown(best.value)} at step {best.step:,}"
    reason = f"It changed by {difference(moved)}; {lowest}. {_over(evidence, moved)}"
    return _verdict(evidence, kind, level, sentence, reason, "eval/loss", gauges, best)


def _losses(evidence: Evidence) -> list[Estimate]:
    """The held-out losses by step, each with the interval of its change since step 0, if known.

    Else with its own, which is wider: records differ more from each other than the loss of one
    record moves.
    """
    losses = evidence.estimates("eval/loss")
    errors = {one.step: one.error for one in evidence.estimates("eval/loss_change")}
    found = [0.0 if one.step == 0 else errors.get(one.step) for one in losses]
    known = [error for error in found if error is not None]
    if len(known) < len(losses):
        return losses
    return [
        Estimate(step, value, value - Z95 * error, value + Z95 * error)
        for (step, value, *_), error in zip(losses, known, strict=True)
    ]


def _told(losses: Sequence[Estimate], moved: Change, rose: str) -> tuple[Kind, Level, str]:
    """What a held-out loss did, from the first evaluation to the last.

    `rose`: that the training loss did; empty if it did not.
    """
    before, after = apart(moved.before, moved.after)
    unsure = "" if moved.error is not None else "; the interval of this change is not known"
    peak = divergence.peak(losses)
    over = "" if peak is None else f", after a peak of {shown(peak.value)} at step {peak.step:,}"
    besides = f"{over}{unsure}{_and(rose)}"
    is_clear = _is_clear(moved)
    if is_clear and moved.size > 0:
        sentence = f"The held-out loss rose from {before} to {after} nats per token{besides}."
        return Kind.WORSE, "bad", sentence
    if has_turned(losses):
        return Kind.OVERFITTED, "warn", _overfitted(min(losses, key=lambda one: one.value), rose)
    if is_clear:
        fell = f"The held-out loss fell from {before} to {after} nats per token{over}{unsure}"
        if rose:
            return Kind.IMPROVED, "warn", f"{fell}, but {rose}."
        return Kind.IMPROVED, "good", f"{fell}."
    was = f"the held-out loss was {before} and is {after} nats per token"
    return Kind.STALLED, "warn", f"No clear change: {was}{besides}."


def _and(more: str) -> str:
    return f", and {more}" if more else ""


def _is_clear(moved: Change, z: float = Z95) -> bool:
    """Whether a loss moved by more than z standard errors, and by a part that is worth telling."""
    least = _LEAST_UNSURE if moved.error is None else _LEAST_PROGRESS
    is_beyond = moved.error is None or moved.rose(z) or moved.fell(z)
    return is_beyond and abs(moved.size) >= least * abs(moved.before)


def _over(evidence: Evidence, moved: Change) -> str:
    """Say what the interval of a change is over, or that the change has none."""
    n = evidence.last("eval/prompts")
    if moved.error is None:
        return f"Without an interval only a change of {percent(_LEAST_UNSURE)} or more counts."
    prompts = "prompts" if n is None else plural(round(n), "held-out prompt")
    return f"The interval is over {prompts}: another seed may end elsewhere."


def reward_model(evidence: Evidence) -> RunVerdict:
    """A reward model: does it rank held-out pairs as people do?"""
    trained = evidence.trend("accuracy")
    gauges = [
        _accuracy(evidence, "eval/accuracy", _NO_ACCURACY["pairs"]),
        _course(evidence, "accuracy", scale=SHARES),
        gauge(
            evidence,
            "eval/calibration_error",
            healthy=_of(0, calibration.HEALTHY),
            scale=_of(0, 0.5),
            judged=partial(calibration.against_chance, evidence.last("eval/prompts")),
        ),
        gauge(
            evidence,
            "eval/length_correlation",
            scale=_of(-1, 1),
            judged=partial(_against_length, evidence.last("eval/accuracy_shorter")),
        ),
        gauge(evidence, "eval/margin"),
    ]
    last = evidence.last("eval/accuracy")
    gap = 0.0 if trained is None or last is None else trained.after - last
    seen = (
        f"At the end of training it was right on {percent(last + gap)} of the training pairs."
        if last is not None and gap
        else ""
    )
    is_overfitted = gap > _LARGEST_GAP and has_turned(_losses(evidence))
    found = _ranks(evidence, gauges, "pairs", seen, is_overfitted=is_overfitted)
    shorter = next(reversed(evidence.estimates("eval/accuracy_shorter")), None)
    if found.level != "good" or shorter is None or shorter.value >= _CHANCE:
        return found
    where = f"only on {with_span(shorter)} of those in which the shorter response won"
    sentence = f"{found.sentence.removesuffix('.')}, but {where}."
    return found.model_copy(update={"level": "warn", "sentence": sentence})


def _course(evidence: Evidence, metric: str, *, scale: Span | None = None) -> Gauge:
    """Gauge a metric of every step by the mean of its last part, for one step has few records."""
    found = gauge(evidence, metric, scale=scale)
    trend = evidence.trend_from_start(metric)
    if trend is None:
        return found
    beside = f"{LAST_PART}, was {shown(trend.before)}"
    return found.model_copy(update={"value": trend.after, "beside": beside})


def process_reward_model(evidence: Evidence) -> RunVerdict:
    """A process reward model: does it tell right steps from wrong ones?"""
    gauges = [
        _accuracy(evidence, "eval/accuracy", _NO_ACCURACY["steps"]),
        _accuracy(evidence, "eval/accuracy_right", "no held-out step is labelled right"),
        _accuracy(evidence, "eval/accuracy_wrong", "no held-out step is labelled wrong"),
        gauge(evidence, "eval/loss", missing=_missing(evidence)),
    ]
    wrong = evidence.last("eval/accuracy_wrong")
    found = _ranks(evidence, gauges, "steps", "")
    if wrong is not None and wrong < _CHANCE and found.level == "good":
        sentence = f"The model finds only {percent(wrong)} of the wrong steps."
        # Its interval is that of the share that the first sentence names.
        reason = f"{found.sentence} {found.reason}"
        return found.model_copy(update={"level": "warn", "sentence": sentence, "reason": reason})
    return found


def dpo(evidence: Evidence) -> RunVerdict:
    """DPO: does the policy prefer the held-out winners, without making them less likely?"""
    gauges = [
        _accuracy(evidence, "eval/accuracy", _NO_ACCURACY["pairs"]),
        gauge(evidence, "eval/margin"),
        gauge(evidence, "eval/chosen", judged=_likelier),
        gauge(evidence, "eval/rejected"),
        gauge(evidence, "eval/loss", missing=_missing(evidence, _NO_ACCURACY["pairs"])),
    ]
    found = _ranks(evidence, gauges, "pairs", "", is_overfitted=has_turned(_losses(evidence)))
    chosen = evidence.last("eval/chosen")
    if chosen is None or chosen >= 0 or found.kind != Kind.ABOVE_CHANCE:
        return found
    sentence = "The model prefers the winners, but the winners became less likely, too."
    reason = f"{found.sentence} The winners' implicit reward is {shown(chosen)}. {found.reason}"
    return found.model_copy(update={"level": "warn", "sentence": sentence, "reason": reason})


def has_turned(losses: Sequence[Estimate]) -> bool:
    """Whether a loss has clearly risen again, by at least a tenth of what it had fallen."""
    if len(losses) < 2:
        return False
    best = min(losses, key=lambda one: one.value)
    risen, fallen = change(best, losses[-1]), losses[0].value - best.value
    is_clear = _is_clear(risen, z_of_best(len(losses) - 1))
    return risen.size > 0 and is_clear and risen.size >= _TURN * fallen


def _ranks(
    evidence: Evidence,
    gauges: list[Gauge],
    what: str,
    seen: str,
    *,
    is_overfitted: bool = False,
) -> RunVerdict:
    """The verdict by the accuracy on held-out pairs or steps."""
    found = evidence.estimates("eval/accuracy")
    interval = found[-1].interval if found else None
    if interval is None:
        return _undecided(evidence, "eval/accuracy", found, gauges, none_of=_NO_ACCURACY[what])
    last, best = found[-1], max(found, key=lambda one: one.value)
    share = f"{percent(last.value)} of the held-out {what}"
    around = f"95 % interval {percent(interval.low)} to {percent(interval.high)}."
    rose = divergence.training_rose(evidence)
    level: Level
    kind, level, sentence = Kind.ABOVE_CHANCE, "good", f"The model is right on {share}."
    if interval.high < _CHANCE:
        kind, level = Kind.AT_CHANCE, "bad"
        sentence = f"Worse than chance: the model is right on {share}{_and(rose)}."
    elif interval.low <= _CHANCE:
        kind, level = Kind.AT_CHANCE, "warn"
        right = f"the model is right on {share}{_and(rose)}"
        sentence = f"Not clearly better than chance: {right}."
    elif not is_overfitted and rose:
        level, sentence = "warn", f"The model is right on {share}, but {rose}."
    elif is_overfitted:
        lowest = min(evidence.estimates("eval/loss"), key=lambda one: one.value)
        kind, level, sentence = Kind.OVERFITTED, "warn", _overfitted(lowest, rose)
        around = f"The model is right on {share}. {around}"
    reason = " ".join(filter(None, (around, seen)))
    return _verdict(evidence, kind, level, sentence, reason, "eval/accuracy", gauges, best)


def _accuracy(evidence: Evidence, metric: str, none_of: str) -> Gauge:
    """Gauge a share of what was held out; `none_of`: why an evaluation may lack it."""
    return gauge(
        evidence,
        metric,
        healthy=_BETTER_THAN_CHANCE,
        scale=SHARES,
        judged=_against_chance,
        missing=_missing(evidence, none_of),
    )


def _missing(evidence: Evidence, none_of: str = "") -> str:
    """Say why a held-out metric has no value; `none_of`: why an evaluation may lack it."""
    if _is_evaluated(evidence):
        return f"{none_of[0].upper()}{none_of[1:]}." if none_of else ""
    return _NO_HELDOUT if _holds_nothing_out(evidence) else not_measured(evidence)


def _is_evaluated(evidence: Evidence) -> bool:
    return any(name.startswith("eval/") for name in evidence.curves)


def _holds_nothing_out(evidence: Evidence) -> bool:
    """Whether the first step was measured and no evaluation before it, or none at the end.

    What starts from a checkpoint has no first step, and may be evaluated first after many steps; a
    run that has left its weights was evaluated after its last one, if on anything.
    """
    losses = evidence.beginning("loss")
    is_due = len(losses) > 0 and (losses[0].step <= 1 or evidence.shipped_step is not None)
    return is_due and not _is_evaluated(evidence)


def _against_chance(found: Estimate) -> Judged:
    if found.interval is None:
        return "none", ""
    if found.interval.low > _CHANCE:
        return "good", "better than chance"
    if found.interval.high < _CHANCE:
        return "bad", "worse than chance"
    return "warn", "not clearly better than chance"


def _against_length(shorter: float | None, found: Estimate) -> Judged:
    """A score may follow the length where judgments do; not where it fails on the others."""
    if shorter is None or shorter >= _CHANCE or found.value < _FOLLOWS_LENGTH:
        return "none", ""
    return "warn", "longer responses score higher"


def _likelier(found: Estimate) -> Judged:
    if found.value >= 0:
        return "good", "likelier than before"
    return "warn", "less likely than before"


def _overfitted(best: Estimate, rose: str) -> str:
    """Say when the held-out loss turned. A training loss that rose, too, was not fitted at all."""
    since = f"The held-out loss has risen since step {best.step:,}"
    return f"{since}{_and(rose)}." if rose else f"{since}: training went on for too long."


def _undecided(
    evidence: Evidence,
    metric: str,
    found: Sequence[Estimate],
    gauges: list[Gauge],
    *,
    none_of: str = "",
) -> RunVerdict:
    if not evidence.is_over:
        sentence = "Too early to say." if evidence.curves else "Nothing was measured yet."
        return _verdict(evidence, Kind.WAITING, "none", sentence, "", None, gauges, None)
    if not evidence.curves:
        sentence = "Nothing was measured: the run ended before its first step."
        return _verdict(evidence, Kind.UNJUDGED, "none", sentence, "", metric, gauges, None)
    if found and metric == "eval/accuracy":
        why, reason = "its held-out accuracy has no interval", _FEW_HELDOUT
    elif found:
        why, reason = "it was evaluated only once", EVALUATE_OFTEN
    elif none_of and _is_evaluated(evidence):
        why, reason = none_of, f"{_RAISE}."
    elif _holds_nothing_out(evidence):
        why, reason = "there were no held-out records", _TRAINING_ALONE
    elif _is_evaluated(evidence):
        why, reason = _NOT_FINITE, ""
    else:
        why, reason = "it was not evaluated", EVALUATE_OFTEN
    sentence = f"Nothing shows what the model learned: {why}."
    return _verdict(evidence, Kind.UNJUDGED, "warn", sentence, reason, metric, gauges, None)


def _verdict(
    evidence: Evidence,
    kind: Kind,
    level: Level,
    sentence: str,
    reason: str,
    judged_by: str | None,
    gauges: list[Gauge],
    best: Estimate | None,
) -> RunVerdict:
    best_text = [] if best is None else [_best(best, evidence, judged_by)]
    return RunVerdict(
        kind=kind,
        level=level,
        sentence=sentence,
        reason=" ".join(filter(None, (reason, output_sentence(evidence.shipped_step)))),
        judged_by=judged_by,
        gauges=gauges,
        best_step=None if best is None else best.step,
        shipped_step=evidence.shipped_step,
        happened=[*best_text, *divergence.peak_happened(_losses(evidence))],
    )


def _best(best: Estimate, evidence: Evidence, metric: str | None) -> Happening:
    text = "Lowest held-out loss" if metric == "eval/loss" else "Best held-out accuracy"
    evaluated = evidence.curve(metric or "")
    # What was best before it trained, training has made worse.
    is_untrained = len(evaluated) > 1 and best.step == evaluated[0].step
    level: Level = "none" if is_untrained else "good"
    return Happening(step=best.step, sentence=f"{text}: {shown(best.value)}.", level=level)


def _of(low: float, high: float) -> Span:
    return Span(low=low, high=high)


# What every step measures, whatever else: without it no step has ended.
_OF_STEPS = ("loss", "grad_norm")

RULES: Mapping[Method, Rule] = {
    Method.SFT: Rule(sft, reads=_OF_STEPS),
    Method.REWARD_MODEL: Rule(reward_model, reads=(*_OF_STEPS, "accuracy")),
    Method.PROCESS_REWARD_MODEL: Rule(process_reward_model, reads=_OF_STEPS),
    Method.DPO: Rule(dpo, reads=_OF_STEPS),
}
