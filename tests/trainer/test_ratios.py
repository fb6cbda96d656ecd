"""Intervals of ratios over responses, against the truth that simulations know."""

import math
import random
from collections.abc import Iterator

import pytest

from worker.trainer.evaluation.measures import Row, measures
from worker.trainer.evaluation.with_interval import hits_per_weight, length_with_interval

# So many that a coverage of 0.94 hardly ever shows as less than 0.93.
SIMULATIONS, RESPONSES = 3000, 4
# Tokens of right and of wrong responses, in the mean.
RIGHT, WRONG = 30.0, 70.0


def simulated(rate: float, n_prompts: int) -> Iterator[dict[str, float]]:
    """Numbers of responses whose prompts differ in difficulty and in length."""
    source = random.Random(20261125)
    prompts = [prompt for prompt in range(n_prompts) for _ in range(RESPONSES)]
    for _ in range(SIMULATIONS):
        is_right, lengths = [], []
        for _ in range(n_prompts):
            own = source.betavariate(3 * rate, 3 * (1 - rate))
            longer = math.exp(source.gauss(-0.045, 0.3))
            for _ in range(RESPONSES):
                passed = source.random() < own
                mean = 20 + source.expovariate(1 / (RIGHT - 20))
                mean = mean if passed else 40 + source.expovariate(1 / (WRONG - 40))
                is_right.append(passed)
                lengths.append(float(round(longer * mean)))
        is_wrong = [not one for one in is_right]
        yield {
            **hits_per_weight("per_token", list(map(float, is_right)), lengths, prompts),
            **length_with_interval("right", lengths, is_right, prompts),
            **length_with_interval("wrong", lengths, is_wrong, prompts),
        }


def _row(prompt_id: str, passed: bool, n_tokens: int) -> Row:
    reward = float(passed)
    return Row(
        prompt_id, "", n_tokens, is_cut=False, reward=reward, raw=reward, passed=passed, most=1.0
    )


def covered(found: list[dict[str, float]], name: str, truth: float) -> float:
    """How often the interval of those that have one holds the truth."""
    known = [one for one in found if f"{name}_low" in one]
    return sum(one[f"{name}_low"] <= truth <= one[f"{name}_high"] for one in known) / len(known)


@pytest.mark.parametrize(("rate", "n"), [(0.05, 20), (0.05, 100), (0.2, 50), (0.5, 20)])
def test_intervals_of_ratios_cover_the_truth(rate: float, n: int) -> None:
    found = list(simulated(rate, n))
    per_token = rate / (rate * RIGHT + (1 - rate) * WRONG)
    assert covered(found, "per_token", per_token) >= 0.93
    assert covered(found, "right", RIGHT) >= 0.93
    assert covered(found, "wrong", WRONG) >= 0.93


def test_all_wrong_and_all_won_are_not_certain() -> None:
    none = measures([_row(f"p{n}", passed=False, n_tokens=3) for n in range(30)])
    assert none["eval/reward_high"] == none["eval/pass@1_high"] > 0.05
    assert none["eval/score_per_token_high"] == pytest.approx(none["eval/pass@1_high"] / 3)


def test_an_unscored_response_makes_no_rate_certain() -> None:
    rows = [_row(f"p{n}", passed=True, n_tokens=3) for n in range(199)]
    unscored = Row("p199", "", 3, is_cut=False, reward=math.nan, raw=math.nan, passed=False)
    found = measures([*rows, unscored])
    assert found["eval/reward"] == 1
    assert found["eval/reward_low"] < 1
