"""The tables of docs/methods.md say of every metric what the registry says, and nothing else."""

import re
from collections import defaultdict

import pytest
from pydantic import ValidationError

from backend.schemas.methods import SAMPLERS
from backend.schemas.metrics import every_method
from backend.schemas.metrics.curves import METRIC_NAME
from backend.schemas.metrics.metric import SHARE, Group, Metric
from backend.schemas.metrics.registry import OWN, metrics_of
from backend.schemas.vocabulary import Method
from tests.contract.test_methods_page import SECTIONS, SHARED

HEADER = ["| metric | what it is | unit | healthy |", "| --- | --- | --- | --- |"]
TABLES = {
    **{str(method): [own] for method, own in OWN.items()},
    SHARED: [every_method.TRAINING, every_method.OUTSIDE, every_method.SYSTEM],
}


def row(metric: Metric) -> str:
    interval = " ±" if metric.has_interval else ""
    cells = [
        f"`{metric.name}`{interval}",
        f"**{metric.title}.** {metric.what}",
        metric.unit,
        metric.healthy,
    ]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def tables(section: str) -> list[list[str]]:
    """The tables of metrics of a section, each as its rows."""
    text = SECTIONS[section] + "\n"
    found = re.findall(r"^\| metric \|[^\n]*\n\| ---[^\n]*\n((?:\|[^\n]*\n)+)", text, re.MULTILINE)
    return [rows.splitlines() for rows in found]


@pytest.mark.parametrize("section", TABLES)
def test_a_section_has_the_rows_of_the_registry(section: str) -> None:
    meant = [[row(metric) for metric in metrics] for metrics in TABLES[section]]

    assert tables(section) == meant


def test_every_method_has_its_metrics_and_no_other_section_has_a_table() -> None:
    assert list(OWN) == list(Method)
    assert [name for name in SECTIONS if tables(name) and name not in TABLES] == []


@pytest.mark.parametrize("method", Method)
def test_a_metric_of_a_method_has_one_meaning_and_says_it_in_full(method: Method) -> None:
    metrics = metrics_of(method)
    names = [metric.name for metric in metrics]

    assert len(set(names)) == len(names)
    for metric in metrics:
        assert METRIC_NAME.fullmatch(re.sub(r"\{\w+\}", "x", metric.name)), metric.name
        assert re.findall(r"\{\w+\}", metric.name) == re.findall(r"\{\w+\}", metric.title)
        assert metric.what.endswith("."), metric.name
        assert metric.healthy.endswith("."), metric.name


@pytest.mark.parametrize("method", Method)
def test_what_is_measured_on_held_out_data_or_outside_is_an_evaluation(method: Method) -> None:
    for metric in metrics_of(method):
        is_told = re.match(r"(eval|baseline|gold|outside)/|kl/exact$", metric.name) is not None
        is_single = method in SAMPLERS and metric.group != Group.SYSTEM
        assert metric.is_evaluation == (is_told or is_single), metric.name


def test_an_evaluation_that_does_not_say_which_values_are_better_is_refused() -> None:
    said = Metric(
        name="perplexity", group=Group.EVALUATION, title="P", what="It.", healthy="Falls."
    )

    with pytest.raises(ValidationError, match="set direction to higher, lower or none"):
        Metric(**dict(said) | {"is_evaluation": True})


def test_what_compares_runs_by_a_metric_is_the_same_of_all_methods_that_have_it() -> None:
    """Compare, tables and filters look it up by its name alone."""
    found: defaultdict[str, set[object]] = defaultdict(set)
    for metrics in OWN.values():
        for metric in metrics:
            found[metric.name].add((metric.direction, metric.unit == SHARE, metric.depends_on))

    assert {name: said for name, said in found.items() if len(said) > 1} == {}
