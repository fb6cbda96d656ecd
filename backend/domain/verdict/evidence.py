"""What the curves of a run show, with how sure it is: estimates, changes between them, trends.

Used by the rules of each method in this folder.
"""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import NormalDist, fmean
from typing import Any, NamedTuple

from backend.schemas.metrics.verdicts import Span
from intervals.interval import Z95

# Parts of a curve's points. What happens to a policy often happens early: a longer beginning would
# contain it.
_BEGINNING, _END = 0.05, 0.2
_FEWEST_FOR_TREND = 5
_FEWEST_FOR_NOISE = 4


class Point(NamedTuple):
    """A value at a step."""

    step: int
    value: float


class Estimate(NamedTuple):
    """A value at a step with its 95 % interval, None where it was measured without one."""

    step: int
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> Span | None:
        """The interval of the value, if both ends are known."""
        return Span.of(self.low, self.high)

    @property
    def error(self) -> float | None:
        """The standard error of the value, if its interval is known."""
        span = self.interval
        return None if span is None else (span.high - span.low) / (2 * Z95)


class Resume(NamedTuple):
    """A later attempt at a run, and the step after which it went on; 0 = from the beginning."""

    attempt: int
    step: int


class Judge(NamedTuple):
    """Who judged these metrics at these steps, outside the run; "" = that was not said."""

    who: str
    names: Sequence[str]
    steps: Container[int]


class Sides(NamedTuple):
    """How many prompts of a snapshot are to be trained on, and how many are held out."""

    n_train: int
    n_heldout: int


@dataclass(frozen=True)
class Evidence:
    """Everything that the rules look at.

    `curves`: the points of each metric by ascending step, without those that are not finite, so
    that one of which none is finite is empty; of a long one that each step measures, means of
    neighbouring steps. `beginnings`: the first points of each curve of such means, one by one.
    `is_over`: whether no more will come. `shipped_step`: that of the weights which the run left.
    `resumes`: in the order of the attempts; they are told and never judged. `n_heldout`: records
    that the run's own data hold out, of a policy those prompts on which it is evaluated; None = not
    known. `judges`: who judged what was attached, as far as that was said, in the order in which it
    was. `sides`: those of the snapshot that an evaluation is about; None = not known. `learned`:
    what the snapshots are known by that the model which the run began with, or one before it, was
    trained on.
    """

    config: Mapping[str, Any]
    curves: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    beginnings: Mapping[str, Sequence[Point]] = field(default_factory=dict, kw_only=True)
    is_over: bool = False
    shipped_step: int | None = None
    resumes: Sequence[Resume] = ()
    n_heldout: int | None = None
    judges: Sequence[Judge] = ()
    sides: Sides | None = None
    learned: Container[str] = ()

    @property
    def has_begun(self) -> bool:
        """Whether the run itself has measured anything; what is attached to it says nothing."""
        return any(not name.startswith("gold/") for name in self.curves)

    def has_learned(self, data: Iterable[str]) -> bool:
        """Whether what the run began with was trained on data that any of these names."""
        return any(one in self.learned for one in data)

    def evaluated_at(self, prefix: str = "eval/") -> list[int]:
        """The steps at which a set was evaluated, whatever that found: `eval/` are the run's own
        records, `eval/NAME/` those of a named set.
        """
        of_set = (curve for name, curve in self.curves.items() if _is_of_set(name, prefix))
        return sorted({point.step for curve in of_set for point in curve})

    def is_evaluated(self, prefix: str = "eval/") -> bool:
        """Whether a set was evaluated, even if no number of it is finite."""
        return any(_is_of_set(name, prefix) for name in self.curves)

    def newer_evaluation(self, metric: str) -> int | None:
        """The step of the newest evaluation if it has no value of its metric, but an earlier one
        has; else None.
        """
        prefix, curve = prefix_of(metric), self.curve(metric)
        newest = max(
            (one[-1].step for name, one in self.curves.items() if one and _is_of_set(name, prefix)),
            default=0,
        )
        return newest if curve and newest > curve[-1].step else None

    def curve(self, name: str) -> Sequence[Point]:
        """The points of a metric; empty where there is none."""
        return self.curves.get(name, ())

    def last(self, name: str) -> float | None:
        """The newest value of a metric."""
        curve = self.curve(name)
        return curve[-1].value if curve else None

    def unscored(self, prefix: str = "eval/") -> float:
        """The share of the responses of the newest evaluation that no reward could score."""
        coverage = self.last(f"{prefix}coverage")
        return 0.0 if coverage is None else 1 - coverage

    def estimates(self, name: str) -> list[Estimate]:
        """The evaluations of a metric with their intervals, by step."""
        lows, highs = dict(self.curve(f"{name}_low")), dict(self.curve(f"{name}_high"))
        return [
            Estimate(step, value, lows.get(step), highs.get(step))
            for step, value in self.curve(name)
        ]

    def judge_of(self, name: str, step: int) -> str | None:
        """Who judged a metric at a step, as far as that was said; of several the last."""
        of_it = (
            one.who for one in reversed(self.judges) if name in one.names and step in one.steps
        )
        return next(of_it, "") or None

    def trend(self, name: str) -> "Trend | None":
        """How a metric moved over the run; None with too few points to say."""
        return trend(self.curve(name))

    def beginning(self, name: str) -> Sequence[Point]:
        """The first points of a metric, none of which is a mean of several steps."""
        return self.beginnings.get(name) or self.curve(name)

    def trend_from_start(self, name: str) -> "Trend | None":
        """How a metric moved from its first point alone; None with too few points to say."""
        return trend_from_start(self.curve(name), self.beginning(name))


def prefix_of(metric: str) -> str:
    """What the metrics of the same set begin with: `eval/ood/` of `eval/ood/reward`."""
    return f"{metric.rpartition('/')[0]}/"


def _is_of_set(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and "/" not in name.removeprefix(prefix)


@dataclass(frozen=True)
class Change:
    """A change from one value to another, and its standard error (None = not known)."""

    before: float
    after: float
    error: float | None

    @property
    def size(self) -> float:
        """The value after less the value before."""
        return self.after - self.before

    def rose(self, z: float = Z95) -> bool:
        """Whether it grew by more than z standard errors; never where the error is not known."""
        return self.error is not None and self.size > z * self.error

    def fell(self, z: float = Z95) -> bool:
        """Whether it shrank by more than z standard errors; never where that is not known."""
        return self.error is not None and -self.size > z * self.error

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference."""
        if self.error is None:
            return None
        return self.size - Z95 * self.error, self.size + Z95 * self.error


@dataclass(frozen=True)
class Trend(Change):
    """The change from the beginning of a curve to its end (its last fifth)."""

    @property
    def ratio(self) -> float:
        """The value after divided by the value before; infinite from 0."""
        return self.after / self.before if self.before else math.inf


def change(
    before: Estimate, after: Estimate, noise: float | None = None, *, least: float = 0.0
) -> Change:
    """The change between two evaluations.

    Both have the same prompts, so the error, which takes them as independent, is rather too large
    than too small. `noise` is the error of one evaluation where there is no interval; `least`, what
    each counts as at least.
    """
    first = noise if before.error is None else before.error
    second = noise if after.error is None else after.error
    if first is None or second is None:
        return Change(before.value, after.value, None)
    error = math.hypot(max(first, least), max(second, least))
    return Change(before.value, after.value, error)


def z_of_best(n: int) -> float:
    """How many standard errors below the best of n others an evaluation has to be to say so.

    The best of several is the best partly by luck: each of the n gets an equal part of the 2.5 %
    by which one would seem to fall though nothing changed (Bonferroni). 1.96 for one, 2.81 for ten.
    """
    return NormalDist().inv_cdf(1 - 0.025 / max(1, n))


def noise_of(values: Sequence[float]) -> float | None:
    """The standard deviation of a series around whatever it follows.

    From the differences of neighbours (von Neumann et al. 1941), so that a trend does not count as
    noise. None for fewer than four values.
    """
    if len(values) < _FEWEST_FOR_NOISE:
        return None
    squares = [(after - before) ** 2 for before, after in pairwise(values)]
    return math.sqrt(fmean(squares) / 2)


def end_of(curve: Sequence[Point]) -> Sequence[Point]:
    """The last fifth of a curve's points, one at least where there is any."""
    return curve[-max(1, round(len(curve) * _END)) :]


def trend(curve: Sequence[Point]) -> Trend | None:
    """Compare the mean of the first twentieth of a curve's points with that of its last fifth.

    Neighbouring steps are taken as independent around the curve. None for under five points.
    """
    values = [value for _, value in curve]
    noise = noise_of(values)
    if len(values) < _FEWEST_FOR_TREND or noise is None:
        return None
    first = max(1, round(len(values) * _BEGINNING))
    last = [value for _, value in end_of(curve)]
    error = noise * math.sqrt(1 / first + 1 / len(last))
    return Trend(fmean(values[:first]), fmean(last), error)


def trend_from_start(curve: Sequence[Point], beginning: Sequence[Point]) -> Trend | None:
    """Compare the first point of a beginning with the mean of the last fifth of its curve.

    The first point is as noisy as those behind it in the beginning, whose points may be single
    steps where those of the curve are means of several.
    """
    found = trend(curve)
    if found is None:
        return None
    noise = noise_of([value for _, value in curve]) or 0.0
    of_one = noise_of([value for _, value in beginning])
    error = math.hypot(noise if of_one is None else of_one, noise / math.sqrt(len(end_of(curve))))
    return Trend(beginning[0].value, found.after, error)


def level_near(curve: Sequence[Point], step: int) -> float | None:
    """The mean of the tenth of a curve's points that are nearest to a step."""
    if not curve:
        return None
    n = max(1, round(len(curve) / 10))
    nearest = sorted(curve, key=lambda point: abs(point.step - step))[:n]
    return fmean(value for _, value in nearest)


def first_beyond(curve: Sequence[Point], limit: float, *, below: bool = False) -> int | None:
    """The step from which on a curve stays beyond a limit to its end; None if it does not."""
    found = None
    for step, value in reversed(curve):
        if (value >= limit) if below else (value <= limit):
            break
        found = step
    return found


def quietened(curve: Sequence[Point]) -> list[Point]:
    """Each value as the mean of the twentieth of the curve that ends with it."""
    n = max(1, len(curve) // 20)
    return [
        Point(point.step, fmean(value for _, value in curve[max(0, i + 1 - n) : i + 1]))
        for i, point in enumerate(curve)
    ]
