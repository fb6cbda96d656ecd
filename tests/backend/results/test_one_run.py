"""What one run says of its sets: a table of sets and measures, and parts in their order."""

from typing import Any

from backend.domain.results.measurements import PromptSet, Seen
from backend.domain.results.one_run import sets_measured
from tests.backend.results.plain_runs import evaluation, named, policy, spread


def test_sets_have_measures_with_intervals_and_parts_in_order() -> None:
    values = {"eval/length": 9.0, "eval/pass@16": 0.8, "eval/reward": 1.0, "loss": 1.0}
    values |= spread("eval/pass@1", 0.5) | {"eval/ood/pass@1": 0.2, "eval/win_rate": 0.6}
    values |= {f"eval/ood/pass@1/people.{n}": n / 100 for n in (10, 2, 9)}
    values |= {"eval/ood/length/people.2": 5.0, "eval/ood/pass@1/other.2": 1.0}
    run = evaluation(1, "m", values, breakdown=["people"],
                     evaluation_sets=[named("ood", temperature=0.5), named("empty")])  # fmt: skip

    found = sets_measured(
        run, {"snapshot_test": "test"}, {PromptSet("ood", "snapshot_ood", "all"): 7}
    )

    assert [one.measure for one in found.measures] == [
        "pass@1", "pass@16", "win_rate", "reward", "length",
    ]  # fmt: skip
    own, ood = found.sets
    assert (own.label, own.n_prompts, own.samples_per_prompt) == ("test", None, 16)
    assert (ood.label, ood.n_prompts) == ("ood", 7)
    assert ood.sampling == "16 responses to each prompt, temperature 0.5, at most 64 tokens"
    rate = next(one for one in own.measures if one.measure == "pass@1")
    assert rate.interval is not None
    assert (rate.metric, rate.value, rate.interval.low) == ("eval/pass@1", 0.5, 0.4)
    (by_people,) = ood.breakdowns
    assert [(one.value, [it.value for it in one.measures]) for one in by_people.parts] == [
        ("2", [0.02, 5.0]), ("9", [0.09]), ("10", [0.1]),
    ]  # fmt: skip
    assert by_people.parts[0].measures[0].metric == "eval/ood/pass@1/people.2"


def test_a_policy_has_its_held_out_prompts_and_its_named_sets() -> None:
    run = policy("p", 0, values={"eval/pass@1": 0.1, "eval/ood/pass@1": 0.3},
                 evaluation_sets=[named("ood")])  # fmt: skip

    found = sets_measured(run, {"snapshot_train": "train"}, {})

    assert [(one.label, one.samples_per_prompt) for one in found.sets] == [
        ("held-out prompts of train", 2), ("ood", 16),
    ]  # fmt: skip


def test_a_run_that_measures_no_set_has_none() -> None:
    assert sets_measured(policy("p", 0, method="sft", values={"loss": 1.0}), {}, {}).sets == []


def test_a_set_says_whether_its_responses_pass_by_reward_models_alone() -> None:
    learned = {"kind": "model", "model": {"id": "model_rm"}}

    def said(*terms: dict[str, Any]) -> list[bool]:
        run = evaluation(1, "m", {"eval/pass@1": 0.5}, reward={"terms": list(terms)})
        return [one.passes_by_learned_score for one in sets_measured(run, {}, {}).sets]

    assert said(learned) == [True]
    assert said(learned, {"kind": "knights", "weight": 0.0}) == [False]
    assert said({"kind": "length"}) == [False]


def test_a_set_says_what_the_measured_policy_has_seen_of_it() -> None:
    trained = {"prompts": {"id": "snapshot_train"}}
    values = {
        "eval/pass@1": 0.1,
        "eval/a/pass@1": 0.3,
        "eval/b/pass@1": 0.2,
        "eval/ood/pass@1": 0.1,
    }
    sets = [named("a", **trained, split="train"), named("b", **trained), named("ood")]
    run = evaluation(1, "model_p", values, **trained, split="heldout", evaluation_sets=sets)
    unchecked = {PromptSet("ood", "snapshot_ood", "all"): None}
    seen = Seen.of([policy("p", 0).config], frozenset({"snapshot_train"}), unchecked)

    found = sets_measured(run, {"snapshot_train": "train"}, {}, seen).sets

    marks = {one.name: (one.is_trained, one.is_partly, one.has_chosen) for one in found}
    assert marks == {
        "": (False, False, True), "a": (True, False, False),
        "b": (True, True, False), "ood": (False, False, False),
    }  # fmt: skip
    assert [one.name for one in found if one.is_unchecked] == ["ood"]
