"""How a curve of many points becomes a few buckets that hide no spike.

A bucket covers a power of two of steps and begins at a multiple of it, so a curve that grows keeps
the buckets it has. `backend.store.metrics.curves` asks how wide they are; pure.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is known of the points from one stretch of steps; None where no value is finite.

    `n` counts the points, `n_values` those with a value; `step`, `time_s`, `tokens` and `last` are
    those of the last point.
    """

    step: int
    time_s: float
    tokens: int
    n: int
    n_values: int
    min: float | None
    max: float | None
    mean: float | None
    last: float | None


def bucket_width(first_step: int, last_step: int, *, points: int) -> int:
    """The smallest power of two for which at most `points` aligned buckets hold these steps.

    Raises ValueError if points < 1 or the first step is negative.
    """
    if points < 1 or first_step < 0:
        raise ValueError(
            f"found points {points} and first step {first_step}; expected points >= 1 and first "
            "step >= 0"
        )
    width = 1
    while last_step // width - first_step // width >= points:
        width *= 2
    return width


def ascending(buckets: Iterable[Bucket], x: Callable[[Bucket], float]) -> list[Bucket]:
    """The same buckets with `x` strictly ascending: one that does not advance joins its forerunner.

    Time and tokens may stand still between two steps; a chart needs unique x.
    """
    kept: list[Bucket] = []
    for bucket in buckets:
        if kept and x(bucket) <= x(kept[-1]):
            end = max(kept[-1], bucket, key=x)
            both = _join([kept.pop(), bucket])
            bucket = replace(both, time_s=end.time_s, tokens=end.tokens)
        kept.append(bucket)
    return kept


def _join(group: list[Bucket]) -> Bucket:
    if len(group) == 1:
        return group[0]
    end = group[-1]
    lows = [b.min for b in group if b.min is not None]
    highs = [b.max for b in group if b.max is not None]
    n_values = sum(b.n_values for b in group)
    total = sum(b.mean * b.n_values for b in group if b.mean is not None)
    return Bucket(
        step=end.step,
        time_s=end.time_s,
        tokens=end.tokens,
        n=sum(b.n for b in group),
        n_values=n_values,
        min=min(lows, default=None),
        max=max(highs, default=None),
        mean=total / n_values if n_values else None,
        last=end.last,
    )
