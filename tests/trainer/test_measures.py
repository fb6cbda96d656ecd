"""What a set of responses comes to, worked by hand, and how one is compared with another."""

import math
import random
import re
from dataclasses import replace
from typing import Any

import pytest

from intervals.length_controlled import win_rate_at_equal_length
from worker.trainer.evaluation.measures import Row, TooManyValues, broken_down, measures
from worker.trainer.evaluation.with_interval import (
    gain_with_interval,
    mean_with_interval,
    rate_with_interval,
    score_with_interval,
)


def row(prompt_id: str, passed: bool | None = None, **more: Any) -> Row:
    """A response of four tokens."""
    reward = float(bool(passed))
    known = {"text": "a b a", "n_tokens": 4, "is_cut": False, "reward": reward, "raw": reward}
    return Row(prompt_id=prompt_id, passed=passed, **(known | more))


def by(rows: list[Row], key: str, prefix: str = "eval/") -> dict[str, float]:
    """The measures of each part of these rows."""
    known = [one.metadata for one in rows]
    return broken_down(known, key, lambda at: measures([rows[i] for i in at], prefix))


PROMPTS = [f"p{n}" for n in range(64)]


@pytest.mark.parametrize("right", [[1.0] * 63 + [0.0], [1.0] * 64, [0.0] * 64])
def test_a_score_of_right_or_wrong_has_the_interval_of_a_rate(right: list[float]) -> None:
    """It is as uncertain as the pass rate of the same responses, also where all are alike."""
    found = score_with_interval("reward", right, PROMPTS, most=1.0)
    assert found == pytest.approx(rate_with_interval("reward", right, PROMPTS))
    assert found["reward_high"] - found["reward_low"] > 0.05
    assert 0 <= found["reward_low"] <= found["reward_high"] <= 1
    twice = score_with_interval("reward", [2 * one for one in right], PROMPTS, most=2.0)
    assert twice["reward_low"] == pytest.approx(2 * found["reward_low"])


def test_a_score_without_bounds_is_no_rate_even_if_all_are_one() -> None:
    """A reward model that happens to give 1 everywhere could have given 5."""
    for values in ([1.0] * 64, [0.0] * 64, [1.0] * 63 + [0.0]):
        found = score_with_interval("reward", values, PROMPTS, most=None)
        assert found == mean_with_interval("reward", values, PROMPTS)
    nothing = mean_with_interval("kl", [0.0, 0.0], ["p", "q"])
    assert (nothing["kl_low"], nothing["kl_high"]) == (0, 0)


def test_shares_that_differ_in_part_have_the_interval_of_a_mean() -> None:
    values = [0.9 + 0.1 * (n % 2) for n in range(64)]
    found = score_with_interval("repetition", values, PROMPTS, most=1.0)
    assert found == mean_with_interval("repetition", values, PROMPTS)


def test_what_could_not_be_scored_is_left_out_and_nothing_has_no_mean() -> None:
    found = score_with_interval("reward", [1.0, math.nan, 1.0], ["p", "q", "r"], most=1.0)
    assert found == rate_with_interval("reward", [1.0, 1.0], ["p", "r"])
    assert score_with_interval("reward", [math.nan], ["p"], most=1.0) == {}
    assert gain_with_interval("gain", [math.nan], ["p"], most=1.0) == {}


def test_no_gain_among_64_prompts_is_no_certainty() -> None:
    """Neither gained nor lost in 64: either rate is at most 1 - .025^(1/64) = .056."""
    found = gain_with_interval("gain", [0.0] * 64, PROMPTS, most=1.0)
    assert found["gain"] == 0
    assert found["gain_low"] == pytest.approx(-0.056009, abs=1e-6)
    assert found["gain_high"] == pytest.approx(0.056009, abs=1e-6)
    unbounded = gain_with_interval("gain", [0.0] * 64, PROMPTS, most=None)
    assert unbounded == {"gain": 0, "gain_low": 0, "gain_high": 0}


def test_two_prompts_worked_by_hand() -> None:
    """The first is right with both responses, of 2 and 4 tokens, the second with none, of 6."""
    rows = [
        row("p", True, n_tokens=2, text="a b c", answer="1", preferred=1.0),
        row("p", True, n_tokens=4, text="a b d", answer="1.0", preferred=2.0),
        row("q", False, n_tokens=6, text="a b", answer="2", preferred=1.0, is_cut=True),
        row("q", False, n_tokens=6, text="a b", answer="3", preferred=0.0, raw=math.nan),
    ]
    found = measures(rows)
    expected = {
        "eval/pass@1": 0.5,
        "eval/pass@2": 0.5,
        "eval/maj@2": 0.5,
        "eval/bon@2": 0.5,
        "eval/bon_reward@2": 0.5,
        "eval/length": 4.5,
        "eval/length_right": 3.0,
        "eval/length_wrong": 6.0,
        "eval/score_per_token": 2 / 18,
        "eval/coverage": 0.75,
        "eval/truncated_fraction": 0.25,
        "eval/distinct": 0.75,
        # Of a b, b c, a b, b d three differ; of a b, a b one: 4 of 6.
        "eval/distinct_2": 4 / 6,
        "eval/reward": 0.5,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    # Right responses are those of one prompt, and so are wrong ones: they show no spread.
    single = {"eval/length_right", "eval/length_wrong"}
    with_ends = {f"{name}{end}" for name in set(expected) - single for end in ("_low", "_high")}
    assert set(found) == set(expected) | with_ends


def test_where_nothing_says_what_is_correct_nothing_passes() -> None:
    found = measures([row("p"), row("q")])
    assert "eval/length" in found
    assert not [name for name in found if "pass" in name or "distinct" in name]


def test_without_an_answer_or_a_reward_model_nobody_votes() -> None:
    found = measures([row("p", True), row("p", False), row("q", True), row("q", False)])
    assert found["eval/pass@2"] == 1.0
    assert not [name for name in found if "maj" in name or "bon" in name]


def test_the_reward_of_the_best_needs_nothing_that_says_what_is_correct() -> None:
    """The model prefers what has 5 of p; of q what has 4, or of the two that tie any with half."""
    rewards = {"p": [2.0, 5.0, 1.0], "q": [4.0, 8.0, 3.0]}
    preferred = {"p": [1.0, 9.0, 0.0], "q": [7.0, 7.0, 2.0]}
    rows = [
        row(prompt, reward=reward, raw=reward, preferred=liked)
        for prompt, values in rewards.items()
        for reward, liked in zip(values, preferred[prompt], strict=True)
    ]
    found = measures(rows)
    # Of two of p: 5, 5 or 2; of two of q: 4 or 8, 4, 8. Of all three: 5; 4 or 8.
    assert found["eval/bon_reward@2"] == pytest.approx((12 / 3 + 18 / 3) / 2)
    assert found["eval/bon_reward@3"] == pytest.approx((5 + 6) / 2)
    assert "eval/bon@2" not in found

    rows[-1] = row("q", reward=math.nan, raw=math.nan, preferred=-math.inf)
    found = measures(rows)
    assert found["eval/bon_reward@2"] == pytest.approx((12 / 3 + 6) / 2)
    assert "eval/bon_reward@3" not in found, "with p alone it would be of other prompts than at 2"
    rows[-3:] = [replace(one, reward=math.nan) for one in rows[-3:]]
    assert measures(rows)["eval/bon_reward@3"] == pytest.approx(5)
    assert not [name for name in measures([row("p"), row("p")]) if "bon" in name]


def test_a_breakdown_is_the_same_measures_of_each_part() -> None:
    rows = [row(f"p{i}", i % 3 == 0, metadata={"people": 2 + i % 2}) for i in range(12)]
    found = by(rows, "people", "eval/ood/")
    two = measures([one for one in rows if one.metadata["people"] == 2])
    assert found["eval/ood/pass@1/people.2"] == two["eval/pass@1"] == pytest.approx(2 / 6)
    assert found["eval/ood/pass@1/people.2_low"] == two["eval/pass@1_low"]
    assert len(found) == 2 * len(two)
    assert by(rows, "colour") == {}


def test_a_value_becomes_a_name_that_a_metric_may_have() -> None:
    rows = [row(f"p{i}", True, metadata={"of": "a/b = <c>"}) for i in range(2)]
    assert "eval/pass@1/of.a_b____c_" in by(rows, "of")


def test_values_that_would_have_one_name_are_told_apart() -> None:
    long = "the same forty letters and then some more"
    values = ["a b", "a/b", f"{long} one", f"{long} two", "c"]
    passed = {"a b": True, "a/b": False, f"{long} one": True, f"{long} two": False, "c": True}
    rows = [row(value, passed[value], metadata={"of": value}) for value in values]

    found = by(rows, "of")

    told = {
        name.removeprefix("eval/pass@1/of."): value
        for name, value in found.items()
        if name.startswith("eval/pass@1/") and not name.endswith(("_low", "_high"))
    }
    assert len(told) == 5
    assert told.pop("c") == 1.0
    assert sorted(told.values()) == [0.0, 0.0, 1.0, 1.0]
    assert all(re.fullmatch(r"[A-Za-z0-9_.+-]{1,40}", name) for name in told)
    assert sum(re.fullmatch(r"a_b\.[0-9a-f]{6}", name) is not None for name in told) == 2


def test_a_value_is_not_taken_for_the_end_of_an_interval() -> None:
    passed = {"x": True, "x_low": False}
    rows = [row(f"{of}{i}", passed[of], metadata={"of": of}) for of in passed for i in range(4)]
    found = by(rows, "of")
    assert (found["eval/pass@1/of.x"], found["eval/pass@1/of.x-low"]) == (1.0, 0.0)
    assert found["eval/pass@1/of.x_low"] > 0


def test_a_key_that_says_something_else_of_every_prompt_is_refused() -> None:
    rows = [row(f"p{i}", True, metadata={"id": i}) for i in range(21)]
    with pytest.raises(TooManyValues, match="metadata has 21 values of `id`"):
        by(rows, "id")


def _judged(
    *, better: float, per_length: float, longer: float, n: int = 4000
) -> tuple[list[float], list[float], list[str]]:
    """Draws from the model that is fitted: responses `longer` tokens longer in the mean."""
    source = random.Random(7)
    lengths = [source.gauss(longer, 50) for _ in range(n)]
    shares = []
    for length in lengths:
        logit = better + per_length * math.tanh(length / 50)
        shares.append(float(source.random() < 1 / (1 + math.exp(-logit))))
    return shares, lengths, [f"p{i}" for i in range(n)]


@pytest.mark.parametrize("better", [-0.5, 0.0, 0.8])
def test_the_win_rate_at_equal_length_is_found_again(better: float) -> None:
    """The judge likes length, the model writes more: the plain win rate says nothing."""
    shares, lengths, prompts = _judged(better=better, per_length=1.5, longer=30)
    truth = 1 / (1 + math.exp(-better))
    rate, interval = win_rate_at_equal_length(shares, lengths, prompts) or (0.0, None)
    assert rate == pytest.approx(truth, abs=0.04)
    assert interval is not None
    assert interval[0] < truth < interval[1]
    assert sum(shares) / len(shares) > truth + 0.05


def test_who_wins_every_time_is_not_certain_to() -> None:
    """64 of 64 won: the plain rate has 0.944 to 1, and the lengths are not known better."""
    source = random.Random(1)
    lengths = [source.gauss(0, 50) for _ in range(64)]
    found = win_rate_at_equal_length([1.0] * 64, lengths, [str(i) for i in range(64)])
    rate, interval = found or (0.0, None)
    low, high = interval or (1.0, 0.0)
    assert 0.91 < low < 0.95 < rate < high <= 1


def test_equal_lengths_leave_the_win_rate_as_it_is() -> None:
    prompts = [str(i) for i in range(40)]
    found = win_rate_at_equal_length([1.0] * 30 + [0.0] * 10, [0.0] * 40, prompts)
    plain = rate_with_interval("won", [1.0] * 30 + [0.0] * 10, prompts)
    assert found == (0.75, (plain["won_low"], plain["won_high"]))


def test_who_is_always_longer_by_as_much_shows_nothing_of_equal_length() -> None:
    assert win_rate_at_equal_length([1.0] * 10, [5.0] * 10, list("abcdefghij")) is None


def test_who_is_always_much_longer_shows_nothing_of_equal_length_either() -> None:
    """512 tokens against 60 or so: equal lengths are far from all that was seen."""
    prompts = [str(i) for i in range(40)]
    shares = [1.0, 0.0] * 20
    assert win_rate_at_equal_length(shares, [500.0] * 39 + [499.0], prompts) is None
    source = random.Random(3)
    lengths = [68 + source.gauss(0, 15) for _ in prompts]
    assert win_rate_at_equal_length(shares, lengths, prompts) is None
    near = win_rate_at_equal_length(shares, [length - 48 for length in lengths], prompts)
    assert near is not None
    assert 0.2 < near[0] < 0.8
