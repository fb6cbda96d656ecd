"""A win rate that people gave: named beside what decides, never a reason to call a run better."""

from collections.abc import Sequence

import pytest

from backend.domain.verdict.evidence import Evidence, Judge, Point
from backend.domain.verdict.judging import judge
from backend.schemas.metrics.verdicts import RunVerdict
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind

RULES = {"reward": {"terms": [{"kind": "regex"}]}, "estimator": "rloo"}
PEOPLE = Judge("people, 45 pairs against sft", ["gold/win_rate"], [40])


def evaluated(name: str, values: dict[int, tuple[float, float, float]]) -> dict[str, list[Point]]:
    ends = {"": 1, "_low": 0, "_high": 2}
    return {
        f"{name}{end}": [Point(step, row[place]) for step, row in values.items()]
        for end, place in ends.items()
    }


def verdict(
    *won: tuple[int, tuple[float, float, float]],
    heldout: Sequence[float] = (0.2, 0.6),
    judges: Sequence[Judge] = (PEOPLE,),
    shipped_step: int = 40,
    method: Method = Method.POLICY_GRADIENT,
) -> RunVerdict:
    """Of a run of 40 steps; `won`: step, and lower end, value and upper end of a win rate."""
    curves = evaluated(
        "eval/reward", {40 * i: (v - 0.05, v, v + 0.05) for i, v in enumerate(heldout)}
    )
    curves |= evaluated("gold/win_rate", dict(won))
    return judge(method, Evidence(RULES, curves, True, shipped_step=shipped_step, judges=judges))


def test_a_win_rate_is_named_with_who_judged_and_what_decides_stays() -> None:
    found = verdict((40, (0.55, 0.64, 0.72)))

    assert (found.kind, found.level, found.judged_by) == (Kind.IMPROVED, "good", "eval/reward")
    assert found.sentence == "The held-out reward rose from 0.200 to 0.600."
    assert found.reason.endswith(
        "Outside the run, the win rate of the weights of step 40 was 64 % [55, 72], a tie counting "
        "half (judged by people, 45 pairs against sft)."
    )


def test_who_loses_is_not_shown_as_good() -> None:
    found = verdict((40, (0.3, 0.38, 0.46)))

    assert (found.kind, found.level) == (Kind.IMPROVED, "warn")
    assert found.sentence == (
        "The held-out reward rose from 0.200 to 0.600, but outside the run it lost more pairs "
        "than it won."
    )


@pytest.mark.parametrize(
    ("step", "interval", "shipped_step"),
    [(40, (0.4, 0.48, 0.56), 40), (20, (0.3, 0.38, 0.46), 40), (40, (0.3, 0.38, 0.46), 20)],
    ids=["not clearly", "earlier weights", "weights that are not the output"],
)
def test_only_a_clear_loss_of_the_output_counts(
    step: int, interval: tuple[float, float, float], shipped_step: int
) -> None:
    found = verdict((step, interval), shipped_step=shipped_step)

    assert found.level == "good"
    assert f"Outside the run, the win rate of the weights of step {step} was" in found.reason


def test_a_loss_makes_nothing_better_that_is_bad_and_a_win_neither() -> None:
    fallen = verdict((40, (0.55, 0.64, 0.72)), heldout=(0.6, 0.2))

    assert (fallen.kind, fallen.level) == (Kind.WORSE, "bad")
    assert verdict((40, (0.3, 0.38, 0.46)), heldout=(0.6, 0.2)).sentence == fallen.sentence


def test_a_win_rate_that_decides_is_not_told_twice() -> None:
    found = verdict((0, (0.45, 0.5, 0.55)), (40, (0.55, 0.64, 0.72)))

    assert found.judged_by == "gold/win_rate"
    assert "Outside the run" not in found.reason


def test_without_held_out_prompts_it_is_what_is_known() -> None:
    found = verdict((40, (0.55, 0.64, 0.72)), heldout=())

    assert (found.kind, found.level) == (Kind.UNJUDGED, "warn")
    assert found.sentence.startswith("Nothing in the run shows whether the policy got better")
    assert "the win rate of the weights of step 40 was 64 % [55, 72]" in found.reason


def test_nobody_is_named_who_judged_other_steps_or_metrics() -> None:
    others = [PEOPLE._replace(steps=range(21)), PEOPLE._replace(names=["gold/reward"])]

    assert verdict((40, (0.5, 0.6, 0.7)), judges=others).reason.endswith("half.")
    last = PEOPLE._replace(who="two experts")
    assert "(judged by two experts)" in verdict((40, (0.5, 0.6, 0.7)), judges=[PEOPLE, last]).reason


def test_a_run_that_trains_on_preferences_is_told_it_too() -> None:
    found = verdict((40, (0.3, 0.38, 0.46)), method=Method.DPO)

    assert "the win rate of the weights of step 40 was 38 % [30, 46]" in found.reason
