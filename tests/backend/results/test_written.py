"""Tables as Markdown, CSV and LaTeX: all numbers are there, and no name breaks out of its cell."""

import csv
import io
import json
import re

import pytest

from backend.domain.results import latex, markdown
from backend.domain.results.comma_separated import HEAD, csv_of
from backend.domain.results.latex import latex_of
from backend.domain.results.markdown import markdown_of
from backend.domain.results.measurements import PromptSet
from backend.domain.results.tables import results
from backend.schemas.metrics.results import ResultsAnswer
from tests.backend.results.plain_runs import (
    SFT,
    answer_of,
    evaluation,
    given_of,
    named,
    policy,
    spread,
)

HOSTILE = (
    r"a|b\|c \input{/etc/passwd} $x$ 50% #1 ^^41 ~ & <img src=x onerror=alert(1)> "
    "[x](javascript:alert(1)) **b** `c` @all http://evil.example www.evil.example "
    "\r\n\r\n| new | row |"
)


def answer(name: str = "grpo") -> ResultsAnswer:
    """Three seeds at .4, .5, .6 and a start at .2 +- .03; a second group far below."""
    runs = [policy(f"g{n}", n, seed=n, estimator=name) for n in range(3)]
    runs += [policy(f"r{n}", 5 + n, seed=n, estimator="rloo") for n in range(3)]
    found = [
        evaluation(10 + i, f"model_{run.id}", spread("eval/pass@1", value) | {"eval/length": 9.0})
        for i, (run, value) in enumerate(
            zip(runs, (0.4, 0.5, 0.6, 0.1, 0.11, 0.12), strict=True)
        )
    ]  # fmt: skip
    found.append(evaluation(20, SFT, spread("eval/pass@1", 0.2, 0.03) | {"eval/length": 9.0}))
    return answer_of(runs, found)


def test_markdown_has_interval_seeds_start_and_provenance() -> None:
    text = markdown_of(answer())

    assert "### Score, length and score per token: `test`" in text
    assert "| sft (start) | – | 0.200 [0.170, 0.230] by prompt | 9 |" in text
    grpo = "**0.500** ↑ [0.252, 0.748] (0.400, 0.500, 0.600) | 9.00 (9.00, 9.00, 9.00)"
    assert f"| grpo | 3 | {grpo} |" in text
    assert "Commit c0ffeec0ffee; configs " in text


def test_latex_has_booktabs_and_a_caption_that_says_what_was_measured() -> None:
    text = latex_of(answer())

    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lrrr}"):
        assert part in text
    assert r"grpo & 3 & \textbf{0.500}$^{\uparrow}$ {\scriptsize [0.252, 0.748]" in text
    caption = next(line for line in text.splitlines() if line.startswith(r"\caption"))
    for words in ("16 responses to each prompt", "t interval", "c0ffeec0ffee", "configs"):
        assert words in caption


def test_csv_has_a_line_for_each_cell_with_exact_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(answer()), newline="")))

    assert tuple(rows[0]) == HEAD
    assert len(rows) == 3 * 2
    row = next(one for one in rows if one["group"] == "grpo" and one["metric"] == "eval/pass@1")
    assert (row["n"], row["value"], row["interval_of"]) == ("3", "0.5", "seeds")
    assert row["values"] == "0.4 0.5 0.6"
    assert float(row["low"]) == pytest.approx(0.5 - 4.302653 * 0.1 / 3**0.5)
    assert row["measured_by"] == "eval_10 eval_11 eval_12"
    assert (row["is_better_than_start"], row["is_best"]) == ("true", "true")


def test_csv_marks_each_cell_about_prompts_that_were_trained_on() -> None:
    """Those of a table of one set, too, and the mean over a key of their metadata."""
    values = {
        f"eval/{name}{measure}": 0.5
        for name in ("", "train/")
        for measure in ("pass@1", "length", "pass@1/level.2", "pass@1/level.3")
    }
    sets = [named("train", split="train")]
    found = [evaluation(10, "model_g", values, evaluation_sets=sets, breakdown=["level"])]
    rows = csv.DictReader(io.StringIO(csv_of(answer_of([policy("g", 0)], found)), newline=""))

    told = {(row["table"], row["column"]): row["trained_on"] for row in rows}

    assert told["score/test", "pass@1"] == told["breakdown/test/level", "Mean"] == "false"
    assert told["score/train", "pass@1"] == told["score/train", "Length"] == "true"
    assert told["breakdown/train/level", "2"] == told["breakdown/train/level", "Mean"] == "true"
    assert told["passes", "train pass@1"] == "true"
    assert told["passes", "test pass@1"] == "false"


def test_csv_and_latex_mark_what_chose_the_checkpoints() -> None:
    chose = named("chose") | {"prompts": {"id": "snapshot_train"}, "split": "heldout"}
    values = {f"eval/{name}pass@{k}": 0.5 for name in ("", "chose/") for k in (1, 16)}
    made = answer_of([policy("g", 0)], [evaluation(10, "model_g", values, evaluation_sets=[chose])])

    rows = csv.DictReader(io.StringIO(csv_of(made), newline=""))

    assert {row["column"]: (row["trained_on"], row["chose_checkpoints"]) for row in rows} == {
        "test pass@1": ("false", "false"), "test pass@16": ("false", "false"),
        "chose pass@1": ("false", "true"), "chose pass@16": ("false", "true"),
    }  # fmt: skip
    assert "& chose pass@16 (checkpoints chosen on it)" in latex_of(made)


def test_csv_says_nothing_of_what_nobody_has_checked() -> None:
    values = {"eval/pass@1": 0.5, "eval/pass@16": 0.5}
    common = {PromptSet("", "snapshot_test", "all"): None}
    found = [evaluation(10, "model_g", values)]
    made = results(given_of([policy("g", 0)], found, common=common))

    rows = csv.DictReader(io.StringIO(csv_of(made), newline=""))

    assert {(row["trained_on"], row["chose_checkpoints"]) for row in rows} == {("", "")}


def test_an_iqm_is_called_so_everywhere() -> None:
    """Twelve seeds, one of which collapsed: the middle six are .5, .51, ... .55."""
    runs = [policy(f"g{n}", n, seed=n) for n in range(12)]
    values = [0.0, *(0.48 + n / 100 for n in range(11))]
    found = [
        evaluation(20 + n, f"model_g{n}", {"eval/pass@1": value, "eval/length": float(n)})
        for n, value in enumerate(values)
    ]
    made = answer_of(runs, found)

    assert "| grpo | 12 | 0.525 [" in markdown_of(made)
    assert "] IQM of 12 seeds |" in markdown_of(made)
    assert "] IQM of 12 seeds}" in latex_of(made)
    rows = list(csv.DictReader(io.StringIO(csv_of(made), newline="")))
    assert {(row["statistic"], row["n"]) for row in rows} == {("IQM", "12")}
    assert {row["statistic"] for row in csv.DictReader(io.StringIO(csv_of(answer())))} == {"mean"}


def test_no_name_ends_a_cell_of_markdown() -> None:
    plain, hostile = (markdown_of(answer(name)).splitlines() for name in ("grpo", HOSTILE))

    assert len(hostile) == len(plain)
    bars = re.compile(r"(?<!\\)\|")
    rows = [line for line in hostile if line.startswith("|")]
    assert {len(bars.findall(line)) for line in rows} == {5}
    (named,) = (line for line in rows if "etc/passwd" in line)
    first = bars.split(named)[1]
    assert re.search(r"(?<!\\)[<>\[\]()*`]|(?<!\\)@|://|www\.", first) is None


def test_no_name_is_a_command_of_latex() -> None:
    plain, hostile = (latex_of(answer(name)) for name in ("grpo", HOSTILE))

    assert len(hostile.splitlines()) == len(plain.splitlines())
    assert set(re.findall(r"\\[a-zA-Z]+", hostile)) - set(re.findall(r"\\[a-zA-Z]+", plain)) <= {
        r"\textbackslash", r"\textasciicircum", r"\textasciitilde", r"\textless", r"\textgreater",
        r"\textbar", r"\ldots",
    }  # fmt: skip
    (named,) = (line for line in hostile.splitlines() if "passwd" in line)
    assert len(re.findall(r"(?<!\\)&", named)) == 3
    assert re.search(r"(?<!\\)[%#]", named) is None


@pytest.mark.parametrize("name", ["[1in] x", "* x"])
def test_no_name_is_an_option_of_the_end_of_the_line_before(name: str) -> None:
    (line,) = (one for one in latex_of(answer(name)).splitlines() if name in one)
    assert line.startswith("{}")


def test_no_text_of_a_csv_is_a_formula() -> None:
    lines = csv_of(answer('=HYPERLINK("x")'))

    assert '"\'=HYPERLINK(""x"")"' in lines
    assert json.loads(
        next(row for row in csv.DictReader(io.StringIO(lines)) if "HYPER" in row["group"])["config"]
    ) == {"estimator": '=HYPERLINK("x")'}


@pytest.mark.parametrize("part", ["", " ", "`", "``", "a`b", "`|`", "$", "\\", "{", "%\n"])
def test_sentences_are_written_whatever_they_hold(part: str) -> None:
    assert "\n" not in markdown.sentence(part)
    assert re.search(r"(?<!\\)[%$]", latex.sentence(part)) is None
