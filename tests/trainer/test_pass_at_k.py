"""Worked cases, and every choice of k counted one by one."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import pytest

from worker.trainer.evaluation.pass_at_k import (
    best_of_k,
    ks_of,
    majority_at_k,
    pass_at_k,
)


@pytest.mark.parametrize(
    ("n", "n_passed", "k", "expected"),
    [(5, 0, 3, 0.0), (5, 5, 1, 1.0), (4, 1, 2, 0.5), (10, 3, 1, 0.3), (6, 2, 3, 0.8), (5, 3, 3, 1)],
)
def test_pass_at_k_worked_by_hand(n: int, n_passed: int, k: int, expected: float) -> None:
    """6, 2, 3: 1 - C(4, 3) / C(6, 3) = 1 - 4 / 20."""
    assert pass_at_k(n, n_passed, k) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("n", [1, 4, 7])
def test_pass_at_k_is_the_share_of_all_choices_that_hold_a_pass(n: int) -> None:
    for n_passed in range(n + 1):
        marks = [i < n_passed for i in range(n)]
        for k in range(1, n + 1):
            choices = list(combinations(marks, k))
            expected = sum(any(choice) for choice in choices) / len(choices)
            assert pass_at_k(n, n_passed, k) == pytest.approx(expected)


def test_k_goes_by_powers_of_two_up_to_all() -> None:
    assert [ks_of(n) for n in (1, 2, 4, 6)] == [[1], [1, 2], [1, 2, 4], [1, 2, 4, 6]]


def test_a_majority_worked_by_hand() -> None:
    """42, 42, 7, none: three of the six pairs hold 42 alone, as 42 42, 42 none and 42 none; the
    two pairs 42 7 share; 7 none loses.
    """
    answers, passed = ["42", "42", "7", None], [True, True, False, False]
    assert majority_at_k(answers, passed, 1) == pytest.approx(2 / 4)
    assert majority_at_k(answers, passed, 2) == pytest.approx((3 + 2 / 2) / 6)
    assert majority_at_k(answers, passed, 4) == 1.0


def test_two_spellings_of_the_right_answer_are_one_answer() -> None:
    answers = ["1/2", "0.5", "3", "3"]
    assert majority_at_k(answers, [True, True, False, False], 4) == 0.5


def test_nobody_who_answers_nothing_wins() -> None:
    assert majority_at_k([None, None, None], [False] * 3, 2) == 0.0


def _vote(answers: Sequence[str | None]) -> float:
    votes = Counter(answer for answer in answers if answer is not None)
    first = [answer for answer in votes if votes[answer] == max(votes.values())]
    return ("right" in first) / len(first) if first else 0.0


@pytest.mark.parametrize("seed", range(20))
def test_a_majority_is_the_mean_over_all_choices(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.randint(1, 9)
    answers = [draw.choice(["right", "a", "b", "c", None]) for _ in range(n)]
    passed = [answer == "right" for answer in answers]
    for k in range(1, n + 1):
        votes = [_vote(choice) for choice in combinations(answers, k)]
        assert majority_at_k(answers, passed, k) == pytest.approx(math.fsum(votes) / len(votes))


def test_a_majority_of_64_is_exact() -> None:
    """Whatever k: with every other answer alone, two right ones win as soon as both are drawn."""
    answers = ["right"] * 2 + [str(i) for i in range(62)]
    passed = [True] * 2 + [False] * 62
    both = math.comb(62, 30) / math.comb(64, 32)
    one = 2 * math.comb(62, 31) / math.comb(64, 32)
    assert majority_at_k(answers, passed, 32) == pytest.approx(both + one / 32)


def test_best_of_k_worked_by_hand() -> None:
    """Worth 1, 0, 4 by preference 3, 2, 1: of the three pairs two choose the first, one the 0."""
    assert best_of_k([3, 2, 1], [1, 0, 4], 2) == pytest.approx(2 / 3)
    assert best_of_k([3, 2, 1], [1, 0, 4], 1) == pytest.approx(5 / 3)
    assert best_of_k([3, 2, 1], [1, 0, 4], 3) == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_best_of_k_is_the_mean_over_all_choices(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.randint(1, 8)
    preferred = [draw.randint(0, 3) for _ in range(n)]
    worth = [draw.random() for _ in range(n)]
    for k in range(1, n + 1):
        total = 0.0
        for choice in combinations(range(n), k):
            best = max(preferred[i] for i in choice)
            tied = [worth[i] for i in choice if preferred[i] == best]
            total += math.fsum(tied) / len(tied)
        assert best_of_k(preferred, worth, k) == pytest.approx(total / math.comb(n, k))
