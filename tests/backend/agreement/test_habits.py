"""What annotators do whatever they judge, counted by hand."""

from dataclasses import replace

import pytest

from backend.domain.agreement.habits import Share, habits
from backend.domain.agreement.judged import Text
from tests.raters import ranked

TEXTS = {"a": Text(11, "a"), "b": Text(5, "b"), "c": Text(4, "c")}


def test_habits_count_what_they_say() -> None:
    own = [
        replace(ranked("c1", "x", "a", "b", "c"), texts=TEXTS, active_s=1.0),
        replace(ranked("c2", "x", "bc", "a"), texts=TEXTS, active_s=5.0),
    ]
    found = habits(own)

    assert found.judgments == 2
    assert (found.first_shown.value, found.first_shown.cases) == (0.5, 2)
    assert found.first_shown.by_chance == pytest.approx(1 / 3)
    # The longer wins a>b, a>c, b>c and loses b>a, c>a.
    assert (found.longer.value, found.longer.by_chance, found.longer.cases) == (3 / 5, 0.5, 2)
    assert found.tie_rate == 1 / 6
    assert found.median_active_s == 3.0
    assert found.self_consistency.value is None
    assert found.first_shown.interval is found.longer.interval is None


def test_self_consistency_compares_the_same_texts_to_the_same_prompt_judged_again() -> None:
    first = replace(ranked("c1", "x", "a", "b"), prompt_id="p")
    alike = replace(ranked("c2", "x", "a", "b"), prompt_id="p")
    turned = replace(ranked("c3", "x", "b", "a"), prompt_id="p")

    assert habits([first, alike]).self_consistency.value == 1.0
    assert habits([first, turned]).self_consistency.value == 0.0
    assert habits([first, replace(alike, prompt_id="q")]).self_consistency.cases == 0
    assert habits([first, replace(alike, user_id="y")]).self_consistency.cases == 0
    assert habits([first, replace(turned, comparison_id="c1")]).self_consistency.cases == 0
    assert habits([first, alike]).self_consistency.by_chance == 0.5


def test_two_equal_texts_say_nothing_of_length_and_nothing_of_consistency() -> None:
    equal = {"a": Text(5, "same"), "b": Text(5, "same")}
    found = habits([replace(ranked(f"c{n}", "x", "a", "b"), texts=equal) for n in range(2)])
    assert (found.longer.cases, found.self_consistency.cases) == (0, 0)


def test_a_share_has_an_interval_from_twenty_cases_on() -> None:
    """Always the first of two: 20 of 20, so chance is far below the interval."""
    found = habits([ranked(f"c{n}", "x", "a", "b") for n in range(20)]).first_shown
    assert (found.value, found.by_chance) == (1.0, 0.5)
    assert found.interval is not None
    assert 0.75 < found.interval[0] < 1 == found.interval[1]


def test_habits_of_no_judgment_are_not_numbers() -> None:
    found = habits([])
    assert found.judgments == found.first_shown.cases == 0
    assert found.first_shown.value is found.tie_rate is found.median_active_s is None


def test_a_reward_model_is_right_where_it_gives_the_winner_more() -> None:
    texts = {
        "a": Text(1, "a", "run_1", 2.0),
        "b": Text(1, "b", "run_1", 1.0),
        "c": Text(1, "c", "run_1", 1.0),
        "d": Text(1, "d", "run_2", 0.5),
        "e": Text(1, "e", "run_1", None),
    }
    own = replace(ranked("c1", "x", "d", "b", "a", "c", "e"), texts=texts)

    found = habits([own]).reward_accuracy

    # b>a wrong, b>c half, a>c right; d is of another run, and e has no reward.
    assert (found.value, found.by_chance, found.cases) == (0.5, 0.5, 1)


def test_responses_without_rewards_say_nothing_of_a_reward_model() -> None:
    own = replace(ranked("c1", "x", "a", "b"), texts=TEXTS)

    assert habits([own]).reward_accuracy == Share(None, None, None, 0)
