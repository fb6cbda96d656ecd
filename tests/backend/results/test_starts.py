"""What runs say of the model that they began with, each sampling it with its own seed."""

import csv
import io
from dataclasses import replace
from statistics import stdev
from typing import Any

import pytest

from backend.domain.results.comma_separated import csv_of
from backend.domain.results.gathered import KnownModel
from backend.domain.results.latex import latex_of
from backend.domain.results.markdown import markdown_of
from backend.domain.results.measurements import MeasuredRun
from backend.domain.seeds.draws import Draw
from backend.schemas.vocabulary import RunState
from tests.backend.results.plain_runs import (
    T_OF_2,
    answer_of,
    evaluation,
    named,
    policy,
    spread,
    table_of,
)


def begun(n: int, first: float, last: float, **changes: Any) -> MeasuredRun:
    """A run of seed n that measured its held-out reward before its first step, and at its last."""
    half = changes.pop("half", 0.02)
    values = spread("eval/reward", last, half) | {"eval/length": 5.0}
    return policy(
        f"{changes.get('estimator', 'grpo')}{n}",
        n + 10 * (changes.get("estimator") == "rloo"),
        seed=n,
        values=values,
        first=spread("eval/reward", first, half) | {"eval/length": 5.0},
        **changes,
    )


CHOSE = "score/held-out prompts of train"
STARTS = (0.598, 0.593, 0.581)


@pytest.mark.parametrize("order", [1, -1])
def test_a_start_that_runs_measured_has_the_mean_of_its_seeds(order: int) -> None:
    """Whichever of the runs is newest, and however many have the same seed."""
    runs = [begun(n, first, 0.64) for n, first in enumerate(STARTS)]
    runs += [begun(n, first, 0.5, estimator="rloo") for n, first in enumerate(STARTS[:2])]

    table = table_of(answer_of(runs[::order], []), CHOSE)

    start = table.rows[0].cells[0]
    assert start is not None
    assert start.interval is not None
    assert (start.n, start.interval_of) == (3, "seeds")
    assert [point.value for point in start.points] == list(STARTS)
    assert [one.measured_by for one in start.points] == [["rloo0"], ["rloo1"], ["grpo2"]]
    assert start.value == pytest.approx(sum(STARTS) / 3)
    assert start.interval.high - start.value == pytest.approx(
        T_OF_2 * stdev(STARTS) / 3**0.5, abs=1e-6
    )
    assert table.caption.endswith(
        "The start was measured by the runs themselves before their first step, once for each seed."
    )
    assert "(0.598, 0.593, 0.581) 3 seeds |" in markdown_of(answer_of(runs, []))


def test_the_run_that_made_a_start_is_no_number_of_its_seeds() -> None:
    """Three seeds have measured it: "1" beside them would contradict the cell."""
    made = policy("s", 90, method="sft", model={"hub_id": "owner/base"})
    runs = [begun(n, first, 0.64, model={"id": "model_s"}) for n, first in enumerate(STARTS)]
    answer = answer_of(runs, [], [made])
    one_model = "A start is one model, so it has no number of seeds;"

    assert "| of s (start) | – | 0.591 [" in markdown_of(answer)
    assert "(0.598, 0.593, 0.581) 3 seeds |" in markdown_of(answer)
    assert "of s (start) & -- & 0.591 " in latex_of(answer)
    rows = list(csv.DictReader(io.StringIO(csv_of(answer), newline="")))
    assert {(row["is_start"], row["seeds"], row["n"]) for row in rows} == {
        ("true", "0", "3"),
        ("false", "3", "3"),
    }
    assert one_model in markdown_of(answer)
    assert one_model in latex_of(answer)
    # The page has no such column.
    assert one_model not in answer.legend
    assert one_model not in markdown_of(answer_of(runs[:1], [], [made]))


def test_a_start_that_several_seeds_made_has_their_number() -> None:
    made = [policy(f"s{n}", 90 + n, method="sft", model={"hub_id": "o/b"}, seed=n) for n in (0, 1)]
    runs = [begun(n, 0.5, 0.64, model={"id": f"model_s{n}"}) for n in (0, 1)]

    text = markdown_of(answer_of(runs, [], made))

    assert "(start) | 2 | 0.500" in text
    assert "A start is one model" not in text


def test_one_seed_of_a_start_is_told_as_one() -> None:
    table = table_of(answer_of([begun(0, 0.598, 0.64)], []), CHOSE)

    start = table.rows[0].cells[0]
    assert start is not None
    assert (start.n, start.value, start.interval_of) == (1, 0.598, "prompts")
    assert table.caption.endswith("by the runs themselves before their first step.")


@pytest.mark.parametrize(("half", "is_better"), [(0.001, True), (0.05, False)])
def test_each_seed_is_compared_with_its_own_start(half: float, *, is_better: bool) -> None:
    """All gain .05 but for .001, although the starts differ by .2; prompts are not left out."""
    gains = (0.049, 0.05, 0.051)
    runs = [
        begun(n, first, first + gain, half=half)
        for n, (first, gain) in enumerate(zip((0.3, 0.4, 0.5), gains, strict=True))
    ]

    cell = table_of(answer_of(runs, []), CHOSE).rows[1].cells[0]

    assert cell is not None
    assert cell.change is not None
    assert cell.change.interval is not None
    reach = ((T_OF_2 * 0.001 / 3**0.5) ** 2 + 2 * half**2) ** 0.5
    assert cell.change.value == pytest.approx(0.05)
    assert cell.change.interval.low == pytest.approx(0.05 - reach, abs=1e-6)
    assert (cell.change.is_better, cell.change.is_paired) == (is_better, False)


def test_the_mean_of_a_start_is_taken_by_seed() -> None:
    sets = {"evaluation_sets": [named("aime"), named("gsm8k")]}

    def both(aime: float, gsm8k: float) -> dict[str, float]:
        return {"eval/aime/pass@1": aime, "eval/gsm8k/pass@1": gsm8k}

    runs = [
        policy(f"g{n}", n, seed=n, values=both(0.9, 0.9), first=first, **sets)
        for n, first in enumerate((both(0.1, 0.3), both(0.2, 0.4), {"eval/aime/pass@1": 0.9}))
    ]

    start = table_of(answer_of(runs, []), "sets").rows[0].cells

    assert [cell and [one.value for one in cell.points] for cell in start] == [
        [0.1, 0.2, 0.9], [0.3, 0.4], pytest.approx([0.2, 0.3]),
    ]  # fmt: skip


def at(run: MeasuredRun, step: int, state: str = "succeeded") -> MeasuredRun:
    """The run with all its values at a step of a hundred, in a state."""
    seed = run.config["seed"]
    return replace(
        run,
        steps=dict.fromkeys(run.values, step),
        draw=Draw(run.id, seed, RunState(state), steps=100),
    )


def test_what_a_run_measured_before_its_first_step_is_not_its_own() -> None:
    """Seed 0 is at step 75; of seed 1 nothing but the start was measured."""
    runs = [
        at(begun(0, 0.598, 0.63), 75, "running"),
        at(begun(1, 0.593, 0.593), 0, "running"),
    ]
    attached = replace(runs[1], values={"gold/reward": 0.5}, steps={"gold/reward": 0})
    answer = answer_of(runs, [])

    for table_id in ("runs", CHOSE):
        cell = table_of(answer, table_id).rows[-1].cells[0]
        assert cell is not None
        assert [point.value for point in cell.points] == [0.63]
    alone = answer_of([runs[1]], [])
    assert [table.id for table in alone.tables] == [CHOSE]
    assert [row.is_start for row in alone.tables[0].rows] == [True]
    # What was attached may be of an output that is the start.
    (cell,) = table_of(answer_of([attached], []), "runs").rows[0].cells
    assert cell is not None
    assert cell.value == 0.5


def test_who_has_not_come_to_the_end_of_the_others_says_so_and_has_no_arrow() -> None:
    """All are far above their start; three rows and *rloo* of the last are at step 100."""
    rows = {
        "grpo": [(100, "succeeded")] * 3,
        "ppo": [(75, "running")],
        "rloo": [(100, "succeeded"), (50, "failed"), (100, "succeeded")],
        "remax": [(50, "succeeded")] * 3,
        "reinforce_pp": [(100, "succeeded")] * 3,
    }
    runs = [
        at(
            replace(begun(n, 0.3, 0.9 + n / 100), id=f"{name}{n}", number=10 * place + n),
            step,
            state,
        )
        for place, (name, seeds) in enumerate(rows.items())
        for n, (step, state) in enumerate(seeds)
    ]
    runs = [replace(run, config={**run.config, "estimator": run.id[:-1]}) for run in runs]
    answer = answer_of(runs, [])

    cells = {row.name: row.cells[0] for row in table_of(answer, CHOSE).rows if not row.is_start}

    told = {name: cell and (cell.standing, cell.change and cell.change.is_better)
            for name, cell in cells.items()}  # fmt: skip
    assert told == {
        "grpo": ("", True),
        "ppo": ("1 running, step 75", False),
        "rloo": ("1 failed, steps 50 and 100", False),
        "remax": ("step 50", False),
        "reinforce_pp": ("", True),
    }
    assert "by prompt, 1 running, step 75 |" in markdown_of(answer)
    assert "Where a cell names a step" in answer.legend
    lines = csv.DictReader(io.StringIO(csv_of(answer), newline=""))
    assert {one["standing"] for one in lines if one["group"] == "remax"} == {"step 50"}
    # An evaluation measures what each run has left.
    chose = {"split": "heldout", "prompts": {"id": "snapshot_train"}}
    found = [
        evaluation(100 + n, f"model_{run.id}", spread("eval/pass@16", 0.5), **chose)
        for n, run in enumerate(runs)
    ]
    passes = table_of(answer_of(runs, found), "passes")
    assert not any(cell.standing for row in passes.rows for cell in row.cells if cell)


def test_a_caption_says_at_which_step_runs_measured_and_whose_outputs_are_older() -> None:
    """Of three outputs two are of the step that was measured; a fourth run has none yet."""
    runs = [at(begun(n, 0.5, 0.6), 100) for n in range(4)]
    models = {
        f"model_grpo{n}": KnownModel(f"of grpo{n}", f"grpo{n}", step)
        for n, step in enumerate((100, 25, 100))
    }
    table = table_of(answer_of(runs, [], (), model_grpo3=KnownModel("none"), **models), CHOSE)
    assert ": measured by the runs themselves at step 100 (1 of 3 outputs is of an earlier" in (
        table.caption
    )

    later = [*runs[:3], at(runs[3], 75)]
    table = table_of(answer_of(later, [], (), model_grpo3=KnownModel("none"), **models), CHOSE)
    assert "at steps 75 and 100 (1 of 3 outputs is of an earlier step)" in table.caption

    table = table_of(answer_of(runs[:1], []), CHOSE)
    assert "at step 100 (not always the weights that a run has left), 2 resp" in table.caption
    table = table_of(answer_of(runs[:1], [], model_grpo0=models["model_grpo0"]), CHOSE)
    assert ": measured by the runs themselves at step 100, 2 responses" in table.caption


def test_a_caption_of_the_start_alone_says_when_it_was_measured() -> None:
    table = table_of(answer_of([at(begun(0, 0.5, 0.5), 0, "running")], []), CHOSE)

    assert ": measured by the runs themselves before their first step, 2 resp" in table.caption
    assert "The start was" not in table.caption


def test_outputs_that_are_the_start_are_named_below_what_evaluations_found() -> None:
    """Of *grpo* one seed of two, of *rloo* the only one; *ppo* has left what it trained."""
    seeds = {"grpo0": 0, "grpo1": 25, "rloo0": 0, "ppo0": 50}
    runs = [
        policy(name, n, seed=int(name[-1]), estimator=name[:-1]) for n, name in enumerate(seeds)
    ]
    models = {f"model_{one}": KnownModel(one, one, step) for one, step in seeds.items()}
    values = {"eval/pass@1": 0.5, "eval/pass@16": 0.9, "eval/length": 9.0}
    values |= {f"eval/ood/{name.removeprefix('eval/')}": one for name, one in values.items()}
    found = [
        evaluation(10 + n, f"model_{run.id}", values, evaluation_sets=[named("ood")])
        for n, run in enumerate(runs)
    ]
    said = (
        "The model that they began with is the output of 1 of 2 seeds of `grpo`; `rloo`: their "
        "held-out prompts chose step 0."
    )

    answer = answer_of(runs, found, (), **models)

    for table_id in ("score/test", "passes", "sets"):
        assert table_of(answer, table_id).remarks == [said]
    (alone,) = table_of(answer_of(runs[2:], found[2:], (), **models), "score/test").remarks
    assert alone == (
        "The model that it began with is the output of `rloo`: its held-out prompts chose step 0."
    )
    # What a run measured of itself is not of its output.
    own = at(begun(0, 0.5, 0.6), 100)
    left = {"model_grpo0": KnownModel("x", "grpo0", 0)}
    assert table_of(answer_of([own], [], (), **left), CHOSE).remarks == []


def test_of_several_sets_the_caption_says_on_which_the_runs_measured_their_start() -> None:
    passed = {"eval/pass@1": 0.5, "eval/pass@16": 0.9}
    run = policy("g", 0, values=passed, first=passed)

    table = table_of(answer_of([run], [evaluation(10, "model_g", passed)]), "passes")
    assert (
        " On `held-out prompts of train` the start was measured by the runs themselves before "
        "their first step." in table.caption
    )
    assert " The start was measured by" in table_of(answer_of([run], []), "passes").caption
