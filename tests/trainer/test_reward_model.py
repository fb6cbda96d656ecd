"""What a reward model tells about itself: calibration, length bias, centring."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.schemas.training import RewardModelConfig
from intervals.clustered import exact_interval
from tests.trainer.conftest import Finished, Workshop, lines, reward_model_config, series
from worker.trainer.data.rankings import Ranking
from worker.trainer.data.tokens import Tokens
from worker.trainer.evaluation.calibration import calibration_curve, calibration_error, described
from worker.trainer.evaluation.length_bias import length_bias
from worker.trainer.evaluation.rankings import heldout_metrics, judge, mean_of
from worker.trainer.losses import centering_loss, listwise_loss, ranking_loss


def ranking(tiers: list[list[int]], lengths: list[int], prompt_id: str = "p") -> Ranking:
    """A ranking of responses that have only a length."""
    return Ranking(prompt_id, [Tokens([1], [2] * length) for length in lengths], tiers)


def log_odds(probability: float) -> float:
    """The difference of scores at which Bradley-Terry gives this probability."""
    return math.log(probability / (1 - probability))


def test_the_calibration_curve_worked_by_hand() -> None:
    """Three pairs at 0.75, two of them won; one at 0.95 lost; a tie at 0.55 is half a win."""
    scores = [torch.tensor([log_odds(0.75), 0.0])] * 3
    scores += [torch.tensor([log_odds(0.95), 0.0]), torch.tensor([0.0, log_odds(0.55)])]
    tiers = [[[0], [1]], [[0], [1]], [[1], [0]], [[1], [0]], [[0, 1]]]
    curve = calibration_curve(scores, [ranking(t, [1, 1]) for t in tiers])

    assert [(round(one.low, 6), one.n_pairs) for one in curve] == [(0.5, 1), (0.7, 3), (0.9, 1)]
    assert [one.predicted for one in curve] == pytest.approx([0.55, 0.75, 0.95], abs=1e-6)
    assert [one.won for one in curve] == pytest.approx([0.5, 2 / 3, 0.0])
    expected = (0.05 + 3 * (0.75 - 2 / 3) + 0.95) / 5
    assert calibration_error(curve) == pytest.approx(expected, abs=1e-6)
    assert "70%-80%: 67% of 3 pairs" in described(curve)


def test_a_certain_favourite_is_in_the_last_bin_and_an_empty_curve_has_no_error() -> None:
    scores, rankings = [torch.tensor([100.0, 0.0])], [ranking([[1], [0]], [1, 1])]
    (one,) = calibration_curve(scores, rankings)
    assert (one.low, one.high, one.predicted, one.won) == (0.9, 1.0, 1.0, 0.0)
    assert calibration_error([one]) == 1
    assert calibration_error([]) == 0


def test_the_predicted_probability_is_that_of_float64() -> None:
    (one,) = calibration_curve([torch.tensor([1.0, 0.0])], [ranking([[0], [1]], [1, 1])])
    assert one.predicted == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-12)


def test_there_are_as_many_scores_as_rankings() -> None:
    scores = [torch.zeros(2), torch.zeros(2)]
    rankings = [ranking([[0], [1]], [1, 2])]
    for report in (calibration_curve, length_bias, partial(heldout_metrics)):
        with pytest.raises(ValueError, match="shorter"):
            report(scores, rankings)


def test_equal_scores_favour_nobody_and_are_calibrated() -> None:
    curve = calibration_curve([torch.zeros(3)], [ranking([[2], [0], [1]], [1, 1, 1])])
    assert [(one.predicted, one.won, one.n_pairs) for one in curve] == [(0.5, 0.5, 3)]
    assert calibration_error(curve) == 0


def test_scores_that_are_the_true_log_odds_are_calibrated() -> None:
    """10,000 pairs drawn from the model itself: each bin is within four standard errors."""
    generator = torch.Generator().manual_seed(0)
    margin_E = 3 * torch.rand(10_000, generator=generator) - 1.5
    wins_E = torch.rand(10_000, generator=generator) < margin_E.sigmoid()
    scores = [torch.tensor([float(margin), 0.0]) for margin in margin_E]
    rankings = [ranking([[0], [1]] if win else [[1], [0]], [1, 1]) for win in wins_E]
    for one in calibration_curve(scores, rankings):
        assert abs(one.predicted - one.won) < 4 * math.sqrt(0.25 / one.n_pairs)


def test_length_bias_worked_by_hand() -> None:
    """Scores 1, 2, 4 for lengths 1, 2, 6: the longest is judged worst, the model likes it best."""
    found = length_bias([torch.tensor([1.0, 2.0, 4.0])], [ranking([[1], [0], [2]], [1, 2, 6])])

    # Centred scores (-4, -1, 5) / 3 and lengths -2, -1, 3.
    expected = (8 + 1 + 15) / math.sqrt((16 + 1 + 25) * (4 + 1 + 9))
    assert found.correlation == pytest.approx(expected)
    # Pairs: 1 beats 0 (the longer, right), 1 beats 2 and 0 beats 2 (the shorter, wrong).
    assert found.longer_won == pytest.approx(1 / 3)
    assert (found.accuracy_longer, found.accuracy_shorter) == (1.0, 0.0)


def test_the_shares_by_length_have_intervals_by_prompt() -> None:
    """The shorter one won in two prompts, right in one: exact for 1 of 2, .0126 to .9874."""
    judged = [ranking([[0], [1]], [1, 2]), ranking([[0], [1]], [1, 2], prompt_id="other")]
    found = length_bias([torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])], judged).metrics()

    assert found["eval/accuracy_shorter"] == 0.5
    ends = (found["eval/accuracy_shorter_low"], found["eval/accuracy_shorter_high"])
    assert ends == pytest.approx((0.0126, 0.9874), abs=1e-4)
    assert "eval/accuracy_longer_low" not in found


def test_a_tied_score_is_half_right_whichever_is_longer() -> None:
    """Scores 0.1, 0.1 and 0, lengths 1, 2 and 3, the longer always better; then the shorter."""
    scores = [torch.tensor([0.1, 0.1, 0.0])]
    longer = length_bias(scores, [ranking([[2], [1], [0]], [1, 2, 3])])
    assert longer.accuracy_longer == pytest.approx(0.5 / 3)
    assert (longer.longer_won, longer.accuracy_shorter) == (1.0, None)
    shorter = length_bias(scores, [ranking([[0], [1], [2]], [1, 2, 3])])
    assert shorter.accuracy_shorter == pytest.approx(2.5 / 3)
    assert (shorter.longer_won, shorter.accuracy_longer) == (0.0, None)
    # Centred scores (1, 1, -2) / 30, lengths -1, 0, 1.
    assert longer.correlation == shorter.correlation == pytest.approx(-3 / math.sqrt(6 * 2))


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3), st.floats(-100, 100))
def test_what_a_prompt_adds_to_all_its_scores_is_no_length_bias(
    scores: list[float], shift: float
) -> None:
    judged = ranking([[0], [1], [2]], [1, 5, 9]), ranking([[2], [0], [1]], [4, 2, 3])
    own = torch.tensor(scores, dtype=torch.float64)
    plain = length_bias([own, own], judged)
    moved = length_bias([own, own + shift], judged)
    if plain.correlation is not None and own.std() > 1e-3:
        assert moved.correlation == pytest.approx(plain.correlation, abs=1e-6)


def test_responses_of_one_length_say_nothing_about_length() -> None:
    found = length_bias([torch.tensor([1.0, 2.0])], [ranking([[1], [0]], [3, 3])])
    assert found.metrics() == {}


def test_accuracy_and_margin_worked_by_hand() -> None:
    """Scores 3, 1, 1 for tiers 0 > 1 > 2: two pairs right, the tied scores half."""
    judged = judge(torch.tensor([3.0, 1.0, 1.0]), ranking([[0], [1], [2]], [1, 1, 1]))
    means = mean_of([judged])
    assert means["accuracy"] == pytest.approx(2.5 / 3)
    assert means["chosen"] == pytest.approx((3 + 3 + 1) / 3)
    assert means["rejected"] == pytest.approx(1.0)
    assert means["margin"] == pytest.approx(4 / 3)
    assert mean_of([judge(torch.tensor([3.0, 1.0]), ranking([[0, 1]], [1, 1]))]) == {}


def test_the_heldout_metrics_worked_by_hand() -> None:
    """One pair right by 3, two of three right: chosen 4 5 5 2, rejected 1 2 3 3; ties count not."""
    scores = [torch.tensor([4.0, 1.0]), torch.tensor([5.0, 2.0, 3.0]), torch.tensor([9.0, 9.0])]
    rankings = [
        ranking([[0], [1]], [1, 1], "p"),
        ranking([[0], [1], [2]], [1, 1, 1], "q"),
        ranking([[0, 1]], [1, 1], "r"),
    ]
    values = heldout_metrics(scores, rankings)
    low, high = values.pop("eval/accuracy_low"), values.pop("eval/accuracy_high")
    assert values == pytest.approx(
        {
            "eval/accuracy": 3 / 4,
            "eval/chosen": 4.0,
            "eval/rejected": 9 / 4,
            "eval/margin": 7 / 4,
            "eval/pairs": 4,
            "eval/prompts": 3,
        }
    )
    # Two prompts, three quarters right: a prompt and a half of two.
    assert (low, high) == exact_interval(1.5, 2)


def test_many_scores_are_added_in_float64() -> None:
    """In float32 the one is lost beside 100,000,000."""
    judged = judge(torch.tensor([1e8, 1.0, 0.0]), ranking([[0], [1], [2]], [1, 1, 1]))
    assert judged.chosen == 2e8 + 1


def test_a_ranking_of_one_tie_gives_the_interval_nothing_and_breaks_nothing() -> None:
    only_ties = [ranking([[0, 1]], [1, 1])]
    assert heldout_metrics([torch.zeros(2)], only_ties) == {
        "eval/pairs": 0.0,
        "eval/prompts": 1.0,
    }


def test_centring_worked_by_hand_moves_all_scores_of_a_ranking_alike() -> None:
    """Scores 1 and 3: (1 + 3)^2. Scores 1, 2, -6: (2 * -1)^2, gradient 2 * -2 * 2/3 for each."""
    assert centering_loss(torch.tensor([1.0, 3.0, 99.0]), [[1], [0]]).item() == 16
    assert centering_loss(torch.tensor([1.0, 3.0]), [[1]]).item() == 0
    score_K = torch.tensor([1.0, 2.0, -6.0], dtype=torch.float64, requires_grad=True)
    loss = centering_loss(score_K, [[2, 1], [0]])
    assert loss.item() == pytest.approx(4)
    (gradient,) = torch.autograd.grad(loss, score_K)
    assert gradient.tolist() == pytest.approx([-8 / 3] * 3)


def test_a_tie_in_a_listwise_ranking_pulls_its_scores_together() -> None:
    """Breslow: both of a tie are chosen among all that are left, so the mean of two choices."""
    score_K = torch.tensor([0.3, -0.5, 0.1], dtype=torch.float64)
    all_left, first, second = score_K.logsumexp(0), score_K[0], score_K[1]
    expected = ((all_left - first) + (all_left - second)) / 2
    assert listwise_loss(score_K, [[0, 1], [2]]).item() == pytest.approx(expected.item())
    assert listwise_loss(score_K, [[1, 0], [2]]).item() == pytest.approx(expected.item())
    two = score_K[:2].clone().requires_grad_()
    tie = listwise_loss(two, [[0, 1]])
    assert tie.item() == pytest.approx(ranking_loss(two, [[0, 1]]).item())
    (gradient,) = torch.autograd.grad(tie, two)
    assert gradient[0] > 0 > gradient[1]


def test_a_margin_drives_the_scores_apart(
    workshop: Workshop, tiny_model: Path, finished: Finished
) -> None:
    """From the same start the loss is larger, and so is the difference of scores it ends with."""
    config = reward_model_config(tiny_model)
    config["optim"]["epochs"] = 8
    plain, wide = finished(config), workshop.lay_out("wide", config | {"margin": 2.0})
    assert workshop.run_here(wide)["code"] == 0

    assert series(wide, "eval/score_mean")[0] == series(plain, "eval/score_mean")[0]
    assert series(wide, "eval/loss")[0] > series(plain, "eval/loss")[0] + 1
    assert series(wide, "margin")[16] > series(plain, "margin")[16]


def test_a_listwise_loss_with_a_margin_is_refused() -> None:
    config = reward_model_config(Path("model"), loss="listwise", margin=0.5)
    with pytest.raises(ValueError, match=r"margin is 0\.5, but loss listwise does not use it"):
        RewardModelConfig.model_validate(config)


@pytest.mark.parametrize("loss", ["pairwise", "listwise"])
def test_micro_batches_change_nothing_but_rounding(
    workshop: Workshop, tiny_model: Path, loss: str
) -> None:
    """Six rankings of different length a step at once, and one by one; 2 steps."""
    config = reward_model_config(tiny_model, loss=loss, center=0.1)
    config["optim"] |= {"epochs": 1}
    whole = workshop.lay_out("whole", config)
    config["optim"] |= {"micro_batch_tokens": 64}
    parts = workshop.lay_out("parts", config)
    for run_dir in (whole, parts):
        assert workshop.run_here(run_dir)["code"] == 0
    for name in ("loss", "grad_norm", "margin", "eval/loss", "eval/score_mean"):
        assert series(parts, name)[2] == pytest.approx(series(whole, name)[2], rel=1e-3), name


@pytest.mark.parametrize("change", [{}, {"loss": "listwise"}])
def test_centring_brings_the_scores_to_zero_and_the_run_tells_of_itself(
    workshop: Workshop, tiny_model: Path, finished: Finished, change: dict[str, Any]
) -> None:
    config = reward_model_config(tiny_model, **change)
    config["optim"]["epochs"] = 8
    free, held = finished(config), workshop.lay_out("held", config | {"center": 0.1})
    assert workshop.run_here(held)["code"] == 0

    assert abs(series(held, "eval/score_mean")[16]) < 0.2 * series(held, "eval/score_std")[16]
    # What a ranking says is kept: the scores are as far apart as without.
    assert series(held, "margin")[16] > 0.5 * series(free, "margin")[16]
    assert series(held, "eval/accuracy")[16] >= 0.9
    assert series(held, "margin")[16] == pytest.approx(
        series(held, "reward/chosen")[16] - series(held, "reward/rejected")[16]
    )
    # The rankings like short responses, and so does the model.
    assert series(held, "eval/length_correlation")[16] < -0.5
    assert series(held, "eval/accuracy_shorter")[16] >= 0.9
    assert 0 <= series(held, "eval/calibration_error")[16] <= 0.5
    card = json.loads((held / "output" / "reward_model.json").read_text())
    assert sum(one["n_pairs"] for one in card["calibration"]) == 12
    assert card["length_bias"]["correlation"] == pytest.approx(
        series(held, "eval/length_correlation")[16], rel=1e-4
    )
    (told,) = [line for line in lines(held, "alert") if line["rule"] == "calibration"]
    assert "of" in told["message"]
