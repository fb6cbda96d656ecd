"""docs/verdicts.md says of each method what decides its verdict and which gauges it has."""

import re

import pytest

from backend.domain.verdict.evidence import Evidence, Point
from backend.domain.verdict.judging import RULES, judge
from backend.schemas.methods import METHODS
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.vocabulary import Method
from tests.contract.test_house import ROOT

PAGE = (ROOT / "docs/verdicts.md").read_text(encoding="utf-8")
ROWS = {
    method: (decides, gauges)
    for method, decides, gauges in re.findall(r"^\| (\w+) \| ([^|]*) \| ([^|]*) \|$", PAGE, re.M)
    if method in METHODS
}


def test_every_method_with_a_rule_has_a_row() -> None:
    assert set(ROWS) == set(RULES)


@pytest.mark.parametrize("method", [one for one in RULES if not METHODS[one].is_sampler])
def test_a_row_names_what_decides_and_as_many_gauges_as_there_are(method: Method) -> None:
    names = [metric.name for metric in metrics_of(method) if "{" not in metric.name]
    ends = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    points = [Point(step, 1.0) for step in range(10)]
    curves = dict.fromkeys(ends, points)

    found = judge(method, Evidence({}, curves, is_over=True))

    decides, gauges = ROWS[method]
    assert decides.startswith(f"`{found.judged_by}`")
    assert len(gauges.split(", ")) == len(found.gauges)
