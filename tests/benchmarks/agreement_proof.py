"""The long proofs of agreement: chance is 0, no contradiction is 1, intervals cover the truth.

Each law has a short form in tests/backend/agreement. The last one asks krippendorff, scipy, choix
and crowd-kit, which pip installs into an environment of their own.
"""

import json
import subprocess
from collections.abc import Sequence
from math import asin, inf, pi, sqrt
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from backend.domain.agreement.habits import Share, habits
from backend.domain.agreement.judged import Judged
from backend.domain.agreement.pairwise import Pairwise, meetings, pairwise, tie_rates
from backend.domain.agreement.ranks import rank_agreement
from tests.backend.agreement.test_peers import check
from tests.benchmarks import installed
from tests.raters import Task, judged_again, simulated

COMPARISONS = 2000
RUNS = 1000
PEERS = ("krippendorff==0.9.0", "scipy==1.17.1", "choix==0.4.1", "crowd-kit==1.4.2")

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(0)]

# Every number of responses, every habit of tying, every way to leave responses out.
MIXES = {
    **{f"{k}": [Task(k, inf)] for k in range(2, 9)},
    **{f"{k}, ties": [Task(k, inf, tie_width=1.0)] for k in range(2, 9)},
    "2 and 8": [Task(2, inf), Task(8, inf)],
    "2 with ties, 8 without": [Task(2, inf, tie_width=2.0), Task(8, inf)],
    "2 without ties, 8 with": [Task(2, inf), Task(8, inf, tie_width=2.0)],
    "2 to 8": [Task(k, inf) for k in range(2, 9)],
    "2 to 8, ties": [Task(k, inf, tie_width=0.25 * (k - 1)) for k in range(2, 9)],
    "8, the best 3": [Task(8, inf, top=3)],
    "8, the best 3, and 2": [Task(8, inf, top=3), Task(2, inf)],
    "6, 40 % left out": [Task(6, inf, tie_width=0.5, dropped=0.4)],
    "everything": [Task(k, inf, 0.3 * (k % 4), None, 0.1 * (k % 4)) for k in range(2, 9)],
}


def agreement(judged: Sequence[Judged]) -> Pairwise:
    """The headline of these judgments."""
    met = meetings(judged)
    return pairwise(met, tie_rates(met))


@pytest.mark.parametrize("tasks", MIXES.values(), ids=MIXES)
def test_annotators_who_rank_at_random_are_within_two_hundredths_of_zero(tasks: list[Task]) -> None:
    """The mean over projects, as many as it takes to know it within .01.

    One project does not tell: two coin flippers on 2,000 pairs vary by .02 themselves.
    """
    values: list[float] = []
    while len(values) < 10 or stdev(values) / sqrt(len(values)) > 0.005:
        found = agreement(list(simulated(tasks, COMPARISONS, seed=len(values))))
        assert found.value is not None
        values.append(found.value)
    print(f"mean {fmean(values):+.4f} over {len(values)}, {min(values):+.3f} to {max(values):+.3f}")
    assert abs(fmean(values)) < 0.02


@pytest.mark.parametrize("tasks", MIXES.values(), ids=MIXES)
def test_who_never_contradicts_agrees_fully(tasks: list[Task]) -> None:
    exact = [Task(one.size, 0.0, one.tie_width, one.top, one.dropped) for one in tasks]
    found = agreement(list(simulated(exact, COMPARISONS, seed=1, users="vwxyz")))
    assert found.value is None or found.value == pytest.approx(1, abs=1e-12)


# What annotators may be like: from coins to almost always of one mind.
CROWDS: dict[str, tuple[list[Task], str]] = {
    "coins": ([Task(2, inf)], "xy"),
    "coins, 2 to 8 with ties": ([Task(k, inf, tie_width=0.9) for k in range(2, 9)], "xy"),
    "pairs": ([Task(2, 1.0)], "xy"),
    "pairs, 0.82": ([Task(2, 0.2)], "xy"),
    "pairs, 0.95": ([Task(2, 0.06)], "xy"),
    "four": ([Task(4, 0.7)], "xy"),
    "four with ties, five annotators": ([Task(4, 0.4, tie_width=1.0)], "vwxyz"),
    "eight, the best 4": ([Task(8, 0.5, tie_width=0.7, top=4)], "xy"),
    "2 and 8 with ties": ([Task(2, 0.5, 0.5), Task(8, 0.5, 0.5)], "xy"),
    "2 to 8 in part": ([Task(k, 0.6, 0.5, None, 0.3) for k in range(2, 9)], "xyz"),
}


@pytest.mark.parametrize("comparisons", [100, 300])
@pytest.mark.parametrize(("tasks", "users"), CROWDS.values(), ids=CROWDS)
def test_intervals_cover_the_truth(tasks: list[Task], users: str, comparisons: int) -> None:
    truth = _truth(tasks, users)
    covered = missing = 0
    for seed in range(RUNS):
        interval = agreement(list(simulated(tasks, comparisons, seed=seed, users=users))).interval
        missing += interval is None
        covered += interval is not None and interval[0] <= truth <= interval[1]
    print(f"truth {truth:.3f}: {100 * covered / (RUNS - missing):.1f} % of {RUNS} runs")
    assert missing == 0
    assert 0.93 * RUNS <= covered <= 0.97 * RUNS


def _truth(tasks: list[Task], users: str) -> float:
    """What the value tends to.

    In closed form for one pair of responses without ties, where the ends of intervals are few: two
    who see it with correlation r agree with probability 1/2 + asin(r) / pi (Sheppard 1899).
    """
    if len(tasks) == 1 and tasks[0].size == 2 and not tasks[0].tie_width:
        return 2 / pi * asin(1 / (1 + tasks[0].noise ** 2))
    found = agreement(list(simulated(tasks, 100_000, seed=10_000, users=users))).value
    assert found is not None
    return found


def repeated(tasks: Sequence[Task], comparisons: int, *, seed: int, users: str) -> Share:
    """The self-consistency of these users, each with as many comparisons judged again."""
    return habits(
        [
            one
            for place, user in enumerate(users)
            for one in judged_again(
                tasks, comparisons // len(users), seed=seed * len(users) + place, user=user
            )
        ]
    ).self_consistency


@pytest.mark.parametrize("tasks", MIXES.values(), ids=MIXES)
def test_who_ranks_at_random_repeats_as_often_as_by_chance(tasks: list[Task]) -> None:
    """Ten annotators with five repeats each, as few as a real project has."""
    above: list[float] = []
    while len(above) < 10 or stdev(above) / sqrt(len(above)) > 0.0025:
        found = repeated(tasks, 50, seed=len(above), users="abcdefghij")
        assert found.value is not None
        assert found.by_chance is not None
        above.append(found.value - found.by_chance)
    print(f"mean {fmean(above):+.4f} over {len(above)}")
    assert abs(fmean(above)) < 0.01


@pytest.mark.parametrize("comparisons", [100, 300])
@pytest.mark.parametrize(("tasks", "users"), CROWDS.values(), ids=CROWDS)
def test_intervals_of_repeats_cover_the_truth(
    tasks: list[Task], users: str, comparisons: int
) -> None:
    truth = _repeated_truth(tasks, users)
    covered = 0
    for seed in range(RUNS):
        interval = repeated(tasks, comparisons, seed=seed, users=users).interval
        assert interval is not None
        covered += interval[0] <= truth <= interval[1]
    print(f"truth {truth:.3f}: {100 * covered / RUNS:.1f} % of {RUNS} runs")
    assert 0.93 * RUNS <= covered <= 0.97 * RUNS


# Each comparison ranked in full, so that all are of one size.
RANKED = {
    name: (tasks, users)
    for name, (tasks, users) in CROWDS.items()
    if len(tasks) == 1 and tasks[0].top is None and not tasks[0].dropped
}


@pytest.mark.parametrize("comparisons", [100, 300])
@pytest.mark.parametrize(("tasks", "users"), RANKED.values(), ids=RANKED)
def test_intervals_of_ranks_cover_the_truth(
    tasks: list[Task], users: str, comparisons: int
) -> None:
    alpha, w = _rank_truths(tasks, users)
    covered = [0, 0]
    for seed in range(RUNS):
        found = rank_agreement(simulated(tasks, comparisons, seed=seed, users=users))[0]
        assert found.alpha_interval is not None
        assert found.kendalls_w_interval is not None
        covered[0] += found.alpha_interval[0] <= alpha <= found.alpha_interval[1]
        covered[1] += found.kendalls_w_interval[0] <= w <= found.kendalls_w_interval[1]
    print(f"alpha {alpha:.3f}, W {w:.3f}: {[100 * one / RUNS for one in covered]} % of {RUNS} runs")
    assert all(0.93 * RUNS <= one <= 0.97 * RUNS for one in covered)


def _rank_truths(tasks: list[Task], users: str) -> tuple[float, float]:
    """What alpha and W tend to: in closed form where `_truth` is, alpha being that agreement."""
    if tasks[0].size == 2 and not tasks[0].tie_width:
        return _truth(tasks, users), (1 + _truth(tasks, users)) / 2
    found = rank_agreement(simulated(tasks, 100_000, seed=10_000, users=users))[0]
    assert found.alpha is not None
    assert found.kendalls_w is not None
    return found.alpha, found.kendalls_w


def _repeated_truth(tasks: list[Task], users: str) -> float:
    """What the share tends to; in closed form where `_truth` is, whose chance level is 1/2."""
    if len(tasks) == 1 and tasks[0].size == 2 and not tasks[0].tie_width:
        return (1 + _truth(tasks, users)) / 2
    found = repeated(tasks, 100_000, seed=10_000, users=users).value
    assert found is not None
    return found


def cases(count: int, *, seed: int) -> list[dict[str, Any]]:
    """Rankings of three to six responses by several annotators, with ties; votes without an end.

    Each response has beaten and lost to some other, so that strengths without a prior are finite.
    """
    draw = Random(seed)
    found: list[dict[str, Any]] = []
    for _ in range(count):
        size, annotators = draw.randint(3, 6), draw.randint(2, 5)
        wins = [[a, (a + 1) % size] for a in range(size)]
        wins += [draw.sample(range(size), 2) for _ in range(draw.randint(5, 40))]
        rankings = [_midranks(draw, size) for _ in range(annotators)]
        found.append({"rankings": rankings, "wins": wins, "prior": draw.choice([0.1, 0.5, 1.0])})
    return found


def _midranks(draw: Random, size: int) -> list[float]:
    seen = [draw.randint(1, size) for _ in range(size)]
    if len(set(seen)) == 1:
        seen[0] += 1
    return [sum(x < one for x in seen) + (seen.count(one) + 1) / 2 for one in seen]


def test_alpha_w_and_strengths_are_those_of_other_libraries(tmp_path: Path) -> None:
    python = installed.programs(tmp_path / "peers", *PEERS) / "python"
    told = subprocess.run(
        [python, installed.ROOT / "tests" / "benchmarks" / "agreement_peers.py"],
        input=json.dumps(cases(200, seed=1)),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = json.loads(told.stdout)
    for case in answers["cases"]:
        check(case)
    print(f"{len(answers['cases'])} cases as {answers['versions']}")
