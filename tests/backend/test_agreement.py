"""Krippendorff's alpha by his own example and by its laws; what an annotator's facts are."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.agreement import (
    JudgedComparison,
    agreement,
    annotator_facts,
    coincidences,
    ordinal_alpha,
    ranks,
)
from backend.domain.ranking import Ranking
from backend.schemas.vocabulary import Verdict

_: float | None = None
# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve
# units, values missing; ordinal alpha 0.815.
OBSERVERS: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]


def units(rows: Sequence[Sequence[float | None]]) -> list[list[float]]:
    """Values by unit, the missing ones left out."""
    return [[value for value in column if value is not None] for column in zip(*rows, strict=True)]


def slow_alpha(values: list[list[float]]) -> float:
    """Alpha from every pair of values, straight from the definition."""
    paired = [unit for unit in values if len(unit) > 1]
    every = [value for unit in paired for value in unit]

    def distance(a: float, b: float) -> float:
        low, high = min(a, b), max(a, b)
        between = sum(1.0 for value in every if low <= value <= high)
        ends = sum(0.5 for value in every if value == low) + sum(
            0.5 for value in every if value == high
        )
        return (between - ends) ** 2 if a != b else 0.0

    observed = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in paired
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    ) / len(every)
    expected = sum(
        distance(a, b) for i, a in enumerate(every) for j, b in enumerate(every) if i != j
    ) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def judged(number: int, user: str, *tiers: Sequence[str], **more: Any) -> JudgedComparison:
    """A ranked judgment; ids stand for their texts."""
    ranking = Ranking(tuple(map(tuple, tiers)), (), Verdict.RANKED)
    content = {one: one for tier in tiers for one in tier}
    facts: dict[str, Any] = {
        "content": content, "presented_order": sorted(content), "active_s": 2.0
    } | more  # fmt: skip
    return JudgedComparison(f"c{number}", f"p{number}", user, ranking, **facts)


def test_alpha_of_krippendorffs_example_is_his() -> None:
    alpha = ordinal_alpha(coincidences(units(OBSERVERS)))
    assert alpha == pytest.approx(0.815, abs=5e-4)
    assert alpha == pytest.approx(slow_alpha(units(OBSERVERS)), abs=1e-12)


@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=4), min_size=2, max_size=12))
def test_alpha_agrees_with_the_plain_loop(values: list[list[float]]) -> None:
    alpha = ordinal_alpha(coincidences(values))
    distinct = {value for unit in values if len(unit) > 1 for value in unit}
    if len(distinct) < 2:
        assert alpha is None
    else:
        assert alpha == pytest.approx(slow_alpha(values), abs=1e-9)


def test_equal_rankings_agree_fully_and_opposite_ones_less_than_chance() -> None:
    equal = [judged(i, user, ["a"], ["b"], ["c"]) for i in range(5) for user in "xy"]
    alpha, interval, n = agreement(equal)
    assert (alpha, interval, n) == (1.0, (1.0, 1.0), 5)

    opposite = [judged(i, "x", ["a"], ["b"]) for i in range(5)]
    opposite += [judged(i, "y", ["b"], ["a"]) for i in range(5)]
    alpha = agreement(opposite)[0]
    assert alpha is not None
    assert alpha < -0.5


def test_agreement_is_not_a_number_where_it_is_not_defined() -> None:
    alone = [judged(i, "x", ["a"], ["b"]) for i in range(5)]
    assert agreement(alone) == (None, None, 0)
    all_tied = [judged(1, user, ["a", "b"]) for user in "xyz"]
    assert agreement(all_tied) == (None, None, 1)
    assert agreement([]) == (None, None, 0)


def test_the_interval_holds_alpha_and_narrows_with_more_comparisons() -> None:
    draw = random.Random(1)

    def noisy(n: int) -> list[JudgedComparison]:
        return [
            judged(i, user, *([one] for one in (["a", "b", "c"] if draw.random() < 0.7 else "cab")))
            for i in range(n)
            for user in "xy"
        ]

    few, many = agreement(noisy(20)), agreement(noisy(400))
    for alpha, interval, _n in (few, many):
        assert alpha is not None
        assert interval is not None
        assert interval[0] < alpha < interval[1]
    assert few[1] is not None
    assert many[1] is not None
    assert many[1][1] - many[1][0] < (few[1][1] - few[1][0]) / 2


def test_tied_responses_share_the_mean_of_their_ranks() -> None:
    assert ranks(judged(1, "x", ["a"], ["b", "c"], ["d"]).ranking) == {
        "a": 1, "b": 2.5, "c": 2.5, "d": 4,
    }  # fmt: skip


def test_an_annotators_facts_count_what_they_say() -> None:
    texts = {"a": "long answer", "b": "short", "c": "four"}
    own = [
        judged(1, "x", ["a"], ["b"], ["c"], content=texts, active_s=1.0),
        judged(2, "x", ["b", "c"], ["a"], content=texts, active_s=5.0),
    ]
    facts = annotator_facts(own)

    assert facts.judgments == 2
    assert facts.first_shown_rate == 0.5
    # The longer wins a>b, a>c, b>c and loses b>a, c>a.
    assert facts.longer_rate == 3 / 5
    assert facts.tie_rate == 1 / 6
    assert facts.median_active_s == 3.0
    assert facts.self_consistency is None


def test_self_consistency_compares_the_same_texts_to_the_same_prompt() -> None:
    same = {"content": {"a": "A", "b": "B"}}
    twice = [judged(1, "x", ["a"], ["b"], **same), judged(1, "x", ["a"], ["b"], **same)]
    assert annotator_facts(twice).self_consistency == 1.0
    turned = [twice[0], judged(1, "x", ["b"], ["a"], **same)]
    assert annotator_facts(turned).self_consistency == 0.0


def test_facts_of_no_judgment_are_not_numbers() -> None:
    facts = annotator_facts([])
    assert facts.judgments == 0
    assert facts.first_shown_rate is facts.tie_rate is facts.median_active_s is None
