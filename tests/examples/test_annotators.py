"""Simulated annotators rank by the gold score with exactly the noise they say."""

import math
from typing import Any

import annotators
import pytest
from measures import gold_accuracy


def comparison(*contents: str, question: str = "q") -> dict[str, Any]:
    return {
        "prompt": {"messages": [{"role": "user", "content": question}]},
        "responses": [{"id": content, "content": content} for content in contents],
    }


def test_every_name_says_that_it_is_simulated_and_there_are_several() -> None:
    assert len(set(annotators.NAMES)) >= 3


def test_a_clear_difference_is_ranked_by_gold() -> None:
    gold_of = {"good": 1.0, "fair": 0.5, "bad": 0.0}

    tiers = annotators.judge(comparison(*gold_of), lambda _, answer: gold_of[answer], seed=0)

    assert tiers == [["good"], ["fair"], ["bad"]]


def test_each_response_lies_in_exactly_one_tier() -> None:
    names = [f"r{i}" for i in range(9)]

    tiers = annotators.judge(comparison(*names), lambda *_: 0.5, seed=3)

    assert sorted(name for tier in tiers for name in tier) == sorted(names)


def test_the_noise_is_bradley_terry_with_the_documented_temperature() -> None:
    """Over 4,000 questions a difference of one NOISE wins as often as the formula says."""
    difference = annotators.NOISE
    gold_of = {"better": difference, "worse": 0.0}
    firsts = [
        annotators.judge(
            comparison(*gold_of, question=str(i)), lambda _, answer: gold_of[answer], seed=1
        )
        for i in range(4000)
    ]
    strict = [tiers[0] for tiers in firsts if len(tiers) == 2]
    won = sum(tier == ["better"] for tier in strict) / len(strict)

    margin = annotators.TIE_WITHIN / annotators.NOISE
    same, opposite = (1 / (1 + math.exp(-(x - margin))) for x in (1.0, -1.0))
    # Three standard errors of a share of 4,000.
    assert won == pytest.approx(same / (same + opposite), abs=0.024)


def test_the_same_texts_and_seed_give_the_same_judgment() -> None:
    question = comparison("a", "b", "c", "d")
    shuffled = {**question, "responses": question["responses"][::-1]}

    first = annotators.judge(question, lambda *_: 0.5, seed=5)

    assert annotators.judge(shuffled, lambda *_: 0.5, seed=5) == first
    others = [annotators.judge(question, lambda *_: 0.5, seed=seed) for seed in range(6, 12)]
    assert any(other != first for other in others)


def test_the_agreement_is_a_coin_toss_for_equal_answers_and_certainty_for_clear_ones() -> None:
    assert annotators.agreement([0.0]) == pytest.approx(0.5)
    assert annotators.agreement([1.0]) == pytest.approx(1.0, abs=1e-5)
    assert annotators.agreement([0.3, -0.3]) == pytest.approx(0.5)


def test_two_annotators_agree_less_often_than_gold_agrees_with_one() -> None:
    """Of ten pairs that gold ranks right with p = 0.9, nine were recorded so: 0.82 against 0.9."""
    difference = next(
        x for x in (i / 10_000 for i in range(10_000)) if annotators.agreement([x]) >= 0.9
    )
    recorded = [difference] * 9 + [-difference]

    assert annotators.agreement(recorded) == pytest.approx(0.9**2 + 0.1**2, abs=1e-3)
    assert gold_accuracy(recorded) == pytest.approx(0.9)
