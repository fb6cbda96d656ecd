"""docs/methods.md says of each method what decides its verdict and which gauges it has."""

import re

import pytest

from backend.domain.verdict.evidence import Evidence, Point
from backend.domain.verdict.judging import RULES, judge
from backend.schemas.methods import METHODS
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.vocabulary import Method
from tests.contract.test_methods_page import SECTIONS

SAID = re.compile(r"\*\*Verdict\*\* \(.*?\): (.*?) Gauges: (.*?)\.\n", re.DOTALL)


def said_of(method: Method) -> tuple[str, str]:
    """What decides, and the gauges."""
    found: list[tuple[str, str]] = SAID.findall(SECTIONS[method])
    assert len(found) == 1, f"the section of {method} has {len(found)} lines on its verdict"
    return found[0]


@pytest.mark.parametrize("method", RULES)
def test_a_section_has_a_line_on_the_verdict_if_a_rule_judges(method: Method) -> None:
    assert all(said_of(method))


@pytest.mark.parametrize("method", [one for one in RULES if not METHODS[one].is_sampler])
def test_a_section_names_what_decides_and_as_many_gauges_as_there_are(method: Method) -> None:
    names = [metric.name for metric in metrics_of(method) if "{" not in metric.name]
    ends = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    points = [Point(step, 1.0) for step in range(10)]
    curves = dict.fromkeys(ends, points)

    found = judge(method, Evidence({}, curves, is_over=True))

    decides, gauges = said_of(method)
    assert decides.startswith(f"`{found.judged_by}`")
    assert len(re.split(r",\s", gauges)) == len(found.gauges)
