"""What annotators do whatever they judge, counted by hand."""

from dataclasses import replace
from math import inf
from statistics import fmean

import pytest

from backend.domain.agreement.habits import Share, habits
from backend.domain.agreement.judged import Judged, Text
from tests.raters import Task, judged_again, ranked

TEXTS = {"a": Text(11, "a"), "b": Text(5, "b"), "c": Text(4, "c")}


def test_habits_count_what_they_say() -> None:
    own = [
        replace(ranked("c1", "x", "a", "b", "c"), texts=TEXTS, active_s=1.0),
        replace(ranked("c2", "x", "bc", "a"), texts=TEXTS, active_s=5.0),
    ]
    found = habits(own)

    assert found.judgments == 2
    assert (found.first_shown.value, found.first_shown.comparisons) == (0.5, 2)
    assert found.first_shown.by_chance == pytest.approx(1 / 3)
    # The longer wins a>b, a>c, b>c and loses b>a, c>a.
    assert found.longer == Share(3 / 5, 0.5, None, 2)
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
    assert habits([first, replace(alike, prompt_id="q")]).self_consistency.comparisons == 0
    assert habits([first, replace(alike, user_id="y")]).self_consistency.comparisons == 0
    assert habits([first, replace(turned, comparison_id="c1")]).self_consistency.comparisons == 0
    assert habits([first, alike]).self_consistency.by_chance == 0.5


def test_two_equal_texts_say_nothing_of_length_and_nothing_of_consistency() -> None:
    equal = {"a": Text(5, "same"), "b": Text(5, "same")}
    found = habits([replace(ranked(f"c{n}", "x", "a", "b"), texts=equal) for n in range(2)])
    assert (found.longer.comparisons, found.self_consistency.comparisons) == (0, 0)


def test_one_comparison_that_was_judged_again_is_one_comparison_however_many_pairs_it_has() -> None:
    first = replace(ranked("c1", "x", *"abcdefgh"), prompt_id="p")
    found = habits([first, replace(first, comparison_id="c2")]).self_consistency
    assert found == Share(1.0, 0.5, None, 1)


def test_comparisons_that_repeats_join_are_one() -> None:
    """Two annotators on three comparisons of the same texts, and another pair of that prompt."""
    same = [
        replace(ranked(comparison, user, "a", "b"), prompt_id="p")
        for comparison in ("c1", "c2", "c3")
        for user in "xy"
    ]
    other = [
        replace(ranked(comparison, "x", "c", "d"), prompt_id="p") for comparison in ("c4", "c5")
    ]
    assert habits(same).self_consistency == Share(1.0, 0.5, None, 1)
    assert habits(same + other).self_consistency == Share(1.0, 0.5, None, 2)


def test_an_interval_of_repeats_begins_at_twenty_comparisons() -> None:
    judged = list(judged_again([Task(8, 0.0)], 20, seed=1))
    assert habits(judged[:-2]).self_consistency == Share(1.0, 0.5, None, 19)
    found = habits(judged).self_consistency
    assert (found.value, found.by_chance, found.comparisons) == (1.0, 0.5, 20)
    assert found.interval == (pytest.approx(0.82, abs=0.01), 1)


def test_the_chance_level_of_repeats_is_each_annotators_own() -> None:
    """Five tie all and five flip coins: alike in 1 and in 1/2, together 3/4."""
    judged = [
        one
        for n in range(5)
        for task, user in ((Task(2, inf, tie_width=99), "tie"), (Task(2, inf), "coin"))
        for one in judged_again([task], 200, seed=n, user=f"{user} {n}")
    ]
    found = habits(judged).self_consistency
    assert found.by_chance == pytest.approx(0.75, abs=0.001)
    assert found.interval is not None
    assert found.interval[0] < 0.75 < found.interval[1]


@pytest.mark.parametrize(
    "tasks",
    [[Task(2, inf, 0.9)], [Task(2, inf, 2.0), Task(8, inf)], [Task(6, inf, 0.5, None, 0.4)]],
    ids=["two", "2 with ties, 8 without", "6 in part"],
)
def test_who_ranks_at_random_is_as_consistent_as_by_chance_however_few_repeats(
    tasks: list[Task],
) -> None:
    """The mean over annotators with five repeats each."""
    above = []
    for seed in range(500):
        found = habits(list(judged_again(tasks, 5, seed=seed))).self_consistency
        if found.value is not None and found.by_chance is not None:
            above.append(found.value - found.by_chance)
    assert fmean(above) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("habit", ["first_shown", "longer", "reward_accuracy"])
def test_many_annotators_of_one_comparison_are_no_sample_of_comparisons(habit: str) -> None:
    texts = {"a": Text(9, "a", "run_1", 2.0), "b": Text(5, "b", "run_1", 1.0)}

    def judged(comparisons: int) -> list[Judged]:
        return [
            replace(ranked(f"c{n}", f"user {k}", "a", "b"), texts=texts)
            for n in range(comparisons)
            for k in range(25)
        ]

    assert getattr(habits(judged(1)), habit) == Share(1.0, 0.5, None, 1)
    assert getattr(habits(judged(19)), habit).interval is None
    found = getattr(habits(judged(20)), habit)
    # As of twenty annotators on a comparison each: more of them tell nothing of other comparisons.
    assert found.interval == (pytest.approx(0.82, abs=0.01), 1)


def test_annotators_of_a_comparison_who_say_the_same_widen_the_interval() -> None:
    """Thirty of fifty comparisons are won by the longer one; a second voice repeats the first."""
    won = [("a", "b")] * 30 + [("b", "a")] * 20
    once = [replace(ranked(f"c{n}", "x", *tiers), texts=TEXTS) for n, tiers in enumerate(won)]
    twice = [replace(one, user_id=user) for one in once for user in "xy"]
    assert habits(twice).longer == habits(once).longer


def test_a_share_has_an_interval_from_twenty_comparisons_on() -> None:
    """Always the first of two: 20 of 20, so chance is far below the interval."""
    found = habits([ranked(f"c{n}", "x", "a", "b") for n in range(20)]).first_shown
    assert (found.value, found.by_chance) == (1.0, 0.5)
    assert found.interval is not None
    assert 0.75 < found.interval[0] < 1 == found.interval[1]


def test_habits_of_no_judgment_are_not_numbers() -> None:
    found = habits([])
    assert found.judgments == found.first_shown.comparisons == 0
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
    assert (found.value, found.by_chance, found.comparisons) == (0.5, 0.5, 1)


def test_responses_without_rewards_say_nothing_of_a_reward_model() -> None:
    own = replace(ranked("c1", "x", "a", "b"), texts=TEXTS)

    assert habits([own]).reward_accuracy == Share(None, None, None, 0)
