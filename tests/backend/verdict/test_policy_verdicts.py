"""Each verdict on a policy from the curves that call for it; the training reward never decides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest

from backend.domain.verdict.evidence import Estimate, Evidence, Point, Resume
from backend.domain.verdict.judging import judge
from backend.domain.verdict.words import alike, with_interval
from backend.schemas.metrics.verdicts import RunVerdict
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind

STEPS = 100
LEARNED = {"reward": {"terms": [{"kind": "model"}]}, "estimator": "rloo"}
RULES = {"reward": {"terms": [{"kind": "regex"}]}}


def line(start: float, end: float, wobble: float = 0.01) -> list[Point]:
    """From one value to another, with a wobble that is no trend."""
    return [
        Point(step, start + (end - start) * step / STEPS + wobble * (-1) ** step)
        for step in range(1, STEPS + 1)
    ]


# Nearly every token has become certain.
CERTAIN = [Point(step, 1.5 if step <= 10 else 0.01) for step in range(1, STEPS + 1)]


def evaluated(name: str, values: Sequence[float], half_width: float) -> dict[str, list[Point]]:
    steps = [round(STEPS * i / max(1, len(values) - 1)) for i in range(len(values))]
    return {
        name: [Point(step, value) for step, value in zip(steps, values, strict=True)],
        f"{name}_low": [Point(s, v - half_width) for s, v in zip(steps, values, strict=True)],
        f"{name}_high": [Point(s, v + half_width) for s, v in zip(steps, values, strict=True)],
    }


HEALTHY = {
    "reward/mean": line(0, 1),
    "kl/response": line(0, 2),
    "entropy": line(1.5, 1.2),
    "length/mean": line(17, 18, 0.2),
    "truncated_fraction": line(0, 0, 0),
    "group/zero_std_fraction": line(0.1, 0.2),
}


def verdict(
    heldout: Sequence[float],
    half_width: float = 0.05,
    *,
    config: dict[str, Any] = LEARNED,
    is_over: bool = True,
    gold: Sequence[float] = (),
    **curves: list[Point],
) -> RunVerdict:
    """On the healthy run with other evaluations, and with other curves (`_` for /)."""
    named = {name.replace("__", "/"): points for name, points in curves.items()}
    found = evaluated("eval/reward", heldout, half_width) if heldout else {}
    found |= evaluated("gold/reward", gold, half_width) if gold else {}
    evidence = Evidence(config, HEALTHY | named | found, is_over, shipped_step=STEPS)
    return judge(Method.POLICY_GRADIENT, evidence)


def test_a_held_out_reward_that_rises_clearly_is_an_improvement() -> None:
    found = verdict([0.0, 0.3, 0.6])

    assert (found.kind, found.level) == (Kind.IMPROVED, "good")
    assert found.sentence == "The held-out reward rose from 0 to 0.600."
    assert found.reason.startswith(
        "The held-out reward rose by 0.600, 95 % interval [0.529, 0.671], from step 0 to step 100."
        " The interval is over prompts: another seed may end elsewhere."
    )
    assert (found.judged_by, found.best_step, found.shipped_step) == ("eval/reward", 100, 100)


def test_the_reader_learns_how_many_prompts_the_interval_is_over() -> None:
    def found(n: int | None, judge_by: str = "eval/reward") -> RunVerdict:
        curves = HEALTHY | evaluated(judge_by, [0.0, 0.3, 0.6], 0.05)
        evidence = Evidence(RULES, curves, True, STEPS, n_heldout=n)
        return judge(Method.POLICY_GRADIENT, evidence)

    assert "The interval is over 20 held-out prompts: another seed" in found(20).reason
    assert "The interval is over 1 held-out prompt: another seed" in found(1).reason
    assert found(1250).gauges[0].beside == "1,250 prompts, was 0 at step 0"
    assert found(None).gauges[0].beside == "was 0 at step 0"
    # Who measures outside may have asked other prompts.
    outside = found(20, "gold/reward")
    assert "The interval was attached from outside; Podium does not know" in outside.reason
    assert outside.gauges[0].beside == "was 0 at step 0"


def test_numbers_side_by_side_have_the_decimals_of_the_greatest() -> None:
    assert alike(1.2, 1.11, 1.3) == ["1.20", "1.11", "1.30"]
    assert alike(0.02, -0.9, 0.94) == ["0.020", "−0.900", "0.940"]
    assert alike(9.97, 9.9, 10.1) == ["9.97", "9.90", "10.10"]
    assert alike(1500.0, 20.0) == ["1,500", "20"]
    assert alike(0.0, 0.0) == ["0", "0"]


def test_a_reward_that_its_own_model_judges_is_not_shown_as_good() -> None:
    def level(config: dict[str, Any]) -> str:
        return verdict([0.0, 0.3, 0.6], config=config, kl__response=line(0, 18)).gauges[0].level

    assert (level(LEARNED), level(RULES)) == ("none", "good")


def test_the_best_reward_by_a_model_that_is_doubted_is_not_marked_as_good() -> None:
    def level(config: dict[str, Any], kl: float) -> str:
        found = verdict([0.0, 0.3, 0.6], config=config, kl__response=line(0, kl))
        return next(one.level for one in found.happened if one.sentence.startswith("Best"))

    assert (level(LEARNED, 18), level(LEARNED, 2), level(RULES, 18)) == ("none", "good", "good")


def test_responses_that_could_not_be_scored_are_told_and_many_take_the_green_away() -> None:
    def found(*coverage: float) -> RunVerdict:
        curves = HEALTHY | evaluated("eval/reward", [0.0, 0.3, 0.6], 0.05)
        curves |= evaluated("eval/coverage", coverage, 0.0)
        return judge(Method.POLICY_GRADIENT, Evidence(RULES, curves, True, STEPS, n_heldout=20))

    assert "scored" not in found(1, 1, 1).reason
    few = found(1, 1, 0.98)
    assert few.level == "good"
    assert "The reward leaves out 2 % of the responses last evaluated, which" in few.reason
    assert "The interval is over the scored responses to 20 held-out prompts:" in few.reason
    assert few.gauges[0].beside == "20 prompts, 2 % unscored, was 0 at step 0"
    many = found(1, 0.9, 0.6)
    assert (many.kind, many.level) == (Kind.IMPROVED, "warn")
    assert many.sentence == (
        "The held-out reward rose from 0 to 0.600, but 40 % of the responses could not be scored."
    )


def test_tokens_that_the_reference_would_never_write_are_seen_by_evaluations_alone() -> None:
    """With `kl.coef` 0 no step asks the reference: 70 nats on responses of 10 tokens are 7 each."""
    of_steps = ("kl/response", "kl/token")
    curves = {name: curve for name, curve in HEALTHY.items() if name not in of_steps}
    curves |= evaluated("eval/reward", [0.0, 0.3, 0.6], 0.05)
    curves |= evaluated("kl/exact", [0.0, 40.0, 70.0], 1.0)

    def found(tokens: float) -> RunVerdict:
        lengths = evaluated("eval/length", [tokens] * 3, 0.1)
        return judge(Method.POLICY_GRADIENT, Evidence(LEARNED, curves | lengths, True, STEPS))

    exploited = found(10.0)
    assert (exploited.kind, exploited.level) == (Kind.OVER_OPTIMIZED, "bad")
    assert "the KL is 7 nats per token" in exploited.sentence
    assert exploited.gauges[1].beside == "7 per token"
    assert (found(40.0).kind, found(40.0).level) == (Kind.IMPROVED, "warn")


def test_a_run_that_ended_before_its_first_step_is_not_told_to_hold_out_prompts() -> None:
    found = judge(Method.POLICY_GRADIENT, Evidence(RULES, {}, True))

    assert found.sentence == "Nothing was measured: the run ended before its first step."
    assert found.gauges[0].missing == "Nothing was measured."


def test_a_gauge_does_not_miss_held_out_prompts_that_the_snapshot_has() -> None:
    def missing(curves: Mapping[str, Sequence[Point]], n: int, *, is_over: bool = False) -> str:
        evidence = Evidence(RULES, curves, is_over, n_heldout=n)
        return judge(Method.POLICY_GRADIENT, evidence).gauges[0].missing

    assert missing({}, 0) == "Nothing was measured yet."
    assert missing(HEALTHY, 0).startswith("No held-out prompts. Set “Held out, %”")
    # As of a clone that started from a checkpoint and is evaluated after more steps.
    assert missing(HEALTHY, 20) == "It was not evaluated yet."
    assert missing(HEALTHY, 20, is_over=True) == "It was not evaluated."


def test_who_holds_prompts_out_is_not_told_to_do_so() -> None:
    def found(*, is_over: bool) -> RunVerdict:
        return judge(Method.POLICY_GRADIENT, Evidence(RULES, HEALTHY, is_over, n_heldout=20))

    waiting, over = found(is_over=False), found(is_over=True)
    assert (waiting.kind, waiting.level) == (Kind.WAITING, "none")
    assert waiting.sentence == "Too early to say: no evaluation so far."
    assert (over.kind, over.level) == (Kind.UNJUDGED, "warn")
    assert over.sentence.endswith("got better: it was not evaluated.")
    assert over.reason.endswith("Set `eval_every` to evaluate it more often.")


@pytest.mark.parametrize("is_over", [False, True])
def test_an_evaluation_without_a_score_is_told_as_one(is_over: bool) -> None:
    curves = HEALTHY | {"eval/coverage": [Point(0, 0.0)], "kl/exact": [Point(0, 0.1)]}
    found = judge(Method.POLICY_GRADIENT, Evidence(RULES, curves, is_over, n_heldout=20))

    assert (found.kind, found.sentence) == (
        (
            Kind.UNJUDGED,
            "Nothing in the run shows whether the policy got better: no response to a held-out "
            "prompt could be scored.",
        )
        if is_over
        else (Kind.WAITING, "Too early to say: no evaluation so far could be scored.")
    )
    assert found.gauges[0].missing == "No response could be scored."


def test_later_attempts_are_told_by_step_and_change_no_verdict() -> None:
    curves = HEALTHY | evaluated("eval/reward", [0.0, 0.3, 0.6], 0.05)
    alone = judge(Method.POLICY_GRADIENT, Evidence(LEARNED, curves, True, STEPS))
    many = [Resume(attempt, 10 * (attempt - 2)) for attempt in range(2, 10)]
    found = judge(Method.POLICY_GRADIENT, Evidence(LEARNED, curves, True, STEPS, many))

    assert found.model_copy(update={"happened": alone.happened}) == alone
    steps = [one.step for one in found.happened]
    assert steps == sorted(steps)
    told = [one.sentence for one in found.happened if one not in alone.happened]
    assert told[0] == "Attempts 2 to 4 ended early."
    assert told[1:] == [f"Attempt {n} resumed after step {10 * (n - 2)}." for n in range(5, 10)]
    anew = judge(Method.SFT, Evidence({}, resumes=[Resume(2, 0)]))
    assert anew.happened[-1].sentence == "Attempt 2 began again at step 0."


def test_the_hacked_run_is_not_the_best_looking_one() -> None:
    """.80 -> .26 held out, 18 nats, entropy .01, and the training reward at its highest."""
    found = verdict(
        [0.1, 0.8, 0.26],
        reward__mean=line(0, 3),
        kl__response=line(0, 18),
        entropy=line(1.5, 0.01),
    )

    assert (found.kind, found.level) == (Kind.OVER_OPTIMIZED, "bad")
    assert found.sentence == "Improved until step 50, then over-optimized the reward."
    assert found.best_step == 50


def test_a_fall_without_a_rising_training_reward_is_no_hack() -> None:
    found = verdict([0.1, 0.8, 0.26], reward__mean=line(1, 0))

    assert (found.kind, found.level) == (Kind.WORSE, "bad")


def test_a_policy_that_loses_its_variety_and_its_reward_has_collapsed() -> None:
    found = verdict([0.5, 0.4, 0.1], reward__mean=line(0.5, 0), entropy=CERTAIN)

    assert (found.kind, found.level) == (Kind.COLLAPSED, "bad")
    assert "entropy fell from 1.50 to 0.0100" in found.sentence
    assert found.change == "", "what counts is the entropy"


def test_a_policy_that_leaves_its_reference_token_by_token_has_collapsed() -> None:
    found = verdict([0.6, 0.5, 0.1], kl__token=line(0, 6), reward__mean=line(1, 0))

    assert found.kind == Kind.COLLAPSED
    assert "nats per token, so the reference would hardly ever" in found.sentence
    # A policy that a reward taught needs no token that its reference would never write.
    assert (
        verdict([0.6, 0.5, 0.1], kl__token=line(0, 3), reward__mean=line(1, 0)).kind == Kind.WORSE
    )


def test_certainty_that_comes_with_the_reward_is_told_but_is_no_collapse() -> None:
    found = verdict([0.0, 0.5, 1.0], config=RULES, entropy=CERTAIN)

    assert (found.kind, found.level) == (Kind.IMPROVED, "warn")


def test_a_change_within_its_interval_is_none() -> None:
    found = verdict([0.4, 0.45, 0.43], reward__mean=line(0, 0))

    assert (found.kind, found.level) == (Kind.STALLED, "warn")
    assert found.sentence == "No clear change: the held-out reward was 0.400 and is 0.430."


def test_a_training_reward_that_rises_alone_is_told_as_that() -> None:
    assert verdict([0.4, 0.45, 0.43]).kind == Kind.OVERFITTED


def test_a_learned_reward_that_grows_with_the_length_is_called_inflated() -> None:
    longer = {"length__mean": line(17, 64, 0.2), "truncated_fraction": line(0, 0.9)}

    assert verdict([0.0, 0.5, 1.0], **longer).kind == Kind.INFLATED
    only_longer = {"length__mean": line(17, 64, 0.2)}
    assert verdict([0.0, 0.5, 1.0], **only_longer).kind == Kind.INFLATED
    # They may have grown within the first twentieth of the steps.
    at_once = {"length__mean": [Point(1, 17.0), *line(40, 40, 0.2)[1:]]}
    assert verdict([0.0, 0.5, 1.0], **at_once).kind == Kind.INFLATED
    # A rule that is met by longer reasoning is met.
    assert verdict([0.0, 0.5, 1.0], config=RULES, **only_longer).kind == Kind.IMPROVED
    # The training reward alone pays for the length.
    only_trained = verdict([0.0, 0.5, 1.0], gold=[0.5, 0.5, 0.5], **only_longer)
    assert only_trained.kind == Kind.INFLATED
    assert "did not follow" in only_trained.reason
    # What was measured outside decides whether longer is better.
    assert verdict([0.0, 0.5, 1.0], gold=[0.0, 0.5, 1.0], **only_longer).kind == Kind.IMPROVED


def test_a_reward_measured_outside_outranks_the_one_that_is_trained() -> None:
    found = verdict([0.0, 0.5, 1.0], gold=[0.5, 0.6, 0.1])

    assert (found.kind, found.judged_by) == (Kind.OVER_OPTIMIZED, "gold/reward")
    assert found.gauges[0].title == "Gold reward"


EARLY_GOLD = {
    f"gold/reward{end}": [Point(0, 0.2 + shift), Point(10, 0.5 + shift)]
    for end, shift in (("", 0.0), ("_low", -0.02), ("_high", 0.02))
}


def with_early_gold(shipped_step: int, heldout: Sequence[float]) -> RunVerdict:
    curves = HEALTHY | EARLY_GOLD | evaluated("eval/reward", heldout, 0.05)
    return judge(Method.POLICY_GRADIENT, Evidence(LEARNED, curves, True, shipped_step))


def test_a_reward_measured_outside_at_two_early_steps_does_not_hide_a_later_fall() -> None:
    found = with_early_gold(STEPS, [0.5, 0.6, 0.3, 0.05])

    assert (found.kind, found.judged_by) == (Kind.OVER_OPTIMIZED, "eval/reward")
    assert (
        "The reward measured outside the run is known only up to step 10, so the held-out reward "
        "decides."
    ) in found.reason
    # What was shipped is what counts: its step was measured outside the run.
    shipped = with_early_gold(10, [0.5, 0.6, 0.3, 0.05])
    assert (shipped.kind, shipped.judged_by) == (Kind.IMPROVED, "gold/reward")
    assert "known only" not in shipped.reason
    # Nothing else tells what became of the policy.
    assert with_early_gold(STEPS, [0.5]).judged_by == "gold/reward"


def test_an_interval_without_ends_is_said_to_come_from_the_evaluations_themselves() -> None:
    curves = HEALTHY | {"eval/reward": [Point(10 * i, i / 10 + 0.01 * (-1) ** i) for i in range(9)]}
    found = judge(Method.POLICY_GRADIENT, Evidence(RULES, curves, True, n_heldout=20))

    assert found.kind == Kind.IMPROVED
    assert "The interval comes from the differences between neighbouring" in found.reason


def test_a_fall_from_the_first_evaluation_counts_like_a_rise_from_it() -> None:
    """By .035 [.007, .063] over eleven evaluations: nobody chose the first or the last."""
    half_width = 0.028 / 2**0.5
    values = [0.5, 0.49, 0.48, 0.495, 0.47, 0.475, 0.485, 0.468, 0.472, 0.47, 0.465]
    still = {"reward__mean": line(0, 0)}
    fell = verdict(values, half_width, **still)
    rose = verdict(values[::-1], half_width, **still)

    assert (fell.kind, fell.level) == (Kind.WORSE, "bad")
    assert fell.sentence == "The held-out reward fell from 0.500 to 0.465."
    assert "from 0.500 [0.480, 0.520] at step 0 to 0.465" in fell.reason
    assert (rose.kind, rose.level) == (Kind.IMPROVED, "good")
    # The best of eleven has to be beaten by more.
    high = [0.465 if value == 0.5 else value for value in values]
    high[4] = 0.5
    assert verdict(high, half_width, **still).kind == Kind.STALLED


def test_a_policy_far_from_its_reference_is_not_shown_in_green() -> None:
    far = verdict([0.0, 0.5, 1.0], kl__response=line(0, 30))

    assert (far.kind, far.level) == (Kind.IMPROVED, "warn")
    assert verdict([0.0, 0.5, 1.0], config=RULES, kl__response=line(0, 30)).level == "good"


@pytest.mark.parametrize("reward", [line(0, 5), line(5, 0), line(0, 0)])
def test_without_held_out_prompts_no_training_reward_makes_a_run_good(reward: list[Point]) -> None:
    found = verdict([], reward__mean=reward)

    assert (found.kind, found.level, found.judged_by) == (Kind.UNJUDGED, "warn", None)
    assert "Set “Held out, %” (API: `heldout_fraction`) above 0" in found.gauges[0].missing


def test_one_evaluation_is_too_early_and_at_the_end_too_few() -> None:
    assert verdict([0.5], is_over=False).kind == Kind.WAITING
    assert verdict([0.5]).kind == Kind.UNJUDGED


def test_a_reward_without_an_interval_is_not_judged_by_two_points() -> None:
    curves = HEALTHY | {"eval/reward": [Point(0, 0.0), Point(100, 1.0)]}
    found = judge(Method.POLICY_GRADIENT, Evidence(LEARNED, curves, is_over=True))

    assert found.kind == Kind.UNJUDGED


def test_there_are_five_gauges_and_each_says_how_good_it_is_or_what_is_missing() -> None:
    found = verdict([0.0, 0.3, 0.6])

    assert [gauge.title for gauge in found.gauges] == [
        "Held-out reward", "KL", "Entropy", "Length", "Prompts with different rewards",
    ]  # fmt: skip
    assert [gauge.level for gauge in found.gauges] == ["good"] * 5
    assert all((gauge.value is None) == bool(gauge.missing) for gauge in found.gauges)


def test_a_gauge_that_cannot_be_measured_names_the_setting() -> None:
    config = LEARNED | {"rollout": {"samples_per_prompt": 1}}
    curves = {name: points for name, points in HEALTHY.items() if not name.startswith("group/")}
    found = judge(Method.POLICY_GRADIENT, Evidence(config, curves))

    assert "rollout.samples_per_prompt" in found.gauges[-1].missing


def test_without_a_penalty_and_an_evaluation_the_kl_is_said_to_be_unmeasured() -> None:
    """A step of such a run asks no reference; an evaluation measures the KL all the same."""
    without = {name: points for name, points in HEALTHY.items() if name != "kl/response"}
    config = LEARNED | {"kl": {"coef": 0.0}}
    alone = judge(Method.POLICY_GRADIENT, Evidence(config, without, True, STEPS))
    [gauge] = [one for one in alone.gauges if one.metric == "kl/response"]
    assert gauge.value is None
    assert gauge.missing.startswith("kl.coef is 0, so only an evaluation")

    measured = without | evaluated("kl/exact", [0.0, 3.0], 0.1)
    found = judge(Method.POLICY_GRADIENT, Evidence(config, measured, True, STEPS))
    assert [one.value for one in found.gauges if one.metric == "kl/exact"] == [3.0]


def test_what_happened_says_since_when() -> None:
    found = verdict([0.1, 0.8, 0.26], kl__response=line(0, 20, 0), length__mean=line(20, 4, 0))

    told = {one.sentence: one.step for one in found.happened}
    # The mean of five steps passes a limit two steps after the value itself; 19.84 is the start.
    assert told["KL above 10 nats per response."] == 53
    assert told["Length below half of its start."] == 66
    best = "Best held-out reward by the reward model that trains it: 0.800 [0.750, 0.850]."
    assert told[best] == 50


def test_a_reward_by_rule_has_no_limit_of_its_distance_in_any_place() -> None:
    far = line(0, 20, 0)
    found = verdict([0.0, 0.5, 1.0], config=RULES, kl__response=far)
    assert not [one for one in found.happened if "KL" in one.sentence]

    limited = RULES | {"kl": {"max": 5.0}}
    found = verdict([0.0, 0.5, 1.0], config=limited, kl__response=far)
    assert found.happened[0].sentence == "KL above 5 nats per response."


def test_without_a_kl_at_every_step_the_evaluations_say_since_when_it_is_far() -> None:
    curves = {name: points for name, points in HEALTHY.items() if name != "kl/response"}
    curves |= evaluated("eval/reward", [0.0, 0.5, 1.0], 0.1)
    curves |= evaluated("kl/exact", [0.0, 12.0, 30.0], 0.1)
    found = judge(Method.POLICY_GRADIENT, Evidence(LEARNED, curves, True, STEPS))

    assert (50, "KL above 10 nats per response.") in [(h.step, h.sentence) for h in found.happened]
    [gauge] = [one for one in found.gauges if one.metric == "kl/exact"]
    assert gauge.note == "above 10 since step 50"


def test_equal_rewards_teach_nothing_only_where_a_prompt_is_its_own_baseline() -> None:
    alike = line(0.2, 0.95, 0)

    def last(estimator: str) -> tuple[str, str]:
        config = RULES | {"estimator": estimator}
        gauge = verdict([0, 0.5], config=config, group__zero_std_fraction=alike).gauges[-1]
        # What is not judged has no healthy range.
        assert (gauge.healthy is None) == (gauge.level == "none")
        return gauge.level, gauge.note

    assert last("grpo") == ("warn", "the others teach nothing: little is left to learn")
    assert last("reinforce_pp") == (
        "none", "this estimator does not compare a prompt's responses with each other",
    )  # fmt: skip


def test_a_model_that_began_certain_has_not_collapsed_because_it_is_certain() -> None:
    """From .0612 to .0422 nats per token, as in every run of a small model on puzzles."""
    gauge = verdict([0.5, 0.5], entropy=line(0.0612, 0.04, 0.002)).gauges[2]
    assert gauge.level == "none"
    assert gauge.note.endswith("; nearly every token was certain at the first step, too")
    assert gauge.healthy is not None
    assert gauge.healthy.low == pytest.approx(0.00612, rel=0.05)
    fell = [Point(step, 0.0612 if step <= 10 else 0.001) for step in range(1, STEPS + 1)]
    collapsed = verdict([0.5, 0.5], entropy=fell).gauges[2]
    assert (collapsed.level, collapsed.note[:10]) == ("bad", "collapsing")


@pytest.mark.parametrize(
    ("end", "level", "note"),
    [
        (1.2, "good", "steady"),
        (1.0, "none", "fell by 33 %"),
        (0.6, "none", "fell by 60 %"),
        (0.3, "warn", "fell by 80 %"),
        (2.1, "none", "rose by 40 %"),
    ],
)
def test_an_entropy_that_moves_far_is_not_called_healthy(end: float, level: str, note: str) -> None:
    entropy = [Point(step, 1.5 if step <= 10 else end) for step in range(1, STEPS + 1)]
    gauge = verdict([0.0, 0.5], entropy=entropy).gauges[2]

    assert (gauge.level, gauge.note) == (level, note)
    assert gauge.beside == "mean of steps 81 to 100, was 1.50 at step 1"


def steps(*values: float) -> list[Point]:
    return [Point(step, value) for step, value in enumerate(values, 1)]


def test_gauges_show_the_value_of_the_first_step() -> None:
    """An early fall is over before the first twentieth of the steps is."""
    fall = steps(1.846, 1.611, 0.673, 0.381, *[0.45, 0.55] * 48)
    equal = steps(0.125, *[0.35] * 99)
    found = verdict([0.0, 0.5], entropy=fall, group__zero_std_fraction=equal)

    assert found.gauges[2].beside == "mean of steps 81 to 100, was 1.85 at step 1"
    assert (found.gauges[2].level, found.gauges[2].note) == ("none", "fell by 73 %")
    assert found.gauges[4].beside == "mean of steps 81 to 100, was 87.5 at step 1"


def test_a_sign_of_collapse_starts_where_its_gauge_does() -> None:
    fall = steps(1.846, 1.611, 0.673, *[0.01] * 97)
    found = verdict([0.5, 0.5], entropy=fall)

    assert found.sentence.startswith("The policy collapsed: the entropy fell from 1.85 to 0.0100")
    assert found.gauges[2].beside == "mean of steps 81 to 100, was 1.85 at step 1"


def test_fewer_prompts_that_teach_are_not_green() -> None:
    equal = steps(0.1, *[0.6] * 99)
    gauge = verdict(
        [0.0, 0.5], config=RULES | {"estimator": "grpo"}, group__zero_std_fraction=equal
    ).gauges[-1]

    assert (gauge.level, gauge.note) == ("none", "the others teach nothing")


@pytest.mark.parametrize(
    ("length", "note"),
    [
        # A valley of one step and a hill of a few.
        ([10.3, 7.9, 1.2, *[22.0] * 20, *[9.5] * 77], "between 1.20 and 22 meanwhile"),
        ([10.3, 7.9, 1.2, *[9.5] * 97], "as low as 1.20, at step 3"),
        ([10, *[7] * 99], "fell by 30 %"),
        ([10, *[7] * 40, 30, *[7] * 58], "fell by 30 %; as high as 30, at step 42"),
        ([10, *[3] * 99], "fell by 70 %"),
        ([10, *[25] * 99], "rose by 150 %"),
        ([0, *[5] * 99], "was 0 at first"),
        ([10, *[9] * 99], "steady"),
    ],
)
def test_a_length_is_steady_only_if_no_step_was_far_from_the_first(
    length: list[float], note: str
) -> None:
    gauge = verdict([0.0, 0.5], config=RULES, length__mean=steps(*length)).gauges[3]

    assert gauge.note == note
    assert (gauge.level == "good") == (note == "steady")
    assert (gauge.level == "warn") == (note in ("fell by 70 %", "rose by 150 %", "was 0 at first"))


def test_a_length_that_came_back_says_where_it_was() -> None:
    valley = [*line(10, 10, 0)[:5], *line(3, 3, 0)[5:60], *line(10, 10, 0)[60:]]
    gauge = verdict([0.0, 0.5], length__mean=valley).gauges[3]

    assert (gauge.value, gauge.note.split(" at ")[0]) == (10, "as low as 3,")


def test_the_output_is_told_with_what_it_measured() -> None:
    curves = HEALTHY | evaluated("eval/reward", [0.0, 0.8, 0.75], 0.05)
    found = judge(Method.POLICY_GRADIENT, Evidence(RULES, curves, True, shipped_step=50))

    assert found.reason.endswith(
        "The output is the model of step 50, held-out reward 0.800 [0.750, 0.850]."
    )


# They rose by 2.1 standard errors, as the differences of neighbours tell.
FEW = [0.0, 0.06, 0.02, 0.08, 0.1]

BIASED = "the run chose its output on these prompts, so this may look better than it is"


def shipped(
    step: int, config: dict[str, Any], heldout: Sequence[float], **beside: Sequence[float]
) -> RunVerdict:
    """By its best evaluation; `beside`: other metrics, evaluated at the same steps (`__` for /)."""
    curves = HEALTHY | evaluated("eval/reward", heldout, 0.05)
    for name, values in beside.items():
        curves |= evaluated(name.replace("__", "/"), values, 0.05)
    curves |= {"eval/best_step": [Point(0, 0), Point(STEPS, step)]}
    return judge(Method.POLICY_GRADIENT, Evidence(config, curves, True, shipped_step=step))


def test_an_output_that_is_not_the_best_reward_says_what_chose_it() -> None:
    found = shipped(50, RULES | {"kl": {"coef": 0.02}}, [0.0, 0.8, 0.85])

    assert found.sentence == (
        "The held-out reward rose from 0 to 0.850; the output, the model of step 50, has 0.800 in "
        "the evaluation that chose it."
    )
    assert found.reason.endswith(
        "The output is the model of step 50, which has the best objective (reward − 0.02 × KL); "
        f"its held-out reward is 0.800 [0.750, 0.850]; {BIASED}."
    )
    assert (found.gauges[0].level, found.gauges[0].note) == (
        "none", "the best evaluation; the output is the model of step 50",
    )  # fmt: skip
    happened = [(one.step, one.sentence) for one in found.happened]
    assert (100, "Best held-out reward: 0.850 [0.800, 0.900].") in happened
    told = "Best objective (reward − 0.02 × KL); its weights are the output."
    assert (50, told) in happened


def test_a_best_evaluation_that_noise_explains_is_not_green() -> None:
    found = shipped(100, RULES, [0.0, -0.01, 0.02])

    assert (found.gauges[0].level, found.gauges[0].note) == (
        "none", f"the best evaluation, not clearly above the first; {BIASED}",
    )  # fmt: skip
    assert [one.level for one in found.happened] == ["none"]
    unchanged = shipped(0, RULES, [0.1, 0.1, 0.1])
    assert unchanged.gauges[0].note == (
        "as in the first evaluation; the output is the model of step 0"
    )
    assert "of step 0, before this run trained it, which has" in unchanged.reason


@pytest.mark.parametrize(
    ("measured", "level"),
    [([0.6, 0.3, 0.0], "bad"), ([0.0, 0.6, 0.3], "bad"), ([0.0, 0.6, 0.59], "none")],
)
def test_a_reward_clearly_below_its_first_or_best_is_red(measured: list[float], level: str) -> None:
    assert verdict(measured).gauges[0].level == level


def test_an_output_that_is_the_last_and_best_step_is_green() -> None:
    found = shipped(100, RULES | {"kl": {"coef": 0.02}}, [0.0, 0.8, 0.85])

    assert found.sentence == "The held-out reward rose from 0 to 0.850."
    assert (found.gauges[0].level, found.gauges[0].note) == (
        "good", f"the best evaluation; {BIASED}",
    )  # fmt: skip
    assert [one.sentence for one in found.happened] == [
        "Best held-out reward: 0.850 [0.800, 0.900]; its weights are the output."
    ]


OOD = {"evaluation_sets": [{"name": "ood", "prompts": {"id": "snap_ood"}, "split": "all"}]}


@pytest.mark.parametrize(
    ("config", "metric", "called"),
    [
        (OOD, "eval/ood/reward", "reward on the evaluation set ood"),
        ({}, "gold/quality", "quality measured outside the run"),
    ],
)
def test_of_the_output_a_number_is_told_that_did_not_choose_it(
    config: dict[str, Any], metric: str, called: str
) -> None:
    """One value of what is attached does not decide; it tells of the output all the same."""
    curves = HEALTHY | evaluated("eval/reward", [0.0, 0.8, 0.85], 0.05)
    curves |= {metric: [Point(STEPS, 0.5)], "eval/best_step": [Point(0, 0), Point(STEPS, STEPS)]}
    evidence = Evidence(RULES | config, curves, True, shipped_step=STEPS)
    found = judge(Method.POLICY_GRADIENT, evidence)

    assert found.judged_by == "eval/reward"
    assert found.reason.endswith(f"; its {called} is 0.500.")
    assert found.gauges[0].note == f"the best evaluation; {BIASED}"


def test_a_named_set_of_the_prompts_that_chose_the_output_is_no_other() -> None:
    own = {"prompts": {"id": "snap_own"}}
    named = own | {"name": "again", "split": "heldout"}
    config = RULES | own | {"evaluation_sets": [named]}
    found = shipped(100, config, [0.0, 0.8, 0.85], eval__again__reward=[0.1, 0.6, 0.5])

    assert found.reason.endswith(f"its held-out reward is 0.850 [0.800, 0.900]; {BIASED}.")


def test_an_evaluation_from_outside_that_decides_did_not_choose_the_output() -> None:
    found = shipped(100, RULES, [0.0, 0.8, 0.85], gold__reward=[0.1, 0.5, 0.6])

    assert found.judged_by == "gold/reward"
    assert "may look better" not in found.reason + found.gauges[0].note


@pytest.mark.parametrize(
    ("config", "objective"),
    [
        ({"kl": {"coef": 0}}, "held-out reward"),
        (
            {"kl": {"coef": 0, "max": 5}},
            "held-out reward of the evaluations within kl.max (5 nats)",
        ),
        (
            {"kl": {"coef": 0.1, "target": 6}},
            "objective (reward − beta × KL; kl.target adapts beta)",
        ),
        (
            {"kl": {"coef": 0.1}, "reward": {"normalize": "running"}},
            "objective (reward − 0.1 × s × KL; s is the running standard deviation of the reward)",
        ),
    ],
)
def test_the_objective_is_named_as_the_trainer_computes_it(
    config: dict[str, Any], objective: str
) -> None:
    found = shipped(50, RULES | config, [0.0, 0.8, 0.75])

    output = "The output is the model of step 50"
    assert f"{output}, which has the best {objective}; its held" in found.reason
    note = found.gauges[0].note
    assert note == (
        "not clearly below its best evaluation, 0.800 at step 50, whose model is the output"
    )


@pytest.mark.parametrize("scale", [1e-3, 1, 1e3])
def test_another_unit_of_reward_changes_no_verdict(scale: float) -> None:
    for heldout in ([0.0, 0.3, 0.6], [0.1, 0.8, 0.26], [0.4, 0.45, 0.43]):
        scaled = [scale * value for value in heldout]
        reward = [Point(step, scale * value) for step, value in HEALTHY["reward/mean"]]
        found = verdict(scaled, 0.05 * scale, reward__mean=reward)

        assert found.kind == verdict(heldout).kind


# As one untrained policy was measured, whose reward is skewed: the others are alike.
SKEWED = [
    (-0.209, 0.071), (-0.349, 0.1), (-0.359, 0.157), (-0.346, 0.106), (-0.359, 0.151),
    (-0.391, 0.131), (-0.314, 0.084), (-0.331, 0.114), (-0.404, 0.135), (-0.341, 0.196),
    (-0.427, 0.129),
]  # fmt: skip


def of_skewed(measured: Sequence[tuple[float, float]]) -> Kind:
    curves = {
        f"gold/reward{end}": [
            Point(10 * i, value + side * width) for i, (value, width) in enumerate(measured)
        ]
        for end, side in (("", 0), ("_low", -1), ("_high", 1))
    }
    return judge(Method.POLICY_GRADIENT, Evidence(RULES, curves, is_over=True)).kind


@pytest.mark.parametrize("place", range(1, 10))
def test_an_evaluation_that_was_high_and_narrow_by_luck_is_no_best_to_fall_from(place: int) -> None:
    lucky, *others = SKEWED

    assert of_skewed([*others[:place], lucky, *others[place:]]) == Kind.STALLED


def test_the_output_of_an_exploited_reward_is_no_best() -> None:
    """Its own evaluation chose it, and what was measured outside says that this is no measure."""
    found = shipped(100, RULES | {"kl": {"coef": 0}}, [0.0, 0.8, 0.9], gold__reward=[0.9, 0.5, 0.1])

    assert (found.kind, found.judged_by) == (Kind.OVER_OPTIMIZED, "gold/reward")
    assert (
        "which has the highest held-out reward, but that was exploited; its reward" in found.reason
    )
    assert [one.sentence for one in found.happened] == [
        "Best reward measured outside the run: 0.900 [0.850, 0.950], in the first evaluation.",
        "Highest held-out reward, but that was exploited; its weights are the output.",
    ]
    assert found.exploited == ["reward/mean", "eval/reward"]


def test_a_held_out_reward_that_fell_as_the_one_outside_did_was_not_exploited() -> None:
    found = shipped(0, RULES | {"kl": {"coef": 0}}, [0.9, 0.5, 0.1], gold__reward=[0.9, 0.5, 0.1])

    assert (found.kind, found.judged_by) == (Kind.OVER_OPTIMIZED, "gold/reward")
    assert found.exploited == ["reward/mean"]
    assert "which has the best held-out reward" in found.reason


def test_an_output_that_is_the_best_outside_too_is_not_called_exploited() -> None:
    config = RULES | {"kl": {"coef": 0.02}}
    found = shipped(50, config, [0.0, 0.6, 0.9], gold__reward=[0.0, 0.8, 0.2])

    assert (found.kind, found.best_step) == (Kind.OVER_OPTIMIZED, 50)
    assert "eval/reward" in found.exploited
    assert "which has the best objective (reward − 0.02 × KL)" in found.reason


def test_without_an_evaluation_from_outside_no_reward_is_known_to_be_exploited() -> None:
    found = verdict([0.1, 0.8, 0.26], reward__mean=line(0, 3))

    assert (found.kind, found.exploited) == (Kind.OVER_OPTIMIZED, [])


def test_a_reward_that_did_not_grow_is_not_said_to_have_grown_with_the_length() -> None:
    def found(heldout: Sequence[float], step: int, **beside: Sequence[float]) -> RunVerdict:
        curves = HEALTHY | {"length/mean": line(17, 64, 0.2), "truncated_fraction": line(0, 0.9)}
        curves |= evaluated("eval/reward", heldout, 0.05)
        for name, values in beside.items():
            curves |= evaluated(name.replace("__", "/"), values, 0.05)
        curves |= {"eval/best_step": [Point(0, 0), Point(STEPS, step)]}
        evidence = Evidence(LEARNED | {"kl": {"coef": 0}}, curves, True, step)
        return judge(Method.POLICY_GRADIENT, evidence)

    grew, alone = found([0.0, 0.5, 1.0], STEPS), found([0.5, 0.51, 0.49], 50)
    outside = found([0.5, 0.51, 0.49], 50, gold__reward=[0.0, 0.5, 1.0])
    assert [one.kind for one in (grew, alone, outside)] == [Kind.INFLATED] * 3
    assert "highest held-out reward, but that grew with the length" in grew.reason
    assert "which has the best held-out reward" in alone.reason
    assert "which has the best held-out reward" in outside.reason


def test_a_rise_that_chance_explains_says_so() -> None:
    """0.074 is 2.05 standard errors of the difference, 0.036."""
    found = verdict([0.0, 0.02, 0.074])

    assert (found.kind, found.level) == (Kind.IMPROVED, "good")
    chance = "about one of 25 runs that do not change shows as clear a rise or fall by chance."
    assert f"This is 2.1 standard errors: {chance}" in found.reason
    assert "by chance" not in verdict([0.0, 0.1, 0.2]).reason


def test_the_change_is_told_for_lists_as_far_as_the_verdict_rests_on_it() -> None:
    rose = verdict([0.0, 0.02, 0.074])
    assert (rose.kind, rose.change) == (Kind.IMPROVED, "+0.074 [0.003, 0.145]")
    flat = verdict([0.0, 0.02, 0.07])
    assert flat.change == "+0.070 [−0.001, 0.141]"
    # It is worse because it fell from its best.
    fell_back = verdict([0.0, 0.6, 0.2])
    assert fell_back.kind in (Kind.WORSE, Kind.OVER_OPTIMIZED)
    assert fell_back.change == ""
    assert verdict([0.0]).change == ""


@pytest.mark.parametrize("n", [2, 5, 11, 21])
def test_of_runs_that_do_not_change_about_one_in_twenty_shows_a_clear_change(n: int) -> None:
    """With as many evaluations; some are called worse because they fell from the best of them."""
    random = Random(n)
    half_width, deviation = 0.0196, 0.01
    kinds = Counter(
        verdict([random.gauss(0.5, deviation) for _ in range(n)], half_width, config=RULES).kind
        for _ in range(1000)
    )

    clear = 1000 - kinds[Kind.STALLED] - kinds[Kind.OVERFITTED]
    assert 35 <= clear <= 85
    assert 10 <= kinds[Kind.IMPROVED] <= 40


def test_no_odds_are_told_of_an_error_that_the_change_itself_is_part_of() -> None:
    curves = HEALTHY | {"eval/reward": [Point(25 * i, value) for i, value in enumerate(FEW)]}
    found = judge(Method.POLICY_GRADIENT, Evidence(RULES, curves, True, STEPS))

    assert found.kind == Kind.IMPROVED
    assert "by chance" not in found.reason


def test_a_policy_that_is_nearly_its_reference_is_said_to_be() -> None:
    found = verdict([0.0, 0.01, 0.02], config=RULES, kl__response=line(0, 0.002, 0))

    assert "The policy has hardly moved: it is 0.00181 nats per response from" in found.reason
    distance = found.gauges[1]
    assert distance.note.startswith("hardly moved from its reference; no limit")
    assert distance.scale is not None
    assert distance.scale.high == 1


def test_a_policy_has_not_hardly_moved_by_what_was_measured_before_it_trained() -> None:
    def distance(exact: Mapping[int, float], kl: float, **more: list[Point]) -> RunVerdict:
        points = [Point(step, value) for step, value in exact.items()]
        curves = {"kl__exact": points, "kl__response": line(0, kl, 0)} | more
        return verdict([0.5, 0.5], config=RULES, **curves)

    near = distance({0: 0.0, STEPS: 0.002}, 0.002)
    assert "has hardly moved" in near.reason
    assert near.gauges[1].note.startswith("hardly moved")
    for other in (
        distance({0: 0.0}, 0.002),
        distance({0: 0.0, 50: 0.002}, 3),
        distance({0: 0.0, STEPS: 0.002}, 0.002, entropy=CERTAIN),
    ):
        assert "hardly moved" not in f"{other.sentence} {other.reason} {other.gauges[1].note}"


def test_the_best_of_evaluations_that_noise_explains_is_no_boast() -> None:
    found = verdict([0.1, 0.12, 0.11])

    assert found.gauges[0].note == ("not clearly below its best evaluation, 0.120 at step 50")
    assert found.happened[0].sentence == (
        "Best held-out reward: 0.120 [0.070, 0.170], not clearly above the first."
    )


def test_a_red_gauge_does_not_say_that_nothing_is_clear() -> None:
    """By 2.2 standard errors below the first of four, which is the best: too few for the best."""
    found = verdict([0.5, 0.42, 0.43, 0.42])

    assert found.sentence.endswith("held-out reward fell.")
    gauge = found.gauges[0]
    assert (gauge.level, gauge.note) == (
        "bad", "0.0800 below its best evaluation, 0.500 at step 0",
    )  # fmt: skip


def test_nothing_is_called_clear_or_not_where_no_error_is_known() -> None:
    curves = HEALTHY | {"eval/reward": [Point(0, 0.5), Point(50, 0.9), Point(STEPS, 0.1)]}
    found = judge(Method.POLICY_GRADIENT, Evidence(LEARNED, curves, True, STEPS))

    assert found.gauges[0].note == "0.800 below its best evaluation, 0.900 at step 50"
    assert found.happened[0].sentence == "Best held-out reward: 0.900."


def test_the_best_of_a_run_that_rose_is_clearly_above_the_first() -> None:
    """The last rose by 2.2 standard errors; the best of three, a little higher, needs 2.24."""
    found = verdict([0.0, 0.0805, 0.08])

    assert found.kind == Kind.IMPROVED
    assert (found.happened[0].sentence, found.happened[0].level) == (
        "Best held-out reward: 0.081 [0.030, 0.131].", "good",
    )  # fmt: skip


def test_the_ends_of_an_interval_show_how_wide_it_is() -> None:
    assert alike(-1.01, -1.021, -1.002) == ["−1.010", "−1.021", "−1.002"]
    assert alike(23.98, 23.5, 24.1) == ["24.0", "23.5", "24.1"]
    assert alike(0.000551, 0.000426, 0.000677) == ["0.000551", "0.000426", "0.000677"]
    assert alike(1010.2, 980.4, 1040.3) == ["1,010", "980", "1,040"]
    assert alike(10.0, 10.0, 10.0 + 1e-9) == ["10.0000"] * 3
    assert alike(1200.0, -0.123, 2310.0) == ["1,200", "−0.123", "2,310"]
    assert with_interval(Estimate(0, 10.0, 10.0, 10.0 + 1e-9)) == "10.0000 [10.0000, 10.0000]"
    assert with_interval(Estimate(0, 10.0, 10.0, 10.0)) == "10 (no spread)"


def test_what_was_first_and_last_is_compared_alike_in_both_directions() -> None:
    """Nobody chose them, and the interval of their difference, [-.37, -.07], leaves out 0."""
    assert of_skewed(SKEWED) == Kind.WORSE
    assert of_skewed([(-value, width) for value, width in SKEWED]) == Kind.IMPROVED
