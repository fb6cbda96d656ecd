"""The five gauges of a run that optimises a policy."""

from collections.abc import Sequence

from backend.domain.dotted_path import value_at
from backend.domain.verdict.evidence import Evidence, Point, Trend, first_beyond
from backend.domain.verdict.measured import (
    NONE_SCORED,
    Judged,
    mean_of_end,
    not_measured,
    was,
    why_missing,
)
from backend.domain.verdict.policy import output
from backend.domain.verdict.policy.courses import STEADY, course
from backend.domain.verdict.policy.deciding import Deciding
from backend.domain.verdict.policy.signs import LEAST_ENTROPY, Signs, least_entropy
from backend.domain.verdict.words import HOLD_OUT, as_set, percent, shown
from backend.plural import plural
from backend.schemas.metrics.verdicts import Gauge, Level, Span
from backend.schemas.vocabulary import GREEDY_ESTIMATORS, GROUPED_ESTIMATORS

_FEWEST_THAT_TEACH = 0.2
# Of what it was at first: the policy tries little else any more.
_MUCH_LESS = 0.25
# Of the responses: what so many of them lack is no good sign, however steady it is.
_MUCH_CUT = 0.05
_FEWEST_STEPS = 5
_TOO_FEW_STEPS = "Shown from five steps on."
# Of estimators that do not compare the responses to a prompt with each other.
_ALL_TEACH: Judged = "none", "this estimator does not compare a prompt's responses with each other"
# Nats per response: the picture of a smaller KL shows how small it is.
_LEAST_SCALE = 1.0
# What every step measures, whether or not a response of it counts.
_OF_EVERY_STEP = "length/mean"


def of(
    signs: Signs,
    deciding: Deciding,
    *,
    has_risen: bool | None,
    has_turned: bool,
    has_fallen: bool | None,
) -> list[Gauge]:
    """Gauge reward, distance, entropy, length, and how many prompts have responses that differ.

    `has_risen`: whether the last evaluation is clearly above the first; `has_turned`: whether it is
    clearly below the first or the best; `has_fallen`: whether it is clearly below the best, by
    however little. None: no error is known.
    """
    evidence = signs.evidence
    return [
        _reward(signs, deciding, has_risen=has_risen, has_turned=has_turned, has_fallen=has_fallen),
        _distance(evidence, signs),
        _entropy(evidence),
        _length(evidence, signs),
        _groups(evidence),
    ]


def _reward(
    signs: Signs,
    deciding: Deciding,
    *,
    has_risen: bool | None,
    has_turned: bool,
    has_fallen: bool | None,
) -> Gauge:
    evaluations, judge = deciding.evaluations, deciding.metric
    if not evaluations:
        return Gauge(metric=judge, value=None, missing=_why_no_reward(deciding))
    last, best = evaluations[-1], max(evaluations, key=lambda one: one.value)
    lows = [one.value if one.low is None else one.low for one in evaluations]
    highs = [one.value if one.high is None else one.high for one in evaluations]
    below = best.value - last.value
    newer = None if deciding.is_outside else signs.evidence.newer_evaluation(judge)
    is_best = below <= 0 and len(evaluations) > 1
    shipped = signs.evidence.shipped_step
    is_left = is_best and shipped is not None and shipped != last.step
    by = signs.doubtful(judge)
    note = f"the best evaluation{by}" if is_best else ""
    if below > 0:
        is_output = ", whose model is the output" if best.step == shipped else ""
        what = f"its best evaluation{by}, {shown(best.value)} at step {best.step:,}{is_output}"
        note = f"{'not clearly' if has_fallen is False else shown(below)} below {what}"
    elif is_best and last.value == evaluations[0].value:
        note = f"as in the first evaluation{by}"
    elif is_best and has_risen is False:
        note += ", not clearly above the first"
    if is_left:
        note += f"; the output is the model of step {shipped:,}"
    if output.chose(deciding, last.step):
        note += f"; {output.BIASED}"
    if newer is not None:
        of_step = f"of step {last.step:,}: no response could be scored at step {newer:,}"
        note = "; ".join(filter(None, (note, of_step)))
    is_good = is_best and has_risen is True and not by and not is_left and newer is None
    return Gauge(
        metric=judge,
        value=last.value,
        interval=last.interval,
        beside=_of_prompts(deciding, is_newest=newer is None),
        scale=Span(low=min(lows), high=max(highs)),
        level="bad" if has_turned else "good" if is_good else "none",
        note=note,
    )


def _why_no_reward(deciding: Deciding) -> str:
    evidence = deciding.evidence
    if not evidence.has_begun:
        return not_measured(evidence)
    if deciding.is_evaluated:
        return NONE_SCORED
    if deciding.is_expected:
        return "It was not evaluated." if evidence.is_over else "It was not evaluated yet."
    known = "No held-out prompts" if evidence.n_heldout == 0 else "No held-out prompt was evaluated"
    return f"{known}. {HOLD_OUT}."


def _of_prompts(deciding: Deciding, *, is_newest: bool) -> str:
    """Say on how many prompts the reward is measured, what it leaves out, what it was at first."""
    evaluations, unscored = deciding.evaluations, deciding.unscored
    prompts = "" if deciding.n_heldout is None else plural(deciding.n_heldout, "prompt")
    missed = f"{percent(unscored)} unscored" if is_newest and unscored > 0 else ""
    at_first = was(evaluations[0]) if len(evaluations) > 1 else ""
    return ", ".join(filter(None, (prompts, missed, at_first)))


def _distance(evidence: Evidence, signs: Signs) -> Gauge:
    exact = evidence.estimates("kl/exact")
    metric = "kl/exact" if exact else "kl/response"
    if signs.kl is None:
        return Gauge(metric=metric, value=None, missing=_why_no_distance(evidence))
    limit = signs.kl_limit
    since = None if limit is None else first_beyond(signs.kl_curve, limit)
    level: Level = "none" if limit is None else "good"
    note = "no limit: there is no reward model, and `kl.max` is not set"
    if limit is not None:
        note = f"below {as_set(limit)}"
    if limit is not None and signs.kl > limit:
        level = "warn"
        note = f"above {as_set(limit)}" + ("" if since is None else f" since step {since:,}")
    if signs.is_near:
        note = f"hardly moved from its reference; {note}"
    # Of the same responses, so that KL and length divide to it.
    length = evidence.last("eval/length")
    per_token = signs.kl / length if exact and length else signs.kl_per_token
    interval = exact[-1].interval if exact else None
    highest = signs.kl if interval is None else max(signs.kl, interval.high)
    return Gauge(
        metric=metric,
        value=signs.kl,
        interval=interval,
        beside="" if per_token is None else f"{shown(per_token)} per token",
        healthy=None if limit is None else Span(low=0, high=limit),
        scale=Span(low=0, high=max(1.05 * highest, 1.25 * (limit or signs.kl), _LEAST_SCALE)),
        level=level,
        note=note,
    )


def _why_no_distance(evidence: Evidence) -> str:
    if value_at(evidence.config, "kl.coef") == 0:
        missing = "kl.coef is 0, so only an evaluation on held-out prompts measures the KL."
        return why_missing(evidence, "kl/exact", missing)
    return _why_no_course(evidence, "kl/response")


def _why_no_course(evidence: Evidence, metric: str, counted: str = "response that counts") -> str:
    """Say why a metric has no course; `counted`: what a step has to have for a value of it."""
    n, n_steps = len(evidence.curve(metric)), len(evidence.curve(_OF_EVERY_STEP))
    if not evidence.has_begun and evidence.is_over:
        return why_missing(evidence, metric)
    if max(n, n_steps) < _FEWEST_STEPS:
        return _TOO_FEW_STEPS
    if n > 0:
        of_steps = "1 step has" if n == 1 else f"{n} steps have"
        return f"Only {of_steps} a {counted}; shown from five on."
    missing = f"No step has a {counted}; one counts if {_when_it_counts(evidence)}."
    return why_missing(evidence, metric, missing)


def _when_it_counts(evidence: Evidence) -> str:
    """Say when a response counts, as far as the config bears on it."""
    is_finite = "its reward is finite"
    if evidence.config.get("estimator") in GREEDY_ESTIMATORS:
        is_finite = "its reward and that of its greedy response are finite"
    is_whole = " and the token limit has not cut it"
    return is_finite + (is_whole if evidence.config.get("overlong") == "mask" else "")


def _entropy(evidence: Evidence) -> Gauge:
    trend = evidence.trend_from_start("entropy")
    if trend is None:
        return Gauge(metric="entropy", value=None, missing=_why_no_course(evidence, "entropy"))
    low = least_entropy(trend.before)
    high = trend.before + 1
    note = course(trend, _steps(evidence, "entropy"))
    level: Level = "good" if note == STEADY else "none"
    if trend.after < low:
        level, note = "bad", "collapsing: nearly every token is certain"
    elif trend.after > high:
        level, note = "bad", "diverging"
    elif trend.ratio < _MUCH_LESS:
        level = "warn"
    if level != "bad" and max(trend.before, trend.after) < LEAST_ENTROPY:
        note += "; nearly every token was certain at the first step, too"
    return _course(evidence, "entropy", trend, Span(low=low, high=high), level, note)


def _length(evidence: Evidence, signs: Signs) -> Gauge:
    trend, cut = signs.length, evidence.trend("truncated_fraction")
    if trend is None:
        missing = _why_no_course(evidence, _OF_EVERY_STEP)
        return Gauge(metric=_OF_EVERY_STEP, value=None, missing=missing)
    limit = value_at(evidence.config, "rollout.max_new_tokens")
    high = min(2 * trend.before, float(limit)) if limit else 2 * trend.before
    note = course(trend, _steps(evidence, "length/mean"))
    is_whole = cut is None or cut.after < _MUCH_CUT
    level: Level = "good" if note == STEADY and is_whole else "none"
    if trend.after > high or signs.is_cut or trend.ratio < 1 / 2:
        level = "warn"
    if cut is not None and cut.after > 0:
        note += f"; the token limit cuts {percent(cut.after)} of the responses"
    healthy = Span(low=trend.before / 2, high=high)
    return _course(evidence, "length/mean", trend, healthy, level, note)


def _steps(evidence: Evidence, metric: str) -> Sequence[Point]:
    """A metric as closely as it was read; of a long run the first steps one by one."""
    return [*evidence.beginning(metric), *evidence.curve(metric)]


def _course(
    evidence: Evidence, metric: str, trend: Trend, healthy: Span, level: Level, note: str
) -> Gauge:
    """Where a metric stands beside where it began, on a scale that shows what is healthy."""
    return Gauge(
        metric=metric,
        value=trend.after,
        beside=f"{mean_of_end(evidence, metric)}, {was(evidence.beginning(metric)[0])}",
        healthy=healthy,
        scale=Span(low=0, high=max(1.1 * (healthy.high or 0), 1.05 * trend.after)),
        level=level,
        note=note,
    )


def _groups(evidence: Evidence) -> Gauge:
    alike = evidence.trend_from_start("group/zero_std_fraction")
    metric, title = "group/zero_std_fraction", "Prompts with different rewards"
    if alike is None:
        is_single = value_at(evidence.config, "rollout.samples_per_prompt") == 1
        missing = (
            "One response per prompt: set `rollout.samples_per_prompt` to 2 or more."
            if is_single
            else _why_no_course(evidence, metric, "prompt with two responses that count")
        )
        return Gauge(metric=metric, title=title, unit="%", value=None, missing=missing)
    teach, first = 1 - alike.after, evidence.beginning(metric)[0]
    at_first = Point(first.step, 100 * (1 - first.value))
    is_judged = evidence.config.get("estimator") in GROUPED_ESTIMATORS
    level, note = _taught(teach, at_first=1 - alike.before) if is_judged else _ALL_TEACH
    return Gauge(
        metric=metric,
        title=title,
        unit="%",
        value=100 * teach,
        beside=f"{mean_of_end(evidence, metric)}, {was(at_first)}",
        healthy=Span(low=100 * _FEWEST_THAT_TEACH, high=100) if is_judged else None,
        scale=Span(low=0, high=100),
        level=level,
        note=note,
    )


def _taught(teach: float, *, at_first: float) -> Judged:
    """Judge the share of prompts whose responses differ in reward, with a note."""
    if teach < _FEWEST_THAT_TEACH:
        return "warn", "the others teach nothing: little is left to learn"
    return "none" if teach < at_first / 2 else "good", "the others teach nothing"
