"""What tables of results say of runs and evaluations, by numbers worked by hand."""

from dataclasses import replace
from typing import Any

import pytest

from backend.domain.differences.prompts import InCommon
from backend.domain.results.gathered import KnownModel
from backend.domain.results.markdown import markdown_of
from backend.domain.results.measurements import MeasuredRun, PromptSet
from backend.domain.results.tables import results
from backend.domain.seeds.draws import Draw
from backend.domain.seeds.named_ids import called, ids_in, with_names
from backend.domain.seeds.names import names_of
from backend.schemas.metrics.results import ResultsAnswer
from backend.schemas.vocabulary import RunState
from tests.backend.results.plain_runs import (
    SFT,
    T_OF_2,
    answer_of,
    evaluation,
    given_of,
    named,
    policy,
    spread,
    table_of,
)


def test_no_interval_of_a_share_goes_beyond_what_a_share_can_be() -> None:
    """.9, .98 and 1 over seeds: the t interval would end at 1.09; a length has no such end."""
    runs = [policy(f"g{n}", n, seed=n) for n in range(3)]
    found = [
        evaluation(10 + n, f"model_g{n}", spread("eval/pass@1", rate) | {"eval/length": 20 + 9 * n})
        for n, rate in enumerate((0.9, 0.98, 1.0))
    ]

    rate, length = table_of(answer_of(runs, found), "score/test").rows[0].cells
    assert rate is not None
    assert rate.interval is not None
    assert rate.interval.high == 1.0
    mean, spread_of_rates = 2.88 / 3, 0.0529150
    assert rate.interval.low == pytest.approx(mean - T_OF_2 * spread_of_rates / 3**0.5, abs=1e-5)
    assert length is not None
    assert length.interval is not None
    assert length.interval.high == pytest.approx(29 + T_OF_2 * 9 / 3**0.5, abs=1e-4)


def test_a_name_has_the_settings_that_tell_its_group_from_all_others() -> None:
    """Four fit; the model tells no two apart that the others do not, so it is left out."""
    base = {"method": "policy_gradient", "estimator": "reinforce_pp", "kl": {"coef": 0.02},
            "model": {"id": "model_base"}, "optim": {"lr": 0.003}, "eval_every": 10}  # fmt: skip
    changes: list[dict[str, Any]] = [
        {}, {"optim": {"lr": 1e-6}}, {"kl": {"coef": 0.0}, "eval_every": 20}, {"estimator": "rloo"},
        {"kl": {"coef": 0.0}, "model": {"id": "model_good"}, "optim": {"lr": 0.1}},
    ]  # fmt: skip

    assert names_of([base | change for change in changes]) == [
        "reinforce_pp, eval_every 10, kl.coef 0.02, lr 0.003",
        "reinforce_pp, eval_every 10, kl.coef 0.02, lr 1e-6",
        "reinforce_pp, eval_every 20, kl.coef 0, lr 0.003",
        "rloo, eval_every 10, kl.coef 0.02, lr 0.003",
        "reinforce_pp, eval_every 10, kl.coef 0, lr 0.1",
    ]


def test_evaluations_are_measurements_of_the_run_that_made_the_model() -> None:
    """Seeds at .4, .5, .6: s = .1, so the t interval is .5 +- 4.302653 x .1 / sqrt(3)."""
    runs = [policy(f"g{n}", n, seed=n) for n in range(3)]
    found = [
        evaluation(10 + n, f"model_g{n}", spread("eval/pass@1", 0.4 + n / 10) | {"eval/length": 20})
        for n in range(3)
    ]
    found.append(evaluation(20, SFT, spread("eval/pass@1", 0.2, 0.03) | {"eval/length": 30}))

    table = table_of(answer_of(runs, found), "score/test")

    start, group = table.rows
    assert (start.name, start.is_start, start.runs) == ("sft", True, [])
    assert (group.name, group.runs, group.is_start) == ("grpo", ["g0", "g1", "g2"], False)
    cell, length = group.cells
    assert cell is not None
    assert length is not None
    assert start.cells[0] is not None
    assert (cell.n, cell.interval_of, length.value) == (3, "seeds", 20)
    assert cell.value == pytest.approx(0.5)
    half = T_OF_2 * 0.1 / 3**0.5
    assert cell.interval is not None
    assert cell.interval.low == pytest.approx(0.5 - half, abs=1e-6)
    assert [point.measured_by for point in cell.points] == [["eval_10"], ["eval_11"], ["eval_12"]]
    assert start.cells[0].interval_of == "prompts"
    # The difference is .3, with the errors of both taken as independent.
    assert cell.change is not None
    assert cell.change.interval is not None
    assert cell.change.value == pytest.approx(0.3)
    assert cell.change.interval.low == pytest.approx(0.3 - (half**2 + 0.03**2) ** 0.5, abs=1e-6)
    assert cell.change.is_better
    assert not cell.change.is_paired
    assert length.change is not None
    assert not length.change.is_better


def test_one_or_two_seeds_have_their_own_interval_by_prompt() -> None:
    """.4 +- .1 and .6 +- .2 together: .5 +- .15, whatever their errors have in common."""
    runs = [policy(f"g{n}", n, seed=n) for n in range(2)]
    found = [
        evaluation(10, "model_g0", spread("eval/pass@1", 0.4, 0.1) | {"eval/length": 9}),
        evaluation(11, "model_g1", spread("eval/pass@1", 0.6, 0.2) | {"eval/length": 9}),
    ]

    (cell, _) = table_of(answer_of(runs, found), "score/test").rows[0].cells

    assert cell is not None
    assert cell.interval is not None
    assert (cell.n, cell.interval_of) == (2, "prompts")
    assert (cell.interval.low, cell.interval.high) == pytest.approx((0.35, 0.65))


def test_seeds_without_spread_have_no_interval_without_width() -> None:
    """Three seeds that solve nothing, each [0, .07] by prompt: 0 [0, .07], and nobody is best."""
    runs = [
        policy(f"{name}{n}", 3 * place + n, estimator=estimator, seed=n)
        for place, (name, estimator) in enumerate((("g", "grpo"), ("r", "rloo")))
        for n in range(3)
    ]
    none = {"eval/pass@1": 0.0, "eval/pass@1_low": 0.0, "eval/pass@1_high": 0.07}
    some = {"eval/pass@1": 0.01, "eval/pass@1_low": 0.0, "eval/pass@1_high": 0.08}
    found = [
        evaluation(
            10 + place, f"model_{run.id}", (none if place < 3 else some) | {"eval/length": 9}
        )
        for place, run in enumerate(runs)
    ]

    rows = table_of(answer_of(runs, found), "score/test").rows

    cells = {row.name: row.cells[0] for row in rows}
    grpo, rloo = cells["grpo"], cells["rloo"]
    assert grpo is not None
    assert rloo is not None
    assert grpo.interval is not None
    assert (grpo.n, grpo.interval_of) == (3, "prompts")
    assert (grpo.interval.low, grpo.interval.high) == pytest.approx((0.0, 0.07))
    assert not rloo.is_best


def test_the_newest_of_equal_evaluations_counts_and_other_samplings_are_left_out() -> None:
    runs = [policy("g", 0)]
    other = {"rollout": {"temperature": 0.5, "max_new_tokens": 64, "top_p": 1.0, "stop": [],
                         "system": "", "template": "model"}}  # fmt: skip
    values = [{"eval/pass@1": value, "eval/length": 5.0} for value in (0.1, 0.2, 0.9, 0.3)]
    found = [
        evaluation(10, "model_g", values[0]),
        evaluation(11, "model_g", values[1]),
        evaluation(12, "model_g", values[2], **other),
        evaluation(13, SFT, values[3]),
    ]

    table = table_of(answer_of(runs, found), "score/test")

    assert [row.cells[0].value for row in table.rows if row.cells[0]] == [0.3, 0.2]
    assert table.remarks == [
        "1 evaluation is left out as not comparable: `temperature` is 0.5 instead of 1."
    ]


def held_out(name: str, number: int, **changes: Any) -> MeasuredRun:
    """A policy that measured the reward of its own held-out prompts."""
    values = {"eval/reward": number / 10, "eval/length": 5.0}
    return policy(name, number, values=values | changes.pop("more", {}), **changes)


def test_rewards_with_and_without_the_over_long_penalty_are_not_compared() -> None:
    """What most runs have counts, of equals the newest; `mask` lowers no reward."""
    runs = [
        held_out("a", 1, overlong="keep", estimator="rloo"),
        held_out("b", 2, overlong="mask", estimator="ppo"),
        held_out("c", 3, overlong="penalize", overlong_penalty={"factor": 1}),
        held_out("d", 4, overlong="penalize", overlong_penalty={"factor": 2}),
    ]
    table = table_of(answer_of(runs, []), "score/held-out prompts of train")
    assert [row.cells[0].value for row in table.rows if row.cells[0]] == [0.2, 0.1]
    assert table.remarks == [
        "1 evaluation is left out as not comparable: `overlong` is penalize instead of none.",
        "1 evaluation is left out as not comparable: `overlong` is penalize instead of none.",
    ]

    table = table_of(answer_of(runs[2:], []), "score/held-out prompts of train")
    assert [row.cells[0].value for row in table.rows if row.cells[0]] == [0.4]
    assert table.remarks == [
        "1 evaluation is left out as not comparable: `overlong_penalty.factor` is 1 instead of 2."
    ]
    assert table.caption.endswith("at most 64 tokens, with the over-long penalty.")


def test_what_passes_and_named_sets_are_compared_whatever_the_penalty() -> None:
    passed, ood = {"eval/pass@1": 0.5}, {"eval/ood/reward": 0.5, "eval/ood/length": 5.0}
    sets = {"more": passed | ood, "evaluation_sets": [named("ood")]}
    runs = [
        held_out("a", 1, overlong="keep", estimator="rloo", **sets),
        held_out("b", 2, overlong="penalize", **sets),
    ]
    for name in ("score/held-out prompts of train", "score/ood"):
        table = table_of(answer_of(runs, []), name)
        assert (table.remarks, len(table.rows)) == ([], 2)


def test_an_evaluation_that_is_left_out_for_its_reward_names_the_models() -> None:
    by = [
        {"reward": {"terms": [{"kind": "model", "model": {"id": one}}]}} for one in (SFT, "model_g")
    ]
    found = [
        evaluation(10 + n, model, {"eval/pass@1": 0.5, "eval/length": 5.0}, **reward)
        for n, (model, reward) in enumerate([("model_g", by[0]), (SFT, by[1]), ("model_g", by[1])])
    ]

    table = table_of(answer_of([policy("g", 0)], found), "score/test")

    assert table.remarks == [
        "1 evaluation is left out as not comparable: `reward.terms.0.model.id` is “sft” instead of "
        "“of g”."
    ]


def test_of_a_reward_of_another_kind_the_kind_is_said() -> None:
    """Not the first setting that only one of the two has."""
    by = [
        {"reward": {"terms": [{"kind": "regex", "is_answer": False, "pattern": "a"}]}},
        {"reward": {"terms": [{"kind": "model", "model": {"id": SFT}}]}},
    ]
    found = [
        evaluation(10 + n, model, {"eval/pass@1": 0.5, "eval/length": 5.0}, **reward)
        for n, (model, reward) in enumerate([("model_g", by[0]), (SFT, by[1]), ("model_g", by[1])])
    ]

    table = table_of(answer_of([policy("g", 0)], found), "score/test")

    assert table.remarks == [
        "1 evaluation is left out as not comparable: `reward.terms.0.kind` is regex instead of "
        "model."
    ]


def test_a_seed_without_an_evaluation_is_said_to_be_missing() -> None:
    runs = [policy(f"g{n}", n, seed=n) for n in range(3)]
    runs += [policy("p", 5, estimator="ppo"), policy("r", 6, estimator="rloo", has_ended=False)]
    found = [evaluation(10 + n, f"model_g{n}", {"eval/pass@1": 0.5, "eval/length": 9.0})
             for n in range(2)]  # fmt: skip
    found.append(evaluation(14, "model_p", {"eval/pass@1": 0.5}))

    answer = answer_of(runs, found)
    table = table_of(answer, "score/test")

    assert table.missing == "Not measured: `sft`; 1 of 3 seeds of `grpo`; `ppo` on Length; `rloo`."
    assert [row.name for row in table.rows] == ["grpo", "ppo"]
    assert answer.missing.endswith("1 run has not ended.")


def test_the_seeds_that_are_missing_are_the_most_of_the_columns_where_these_differ() -> None:
    runs = [policy(f"g{n}", n, seed=n) for n in range(3)]
    found = [
        evaluation(10, "model_g0", {"eval/pass@1": 0.5, "eval/length": 9.0}),
        evaluation(11, "model_g1", {"eval/pass@1": 0.5}),
    ]

    table = table_of(answer_of(runs, found), "score/test")

    assert table.missing == "Not measured: `sft`; up to 2 of 3 seeds of `grpo`."


def test_the_best_is_marked_only_where_the_next_is_more_than_chance_away() -> None:
    """Welch: .9 against .5 with deviations of .01 is decided; .9 against .85 +- .1 is not."""

    def best(other: float, deviation: float) -> list[bool]:
        runs = [policy(f"{name}{n}", n + 3 * (name == "r"), seed=n, estimator=name)
                for name in ("g", "r") for n in range(3)]  # fmt: skip
        found = [
            evaluation(10 + i, f"model_{run.id}", {"eval/pass@1": value, "eval/length": 9.0})
            for i, (run, value) in enumerate(
                zip(runs, [0.89, 0.9, 0.91, other - deviation, other, other + deviation],
                    strict=True)
            )
        ]  # fmt: skip
        rows = table_of(answer_of(runs, found), "score/test").rows
        return [row.cells[0].is_best for row in rows if row.cells[0] is not None]

    assert best(0.5, 0.01) == [True, False]
    assert best(0.85, 0.1) == [False, False]


@pytest.mark.parametrize(
    ("state", "measured", "is_best"),
    [("succeeded", 3, True), ("failed", 3, False), ("succeeded", 2, False)],
)
def test_nobody_is_best_while_a_seed_of_a_rival_is_missing(
    state: str, measured: int, *, is_best: bool
) -> None:
    runs = [policy(f"{name}{n}", n + 3 * (name == "r"), seed=n, estimator=name)
            for name in ("g", "r") for n in range(3)]  # fmt: skip
    runs[5] = replace(runs[5], draw=Draw("r2", 2, RunState(state)))
    values = [0.89, 0.9, 0.91, 0.49, 0.5, 0.51]
    found = [evaluation(10 + i, f"model_{run.id}", {"eval/pass@1": value, "eval/length": 9.0})
             for i, (run, value) in enumerate(zip(runs, values, strict=True))]  # fmt: skip

    best, _ = table_of(answer_of(runs, found[: 3 + measured]), "score/test").rows

    assert best.cells[0] is not None
    assert best.cells[0].is_best is is_best


def test_the_best_of_three_has_to_be_told_apart_from_all_of_them() -> None:
    """The next is far enough away by its narrow spread; the third, which spreads widely, is not."""
    runs = [policy(f"{name}{n}", n + 3 * place, seed=n, estimator=name)
            for place, name in enumerate("grs") for n in range(3)]  # fmt: skip
    values = [0.89, 0.9, 0.91, 0.79, 0.8, 0.81, 0.5, 0.7, 0.9]
    found = [evaluation(10 + i, f"model_{run.id}", {"eval/pass@1": value, "eval/length": 9.0})
             for i, (run, value) in enumerate(zip(runs, values, strict=True))]  # fmt: skip

    rows = table_of(answer_of(runs, found), "score/test").rows
    without = table_of(answer_of(runs[:6], found[:6]), "score/test").rows

    assert not any(row.cells[0].is_best for row in rows if row.cells[0])
    assert [row.cells[0].is_best for row in without if row.cells[0]] == [True, False]


def test_a_rerun_of_a_seed_is_no_second_seed_of_a_row() -> None:
    runs = [policy("a", 0, seed=1), policy("b", 1, seed=1), policy("c", 2, seed=2)]
    runs[1] = replace(runs[1], draw=Draw("b", 1, RunState.FAILED), name="again")
    found = [evaluation(10 + i, f"model_{run.id}", {"eval/pass@1": 0.1 * i, "eval/length": 9.0})
             for i, run in enumerate(runs)]  # fmt: skip

    answer = answer_of(runs, found)
    (row,) = (one for one in table_of(answer, "score/test").rows if one.runs)

    assert row.runs == ["a", "c"]
    assert row.cells[0] is not None
    assert (row.cells[0].n, row.cells[0].value) == (2, pytest.approx(0.1))
    assert answer.missing.endswith(
        "Each seed counts once, by its newest run that succeeded. Left out: `again`."
    )


@pytest.mark.parametrize("order", [1, -1])
def test_the_newest_run_of_a_seed_counts_in_whatever_order_runs_are_asked_for(order: int) -> None:
    runs = [policy("old", 0, seed=1), policy("new", 1, seed=1)]
    found = [evaluation(10 + n, f"model_{run.id}", {"eval/pass@1": 0.5, "eval/length": 9.0})
             for n, run in enumerate(runs)]  # fmt: skip
    rows = table_of(answer_of(runs[::order], found), "score/test").rows
    assert [row.runs for row in rows if row.runs] == [["new"]]


def test_no_group_is_best_while_the_start_is_better() -> None:
    runs = [policy(f"g{n}", n, seed=n) for n in range(3)]
    found = [evaluation(10 + n, f"model_g{n}", {"eval/pass@1": 0.5 + n / 100, "eval/length": 9.0})
             for n in range(3)]  # fmt: skip
    found.append(evaluation(20, SFT, spread("eval/pass@1", 0.8) | {"eval/length": 9.0}))

    table = table_of(answer_of(runs, found), "score/test")

    assert not any(cell.is_best for row in table.rows for cell in row.cells if cell)


def test_a_gain_over_the_start_as_baseline_is_paired() -> None:
    runs = [policy("g", 0)]
    values = spread("eval/pass@1", 0.5, 0.2) | spread("eval/pass_gain", 0.1, 0.05)
    found = [
        evaluation(10, "model_g", values | {"eval/length": 9.0}, baseline_model={"id": SFT}),
        evaluation(11, SFT, spread("eval/pass@1", 0.4, 0.2) | {"eval/length": 9.0}),
    ]

    change = table_of(answer_of(runs, found), "score/test").rows[1].cells[0].change  # type: ignore[union-attr]

    assert change is not None
    assert change.interval is not None
    assert (change.is_paired, change.is_better) == (True, True)
    assert (change.interval.low, change.interval.high) == pytest.approx((0.05, 0.15))


def by_people(number: int, model: str, *levels: float, **changes: Any) -> Any:
    """An evaluation broken down by 2, 3, ... people, each with an interval of .03 to each side."""
    values = {"eval/pass@1": 0.5, "eval/length": 9.0}
    for place, value in enumerate(levels):
        values |= {
            f"eval/pass@1/people.{place + 2}{end}": value + change
            for end, change in (("", 0), ("_low", -0.03), ("_high", 0.03))
        }
    return evaluation(number, model, values, breakdown=["people"], **changes)


def test_a_breakdown_has_its_levels_in_order_and_their_mean() -> None:
    """Errors of different prompts are independent: .03 x sqrt(9) / 9 = .01."""
    runs = [policy("g", 0), policy("r", 1, estimator="rloo")]
    levels = [n / 10 for n in range(9)]
    found = [by_people(10, "model_g", *levels), by_people(11, "model_r", *levels[:8])]

    table = table_of(answer_of(runs, found), "breakdown/test/people")

    assert [one.name for one in table.columns] == [*"23456789", "10", "Mean"]
    mean = table.rows[0].cells[-1]
    assert mean is not None
    assert mean.interval is not None
    assert mean.value == pytest.approx(0.4)
    assert (mean.interval.low, mean.interval.high) == pytest.approx((0.39, 0.41))
    # A mean of fewer levels would be another measure.
    assert table.rows[1].cells[-1] is None
    assert "`rloo` on 10, Mean" in table.missing


def test_pass_at_k_is_told_on_what_was_trained_on_and_on_what_was_not() -> None:
    runs = [policy("g", 0)]
    values = {"eval/pass@1": 0.1, "eval/pass@16": 0.4, "eval/pass@32": 0.5}
    values |= {"eval/train/pass@1": 0.9, "eval/train/pass@2": 0.95}
    found = [evaluation(10, "model_g", values, evaluation_sets=[named("train", split="train")])]

    table = table_of(answer_of(runs, found), "passes")

    assert [(one.name, one.is_trained) for one in table.columns] == [
        ("train pass@1", True), ("train pass@2", True), ("test pass@1", False),
        ("test pass@16", False),
    ]  # fmt: skip
    assert table.name == "Train and test pass@k"
    assert table.caption.endswith(". These sets hold other prompts: compare within a column only.")
    assert [one.metric for one in table.columns][1] == "eval/train/pass@2"
    assert r"| train pass@1 \(trained on\) |" in markdown_of(answer_of(runs, found))
    assert [cell and cell.value for cell in table.rows[0].cells] == [0.9, 0.95, 0.1, 0.4]


def test_pass_at_k_of_what_nobody_was_trained_on_is_not_called_training() -> None:
    """The snapshot is called `train`; its held-out prompts are none that were trained on."""
    chose = {"prompts": {"id": "snapshot_train"}, "split": "heldout"}
    passed = {"eval/pass@1": 0.1, "eval/pass@16": 0.4}
    alone = [evaluation(10, "model_g", passed, **chose)]
    for found, name in (
        (alone, "pass@k"),
        ([*alone, evaluation(11, "model_g", passed)], "pass@k by set"),
    ):
        table = table_of(answer_of([policy("g", 0)], found), "passes")
        assert table.name == name
        assert table.columns[-1].name == "held-out prompts of train pass@16"
        assert ("within a column only" in table.caption) == (len(found) > 1)
    taught = evaluation(12, "model_g", passed, **chose | {"split": "train"})
    table = table_of(answer_of([policy("g", 0)], [taught]), "passes")
    assert table.columns[0].name == "training prompts of train pass@1"


def test_what_was_trained_on_comes_last_and_says_so_where_a_table_is_of_one_set() -> None:
    values = {f"eval/{name}pass@1": 0.5 for name in ("", "train/", "unseen/")}
    values |= {f"eval/{name}length": 9.0 for name in ("", "train/", "unseen/")}
    found = [
        evaluation(
            10, "model_g", values, evaluation_sets=[named("train", split="train"), named("unseen")]
        )
    ]

    tables = [one for one in answer_of([policy("g", 0)], found).tables if one.set]

    assert [one.set for one in tables] == ["test", "unseen", "train"]
    trained = [{column.is_trained for column in one.columns} for one in tables]
    assert trained == [{False}, {False}, {True}]
    assert tables[0].caption.startswith("On `test`: ")
    assert tables[2].caption.startswith("On `train`, prompts that the runs were trained on: ")


def test_all_prompts_of_a_divided_snapshot_are_partly_trained_on() -> None:
    """35 of 64 prompts were trained on and 29 were not: neither wholly seen nor unseen."""
    values = {"eval/pass@1": 0.5, "eval/length": 9.0, "eval/pass@16": 0.9}
    found = [evaluation(10, "model_g", values, prompts={"id": "snapshot_train"})]
    answers = [
        results(given_of([policy("g", 0)], found, divided=divided))
        for divided in ((), ("snapshot_train",))
    ]

    captions = [table_of(answer, "score/train").caption for answer in answers]
    assert captions[0].startswith("On `train`, prompts that the runs were trained on: ")
    assert captions[1].startswith("On `train`, on some of whose prompts the runs were trained: ")
    for answer, words in zip(answers, ("trained on", "partly trained on"), strict=True):
        column = table_of(answer, "passes").columns[0]
        assert (column.is_trained, column.is_partly) == (True, words.startswith("partly"))
        assert rf"| train pass@1 \({words}\) |" in markdown_of(answer)


def test_prompts_that_another_snapshot_shares_with_the_training_data_are_no_unseen_ones() -> None:
    """Of the 50 prompts of `test` three were trained on; two of `hard` chose the checkpoints."""
    values = {f"eval/{one}pass@{k}": 0.5 for one in ("", "hard/", "new/") for k in (1, 16)}
    values |= {"eval/length": 9.0, "eval/hard/length": 9.0, "eval/new/length": 9.0}
    sets = [named("hard"), named("new")]
    found = [evaluation(10, "model_g", values, evaluation_sets=sets)]
    common = {
        PromptSet("", "snapshot_test", "all"): InCommon(3, 0, 50),
        PromptSet("hard", "snapshot_hard", "all"): InCommon(0, 2, 9),
        PromptSet("new", "snapshot_new", "all"): InCommon(0, 0, 7),
    }
    answer = results(given_of([policy("g", 0)], found, common=common))

    marks = {
        one.name.split()[0]: (one.is_trained, one.is_partly, one.has_chosen)
        for one in table_of(answer, "passes").columns
    }
    assert marks == {
        "test": (True, True, False), "hard": (False, False, True), "new": (False, False, False),
    }  # fmt: skip
    captions = {name: table_of(answer, f"score/{name}").caption for name in marks}
    assert captions["test"].startswith("On `test`, of whose 50 prompts 3 were trained on: ")
    assert captions["hard"].startswith("On `hard`, of whose 9 prompts 2 chose the checkpoints: ")
    assert captions["new"].startswith("On `new`: ")


def test_a_set_that_nobody_has_checked_says_so_in_table_and_caption() -> None:
    values = {f"eval/{one}pass@{k}": 0.5 for one in ("", "new/") for k in (1, 16)}
    values |= {"eval/length": 9.0, "eval/new/length": 9.0}
    found = [evaluation(10, "model_g", values, evaluation_sets=[named("new")])]
    common = {PromptSet("", "snapshot_test", "all"): None}
    answer = results(given_of([policy("g", 0)], found, common=common))

    marks = {one.name: one.is_unchecked for one in table_of(answer, "sets").columns}
    assert marks == {"new": False, "test": True, "Mean": True}
    assert r"| test \(not checked for training prompts\) |" in markdown_of(answer)
    assert table_of(answer, "score/test").caption.startswith(
        "On `test`, prompts that were not checked for training prompts, because they are too many "
        "at once: "
    )
    assert table_of(answer, "score/new").caption.startswith("On `new`: ")


def test_named_sets_have_a_mean_of_those_that_were_not_trained_on() -> None:
    runs = [policy("g", 0), policy("r", 1, estimator="rloo")]
    sets = [named("gsm8k"), named("aime"), named("train")]

    def values(*scores: float) -> dict[str, float]:
        return {f"eval/{one['name']}/pass@1": x for one, x in zip(sets, scores, strict=True)}

    found = [
        evaluation(10, "model_g", values(0.5, 0.1, 0.99), evaluation_sets=sets),
        evaluation(11, "model_r", values(0.4, 0.4, 0.99), evaluation_sets=sets),
    ]

    table = table_of(answer_of(runs, found), "sets")

    assert [one.name for one in table.columns] == ["aime", "gsm8k", "Mean"]
    assert [row.name for row in table.rows] == ["rloo", "grpo"]
    assert [cell and cell.value for cell in table.rows[0].cells] == [0.4, 0.4, 0.4]


def test_prompts_that_chose_the_checkpoints_are_marked_and_in_no_mean() -> None:
    """The best of several checkpoints on a set is partly luck; so nothing is bold there, either."""
    runs = [policy(f"{one}{n}", place * 3 + n, estimator=name, seed=n)
            for place, (one, name) in enumerate((("g", "grpo"), ("r", "rloo")))
            for n in range(3)]  # fmt: skip
    chose = {"name": "chose", "prompts": {"id": "snapshot_train"}, "split": "heldout"}
    sets = [named("chose") | chose, named("gsm8k"), named("aime")]
    measures = ("pass@1", "pass@16", "length", "pass@1/level.2", "pass@1/level.3")
    found = [
        evaluation(
            20 + place,
            f"model_{run.id}",
            {f"eval/{one['name']}/{measure}": score for one in sets for measure in measures},
            evaluation_sets=sets,
            breakdown=["level"],
        )
        for place, run in enumerate(runs)
        for score in [0.5 + 0.3 * (place // 3) + 0.01 * (place % 3)]
    ]
    answer = answer_of(runs, found)

    by_set = table_of(answer, "sets")
    assert [one.name for one in by_set.columns] == ["aime", "gsm8k", "Mean"]
    scores = [one for one in answer.tables if one.kind == "score"]
    assert [one.set for one in scores] == ["aime", "gsm8k", "chose"]
    assert scores[2].caption.startswith(
        "On `chose`, held-out prompts by which the checkpoints were chosen: "
    )
    passes = table_of(answer, "passes")
    marked = {one.name for one in passes.columns if one.has_chosen}
    assert marked == {"chose pass@1", "chose pass@16"}
    assert passes.columns[-1].name in marked
    assert r"| chose pass@1 \(checkpoints chosen on it\) |" in markdown_of(answer)
    parts = table_of(answer, "breakdown/chose/level").columns
    assert [(one.name, one.has_chosen) for one in parts] == [
        ("2", True), ("3", True), ("Mean", True),
    ]  # fmt: skip

    def bold(table_id: str) -> list[bool]:
        best = table_of(answer, table_id).rows[0]
        assert best.name == "rloo"
        return [cell is not None and cell.is_best for cell in best.cells]

    assert bold("sets") == [True, True, True]
    assert bold("score/aime") == [True, False]
    assert not any(bold("score/chose"))
    assert not any(bold("breakdown/chose/level"))
    assert bold("passes") == [True, True, True, True, False, False]


def test_one_unseen_set_beside_that_which_chose_has_no_mean() -> None:
    chose = named("chose") | {"prompts": {"id": "snapshot_train"}, "split": "heldout"}
    values = {"eval/chose/pass@1": 0.9, "eval/aime/pass@1": 0.2}
    sets = [chose, named("aime")]
    answer = answer_of([policy("g", 0)], [evaluation(10, "model_g", values, evaluation_sets=sets)])

    assert not [one for one in answer.tables if one.kind == "sets"]
    assert "named sets (needs groups measured on two sets that were not trained on" in (
        answer.missing
    )


def test_sets_on_which_the_start_alone_was_measured_leave_groups_their_mean() -> None:
    sets = [named(name) for name in ("aime", "gsm8k", "math")]

    def values(*scores: float) -> dict[str, float]:
        return {
            f"eval/{one['name']}/{measure}": x
            for one, x in zip(sets, scores, strict=False)
            for measure in ("pass@1", "length")
        }

    start = evaluation(10, SFT, values(0.1, 0.3, 0.5), evaluation_sets=sets)
    arms = [evaluation(11, "model_g", values(0.5, 0.7), evaluation_sets=sets[:2])]
    answer = answer_of([policy("g", 0)], [start, *arms])

    by_set = table_of(answer, "sets")
    assert [one.name for one in by_set.columns] == ["aime", "gsm8k", "Mean"]
    means = {row.name: cell.value for row in by_set.rows if (cell := row.cells[-1])}
    assert means == pytest.approx({"sft": 0.2, "grpo": 0.6})
    assert by_set.missing == ""
    # What was measured is shown, last.
    assert [one.set for one in answer.tables if one.kind == "score"] == ["aime", "gsm8k", "math"]

    alone = table_of(answer_of([policy("g", 0)], [start]), "sets")
    assert [one.name for one in alone.columns] == ["aime", "gsm8k", "math", "Mean"]


def test_what_runs_measured_themselves_counts_where_nothing_else_did() -> None:
    """Before the first step it is a measurement of the start."""
    own = {"evaluation_sets": [named("ood", samples_per_prompt=4)]}
    ood = {"eval/ood/pass@1": 0.3, "eval/ood/length": 5.0}
    run = policy("g", 0, values=ood, first={**ood, "eval/ood/pass@1": 0.2}, **own)

    table = table_of(answer_of([run], []), "score/ood")
    assert [row.cells[0].value for row in table.rows if row.cells[0]] == [0.2, 0.3]
    assert "measured by the runs themselves" in table.caption

    found = [evaluation(10, "model_g", {"eval/ood/pass@1": 0.7, "eval/ood/length": 5.0},
                        evaluation_sets=own["evaluation_sets"])]  # fmt: skip
    table = table_of(answer_of([run], found), "score/ood")
    assert [row.cells[0].value for row in table.rows if row.cells[0]] == [0.7]
    assert table.missing == "Not measured: `sft`."


def test_a_learned_reward_is_compared_as_a_reward_on_each_set() -> None:
    """Its share above a threshold is only in the table of pass@k, for those who asked for it."""
    reward = {"terms": [{"kind": "model", "model": {"id": "model_rm"}}]}
    values = spread("eval/reward", 1.2) | {"eval/pass@1": 0.5, "eval/length": 9.0}
    values |= {name.replace("eval/", "eval/ood/"): one for name, one in values.items()}
    values |= {"eval/reward/level.1": 1.3, "eval/pass@1/level.1": 0.6}
    more = {"evaluation_sets": [named("ood")], "breakdown": ["level"], "reward": reward}

    answer = answer_of([policy("g", 0)], [evaluation(10, "model_g", values, **more)])

    assert [one.name for one in table_of(answer, "score/test").columns] == ["Reward", "Length"]
    assert table_of(answer, "breakdown/test/level").name == "Reward by level"
    assert table_of(answer, "sets").name == "Reward by set"


TEXTS = {"texts": {"id": "snapshot_texts"}}


def likely(logp: float, change: float | None = None) -> dict[str, float]:
    """How likely texts are, and how much that has changed."""
    changed = {} if change is None else spread("eval/text_change", change, 0.02)
    return spread("eval/text_logp", logp, 0.3) | changed


def test_what_was_forgotten_has_a_table_of_its_own() -> None:
    """Of what evaluations measured, text by text beside the start; prompts are not in it."""
    passed = spread("eval/pass@1", 0.5) | {"eval/length": 9.0}
    found = [
        evaluation(10, SFT, passed | likely(-2.0), **TEXTS),
        evaluation(11, "model_g", passed | likely(-2.1, -0.1),
                   baseline_model={"id": SFT}, **TEXTS),
        evaluation(12, "model_r", passed | likely(-1.9, 0.1), **TEXTS,
                   baseline_model={"id": SFT}, split="train"),
    ]  # fmt: skip
    runs = [policy("g", 0), policy("r", 1, estimator="rloo")]

    answer = answer_of(runs, found)

    texts = [one for one in answer.tables if one.kind == "texts"]
    (table,) = texts
    assert table.set == "prompts, texts"
    assert [one.name for one in table.columns] == [
        "Likelihood of the texts", "Change in the likelihood of the texts",
    ]  # fmt: skip
    assert {one.unit for one in table.columns} == {"nats per token"}
    shown = {row.name: [cell and cell.value for cell in row.cells] for row in table.rows}
    assert shown == {"sft": [-2.0, None], "rloo": [-1.9, 0.1], "grpo": [-2.1, -0.1]}
    change = table.rows[1].cells[0].change if table.rows[1].cells[0] else None
    assert change is not None
    assert (change.is_paired, change.is_better, change.value) == (True, True, 0.1)
    assert not any("texts" in one.set for one in answer.tables if one.kind != "texts")
    assert "texts" not in answer.missing


def test_texts_that_runs_were_taught_are_told_as_such_and_have_no_best() -> None:
    taught = policy("s", 0, method="sft", demonstrations=TEXTS["texts"], estimator=None)
    run = policy("g", 1, model={"id": "model_s"}, values=likely(-1.0, 0.5), **TEXTS)

    (table,) = [one for one in answer_of([run, taught], []).tables if one.kind == "texts"]

    assert all(column.is_trained for column in table.columns)
    assert "on some of which runs were trained" in table.caption
    assert "Measured by the runs themselves" in table.caption


def test_win_rates_on_named_sets_stand_among_what_the_runs_measured() -> None:
    won = spread("eval/ood/win_rate", 0.6) | spread("eval/reward", 0.5)
    asked = {"evaluation_sets": [named("ood")], "compare_with_reference": True}
    runs = [policy("g", 0, values=won, **asked),
            policy("r", 1, values=won, estimator="rloo", **asked)]  # fmt: skip

    table = table_of(answer_of(runs, []), "runs")

    assert [(one.name, one.unit, one.has_chosen) for one in table.columns] == [
        ("Held-out reward", "", True), ("ood: Win rate", "share", False),
    ]  # fmt: skip
    other = policy("x", 2, values=won, reference={"id": "model_x"}, **asked)
    table = table_of(answer_of([*runs, other], []), "runs")
    assert [one.direction for one in table.columns] == ["higher", "none"]
    assert any("`reference` differs: `eval/ood/win_rate`" in one for one in table.remarks)


def test_the_start_is_a_row_also_where_a_run_made_it() -> None:
    sft = policy("s", 0, method="sft", model={"hub_id": "owner/base"})
    runs = [policy("g", 1, model={"id": "model_s"})]
    found = [
        evaluation(10, "model_g", spread("eval/pass@1", 0.9) | {"eval/length": 9.0}),
        evaluation(11, "model_s", spread("eval/pass@1", 0.4) | {"eval/length": 9.0}),
    ]

    for answer in (answer_of(runs, found, [sft]), answer_of([sft, *runs], found)):
        table = table_of(answer, "score/test")
        assert [(row.name, row.is_start, row.runs) for row in table.rows] == [
            ("of s", True, ["s"]), ("grpo", False, ["g"]),
        ]  # fmt: skip
        assert table.missing == ""


def test_models_from_elsewhere_have_rows_without_runs() -> None:
    found = [
        evaluation(9, "model_aa", {"eval/pass@1": 0.1, "eval/length": 9.0}),
        evaluation(10, "model_a", {"eval/pass@1": 0.9, "eval/length": 9.0}),
        evaluation(11, "o/b", {"eval/pass@1": 0.4, "eval/length": 9.0}),
    ]

    known = {one: KnownModel("A") for one in ("model_a", "model_aa")}
    table = table_of(answer_of([], found, **known), "score/test")

    assert [(row.name, row.is_start) for row in table.rows] == [
        ("A (…el_a)", False), ("o/b", False), ("A (…l_aa)", False),
    ]  # fmt: skip


def test_groups_are_named_by_what_differs_the_estimator_first() -> None:
    runs = [
        policy("a", 0), policy("b", 1, optim={"lr": 1e-5}),
        policy("c", 2, estimator="ppo", critic={"lr": 1e-5, "trunk": "model"}),
        policy("d", 3, resources={"threads": 1}, seed=1), policy("e", 4, method="dpo", beta=0.1),
    ]  # fmt: skip
    found = [evaluation(10 + i, f"model_{run.id}", {"eval/pass@1": 0.1, "eval/length": 1.0})
             for i, run in enumerate(runs)]  # fmt: skip

    rows = table_of(answer_of(runs, found), "score/test").rows

    assert {row.name: len(row.runs) for row in rows} == {
        "grpo, lr 1e-4": 2, "grpo, lr 1e-5": 1, "ppo, lr 1e-4": 1, "dpo": 1,
    }  # fmt: skip


def test_what_comes_with_a_kind_of_reward_is_not_said_beside_it() -> None:
    """Only one reward has a function and only the other a score: their kinds say enough."""
    coin = {"terms": [{"kind": "function", "function": "own:coin"}]}
    knights = {"terms": [{"kind": "knights", "score": "exact"}]}
    configs = [policy(estimator, place, estimator=estimator, reward=reward).config
               for place, (estimator, reward) in enumerate(
                   [("grpo", knights), ("rloo", knights), ("grpo", coin)])]  # fmt: skip

    assert names_of(configs) == ["grpo, reward knights", "rloo, reward knights",
                                 "grpo, reward function"]  # fmt: skip
    # Many terms are one setting, and the first.
    several = {"terms": [{"kind": "regex", "pattern": str(n), "weight": n} for n in range(4)]}
    model = {"terms": [{"kind": "model", "weight": 1.0, "model": {"id": "model_a"}}]}
    found = names_of([policy("a", 0, reward=several).config, policy("b", 1, reward=model).config])
    assert found == ["reward regex ×4", "reward model"]
    # Two functions are told apart by their names.
    other = {"terms": [{"kind": "function", "function": "own:other"}]}
    found = names_of([policy("a", 0, reward=coin).config, policy("b", 1, reward=other).config])
    assert found == ["reward.function own:coin", "reward.function own:other"]


def test_models_that_set_groups_apart_are_called_by_their_names() -> None:
    rewards = [{"terms": [{"kind": "model", "model": {"id": f"model_{n}"}}]} for n in range(3)]
    configs = [policy("a", n, reward=reward).config for n, reward in enumerate(rewards)]

    assert names_of(configs) == ["reward …el_0", "reward …el_1", "reward …el_2"]
    names = called({"model_0": "Helpful", "model_1": "Short", "model_2": "Short"})
    assert names_of(configs, names) == [
        "reward “Helpful”", "reward “Short” …el_1", "reward “Short” …el_2",
    ]  # fmt: skip
    # Not in place of an id that is another's, and nothing else is changed.
    assert ids_in(configs) >= {"model_0", "model_1", "model_2"}
    assert with_names(configs, {}) == configs
    assert with_names(rewards[0], names)["terms"][0]["model"] == {"id": "“Helpful”"}


def test_a_table_without_data_is_not_there_and_the_answer_says_so() -> None:
    answer = answer_of([policy("g", 0, values={"kl/exact": 1.0, "gold/reward": 2.0})], [])

    assert [table.id for table in answer.tables] == ["runs"]
    assert [(one.name, one.unit) for one in answer.tables[0].columns] == [
        ("Gold reward", ""), ("Held-out KL", "nats per response")
    ]  # fmt: skip
    assert "No table of score and length" in answer.missing
    assert answer_of([policy("g", 0)], []).tables == []


def test_other_data_or_another_reward_is_another_measure() -> None:
    other = {"id": "snapshot_other"}
    runs = [policy("a", 0, values={"eval/reward": 1.0}),
            policy("b", 1, values={"eval/reward": 2.0}, prompts=other)]  # fmt: skip

    table = table_of(answer_of(runs, []), "runs")

    assert "because `prompts` differs" in table.remarks[0]
    assert table.columns[0].direction == "none"


def test_a_run_that_has_no_such_metric_makes_it_no_other_measure() -> None:
    """The SFT run beside its policies is of another method and has other metrics."""
    runs = [policy("sft", 0, method="sft", estimator=None, values={"eval/loss": 0.5}),
            policy("a", 1, values={"eval/reward": 1.0}),
            policy("b", 2, values={"eval/reward": 2.0}, estimator="rloo")]  # fmt: skip

    table = table_of(answer_of(runs, []), "runs")

    assert table.remarks == []
    assert [one.direction for one in table.columns if one.metric == "eval/reward"] == ["higher"]


def test_provenance_is_commit_and_configs() -> None:
    def of(**changes: Any) -> ResultsAnswer:
        return answer_of([policy("g", 0, values={"kl/exact": 1.0}, **changes)], [])

    assert of().commits == ["c0ffee" * 6]
    assert of().configs_sha256 == of(seed=7).configs_sha256 != of(estimator="ppo").configs_sha256
