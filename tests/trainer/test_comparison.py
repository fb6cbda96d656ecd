"""Two models beside each other, worked by hand: their responses, and how likely they find texts."""

import math

import pytest

from worker.trainer.data.tokens import Tokens
from worker.trainer.evaluation.comparison import gains
from worker.trainer.evaluation.outcome import Outcome
from worker.trainer.evaluation.texts import Texts, change_in_likelihood, likelihood

T_1 = 12.7062047  # the .975 quantile of Student's t with one degree of freedom


def test_two_models_on_two_prompts_by_hand() -> None:
    """Won, tied; lost, and one that only the other could score: three of four are compared."""
    ours = Outcome([1.0, 1.0, 0.0, math.nan], [1.0, 1.0, 0.0, math.nan], 1.0, [True] * 4, [2.0] * 4)
    theirs = Outcome([0.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0], 1.0, [True] * 4, [2.0] * 4)

    found = gains(ours, theirs, ["p", "p", "q", "q"], "eval/a/")

    assert found["eval/a/win_rate"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert found["eval/a/win_rate_lc"] == found["eval/a/win_rate"]
    assert found["eval/a/gain"] == 0.0
    assert found["eval/a/pass_gain"] == 0.0
    part = gains(ours.at([0, 1]), theirs.at([0, 1]), ["p", "p"], "eval/a/")
    assert (part["eval/a/win_rate"], part["eval/a/gain"]) == (0.75, 0.5)


def test_texts_of_one_prompt_are_one_draw() -> None:
    """-6 nats over three tokens and -2 over one; the change is -3 and -1: -1 a token of each."""
    read = [Tokens([1], [2, 3, 4]), Tokens([1], [2])]
    two, one = Texts(read, ["p", "q"]), Texts(read, ["p", "p"])

    assert likelihood(one, [-6.0, -2.0]) == {"eval/text_logp": -2.0}
    change = change_in_likelihood(two, [-6.0, -2.0], [-3.0, -1.0])
    assert change == {f"eval/text_change{end}": -1.0 for end in ("", "_low", "_high")}
    # -2 and -2.5 a token, of 3 and 1 tokens: moves of 3 * .125 and -.375 around -2.125.
    found = likelihood(two, [-6.0, -2.5])
    half = T_1 * math.sqrt(2 * 2 * 0.375**2 / 16)
    assert found["eval/text_logp"] == pytest.approx(-2.125)
    assert found["eval/text_logp_low"] == pytest.approx(-2.125 - half)
    assert likelihood(Texts([], []), []) == {}
