"""The legend of tables: what they have is explained, and nothing else."""

import pytest

from backend.domain.results.legend import legend_of
from backend.domain.results.markdown import markdown_of
from backend.schemas.metrics.results import ResultsAnswer
from tests.backend.results.plain_runs import SFT, answer_of, evaluation, policy, spread

LENGTH = {"eval/length": 9.0}


def of(values: list[float], start: float | None = None) -> ResultsAnswer:
    """A group with these values of pass@1, each with an interval of +- .1 over prompts."""
    runs = [policy(f"g{n}", n, seed=n) for n in range(len(values))]
    found = [
        evaluation(20 + n, f"model_g{n}", spread("eval/pass@1", value, 0.1) | LENGTH)
        for n, value in enumerate(values)
    ]
    if start is not None:
        found.append(evaluation(50, SFT, spread("eval/pass@1", start, 0.03) | LENGTH))
    return answer_of(runs, found)


PROMPTS = "over prompts (marked “by prompt”) and says nothing about other seeds."
SEEDS = "the interval is a t interval over the seeds"
ARROW, BOLD, IQM = "An arrow marks", "Bold marks", "interquartile mean"
OTHERS = "says nothing about other prompts: all seeds answered the same ones"
CHANCE = "of three seeds it may be narrow by chance"
EACH = "Parentheses hold the values of the seeds one by one."


@pytest.mark.parametrize(
    ("answer", "there"),
    [
        (of([0.5]), {PROMPTS}),
        (of([0.4, 0.5, 0.6]), {SEEDS, OTHERS, CHANCE, EACH}),
        (of([0.4, 0.5, 0.6], start=0.2), {SEEDS, OTHERS, CHANCE, EACH, PROMPTS, ARROW, BOLD}),
        (of([n / 20 for n in range(12)]), {SEEDS, OTHERS, IQM}),
    ],
    ids=["one seed", "three seeds", "beside their start", "twelve seeds"],
)
def test_what_is_there_is_explained(answer: ResultsAnswer, there: set[str]) -> None:
    legend = legend_of(answer.tables, is_drawn=False)

    known = (PROMPTS, SEEDS, OTHERS, CHANCE, EACH, ARROW, BOLD, IQM)
    assert {one for one in known if one in legend} == there


def test_lines_and_dots_are_explained_where_they_are_drawn() -> None:
    answer = of([0.4, 0.5, 0.6])

    assert "(solid line, each seed a dot)" in answer.legend
    assert "one by one" not in answer.legend
    assert "solid line" not in markdown_of(answer)
    assert legend_of([], is_drawn=True) == ""


def test_an_interval_of_no_width_is_called_so() -> None:
    runs = [policy(f"g{n}", n, seed=n) for n in range(3)]
    own = spread("eval/pass@1", 1.0, 0.0) | LENGTH
    found = [evaluation(20 + n, f"model_g{n}", own) for n in range(3)]

    text = markdown_of(answer_of(runs, found))

    assert "| 1.00 (no spread) (1.00, 1.00, 1.00) by prompt |" in text
