"""Verdicts on runs that learn from records: demonstrations, rankings, rated steps.

Held-out records decide, as everywhere. Called by `backend.domain.verdict.judging`.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from backend.domain.verdict import calibration, divergence
from backend.domain.verdict.evidence import Change, Estimate, Evidence, change, z_of_best
from backend.domain.verdict.heldout import HeldOut
from backend.domain.verdict.measured import SHARES, Judged, gauge, mean_of_end, was
from backend.domain.verdict.rule import Rule
from backend.domain.verdict.words import (
    apart,
    as_sentence,
    change_in_short,
    difference,
    output_sentence,
    percent,
    share_and_interval,
    shown,
    with_interval,
    with_span,
)
from backend.plural import plural
from backend.schemas.metrics.verdicts import Gauge, Happening, Level, RunVerdict, Span
from backend.schemas.vocabulary import Method
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
# Why an evaluation may lack a number, beside what `HeldOut` knows.
_LOSS_NOT_FINITE = "the held-out loss is not finite"
_NO_TRAINING_PAIR = "in no step did a ranking place one response above another"
_ALL_ALIKE = "within each held-out ranking all lengths or all scores are the same"
_SCORES_NOT_FINITE = "the held-out scores are not finite"


def sft(evidence: Evidence) -> RunVerdict:
    """Supervised fine-tuning: does the held-out loss fall?"""
    held_out = HeldOut(evidence)
    gauges = [
        _heldout(held_out, "eval/loss", _LOSS_NOT_FINITE),
        _course(evidence, "loss"),
        _course(evidence, "grad_norm"),
    ]
    losses = _losses(evidence)
    lost = evidence.newer_evaluation("eval/loss")
    if lost is not None:
        return _no_longer_finite(evidence, losses, lost, gauges)
    if len(losses) < 2:
        return _undecided(held_out, "eval/loss", losses, gauges)
    moved, best = change(losses[0], losses[-1]), min(losses, key=lambda one: one.value)
    kind, level, sentence = _told(losses, moved, divergence.training_rose(evidence))
    lowest = f"the lowest was {shown(best.value)} at step {best.step:,}"
    reason = f"It changed by {difference(moved)}; {lowest}. {_over(evidence, moved)}"
    found = _verdict(evidence, kind, level, sentence, reason, "eval/loss", gauges, best)
    # It is overfitted because the loss rose from its lowest.
    told = "" if kind == Kind.OVERFITTED else change_in_short(moved)
    return found.model_copy(update={"change": told})


def _heldout(held_out: HeldOut, metric: str, why: str = "") -> Gauge:
    """Gauge a held-out metric; `why`: why an evaluation may lack it."""
    return gauge(held_out.evidence, metric, missing=held_out.missing(metric, why))


def _no_longer_finite(
    evidence: Evidence, losses: Sequence[Estimate], step: int, gauges: list[Gauge]
) -> RunVerdict:
    """Say that the newest evaluation, at this step, found a loss that is not finite."""
    last, best = losses[-1], min(losses, key=lambda one: one.value)
    sentence = (
        f"The held-out loss was {shown(last.value)} nats per token at step {last.step:,} and is "
        f"not finite at step {step:,}."
    )
    reason = f"The lowest was {shown(best.value)} at step {best.step:,}."
    return _verdict(evidence, Kind.WORSE, "bad", sentence, reason, "eval/loss", gauges, best)


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
    trained, held_out = evidence.trend("accuracy"), HeldOut(evidence, "pairs")
    gauges = [
        _accuracy(held_out, "eval/accuracy"),
        _course(evidence, "accuracy", scale=SHARES, why=_NO_TRAINING_PAIR),
        gauge(
            evidence,
            "eval/calibration_error",
            healthy=_of(0, calibration.HEALTHY),
            scale=_of(0, 0.5),
            judged=partial(calibration.against_chance, evidence.last("eval/prompts")),
            missing=held_out.missing("eval/calibration_error"),
        ),
        gauge(
            evidence,
            "eval/length_correlation",
            scale=_of(-1, 1),
            judged=partial(_against_length, evidence.last("eval/accuracy_shorter")),
            missing=held_out.missing("eval/length_correlation", _why_uncorrelated(evidence)),
        ),
        _heldout(held_out, "eval/margin"),
    ]
    last = evidence.last("eval/accuracy")
    gap = 0.0 if trained is None or last is None else trained.after - last
    seen = (
        f"At the end of training it was right on {percent(last + gap)} of the training pairs."
        if last is not None and gap
        else ""
    )
    is_overfitted = gap > _LARGEST_GAP and has_turned(_losses(evidence))
    found = _ranks(held_out, gauges, seen, is_overfitted=is_overfitted)
    shorter = next(reversed(evidence.estimates("eval/accuracy_shorter")), None)
    if found.level != "good" or shorter is None or shorter.value >= _CHANCE:
        return found
    where = f"only on {with_span(shorter)} of those in which the shorter response won"
    sentence = f"{found.sentence.removesuffix('.')}, but {where}."
    return found.model_copy(update={"level": "warn", "sentence": sentence})


def _why_uncorrelated(evidence: Evidence) -> str:
    """Why scores have nothing to do with lengths; empty if there are no scores."""
    if "eval/loss" not in evidence.curves:
        return ""
    is_finite = evidence.curve("eval/loss") and evidence.newer_evaluation("eval/loss") is None
    return _ALL_ALIKE if is_finite else _SCORES_NOT_FINITE


def _course(evidence: Evidence, metric: str, *, scale: Span | None = None, why: str = "") -> Gauge:
    """Gauge a metric of every step by the mean of its last part, for one step has few records.

    `why`: why no step may have measured it.
    """
    found = gauge(evidence, metric, scale=scale, missing=_why_no_course(evidence, why))
    trend = evidence.trend_from_start(metric)
    if trend is None:
        return found
    beside = f"{mean_of_end(evidence, metric)}, {was(evidence.beginning(metric)[0])}"
    return found.model_copy(update={"value": trend.after, "beside": beside})


def _why_no_course(evidence: Evidence, why: str) -> str:
    if not evidence.has_begun:
        return ""
    if "loss" in evidence.curves:
        return as_sentence(why)
    return "The run ended before its first step." if evidence.is_over else "No step has ended yet."


def process_reward_model(evidence: Evidence) -> RunVerdict:
    """A process reward model: does it tell right steps from wrong ones?"""
    held_out = HeldOut(evidence, "steps")
    gauges = [
        _accuracy(held_out, "eval/accuracy"),
        _accuracy(held_out, "eval/accuracy_right", "no held-out step is labelled right"),
        _accuracy(held_out, "eval/accuracy_wrong", "no held-out step is labelled wrong"),
        _heldout(held_out, "eval/loss"),
    ]
    wrong = evidence.last("eval/accuracy_wrong")
    found = _ranks(held_out, gauges, "")
    if wrong is not None and wrong < _CHANCE and found.level == "good":
        sentence = f"The model finds only {percent(wrong)} of the wrong steps."
        # Its interval is that of the share that the first sentence names.
        reason = f"{found.sentence} {found.reason}"
        return found.model_copy(update={"level": "warn", "sentence": sentence, "reason": reason})
    return found


def dpo(evidence: Evidence) -> RunVerdict:
    """DPO: does the policy prefer the held-out winners, without making them less likely?"""
    held_out = HeldOut(evidence, "pairs")
    gauges = [
        _accuracy(held_out, "eval/accuracy"),
        _heldout(held_out, "eval/margin"),
        gauge(evidence, "eval/chosen", judged=_likelier, missing=held_out.missing("eval/chosen")),
        _heldout(held_out, "eval/rejected"),
        _heldout(held_out, "eval/loss"),
    ]
    found = _ranks(held_out, gauges, "", is_overfitted=has_turned(_losses(evidence)))
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
    held_out: HeldOut, gauges: list[Gauge], seen: str, *, is_overfitted: bool = False
) -> RunVerdict:
    """The verdict by the accuracy on held-out pairs or steps."""
    evidence = held_out.evidence
    found = evidence.estimates("eval/accuracy")
    interval = found[-1].interval if found else None
    if interval is None:
        return _undecided(held_out, "eval/accuracy", found, gauges)
    last, best = found[-1], max(found, key=lambda one: one.value)
    right, around = share_and_interval(last.value, interval)
    share, around = f"{right} of the held-out {held_out.counted}", f"{around}."
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


def _accuracy(held_out: HeldOut, metric: str, why: str = "") -> Gauge:
    """Gauge a share of what was held out; `why`: why an evaluation may lack it."""
    return gauge(
        held_out.evidence,
        metric,
        healthy=_BETTER_THAN_CHANCE,
        scale=SHARES,
        judged=_against_chance,
        missing=held_out.missing(metric, why),
    )


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
    held_out: HeldOut, metric: str, found: Sequence[Estimate], gauges: list[Gauge]
) -> RunVerdict:
    """Say why nothing is decided, and whether something may yet be."""
    evidence = held_out.evidence
    if not evidence.has_begun:
        kind = Kind.UNJUDGED if evidence.is_over else Kind.WAITING
        sentence = (
            "Nothing was measured: the run ended before its first step."
            if evidence.is_over
            else "Nothing was measured yet."
        )
        return _verdict(evidence, kind, "none", sentence, "", None, gauges, None)
    why, reason = held_out.why_undecided(metric, found)
    if not why:
        sentence = "Too early to say."
        return _verdict(evidence, Kind.WAITING, "none", sentence, "", None, gauges, None)
    sentence = f"Nothing shows what the model learned: {why}."
    return _verdict(evidence, Kind.UNJUDGED, "warn", sentence, reason, None, gauges, None)


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
    return RunVerdict(
        kind=kind,
        level=level,
        sentence=sentence,
        reason=" ".join(filter(None, (reason, output_sentence(evidence.shipped_step)))),
        judged_by=judged_by,
        gauges=gauges,
        best_step=None if best is None else best.step,
        shipped_step=evidence.shipped_step,
        happened=[
            *_best_happened(best, evidence, judged_by),
            *divergence.peak_happened(_losses(evidence)),
        ],
    )


def _best_happened(
    best: Estimate | None, evidence: Evidence, metric: str | None
) -> list[Happening]:
    """Tell of the best of several evaluations, and whether it is clearly better than the first."""
    if best is None or metric is None:
        return []
    is_loss = metric == "eval/loss"
    found = _losses(evidence) if is_loss else evidence.estimates(metric)
    if len(found) < 2:
        return []
    is_better = _is_best_better(found, best, is_loss=is_loss)
    # The intervals of losses are those of their changes.
    loss, accuracy = f"Lowest held-out loss: {shown(best.value)}", with_interval(best)
    text = loss if is_loss else f"Best held-out accuracy: {accuracy}"
    if best.step == found[0].step:
        text += ", in the first evaluation"
    elif is_better is False:
        text += f", not clearly {'below' if is_loss else 'above'} the first"
    is_above_chance = best.low is not None and best.low > _CHANCE
    level: Level = "good" if is_better and (is_loss or is_above_chance) else "none"
    return [Happening(step=best.step, sentence=f"{text}.", level=level)]


def _is_best_better(found: Sequence[Estimate], best: Estimate, *, is_loss: bool) -> bool | None:
    """Whether the best evaluation is clearly better than the first, as it is if the last one is.

    None = no error is known.
    """

    def is_better(moved: Change, z: float = Z95) -> bool:
        return moved.size < 0 and _is_clear(moved, z) if is_loss else moved.rose(z)

    first, last = found[0], found[-1]
    rise = change(first, best)
    # The last evaluation was not chosen, so it has to differ by less.
    is_chosen = best.step != last.step and is_better(rise, z_of_best(len(found) - 1))
    if is_better(change(first, last)) or is_chosen:
        return True
    return None if rise.error is None else False


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
