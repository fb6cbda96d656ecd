"""Seeds: t intervals, interquartile means and differences, by tables, by hand and in simulation."""

import math
from collections.abc import Callable
from random import Random
from statistics import fmean
from typing import Any

import pytest

from backend.domain.seeds.compared import sentence_of
from backend.domain.seeds.estimates import (
    Difference,
    difference,
    interquartile_mean,
    summarised,
)
from backend.domain.seeds.groups import differences, seed_groups
from backend.domain.seeds.measures import all_measured_apart, apart_from_most, measured_apart
from intervals.student import cdf, quantile

# Of the tables of every textbook.
T_975 = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 9: 2.26216, 10: 2.22814, 29: 2.04523,
         120: 1.97993}  # fmt: skip


@pytest.mark.parametrize(("freedom", "t"), T_975.items())
def test_quantiles_are_those_of_the_tables(freedom: int, t: float) -> None:
    assert quantile(0.975, freedom) == pytest.approx(t, rel=1e-5)


def test_one_degree_of_freedom_is_cauchys_distribution() -> None:
    for t in (-3.0, -0.5, 0.0, 1.0, 7.0):
        assert cdf(t, 1) == pytest.approx(0.5 + math.atan(t) / math.pi)


@pytest.mark.parametrize("freedom", [2, 3, 8, 31])
def test_the_distribution_is_symmetric_and_rises(freedom: int) -> None:
    values = [cdf(t / 4, freedom) for t in range(-20, 21)]

    assert values == sorted(values)
    assert [1 - one for one in reversed(values)] == pytest.approx(values)


def test_three_seeds_by_hand() -> None:
    """1, 2, 3: mean 2, deviation 1, half width 4.30265 / sqrt(3)."""
    found = summarised([1.0, 2.0, 3.0])

    assert (found.n, found.value, found.is_iqm) == (3, 2.0, False)
    assert (found.low, found.high) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-4)


@pytest.mark.parametrize("values", [[1.0], [1.0, 3.0]])
def test_fewer_than_three_seeds_have_no_interval(values: list[float]) -> None:
    found = summarised(values)

    assert (found.value, found.low, found.high) == (fmean(values), None, None)


def test_the_interquartile_mean_by_hand() -> None:
    assert interquartile_mean([1, 2, 3, 100]) == 2.5
    # Of ten, 2.5 fall away at each end: half of the third and of the eighth count.
    assert interquartile_mean(range(10)) == pytest.approx((0.5 * 2 + 3 + 4 + 5 + 6 + 0.5 * 7) / 5)


def test_one_failed_seed_of_ten_does_not_move_the_interquartile_mean_far() -> None:
    seeds = [1.0 + 0.01 * i for i in range(9)]

    assert summarised([*seeds, -100.0]).value == pytest.approx(1.04, abs=0.02)


def coverage(draw: Callable[[Random], list[float]], truth: float, runs: int = 1000) -> float:
    random = Random(5)
    found = [summarised(draw(random)) for _ in range(runs)]
    return fmean(
        one.low is not None and one.high is not None and one.low <= truth <= one.high
        for one in found
    )


@pytest.mark.parametrize("n", [3, 5, 9, 10, 12, 20])
def test_intervals_cover_the_truth_in_95_of_100_simulations(n: int) -> None:
    share = coverage(lambda random: [random.gauss(0.3, 2) for _ in range(n)], 0.3)

    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize("sizes", [(3, 3), (3, 8), (5, 5)])
def test_the_interval_of_a_difference_covers_it(sizes: tuple[int, int]) -> None:
    random = Random(6)
    hits = 0
    for _ in range(1000):
        ours = [random.gauss(1.0, 1.0) for _ in range(sizes[0])]
        theirs = [random.gauss(0.0, 2.0) for _ in range(sizes[1])]
        found = difference(ours, theirs)
        hits += found.low is not None and found.high is not None and found.low <= 1 <= found.high

    # The degrees of freedom are rounded down: rather too wide than too narrow.
    assert 0.93 <= hits / 1000 <= 0.985


def test_a_difference_by_hand() -> None:
    """1, 2, 3 and 4, 5, 6: -3, both variances 1, four degrees of freedom."""
    found = difference([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    half = 2.77645 * math.sqrt(2 / 3)

    assert (found.low, found.high) == pytest.approx((-3 - half, -3 + half), abs=1e-4)
    assert (found.is_decided, found.more_seeds) == (True, 0)


def test_a_difference_that_takes_many_seeds_promises_none() -> None:
    assert sentence_of(Difference(0.3, -0.1, 0.7, 4)) == (
        "The difference of means is 0.300 [−0.100, 0.700]: it may be chance. "
        "If it is real, about 4 more seeds per group would show it."
    )
    many = sentence_of(Difference(0.007, -0.108, 0.122, 315, is_iqm=True), 10)
    assert many == (
        "The difference of IQMs is 0.007 [−0.108, 0.122], corrected for 10 pairs of groups: it "
        "may be chance. More than 0.122 either way is unlikely."
    )


def test_seeds_without_spread_decide_nothing() -> None:
    """Three times one number: no interval without a width may claim to know the difference."""
    found = difference([0.6] * 3, [0.5] * 3)

    assert (found.is_decided, found.more_seeds) == (False, None)
    assert sentence_of(found).endswith("cannot tell that from chance.")
    assert difference([0.6] * 3, [0.5, 0.5, 0.51]).is_decided


# scipy 1.16: stats.ttest_ind(OURS, THEIRS, equal_var=False, trim=0.25) has the statistic 5.608828
# and 8.387049 degrees of freedom, which are rounded down here; stats.t.ppf has the quantiles.
OURS = [0.61, 0.72, 0.55, 0.68, 0.70, 0.66, 0.03, 0.64, 0.69, 0.67, 0.71, 0.05]
THEIRS = [0.52, 0.49, 0.58, 0.50, 0.55, 0.47, 0.51, 0.53, 0.02, 0.56, 0.54, 0.48]


@pytest.mark.parametrize(("n_comparisons", "half"), [(1, 0.0589298), (10, 0.0979398)])
def test_a_difference_of_iqms_is_yuens(n_comparisons: int, half: float) -> None:
    found = difference(OURS, THEIRS, is_iqm=True, n_comparisons=n_comparisons)

    assert found.value == pytest.approx(0.1433333)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))
    # By their means, which two failed seeds move, it is open: p = .349.
    assert not difference(OURS, THEIRS).is_decided


@pytest.mark.parametrize("sizes", [(10, 10), (11, 13), (12, 20)])
def test_the_interval_of_a_difference_of_iqms_covers_it(sizes: tuple[int, int]) -> None:
    random = Random(7)
    hits = 0
    for _ in range(1000):
        ours, theirs = ([random.gauss(mean, 1 + mean) for _ in range(n)]
                        for mean, n in zip((1.0, 0.0), sizes, strict=True))  # fmt: skip
        found = difference(ours, theirs, is_iqm=True)
        hits += found.low is not None and found.high is not None and found.low <= 1 <= found.high

    assert 0.93 <= hits / 1000 <= 0.985


def test_how_much_was_written_is_one_measure_whatever_the_reward() -> None:
    configs = [{"reward": {"clip": 1}}, {"reward": {"clip": 2}}]
    assert measured_apart("eval/reward", configs) == "reward"
    assert measured_apart("eval/cold/pass@1", configs) == "reward"
    for metric in ("eval/length", "eval/cold/length", "eval/truncated_fraction"):
        assert measured_apart(metric, configs) is None
    assert measured_apart("eval/length", [{"prompts": 1}, {"prompts": 2}]) == "prompts"


def test_each_metric_is_told_apart_by_what_it_depends_on() -> None:
    configs = [{"reward": {"clip": 1}}, {"reward": {"clip": 2}}]
    names = (
        "reward/mean",
        "eval/reward",
        "eval/length",
        "gold/reward",
        "kl/exact",
        "eval/a/pass@1",
    )
    assert all_measured_apart(names, configs) == {
        "reward/mean": "reward", "eval/reward": "reward", "eval/a/pass@1": "reward"
    }  # fmt: skip
    alone, beside = {"prompts": 1}, {"prompts": 1, "baseline_model": 2}
    assert all_measured_apart(("eval/win_rate", "eval/reward"), [alone, beside]) == {
        "eval/win_rate": "baseline_model"
    }
    assert all_measured_apart(names, [alone]) == {}


def test_a_part_of_a_set_and_a_named_set_are_told_apart_as_the_measure() -> None:
    rewards = [{"reward": {"clip": 1}}, {"reward": {"clip": 2}}]
    baselines = [{"baseline_model": 1}, {"baseline_model": 2}]

    for of in ("eval/length", "eval/cold/length"):
        assert measured_apart(f"{of}/level.2", rewards) is None
    for of in ("eval/win_rate", "eval/cold/win_rate", "eval/cold/gain/level.2"):
        assert measured_apart(of, baselines) == "baseline_model"


def test_a_reward_with_the_over_long_penalty_is_another_measure() -> None:
    """By its limit and buffer; what judges correctness, and sets of their own, have none."""

    def penalized(**changes: Any) -> dict[str, Any]:
        return {"overlong": "penalize", "rollout": {"max_new_tokens": 64}, **changes}

    kept = {"overlong": "keep", "rollout": {"max_new_tokens": 64}}
    for metric in ("eval/reward", "eval/reward/level.2", "eval/objective", "reward/mean"):
        assert measured_apart(metric, [kept, penalized()]) == "overlong"
    for metric in ("eval/pass@1", "reward/raw_mean", "eval/cold/reward"):
        assert measured_apart(metric, [kept, penalized()]) is None
    assert measured_apart("eval/reward", [kept, {**kept, "overlong": "mask"}]) is None
    shorter = penalized(rollout={"max_new_tokens": 32})
    assert measured_apart("eval/reward", [penalized(), shorter]) == "rollout.max_new_tokens"
    assert measured_apart("eval/reward", [kept, {**kept, "rollout": {}}]) is None


@pytest.mark.parametrize(
    ("setting", "value"),
    [("temperature", 0.2), ("top_p", 0.9), ("stop", ["end"]), ("system", "Be brief."),
     ("template", "plain")],
)  # fmt: skip
def test_responses_that_were_sampled_otherwise_are_another_measure(
    setting: str, value: Any
) -> None:
    """A policy that is only sampled colder is no better policy."""
    plain = {"temperature": 1.0, "top_p": 1.0, "stop": [], "system": "", "template": "model"}
    configs = [{"rollout": plain}, {"rollout": plain | {setting: value}}]

    apart = f"rollout.{setting}"
    sampled = ("eval/reward", "eval/pass@1/level.2", "eval/length", "eval/win_rate", "reward/mean")
    for metric in sampled:
        assert measured_apart(metric, configs) == apart
    # Texts that are given are not sampled, but they follow a prompt.
    of_texts = apart if setting in ("system", "template") else None
    assert measured_apart("eval/text_logp", configs) == of_texts
    assert measured_apart("gold/reward", configs) is None


def test_the_token_limit_and_the_size_of_a_step_are_no_other_measure() -> None:
    configs = [{"rollout": {"max_new_tokens": n, "samples_per_prompt": n}} for n in (1, 2)]

    assert measured_apart("eval/pass@1", configs) is None


def test_a_set_is_sampled_as_its_run_where_it_says_nothing_itself() -> None:
    def config(of_run: float, **of_set: Any) -> dict[str, Any]:
        return {"rollout": {"temperature": of_run}, "evaluation_sets": [{"name": "a", **of_set}]}

    assert measured_apart("eval/a/pass@1", [config(1.0), config(0.2)]) == "rollout.temperature"
    said = [config(1.0, temperature=0.5), config(0.2, temperature=0.5)]
    assert measured_apart("eval/a/pass@1", said) is None
    assert measured_apart("eval/a/pass@1", [config(0.5), said[0]]) is None
    assert measured_apart("eval/a/pass@1", [config(0.4), said[0]]) == "evaluation_sets"
    # The prompts of the run itself have no such setting.
    assert measured_apart("eval/pass@1", said) == "rollout.temperature"
    # What both sets say themselves differs in their runs, and is not the reason.
    for top_p, one in zip((0.9, 1.0), said, strict=True):
        one["rollout"]["top_p"] = top_p
    assert measured_apart("eval/a/pass@1", said) == "rollout.top_p"


def test_what_passes_is_part_of_what_correct_means() -> None:
    configs = [{"pass_reward": 0.5}, {"pass_reward": 1.0}]

    assert measured_apart("eval/pass@1", configs) == "pass_reward"
    assert measured_apart("eval/length", configs) is None


def test_a_reward_less_the_price_of_the_kl_is_measured_by_that_price() -> None:
    configs = [{"kl": {"coef": coef, "target": None}} for coef in (0.1, 0.2)]
    targets = [{"kl": {"coef": 0.1, "target": target}} for target in (None, 6.0)]

    assert measured_apart("eval/objective", configs) == "kl.coef"
    assert measured_apart("eval/objective", targets) == "kl.target"
    assert measured_apart("eval/reward", configs) is None


def test_log_probabilities_under_another_reference_are_another_measure() -> None:
    configs = [{"reference": {"id": one}} for one in ("model_a", "model_b")]

    assert measured_apart("eval/ref_logp", configs) == "reference"


@pytest.mark.parametrize("setting", ["loss", "beta", "label_smoothing", "margin", "center"])
def test_another_loss_is_another_measure(setting: str) -> None:
    """That of IPO is a square; the accuracy is the same share by either."""
    configs = [{setting: 1}, {setting: 2}]

    assert measured_apart("eval/loss", configs) == setting
    assert measured_apart("eval/loss_change", configs) == setting
    assert measured_apart("eval/accuracy", configs) is None


def test_a_kl_is_from_a_reference() -> None:
    """Without one it is from the model that the run began with."""
    a, b = {"id": "a"}, {"id": "b"}
    for metric in ("kl/exact", "kl/response", "eval/objective"):
        assert measured_apart(metric, [{"reference": a}, {"reference": b}]) == "reference"
        assert measured_apart(metric, [{"model": a}, {"model": b, "reference": None}]) == "model"
        assert measured_apart(metric, [{"model": a}, {"model": b, "reference": a}]) is None
        assert measured_apart(metric, [{"model": a}, {"model": a, "reference": b}]) == "reference"
    assert measured_apart("eval/reward", [{"model": a}, {"model": b}]) is None


def test_a_win_is_against_a_baseline_on_a_named_set_too() -> None:
    """That of a policy is its reference, or without one the model that it began with."""
    a, b = {"id": "a"}, {"id": "b"}
    policy = {"method": "policy_gradient"}
    for metric in (
        "eval/win_rate", "eval/ood/win_rate", "eval/ood/gain/level.2", "eval/text_change",
    ):  # fmt: skip
        beside = [{"baseline_model": one} for one in (a, b)]
        assert measured_apart(metric, beside) == "baseline_model"
        beside = [{**policy, "model": a, "reference": one} for one in (a, b)]
        assert measured_apart(metric, beside) == "reference"
        assert measured_apart(metric, [{**policy, "model": one} for one in (a, b)]) == "model"
        same = [{**policy, "model": one, "reference": a} for one in (a, b)]
        assert measured_apart(metric, same) is None
        evaluated = [{"method": "evaluate", "model": one, "baseline_model": a} for one in (a, b)]
        assert measured_apart(metric, evaluated) is None
    # A set that is called as a measure is not that measure.
    called = [{"baseline_model": one, "evaluation_sets": [{"name": "gain"}]} for one in (a, b)]
    assert measured_apart("eval/gain/reward", called) is None


def test_a_likelihood_is_that_of_its_texts() -> None:
    texts = [{"prompts": 1, "texts": {"id": one}} for one in "ab"]
    prompts = [{"prompts": one, "split": one, "texts": {"id": "a"}} for one in "ab"]

    for metric in ("eval/text_logp", "eval/text_change"):
        assert measured_apart(metric, texts) == "texts"
        assert measured_apart(metric, prompts) is None
    assert measured_apart("eval/reward", texts) is None
    rewards = [{"reward": one, "evaluation_sets": [{"name": "text_a"}]} for one in (1, 2)]
    assert measured_apart("eval/text_a/reward", rewards) == "reward"


def test_a_set_of_its_own_is_what_its_metrics_measure() -> None:
    """Whatever else the runs answer; and another set of the same name is another measure."""
    cold, warm = ({"name": "cold", "temperature": one} for one in (0, 1))
    configs = [{"prompts": 1, "evaluation_sets": [cold]}, {"prompts": 2, "evaluation_sets": [cold]}]
    assert measured_apart("eval/pass@1", configs) == "prompts"
    assert measured_apart("eval/cold/pass@1", configs) is None
    # A value of a breakdown has the form of a set.
    assert measured_apart("eval/pass@1/level.2", configs) == "prompts"

    others = [{"prompts": 1, "evaluation_sets": [one, {"name": "more"}]} for one in (cold, warm)]
    assert measured_apart("eval/cold/pass@1", others) == "evaluation_sets"
    assert measured_apart("eval/more/pass@1", others) is None
    assert apart_from_most("eval/cold/length", [*configs, *others]) == [
        None, None, None, "evaluation_sets"
    ]  # fmt: skip


def test_the_seeds_still_needed_would_decide() -> None:
    ours, theirs = [0.0, 1.0, 2.0], [0.5, 1.5, 2.5]
    found = difference(ours, theirs)
    assert found.more_seeds is not None
    n = 3 + found.more_seeds

    assert quantile(0.975, 2 * n - 2) * math.sqrt(2 / n) < 0.5
    assert quantile(0.975, 2 * n - 4) * math.sqrt(2 / (n - 1)) >= 0.5
    assert difference(ours, ours).more_seeds is None


def test_runs_are_grouped_by_everything_but_their_seed() -> None:
    configs = {
        "a": {"seed": 1, "lr": 0.1, "log": {"tokens": "none"}},
        "b": {"lr": 0.1, "seed": 2},
        "c": {"seed": 1, "lr": 0.2},
    }

    assert seed_groups(configs) == [["a", "b"], ["c"]]


def test_only_what_differs_is_told_by_its_path() -> None:
    first = {"optim": {"lr": 0.1, "beta": 1}, "terms": [{"kind": "model"}]}
    second = {"optim": {"lr": 0.2, "beta": 1}, "terms": [{"kind": "regex"}, {"kind": "length"}]}

    assert differences([first, second]) == {
        "optim.lr": [0.1, 0.2],
        "terms.0.kind": ["model", "regex"],
        "terms.1.kind": [None, "length"],
    }
