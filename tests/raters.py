"""Simulated annotators: utilities with errors, ties by rounding, rankings in part.

Tests of agreement and of aggregation use it, and the long proofs in tests/benchmarks.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from random import Random

from backend.domain.agreement.judged import Judged, Text
from backend.domain.ranking import Ranking
from backend.schemas.vocabulary import Verdict

BEGIN = datetime(2026, 11, 2, tzinfo=UTC)  # a Monday


@dataclass(frozen=True)
class Task:
    """How comparisons with this many responses are ranked.

    `noise`: the annotator's error, in standard deviations of the true utilities; inf = at random.
    `tie_width`: utilities are rounded to multiples of this many of their own standard deviations;
    0 = no ties. `top`: only the best so many are placed. `dropped`: how likely each response is
    not placed at all.
    """

    size: int
    noise: float
    tie_width: float = 0.0
    top: int | None = None
    dropped: float = 0.0


def ranked(
    comparison: str, user: str, *tiers: Sequence[str], unranked: Sequence[str] = (), day: int = 0
) -> Judged:
    """A judgment that says just this; ids stand for their texts and are shown in their order."""
    ids = sorted([one for tier in tiers for one in tier] + list(unranked))
    return Judged(
        comparison_id=comparison,
        prompt_id=f"prompt of {comparison}",
        user_id=user,
        ranking=Ranking(tuple(map(tuple, tiers)), tuple(unranked), Verdict.RANKED),
        texts={one: Text(len(one), one) for one in ids},
        presented_order=ids,
        active_s=2.0,
        at=BEGIN + timedelta(days=day),
    )


def simulated(
    tasks: Sequence[Task], comparisons: int, *, seed: int, users: Sequence[str] = ("x", "y")
) -> Iterator[Judged]:
    """Each comparison is one of the tasks, ranked by two of the users, all drawn evenly."""
    draw = Random(seed)
    for number in range(comparisons):
        task = draw.choice(tasks)
        truth = [draw.gauss(0, 1) for _ in range(task.size)]
        for user in draw.sample(users, 2):
            tiers, unranked = _ranking(task, truth, draw)
            if tiers:
                yield ranked(f"c{number}", user, *tiers, unranked=unranked)


def judged_again(
    tasks: Sequence[Task], comparisons: int, *, seed: int, user: str = "x"
) -> Iterator[Judged]:
    """Each comparison is one of the tasks, ranked by this user alone, and again as another one."""
    for one in simulated(tasks, comparisons, seed=seed, users=("first", "again")):
        comparison_id = f"{one.comparison_id} of {user}, {one.user_id}"
        yield replace(one, user_id=user, comparison_id=comparison_id)


def _ranking(task: Task, truth: Sequence[float], draw: Random) -> tuple[list[list[str]], list[str]]:
    is_random = math.isinf(task.noise)
    spread = 1.0 if is_random else math.hypot(1, task.noise)
    seen = [draw.gauss(0, 1) if is_random else one + task.noise * draw.gauss(0, 1) for one in truth]
    if task.tie_width:
        seen = [float(round(one / (task.tie_width * spread))) for one in seen]
    order = list(range(task.size))
    draw.shuffle(order)  # Which of the tied ones are among the best is chance, too.
    order.sort(key=lambda one: -seen[one])
    placed = [one for one in order[: task.top] if draw.random() >= task.dropped]
    tiers = [[f"r{one}" for one in tier] for _, tier in groupby(placed, key=lambda one: seen[one])]
    return tiers, [f"r{one}" for one in order if one not in placed]
