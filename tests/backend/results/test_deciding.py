"""Which evaluation decides between runs, and when none does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from backend.domain.results.deciding import Evaluated, evaluated
from backend.domain.results.measurements import MeasuredRun, PromptSet
from backend.schemas.vocabulary import RunState
from tests.backend.results.plain_runs import evaluation, given_of, named, policy

RUNS = [policy("a", 1), policy("b", 2, estimator="rloo")]


def deciding(*evaluations: MeasuredRun, runs: Sequence[MeasuredRun] = RUNS) -> list[Evaluated]:
    return evaluated(given_of(runs, evaluations), [run.drawn for run in runs])


def in_state(run: MeasuredRun, state: RunState) -> MeasuredRun:
    return replace(run, draw=replace(run.drawn, state=state))


def decided(*evaluations: MeasuredRun) -> Evaluated | None:
    return next(iter(deciding(*evaluations)), None)


def both(number: int, values: tuple[float, float], **changes: Any) -> list[MeasuredRun]:
    """Evaluations of both models that differ in nothing else."""
    return [
        evaluation(
            number + i, f"model_{run.id}", {"eval/pass@1": one, "eval/reward": 9.0}, **changes
        )
        for i, (run, one) in enumerate(zip(RUNS, values, strict=True))
    ]


def test_one_set_on_which_all_models_were_evaluated_alike_decides() -> None:
    found = decided(*both(10, (0.4, 0.6)))

    assert found == Evaluated("eval/pass@1", "pass@1", "test", {"a": 0.4, "b": 0.6})


def test_the_reward_decides_where_no_term_says_what_is_right() -> None:
    found = decided(
        evaluation(10, "model_a", {"eval/reward": 1.5}),
        evaluation(11, "model_b", {"eval/reward": 0.5}),
    )

    assert found == Evaluated("eval/reward", "Reward", "test", {"a": 1.5, "b": 0.5})


def test_a_threshold_of_a_learned_reward_says_nothing_of_what_is_right() -> None:
    """By the default `pass_reward` a response passes from a score of 1 on, whatever that is worth;
    a term that judges beside it, or a threshold of rules, is another matter.
    """
    learned = {"kind": "model", "model": {"id": "model_rm"}}
    watched = {"kind": "math", "weight": 0.0}

    found = decided(*both(10, (0.4, 0.6), reward={"terms": [learned, watched]}))
    assert found is not None
    assert (found.metric, found.values) == ("eval/reward", {"a": 9.0, "b": 9.0})
    for term in ({"kind": "math"}, {"kind": "regex", "pattern": "a"}):
        found = decided(*both(10, (0.4, 0.6), reward={"terms": [learned, term]}))
        assert found is not None
        assert found.metric == "eval/pass@1"


def test_a_model_that_was_not_evaluated_leaves_it_open() -> None:
    assert decided(both(10, (0.4, 0.6))[0]) is None


@pytest.mark.parametrize(
    "state", [state for state in RunState if state != RunState.SUCCEEDED], ids=str
)
def test_a_run_that_has_not_succeeded_is_not_waited_for(state: RunState) -> None:
    """A failed one neither: it has left nothing that anybody could evaluate."""
    other = in_state(policy("c", 3, estimator="remax", values={"eval/reward": 0.9}), state)

    found = deciding(*both(10, (0.4, 0.6)), runs=[*RUNS, other])

    assert [one.values for one in found] == [{"a": 0.4, "b": 0.6}]
    # Where its model is there to be evaluated, its value stands beside the others.
    third = evaluation(12, "model_c", {"eval/pass@1": 0.5, "eval/reward": 9.0})
    (found_of_all,) = deciding(*both(10, (0.4, 0.6)), third, runs=[*RUNS, other])
    assert found_of_all.values == {"a": 0.4, "b": 0.6, "c": 0.5}
    # One of the two that have succeeded is not all of them.
    assert deciding(both(10, (0.4, 0.6))[0], runs=[*RUNS, other]) == []


def test_where_no_run_has_succeeded_all_are_waited_for() -> None:
    failed = [in_state(run, RunState.FAILED) for run in RUNS]

    assert deciding(runs=failed) == []
    assert deciding(both(10, (0.4, 0.6))[0], runs=failed) == []
    assert len(deciding(*both(10, (0.4, 0.6)), runs=failed)) == 1


def test_evaluations_that_were_sampled_otherwise_are_not_compared() -> None:
    first, second = both(10, (0.4, 0.6))
    other = evaluation(12, "model_b", {"eval/pass@1": 0.6}, samples_per_prompt=1)

    assert decided(first, other) is None
    assert decided(first, other, second) is not None


def test_prompts_that_a_run_was_trained_on_never_decide() -> None:
    assert decided(*both(10, (0.4, 0.6), prompts={"id": "snapshot_train"})) is None


def test_prompts_that_chose_the_checkpoint_decide_only_where_no_others_do() -> None:
    """By its name it would come before its rival, which is called `z`."""
    chose = {"prompts": {"id": "snapshot_train"}, "split": "heldout"}

    alone = decided(*both(10, (0.4, 0.6), **chose))
    assert alone is not None
    assert (alone.label, alone.values["a"]) == ("held-out prompts of train", 0.4)
    beside = decided(
        *(
            evaluation(
                20 + i,
                f"model_{run.id}",
                {"eval/pass@1": 0.4, "eval/z/pass@1": 0.1},
                evaluation_sets=[named("z")],
                **chose,
            )
            for i, run in enumerate(RUNS)
        )
    )
    assert beside == Evaluated("eval/z/pass@1", "pass@1", "z", {"a": 0.1, "b": 0.1})


def test_a_set_that_nobody_has_checked_decides_only_where_no_unseen_one_does() -> None:
    """By its name it would come first. What is known to have chosen the checkpoints comes last."""
    values = {"eval/pass@1": 0.4, "eval/a/pass@1": 0.1}
    a, test = PromptSet("a", "snapshot_a", "all"), PromptSet("", "snapshot_test", "all")

    def order(*unchecked: PromptSet, **changes: Any) -> list[tuple[str, bool]]:
        found = [
            evaluation(n, f"model_{run.id}", values, evaluation_sets=[named("a")], **changes)
            for n, run in enumerate(RUNS, 10)
        ]
        given = given_of(RUNS, found, common=dict.fromkeys(unchecked))
        draws = [run.drawn for run in RUNS]
        return [(one.label, one.is_unchecked) for one in evaluated(given, draws)]

    assert order() == [("a", False), ("test", False)]
    assert order(a) == [("test", False), ("a", True)]
    assert order(a, test) == [("a", True), ("test", True)]
    chose = {"prompts": {"id": "snapshot_train"}, "split": "heldout"}
    assert order(a, **chose) == [("a", True), ("held-out prompts of train", False)]


def test_every_set_that_all_models_were_evaluated_on_could_decide() -> None:
    half = evaluation(30, "model_a", {"eval/pass@1": 0.9}, prompts={"id": "snapshot_half"})
    found = deciding(
        half,
        *(
            evaluation(
                10 + i,
                f"model_{run.id}",
                {"eval/pass@1": test, "eval/ood/pass@1": ood},
                evaluation_sets=[named("ood")],
            )
            for i, (run, test, ood) in enumerate(zip(RUNS, (0.4, 0.6), (0.3, 0.2), strict=True))
        ),
    )

    assert {one.label: one.values for one in found} == {
        "ood": {"a": 0.3, "b": 0.2},
        "test": {"a": 0.4, "b": 0.6},
    }


def test_what_the_runs_measured_themselves_is_no_evaluation() -> None:
    own = [policy("a", 1, values={"eval/pass@1": 0.4}), policy("b", 2, values={"eval/pass@1": 0.6})]

    assert deciding(runs=own) == []
