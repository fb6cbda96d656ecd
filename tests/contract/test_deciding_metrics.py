"""Page and service let the same metrics decide which run is better, and every run has some."""

import json
import re

import pytest

from backend.domain.verdict import gold
from backend.schemas.methods import SAMPLERS
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.vocabulary import Method
from tests.contract.test_house import ROOT

PAGES = ROOT / "frontend/src/components/metrics"


def listed(file: str, name: str) -> list[str]:
    """The texts of a list in a file of the page."""
    text = (PAGES / file).read_text(encoding="utf-8")
    found = re.search(rf"^const {name}\b[^=]*= (\[[^]]*\])", text, re.MULTILINE)
    assert found is not None, f"{file} has no list {name}"
    texts: list[str] = json.loads(re.sub(r",\s*\]", "]", found[1]))
    return texts


def test_the_page_has_the_evaluations_from_elsewhere_in_the_same_order() -> None:
    assert listed("gold.ts", "FIRST") == list(gold.FIRST)


@pytest.mark.parametrize("method", sorted(set(Method) - set(SAMPLERS)))
def test_what_trains_has_a_metric_of_training_for_lists(method: Method) -> None:
    assert any(one.is_training for one in metrics_of(method))
    assert gold.headlines(method)
