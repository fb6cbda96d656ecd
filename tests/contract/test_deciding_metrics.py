"""Page and service let the same metrics decide which run is better, in the same order."""

import json
import re

from backend.domain.verdict import gold
from backend.schemas.metrics.registry import OWN
from tests.contract.test_house import ROOT

PAGES = ROOT / "frontend/src/components/metrics"


def listed(file: str, name: str) -> list[str]:
    """The texts of a list in a file of the page."""
    text = (PAGES / file).read_text(encoding="utf-8")
    found = re.search(rf"^const {name}\b[^=]*= (\[[^]]*\])", text, re.MULTILINE)
    assert found is not None, f"{file} has no list {name}"
    texts: list[str] = json.loads(re.sub(r",\s*\]", "]", found[1]))
    return texts


def test_the_page_prefers_the_evaluations_that_decide() -> None:
    assert listed("headline.ts", "HELD_OUT") == list(gold.HELD_OUT)


def test_the_page_has_the_evaluations_from_elsewhere_in_the_same_order() -> None:
    assert listed("gold.ts", "FIRST") == list(gold.FIRST)


def test_the_page_knows_every_metric_of_training_that_can_stand_for_a_run() -> None:
    """Without an evaluation: what the registry calls `Training ...`."""
    of_training = {
        metric.name
        for metrics in OWN.values()
        for metric in metrics
        if metric.title.startswith("Training ") and not metric.is_evaluation
    }

    assert set(listed("headline.ts", "TRAINING")) == of_training
