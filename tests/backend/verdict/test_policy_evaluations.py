"""Which evaluations of a policy decide, and what is said of those without a score."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from backend.domain.verdict.evidence import Evidence, Point
from backend.domain.verdict.judging import judge
from backend.schemas.metrics.verdicts import RunVerdict
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind
from tests.backend.verdict.test_policy_verdicts import HEALTHY, RULES, STEPS, evaluated


@pytest.mark.parametrize(("coverage", "scored"), [((0.0, 1.0), 10), ((1.0, 0.0), 0)])
def test_of_two_evaluations_one_of_which_has_no_score_the_run_was_not_evaluated_once(
    coverage: tuple[float, float], scored: int
) -> None:
    curves = HEALTHY | {
        "eval/coverage": [Point(10 * i, share) for i, share in enumerate(coverage)],
        "eval/reward": [Point(scored, 0.5)],
    }
    over, running = (
        judge(Method.POLICY_GRADIENT, Evidence(RULES, curves, is_over, n_heldout=20))
        for is_over in (True, False)
    )

    assert over.sentence == (
        "Nothing in the run shows whether the policy got better: only one of 2 evaluations could "
        "be scored."
    )
    assert "eval_every" not in over.reason
    assert running.sentence == (
        "Too early to say: only one of 2 evaluations so far could be scored."
    )
    last = "None of the responses last evaluated could be scored."
    assert (last in over.reason) == (scored == 0)
    note = "of step 0: no response could be scored at step 10"
    assert over.gauges[0].note == (note if scored == 0 else "")


def test_a_rise_whose_last_evaluation_has_no_score_is_not_green() -> None:
    curves = HEALTHY | evaluated("eval/reward", [0.0, 0.3, 0.6], 0.05)
    coverage = {"eval/coverage": [Point(step, float(step <= 100)) for step in (0, 50, 100, 150)]}
    found = judge(Method.POLICY_GRADIENT, Evidence(RULES, curves | coverage, True, n_heldout=20))

    assert (found.kind, found.level) == (Kind.IMPROVED, "warn")
    assert found.sentence.endswith("but none of the responses last evaluated could be scored.")
    assert "could be scored" not in found.reason
    assert "The interval is over 20 held-out prompts:" in found.reason
    assert found.gauges[0].level == "none"
    assert found.gauges[0].beside == "20 prompts, was 0 at step 0"


def test_a_reward_that_is_not_of_the_newest_evaluation_says_when_it_was() -> None:
    curves = {**HEALTHY, "reward/mean": HEALTHY["entropy"]}
    curves |= evaluated("eval/reward", [0.5, 0.51, 0.52], 0.05)
    coverage = {"eval/coverage": [Point(step, float(step <= 100)) for step in (0, 50, 100, 150)]}
    found = judge(Method.POLICY_GRADIENT, Evidence(RULES, curves | coverage, True, n_heldout=20))

    assert found.sentence == (
        "No clear change: the held-out reward was 0.500 and was 0.520 at step 100."
    )


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({}, "one counts if its reward is finite."),
        (
            {"overlong": "mask"},
            "one counts if its reward is finite and the token limit has not cut it.",
        ),
        (
            {"estimator": "remax"},
            "one counts if its reward and that of its greedy response are finite.",
        ),
    ],
)
def test_a_course_that_no_response_counts_for_is_not_told_to_come_with_more_steps(
    config: dict[str, str], told: str
) -> None:
    of_all = {name: HEALTHY[name] for name in ("length/mean", "truncated_fraction")}

    def missing(curves: Mapping[str, Sequence[Point]]) -> dict[str, str]:
        found = judge(Method.POLICY_GRADIENT, Evidence(config, curves, n_heldout=20))
        return {one.metric: one.missing for one in found.gauges[1:] if one.value is None}

    assert missing(of_all) == {
        "kl/response": f"No step has a response that counts; {told}",
        "entropy": f"No step has a response that counts; {told}",
        "group/zero_std_fraction": f"No step has a prompt with two responses that count; {told}",
    }
    few = of_all | {"entropy": HEALTHY["entropy"][:3]}
    assert missing(few)["entropy"] == (
        "Only 3 steps have a response that counts; shown from five on."
    )
    short = {name: curve[:4] for name, curve in of_all.items()}
    assert set(missing(short).values()) == {"Shown from five steps on."}


OOD = {"name": "ood", "prompts": {"id": "snapshot_2"}, "split": "all"}


def with_sets(
    *sets: dict[str, Any],
    is_over: bool = True,
    learned: Sequence[str] = (),
    **rewards: Sequence[float],
) -> RunVerdict:
    """On a run of a snapshot without a held-out side, with these rewards by set."""
    config = RULES | {"prompts": {"id": "snapshot_1"}, "evaluation_sets": list(sets)}
    curves = dict(HEALTHY)
    for name, values in rewards.items():
        curves |= evaluated(f"eval/{name}/reward", values, 0.05)
        curves |= evaluated(f"eval/{name}/coverage", [1.0] * len(values), 0.0)
    evidence = Evidence(config, curves, is_over, STEPS, n_heldout=0, learned=learned)
    return judge(Method.POLICY_GRADIENT, evidence)


def test_without_held_out_prompts_a_named_set_decides() -> None:
    found = with_sets(OOD, ood=[0.0, 0.3, 0.6])

    assert (found.kind, found.level) == (Kind.IMPROVED, "good")
    assert found.judged_by == "eval/ood/reward"
    assert found.sentence == "The reward on the evaluation set ood rose from 0 to 0.600."
    where = "the prompts of the evaluation set ood"
    assert f"The interval is over {where}: another seed may end elsewhere." in found.reason
    assert (found.gauges[0].title, found.gauges[0].value) == ("ood: reward", 0.6)
    assert found.gauges[0].beside == "was 0 at step 0"
    fell = with_sets(OOD, ood=[0.6, 0.3, 0.0])
    assert fell.sentence.startswith("The training reward rose while the reward on the evaluation")


def test_a_named_set_that_was_not_evaluated_yet_is_waited_for() -> None:
    waiting, over = with_sets(OOD, is_over=False), with_sets(OOD)

    assert waiting.sentence == "Too early to say: no evaluation so far."
    assert over.sentence.endswith("got better: it was not evaluated.")
    assert over.gauges[0].missing == "It was not evaluated."
    assert with_sets(OOD, is_over=False, ood=[0.3]).sentence == (
        "Too early to say: one evaluation so far."
    )


@pytest.mark.parametrize(
    ("own", "learned"),
    [
        ({"prompts": {"id": "snapshot_1"}, "split": "train"}, []),
        ({"prompts": {"id": "snapshot_2"}, "split": "train"}, ["snapshot_2"]),
        ({"prompts": {"id": "snapshot_2"}, "split": "all"}, ["snapshot_2"]),
    ],
)
def test_a_named_set_that_the_policy_was_trained_on_decides_nothing(
    own: dict[str, Any], learned: list[str]
) -> None:
    seen = {"name": "seen"} | own
    found = with_sets(seen, learned=learned, seen=[0.0, 0.3, 0.6])

    assert (found.kind, found.judged_by) == (Kind.UNJUDGED, None)
    assert found.sentence.endswith("no held-out prompt was evaluated.")
    assert found.gauges[0].missing.startswith("No held-out prompts. Set")
    # Another set decides, wherever it stands.
    other = OOD | {"prompts": {"id": "snapshot_3"}}
    both = with_sets(seen, other, learned=learned, seen=[0.6, 0.3, 0.0], ood=[0.0, 0.3, 0.6])
    assert (both.kind, both.judged_by) == (Kind.IMPROVED, "eval/ood/reward")
    heldout = seen | {"split": "heldout"}
    assert with_sets(heldout, learned=learned, seen=[0.0, 0.3, 0.6]).kind == Kind.IMPROVED


def test_the_runs_own_held_out_prompts_decide_before_named_sets() -> None:
    config = RULES | {"evaluation_sets": [OOD]}
    curves = HEALTHY | evaluated("eval/ood/reward", [0.6, 0.3, 0.0], 0.05)
    own = evaluated("eval/reward", [0.0, 0.3, 0.6], 0.05)

    def found(more: dict[str, list[Point]]) -> RunVerdict:
        evidence = Evidence(config, curves | more, True, STEPS, n_heldout=20)
        return judge(Method.POLICY_GRADIENT, evidence)

    assert found(own).judged_by == "eval/reward"
    # Unless no response to them could be scored.
    unscored = {"eval/coverage": [Point(step, 0.0) for step in (0, 50, 100)]}
    assert found(unscored).judged_by == "eval/ood/reward"


def test_what_a_named_set_leaves_out_is_told_of_that_set() -> None:
    curves = HEALTHY | evaluated("eval/ood/reward", [0.0, 0.3, 0.6], 0.05)
    curves |= {"eval/ood/coverage": [Point(step, 0.9) for step in (0, 50, 100)]}
    evidence = Evidence(RULES | {"evaluation_sets": [OOD]}, curves, True, STEPS, n_heldout=0)
    found = judge(Method.POLICY_GRADIENT, evidence)

    assert found.sentence.endswith("but 10 % of the responses could not be scored.")
    assert "could not be scored" not in found.reason
    where = "the scored responses to the prompts of the evaluation set ood"
    assert f"The interval is over {where}:" in found.reason
    assert found.gauges[0].beside == "10 % unscored, was 0 at step 0"
    unscored = {"eval/ood/coverage": [Point(0, 0.0)]}
    none = judge(
        Method.POLICY_GRADIENT,
        Evidence(RULES | {"evaluation_sets": [OOD]}, HEALTHY | unscored, True, n_heldout=0),
    )
    assert none.sentence.endswith("no response to the evaluation set ood could be scored.")
    assert none.gauges[0].missing == "No response could be scored."
