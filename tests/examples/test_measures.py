"""What the demo measures, against numbers worked by hand."""

import random
from statistics import fmean

import measures
import pytest
from measures import AnsweredQuestion

KNOWN = frozenset(["paris", "is", "the", "capital", "of", "france"])


def answer(content: str, *, prompt_id: str = "p1", is_finished: bool = True) -> AnsweredQuestion:
    return AnsweredQuestion(
        prompt_id, "What is the capital of France?", "Paris", content, is_finished
    )


def test_means_are_taken_over_answers() -> None:
    good = answer("The capital of France is Paris.")
    cut = answer("The capital of France is", is_finished=False)

    each = measures.of_each([good, good, cut, cut], KNOWN)
    found = measures.mean_of(each)

    assert found.gold == pytest.approx((1.0 + 0.0) / 2)  # the cut one only says the question again
    assert measures.values_of(each, "gold") == pytest.approx([1.0, 1.0, 0.0, 0.0])
    assert found.finished == 0.5
    assert found.echoes == 0.5
    assert found.distinct == 0.5
    assert found.overlap_with_human == 0.5
    assert found.words == 5.5


def test_values_stand_under_their_prompts_and_the_distinct_share_is_their_mean() -> None:
    answers = [answer("Paris.", prompt_id="p1"), answer("paris. ", prompt_id="p2"),
               answer("Rome.", prompt_id="p1")]  # fmt: skip
    values = measures.values_of(measures.of_each(answers, KNOWN), "distinct")

    assert measures.by_prompt(answers, values) == {"p1": [0.5, 1.0], "p2": [0.5]}
    assert fmean(values) == pytest.approx(2 / 3)  # two different answers of three


def test_the_interval_of_equal_differences_is_that_difference() -> None:
    before = {f"p{i}": [0.1, 0.3] for i in range(64)}
    after = {f"p{i}": [0.4, 0.6] for i in range(64)}

    low, high = measures.paired_interval(before, after)

    assert (low, high) == (pytest.approx(0.3), pytest.approx(0.3))


def test_the_interval_is_as_wide_as_the_normal_one_for_many_prompts() -> None:
    source = random.Random(0)
    values = [source.gauss(1.0, 2.0) for _ in range(400)]

    low, high = measures.interval(values)

    assert fmean([low, high]) == pytest.approx(fmean(values), abs=0.05)
    assert high - low == pytest.approx(2 * 1.96 * 2.0 / 20, rel=0.12)


def test_sides_that_answer_other_prompts_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="same prompts"):
        measures.paired_interval({"p1": [0.1]}, {"p2": [0.1]})


def test_gold_is_right_on_the_pairs_whose_winner_it_scores_higher() -> None:
    assert measures.gold_accuracy([0.4, 0.1, 0.2, -0.3]) == pytest.approx(0.75)
    assert measures.gold_accuracy([0.4, 0.0]) == pytest.approx(0.75)  # an equal pair counts half


def test_only_strict_pairs_give_a_difference() -> None:
    gold_of = {"a": 0.9, "b": 0.5, "c": 0.4, "d": 0.7}

    found = measures.strict_differences([["a"], ["b", "c"], ["d"]], gold_of)

    assert sorted(found) == pytest.approx(sorted([0.4, 0.5, 0.2, -0.2, -0.3]))
