"""Verdicts on runs that learn from records, measure or sample."""

import math

import pytest

from backend.domain.verdict import divergence
from backend.domain.verdict.evidence import Estimate, Evidence, Point, Sides
from backend.domain.verdict.judging import RULES, judge
from backend.domain.verdict.words import apart, as_set, percent, percents, shown, with_span
from backend.schemas.metrics.verdicts import RunVerdict, Span
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind


def verdict(
    method: Method,
    *,
    is_over: bool = True,
    config: dict[str, object] | None = None,
    **curves: list[float],
) -> RunVerdict:
    """Of these values at steps 0, 10, 20, ... (`__` for /)."""
    named = {
        name.replace("__", "/").replace("_at_", "@"): [
            Point(10 * i, value) for i, value in enumerate(values)
        ]
        for name, values in curves.items()
    }
    return judge(method, Evidence(config or {}, named, is_over))


@pytest.mark.parametrize(
    ("losses", "kind"),
    [
        ([2.0, 1.5, 1.2], Kind.IMPROVED),
        ([2.0, 1.2, 1.25], Kind.IMPROVED),  # .05 of .8 gained is no turn
        ([2.0, 1.2, 1.5], Kind.OVERFITTED),
        ([2.0, 1.999, 1.995], Kind.STALLED),
        ([2.0, 1.9, 2.1], Kind.WORSE),
        ([2.0], Kind.UNJUDGED),
    ],
)
def test_fine_tuning_is_judged_by_its_held_out_loss(losses: list[float], kind: Kind) -> None:
    assert verdict(Method.SFT, eval__loss=losses, loss=[3.0, 1.0, 0.1]).kind == kind


def test_the_change_of_a_loss_is_told_for_lists() -> None:
    assert losses([2.0, 1.9, 1.8], 0.1).change == "−0.200 [−0.341, −0.059]"
    assert losses([2.0, 1.2, 1.5], 0.05).change == ""
    assert verdict(Method.SFT, eval__loss=[2.0, 1.2]).change == ""


def losses(values: list[float], half_width: float, **more: list[float]) -> RunVerdict:
    return verdict(
        Method.SFT,
        eval__loss=values,
        eval__loss_low=[value - half_width for value in values],
        eval__loss_high=[value + half_width for value in values],
        eval__prompts=[40.0] * len(values),
        **more,
    )


def test_a_held_out_loss_counts_only_beyond_its_interval() -> None:
    """The error of a difference is the root of two of each: .03 of .0141 and of .0424."""
    clear, unclear = losses([2.0, 1.97], 0.0141), losses([2.0, 1.97], 0.0424)

    assert (clear.kind, clear.level) == (Kind.IMPROVED, "good")
    assert clear.sentence == "The held-out loss fell from 2 to 1.97 nats per token."
    assert "The interval is over 40 held-out prompts: another seed may end" in clear.reason
    assert (unclear.kind, unclear.level) == (Kind.STALLED, "warn")
    assert unclear.sentence == (
        "No clear change: the held-out loss was 2 and is 1.97 nats per token."
    )
    assert losses([1.97, 2.0], 0.0141).kind == Kind.WORSE
    assert losses([1.97, 2.0], 0.0424).kind == Kind.STALLED


def paired(values: list[float], half_width: float) -> RunVerdict:
    """Losses of records that differ much more from each other than each of them moves."""
    steps = range(10, 10 * len(values), 10)
    curves = {
        f"eval/loss_change{end}": [
            Point(step, value - values[0] + side * half_width)
            for step, value in zip(steps, values[1:], strict=True)
        ]
        for end, side in (("", 0), ("_low", -1), ("_high", 1))
    }
    curves |= {
        f"eval/loss{end}": [Point(10 * i, value + side) for i, value in enumerate(values)]
        for end, side in (("", 0.0), ("_low", -0.5), ("_high", 0.5))
    }
    return judge(Method.SFT, Evidence({}, curves, is_over=True))


def test_the_change_of_each_record_decides_where_it_is_known() -> None:
    found = paired([2.0, 1.97], 0.02)

    assert (found.kind, found.level) == (Kind.IMPROVED, "good")
    assert "It changed by −0.0300, 95 % interval [−0.0500, −0.0100]" in found.reason
    assert paired([2.0, 1.97], 0.04).kind == Kind.STALLED
    # Both ends of a later rise have an error, and the lowest of three was chosen.
    assert paired([2.0, 1.2, 1.5], 0.05).kind == Kind.OVERFITTED
    assert paired([2.0, 1.2, 1.5], 0.25).kind == Kind.IMPROVED
    # The gauge shows how sure the loss itself is.
    assert found.gauges[0].interval == Span(low=1.97 - 0.5, high=1.97 + 0.5)


@pytest.mark.parametrize(("last", "kind"), [(1.97, Kind.STALLED), (1.8, Kind.IMPROVED)])
def test_without_an_interval_a_loss_has_to_move_by_a_twentieth(last: float, kind: Kind) -> None:
    found = verdict(Method.SFT, eval__loss=[2.0, last])

    assert found.kind == kind
    assert "nats per token; the interval of this change is not known." in found.sentence
    assert "Without an interval only a change of 5 % or more counts." in found.reason


def test_two_losses_in_a_sentence_differ() -> None:
    for found in (verdict(Method.SFT, eval__loss=[2.0, 2.0001]), losses([2.0, 2.0001], 1e-6)):
        assert found.kind == Kind.STALLED
        assert "the held-out loss was 2 and is 2.0001 nats per token" in found.sentence


def test_a_falling_training_loss_alone_says_nothing() -> None:
    found = verdict(Method.SFT, loss=[3.0, 1.0, 0.1])

    assert (found.kind, found.level) == (Kind.UNJUDGED, "warn")


def test_what_is_missing_is_named_as_it_is() -> None:
    def told(**curves: list[float]) -> str:
        return verdict(Method.REWARD_MODEL, **curves).sentence

    assert told(loss=[0.6]).endswith("there were no held-out records.")
    # One held-out prompt has no interval, however often it is evaluated.
    assert told(eval__accuracy=[0.5, 0.7]).endswith("its held-out accuracy has no interval.")
    # A step labelled .5 is neither right nor wrong, a tie has no winner.
    evaluated = {"eval__loss": [0.6], "eval__prompts": [9.0]}
    assert told(**evaluated) == (
        "Nothing shows what the model learned: no held-out ranking places one response above "
        "another."
    )
    unlabelled = verdict(Method.PROCESS_REWARD_MODEL, **evaluated)
    assert unlabelled.sentence.endswith("no held-out step has a label other than .5.")
    once = verdict(Method.SFT, eval__loss=[2.0])
    assert once.sentence.endswith("it was evaluated only once.")
    assert once.reason.startswith("Set `eval_every` to evaluate it more often.")


def test_a_process_model_tells_which_steps_nobody_labelled() -> None:
    def missing(**curves: list[float]) -> dict[str, str]:
        found = verdict(Method.PROCESS_REWARD_MODEL, eval__loss=[0.6], loss=[0.6], **curves)
        return {one.metric: one.missing for one in found.gauges if one.missing}

    assert missing(eval__accuracy=[0.8], eval__accuracy_right=[0.8]) == {
        "eval/accuracy_wrong": "No held-out step is labelled wrong."
    }
    assert missing(eval__accuracy=[0.8], eval__accuracy_wrong=[0.8]) == {
        "eval/accuracy_right": "No held-out step is labelled right."
    }
    assert missing()["eval/accuracy"] == "No held-out step has a label other than .5."


def test_overfitting_names_the_step_to_stop_at() -> None:
    found = verdict(Method.SFT, eval__loss=[2.0, 1.2, 1.5])

    assert found.sentence == (
        "The held-out loss has risen since step 10: training went on for too long."
    )
    assert found.best_step == 10


@pytest.mark.parametrize("method", [Method.REWARD_MODEL, Method.PROCESS_REWARD_MODEL, Method.DPO])
def test_an_accuracy_counts_only_if_its_whole_interval_is_above_chance(method: Method) -> None:
    def of(low: float) -> RunVerdict:
        return verdict(
            method, eval__accuracy=[0.66], eval__accuracy_low=[low], eval__accuracy_high=[0.8]
        )

    assert (of(0.51).kind, of(0.51).level) == (Kind.ABOVE_CHANCE, "good")
    assert (of(0.49).kind, of(0.49).level) == (Kind.AT_CHANCE, "warn")


@pytest.mark.parametrize("method", [Method.REWARD_MODEL, Method.PROCESS_REWARD_MODEL, Method.DPO])
def test_an_accuracy_below_chance_is_called_so_in_red(method: Method) -> None:
    found = verdict(
        method, eval__accuracy=[0.2], eval__accuracy_low=[0.1], eval__accuracy_high=[0.3]
    )

    assert (found.kind, found.level) == (Kind.AT_CHANCE, "bad")
    assert found.sentence.startswith("Worse than chance: the model is right on 20 % of the held")
    assert (found.gauges[0].level, found.gauges[0].note) == ("bad", "worse than chance")


def test_a_reward_model_that_knows_only_its_training_pairs_is_overfitted() -> None:
    found = verdict(
        Method.REWARD_MODEL,
        accuracy=[0.5, 0.7, 0.9, 1.0, 1.0, 1.0],
        eval__accuracy=[0.5, 0.65, 0.62],
        eval__accuracy_low=[0.4, 0.55, 0.52],
        eval__accuracy_high=[0.6, 0.75, 0.72],
        eval__loss=[0.69, 0.6, 0.8],
    )

    assert found.kind == Kind.OVERFITTED
    share = "The model is right on 62 % of the held-out pairs."
    assert found.reason.startswith(f"{share} 95 % interval 52 % to 72 %.")
    assert "At the end of training it was right on 100 % of the training pairs." in found.reason


# As a learning rate of 1 did it.
EXPLODED = [2.21, 14.1, 15.5, 9.2, 2.91, 2.75]
ABOVE_START = [2.2, 14.0, 15.0, 9.0, *[3.8, 3.7, 3.9, 3.8, 3.8, 3.8] * 5]


def test_an_explosion_is_named_though_the_loss_came_back() -> None:
    found = losses(EXPLODED, 1.0, loss=ABOVE_START)

    assert (found.kind, found.level) == (Kind.STALLED, "warn")
    assert found.sentence == (
        "No clear change: the held-out loss was 2.21 and is 2.75 nats per token, after a peak of "
        "15.5 at step 20, and the training loss rose from 2.20 to 3.80."
    )
    assert [(one.step, one.sentence, one.level) for one in found.happened] == [
        (0, "Lowest held-out loss: 2.21, in the first evaluation.", "none"),
        (20, "Highest held-out loss: 15.5, above its first and its last.", "warn"),
    ]


def test_a_training_loss_that_rose_is_no_overfitting_and_not_green() -> None:
    fell = losses([2.0, 1.5], 0.1, loss=ABOVE_START)
    turned = losses([2.0, 1.2, 1.6], 0.01, loss=ABOVE_START)

    assert (fell.kind, fell.level) == (Kind.IMPROVED, "warn")
    assert fell.sentence.endswith("per token, but the training loss rose from 2.20 to 3.80.")
    assert turned.kind == Kind.OVERFITTED
    assert turned.sentence == (
        "The held-out loss has risen since step 10, and the training loss rose from 2.20 to 3.80."
    )


@pytest.mark.parametrize("method", [Method.REWARD_MODEL, Method.PROCESS_REWARD_MODEL, Method.DPO])
def test_ranks_are_told_with_a_training_loss_that_rose(method: Method) -> None:
    found = verdict(
        method,
        eval__accuracy=[0.8], eval__accuracy_low=[0.7], eval__accuracy_high=[0.9],
        eval__loss=EXPLODED, loss=ABOVE_START,
    )  # fmt: skip

    if method == Method.PROCESS_REWARD_MODEL:
        assert (found.kind, found.level) == (Kind.ABOVE_CHANCE, "warn")
        assert "80 % of the held-out steps, but the training loss rose from 2.20" in found.sentence
    assert "the training loss rose from 2.20 to 3.80" in f"{found.sentence} {found.reason}"
    assert "Highest held-out loss: 15.5" in " ".join(one.sentence for one in found.happened)


def _accuracies(*values: float, half_width: float) -> list[tuple[int, str, str]]:
    """What happened to a reward model with these held-out accuracies."""
    found = verdict(
        Method.REWARD_MODEL,
        eval__accuracy=list(values),
        eval__accuracy_low=[value - half_width for value in values],
        eval__accuracy_high=[value + half_width for value in values],
    )
    return [(one.step, one.sentence, one.level) for one in found.happened]


def test_the_best_accuracy_is_told_as_good_only_if_it_is() -> None:
    text = "Best held-out accuracy"
    assert _accuracies(0.5, 0.7, half_width=0.1) == [(10, f"{text}: 0.700 [0.600, 0.800].", "good")]
    assert _accuracies(0.5, 0.6, half_width=0.1) == [
        (10, f"{text}: 0.600 [0.500, 0.700], not clearly above the first.", "none")
    ]
    assert _accuracies(0.8, 0.7, half_width=0.1) == [
        (0, f"{text}: 0.800 [0.700, 0.900], in the first evaluation.", "none")
    ]
    # Clearly higher, and still no better than chance.
    assert _accuracies(0.1, 0.41, half_width=0.1) == [
        (10, f"{text}: 0.410 [0.310, 0.510].", "none")
    ]
    # One evaluation is the best of none.
    assert _accuracies(0.8, half_width=0.1) == []


def test_the_best_of_several_accuracies_has_to_differ_by_more() -> None:
    """Each has an error of .051: .145 is two of a difference, too few for the best of three."""
    chosen = _accuracies(0.6, 0.745, 0.61, half_width=0.1)
    last = _accuracies(0.6, 0.61, 0.745, half_width=0.1)

    assert [level for _, _, level in chosen] == ["none"]
    assert chosen[0][1].endswith("not clearly above the first.")
    assert [level for _, _, level in last] == ["good"]


def test_the_lowest_loss_is_told_as_good_only_if_it_is() -> None:
    def happened(values: list[float], half_width: float) -> list[tuple[str, str]]:
        return [(one.sentence, one.level) for one in losses(values, half_width).happened]

    text = "Lowest held-out loss"
    assert happened([2.0, 1.97], 0.0141) == [(f"{text}: 1.97.", "good")]
    assert happened([2.0, 1.97], 0.0424) == [
        (f"{text}: 1.97, not clearly below the first.", "none")
    ]
    assert happened([2.0, 2.1], 0.1) == [(f"{text}: 2, in the first evaluation.", "none")]
    unsure = verdict(Method.SFT, eval__loss=[2.0, 1.97])
    assert [(one.sentence, one.level) for one in unsure.happened] == [(f"{text}: 1.97.", "none")]


def test_noise_and_a_fall_are_no_explosion() -> None:
    wobbling = [2.2, *[1.6, 4.2, 2.0, 3.4, 1.2, 4.4] * 5]
    found = losses([2.0, 2.1, 1.5], 0.01, loss=wobbling)

    assert (found.kind, found.level) == (Kind.IMPROVED, "good")
    assert [one.sentence for one in found.happened] == ["Lowest held-out loss: 1.50."]


def test_the_course_of_a_loss_is_shown_from_its_first_step() -> None:
    found = verdict(Method.SFT, loss=[4.0, 2.0, *[1.0] * 58], grad_norm=[9.0, *[1.0] * 59])

    assert [gauge.beside for gauge in found.gauges[1:]] == [
        "mean of steps 471 to 590, was 4 at step 0",
        "mean of steps 471 to 590, was 9 at step 0",
    ]


@pytest.mark.parametrize(("shorter", "level"), [(0.44, "warn"), (0.5, "good"), (0.8, "good")])
def test_a_reward_model_that_scores_length_is_not_simply_good(shorter: float, level: str) -> None:
    found = verdict(
        Method.REWARD_MODEL,
        eval__accuracy=[0.86], eval__accuracy_low=[0.69], eval__accuracy_high=[0.95],
        eval__accuracy_longer=[0.92], eval__accuracy_shorter=[shorter],
    )  # fmt: skip

    assert (found.kind, found.level) == (Kind.ABOVE_CHANCE, level)
    but = ", but only on 44 % of those in which the shorter response won" if level == "warn" else ""
    assert found.sentence == f"The model is right on 86 % of the held-out pairs{but}."


def test_the_share_that_scores_length_comes_with_its_interval() -> None:
    found = verdict(
        Method.REWARD_MODEL,
        accuracy=[0.5, 0.8, 0.8, 0.8, 0.8, 0.9],
        eval__accuracy=[0.86], eval__accuracy_low=[0.69], eval__accuracy_high=[0.95],
        eval__accuracy_shorter=[0.44],
        eval__accuracy_shorter_low=[0.22], eval__accuracy_shorter_high=[0.69],
    )  # fmt: skip

    assert "but only on 44 % [22, 69] of those in which the shorter response won." in found.sentence
    assert (found.gauges[3].level, found.gauges[3].value) == ("none", None)
    # The sentence and the gauge speak of the same mean.
    assert found.gauges[1].value == 0.9
    assert "right on 90 % of the training pairs" in found.reason


@pytest.mark.parametrize(
    ("correlation", "shorter", "level"),
    [(0.9, 0.44, "warn"), (0.9, 0.8, "none"), (0.3, 0.44, "none")],
)
def test_a_score_that_follows_the_length_is_marked_where_it_fails_on_short_winners(
    correlation: float, shorter: float, level: str
) -> None:
    found = verdict(
        Method.REWARD_MODEL,
        eval__accuracy_shorter=[shorter], eval__length_correlation=[correlation],
    )  # fmt: skip

    assert found.gauges[3].level == level


def test_a_process_model_that_calls_every_step_right_is_not_good() -> None:
    found = verdict(
        Method.PROCESS_REWARD_MODEL,
        eval__accuracy=[0.8], eval__accuracy_low=[0.7], eval__accuracy_high=[0.9],
        eval__accuracy_right=[1.0], eval__accuracy_wrong=[0.05],
    )  # fmt: skip

    assert (found.level, found.sentence) == ("warn", "The model finds only 5 % of the wrong steps.")
    share = "The model is right on 80 % of the held-out steps."
    assert found.reason == f"{share} 95 % interval 70 % to 90 %."


def test_dpo_that_makes_the_winners_unlikely_is_told() -> None:
    def of(chosen: float) -> RunVerdict:
        return verdict(
            Method.DPO,
            eval__accuracy=[0.7], eval__accuracy_low=[0.6], eval__accuracy_high=[0.8],
            eval__chosen=[chosen],
        )  # fmt: skip

    assert of(0.5).level == "good"
    assert (of(-0.5).level, of(-0.5).kind) == ("warn", Kind.ABOVE_CHANCE)


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (0.55, 0.7, Kind.ABOVE_BASELINE),
        (0.3, 0.45, Kind.BELOW_BASELINE),
        (0.45, 0.6, Kind.AT_BASELINE),
    ],
)
def test_an_evaluation_is_judged_against_its_baseline(low: float, high: float, kind: Kind) -> None:
    middle = (low + high) / 2
    found = verdict(
        Method.EVALUATE,
        eval__reward=[1.0],
        eval__win_rate=[middle], eval__win_rate_low=[low], eval__win_rate_high=[high],
    )  # fmt: skip

    assert found.kind == kind


@pytest.mark.parametrize(
    ("kinds", "level"),
    [(["model"], "warn"), (["regex", "process"], "warn"), (["regex"], "good")],
)
def test_a_win_by_a_learned_reward_is_not_green(kinds: list[str], level: str) -> None:
    found = verdict(
        Method.EVALUATE,
        config={"reward": {"terms": [{"kind": kind} for kind in kinds]}},
        eval__win_rate=[0.9], eval__win_rate_low=[0.85], eval__win_rate_high=[0.94],
    )  # fmt: skip

    assert (found.kind, found.level) == (Kind.ABOVE_BASELINE, level)
    doubt = "A learned reward judges here, and the model may have been trained on it"
    assert (doubt in found.reason) == (level == "warn")


HELD_OUT: dict[str, object] = {
    "split": "train",
    "evaluation_sets": [
        {"name": "seen", "split": "train"},
        {"name": "cold", "split": "heldout"},
    ],
}


def test_an_evaluation_is_judged_on_held_out_prompts_where_there_are_any() -> None:
    curves = {
        f"eval/{part}{name}{end}": [Point(1, value)]
        for part, value in (("", 0.9), ("seen/", 0.9), ("cold/", 0.3))
        for name in ("reward", "win_rate")
        for end in ("", "_low", "_high")
    }
    found = judge(Method.EVALUATE, Evidence(HELD_OUT, curves, is_over=True))

    assert found.kind == Kind.BELOW_BASELINE
    assert found.sentence.startswith(
        "By its reward the model is worse than its baseline on held-out prompts (cold): its win "
        "rate is 30 %, a tie counting half, 95 % interval"
    )
    assert {gauge.metric.rpartition("/")[0] for gauge in found.gauges} == {"eval/cold"}
    assert [gauge.title for gauge in found.gauges][:2] == ["Reward", "Win rate"]


def test_an_evaluation_on_training_prompts_alone_says_so() -> None:
    found = verdict(Method.EVALUATE, config=HELD_OUT, eval__reward=[1.0])

    assert found.sentence == "The mean reward on training prompts is 1."


WON = {
    f"eval/win_rate{end}": [Point(1, x)] for end, x in (("", 0.8), ("_low", 0.7), ("_high", 0.9))
}


def test_all_prompts_of_a_split_snapshot_are_not_held_out() -> None:
    config: dict[str, object] = {"split": "all"}
    found = judge(Method.EVALUATE, Evidence(config, WON, is_over=True, sides=Sides(35, 29)))

    assert (found.kind, found.level) == (Kind.ABOVE_BASELINE, "warn")
    assert found.sentence.startswith(
        "By its reward the model is better than its baseline on all 64 prompts, 35 of them "
        "training prompts: its win rate is 80 %, a tie counting half, 95 % interval 70 % to 90 %."
    )
    assert "set `split` to heldout" in found.reason
    alone = Evidence({}, {"eval/reward": [Point(1, 1.0)]}, is_over=True, sides=Sides(35, 29))
    assert judge(Method.EVALUATE, alone).sentence == (
        "The mean reward on all 64 prompts, 35 of them training prompts, is 1."
    )


def test_a_held_out_set_decides_before_all_prompts_of_a_split_snapshot() -> None:
    curves = WON | {"eval/cold/reward": [Point(1, 1.0)]}
    config = HELD_OUT | {"split": "all"}
    found = judge(Method.EVALUATE, Evidence(config, curves, is_over=True, sides=Sides(35, 29)))
    assert found.sentence == "The mean reward on held-out prompts (cold) is 1."


@pytest.mark.parametrize(("has_trained", "level"), [(False, "good"), (True, "warn")])
def test_test_prompts_that_were_never_split_are_as_good_as_held_out_unless_learned(
    has_trained: bool, level: str
) -> None:
    config = {"prompts": {"id": "snapshot_1"}}
    learned = {"snapshot_1"} if has_trained else {"snapshot_2"}
    evidence = Evidence(config, WON, is_over=True, sides=Sides(64, 0), learned=learned)
    found = judge(Method.EVALUATE, evidence)
    assert found.level == level
    assert ("on training prompts" in found.sentence) == has_trained


def test_an_evaluation_names_the_share_that_could_not_be_scored() -> None:
    found = verdict(Method.EVALUATE, eval__reward=[1.0], eval__coverage=[0.875])

    assert found.reason.startswith("The reward leaves out 12 % of the responses last evaluated,")


@pytest.mark.parametrize(
    ("beside", "is_shown"),
    [
        (None, False),
        ({"kind": "length", "weight": 0.0}, False),
        ({"kind": "regex", "pattern": "a", "weight": 0.0}, False),
        ({"kind": "length"}, True),
        ({"kind": "math", "weight": 0.0}, True),
        ({"kind": "regex", "pattern": "a", "weight": 0.0, "is_answer": True}, True),
    ],
)
def test_a_threshold_of_what_reward_models_give_is_no_gauge(
    beside: dict[str, object] | None, is_shown: bool
) -> None:
    terms = [{"kind": "model", "model": {"id": "model_rm"}}, *([beside] if beside else [])]
    config: dict[str, object] = {"reward": {"terms": terms}, "pass_reward": 1.0}
    values = {"eval__reward": [0.5], "eval__pass_at_1": [0.2]}

    found = verdict(Method.EVALUATE, config=config, **values)

    assert ("eval/pass@1" in {gauge.metric for gauge in found.gauges}) == is_shown
    bare = verdict(Method.EVALUATE, config=config | {"pass_reward": None}, eval__reward=[0.5])
    assert ("set `pass_reward`" in str(bare.gauges)) == is_shown


def test_without_a_baseline_an_evaluation_is_a_number() -> None:
    found = verdict(Method.EVALUATE, eval__reward=[1.0])

    assert (found.kind, found.level) == (Kind.MEASURED, "none")
    assert found.reason == "No baseline: set `baseline_model`."


@pytest.mark.parametrize(
    ("method", "key", "metric"),
    [
        (Method.EVALUATE, "baseline_model", "eval/win_rate"),
        (Method.GENERATE, "reference", "kl/exact"),
    ],
)
def test_a_model_to_compare_with_is_missed_only_where_the_config_names_none(
    method: Method, key: str, metric: str
) -> None:
    def missing(config: dict[str, object], *, is_over: bool) -> str:
        gauges = verdict(method, config=config, is_over=is_over).gauges
        return next(one.missing for one in gauges if one.metric == metric)

    assert missing({key: {"id": "model_x"}}, is_over=False) == "Nothing was measured yet."
    assert missing({key: {"id": "model_x"}}, is_over=True) == "Nothing was measured."
    assert f"set `{key}`" in missing({key: None}, is_over=False)


def test_a_baseline_that_could_not_be_compared_is_no_baseline_that_is_missing() -> None:
    config: dict[str, object] = {"baseline_model": {"id": "model_x"}}
    found = verdict(Method.EVALUATE, config=config, eval__reward=[1.0])

    assert found.reason == "No pair of responses could be scored."


def test_an_evaluation_of_which_nothing_could_be_scored_says_so() -> None:
    config: dict[str, object] = {"baseline_model": {"id": "model_x"}}
    found = verdict(Method.EVALUATE, config=config, eval__coverage=[0.0], eval__length=[9.0])

    assert (found.kind, found.level) == (Kind.UNJUDGED, "warn")
    assert found.sentence == "No response could be scored."
    assert [one.missing for one in found.gauges[:2]] == ["No response could be scored."] * 2


def test_a_win_rate_without_an_interval_is_told_as_a_number() -> None:
    found = verdict(Method.EVALUATE, config={"split": "train"}, eval__win_rate=[0.61])

    assert found.kind == Kind.MEASURED
    assert found.sentence == (
        "The win rate on training prompts is 61 %, a tie counting half, without an interval."
    )


def test_responses_that_were_cut_are_no_good_to_rank() -> None:
    whole = verdict(Method.GENERATE, truncated_fraction=[0.05])
    cut = verdict(Method.GENERATE, truncated_fraction=[0.5])

    assert (whole.kind, whole.level) == (Kind.MEASURED, "none")
    assert (cut.kind, cut.level) == (Kind.TRUNCATED, "warn")


def test_gauges_of_generated_responses_show_terms_and_not_how_much_they_scored() -> None:
    terms = {name: [0.5] for name in ("reward__math", "reward__set_match", "reward__style")}
    more = {f"reward__math_{end}": [1.0] for end in ("coverage", "low", "high")}

    found = verdict(Method.GENERATE, truncated_fraction=[0.0], **terms, **more)

    shown = [one.metric for one in found.gauges if one.metric.startswith("reward/")]
    assert shown == ["reward/math", "reward/set_match"]


@pytest.mark.parametrize(
    ("share", "told"),
    [(0.0, "none"), (0.003, "under 1 %"), (0.996, "over 99 %"), (1.0, "100 %"), (0.314, "31 %")],
)
def test_a_share_is_never_rounded_to_none_or_all(share: float, told: str) -> None:
    found = verdict(Method.GENERATE, truncated_fraction=[share])

    assert found.sentence == f"The token limit cut {told} of the responses."


def test_numbers_read_as_the_charts_beside_them_write_them() -> None:
    # The same table is in frontend/src/lib/format.test.ts.
    written = {
        0.0: "0", 12.0: "12", -10.0: "−10", 1250.0: "1,250", 5e6: "5,000,000",
        0.57: "0.570", 12.04: "12.0", 99.96: "100", 123.44: "123.4", 999.96: "1,000.0",
        1000.4: "1,000", -0.0512: "−0.0512", 0.00012: "0.000120", 1e-5: "1.00e-5",
        -1.5e-8: "−1.50e-8", 1000000.5: "1.00e6", math.nan: "–", math.inf: "–",
    }  # fmt: skip
    assert {value: shown(value) for value in written} == written


def test_a_number_below_1_never_reads_as_1() -> None:
    assert [shown(value) for value in (0.9996, -0.9996, 0.9994, 1.0004, 0.9999999)] == [
        "0.9996", "−0.9996", "0.999", "1.00", "1.00000",
    ]  # fmt: skip
    assert with_span(Estimate(1, 0.5, 0.001, 0.999)) == "50 % [under 1, over 99]"


def test_a_narrow_interval_of_a_share_has_the_decimals_that_show_it() -> None:
    assert percents(0.5, 0.497, 0.503) == ["50.0 %", "49.7 %", "50.3 %"]
    assert percents(0.75, 0.69, 0.799) == ["75 %", "69 %", "80 %"]
    assert percents(0.5, 0.49996, 0.50004) == ["50.00 %", "50.00 %", "50.00 %"]
    assert percents(0.9999, 0.995, 1.0) == ["over 99.9 %", "99.5 %", "100 %"]
    assert percents(0.521, 0.498, 0.544) == ["52.1 %", "49.8 %", "54.4 %"]
    assert percents(0.55, 0.5, 0.6) == ["55 %", "50 %", "60 %"]
    assert percents(0.0, 0.0, 0.0) == ["0 %", "0 %", "0 %"]
    assert with_span(Estimate(1, 0.5, 0.497, 0.503)) == "50.0 % [49.7, 50.3]"


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        *[(0.314, 0, "31 %"), (0.003, 0, "under 1 %"), (0.998, 0, "over 99 %"), (0, 0, "0 %")],
        *[
            (1, 1, "100 %"),
            (0.0003, 1, "under 0.1 %"),
            (0.9996, 1, "over 99.9 %"),
            (1.5, 0, "150 %"),
        ],
    ],
)
def test_only_nothing_and_all_are_0_and_100_percent(share: float, decimals: int, text: str) -> None:
    assert percent(share, decimals) == text


def test_two_numbers_get_as_many_digits_as_tell_them_apart() -> None:
    assert apart(2.0, 2.0001) == ("2", "2.0001")
    assert apart(2.0, 1.97) == ("2", "1.97")
    assert apart(18.0, 18.01) == ("18", "18.01")
    assert apart(1234.1, 1234.2) == ("1,234.1", "1,234.2")
    assert apart(2.302585092994046, 2.302585092994046) == ("2.30", "2.30")


def test_a_setting_reads_as_somebody_wrote_it() -> None:
    assert [as_set(value) for value in (0.05, 1e-6, 5.0, 2048)] == ["0.05", "1e-06", "5", "2,048"]


@pytest.mark.parametrize("method", list(RULES))
def test_a_run_that_has_told_nothing_waits(method: Method) -> None:
    found = verdict(method, is_over=False)

    assert (found.kind, found.level) == (Kind.WAITING, "none")
    assert len(found.gauges) <= 5
    assert all(gauge.title for gauge in found.gauges)


@pytest.mark.parametrize("method", list(Method))
def test_a_run_that_ended_without_a_number_is_not_judged(method: Method) -> None:
    assert verdict(method).kind == Kind.UNJUDGED


def test_few_noisy_steps_of_training_are_no_rise() -> None:
    """Twelve steps of a falling loss whose first happened to be low."""
    noisy = [1.5, 2.4, 1.6, 2.5, 1.5, 2.4, 1.6, 2.3, 1.5, 2.3, 1.6, 2.4]
    loss = [Point(step, value) for step, value in enumerate(noisy, 1)]

    assert divergence.training_rose(Evidence({}, {"loss": loss})) == ""


def test_the_first_step_of_a_long_run_is_noisier_than_its_means() -> None:
    """Means of ten steps move by a third of what one step does."""
    means = [Point(10 * i, 1.95 + 0.06 * (-1) ** i) for i in range(1, 101)]
    first = [Point(step, 1.5 + 0.3 * (-1) ** step) for step in range(1, 101)]
    whole = Evidence({}, {"loss": means}, beginnings={"loss": [Point(1, 1.5), *first[1:]]})

    assert divergence.training_rose(whole) == ""
    assert divergence.training_rose(Evidence({}, {"loss": [Point(1, 1.5), *means]})) != ""
