"""Page and service let the same metrics decide which run is better, in the same order."""

import json
import re

from backend.domain.verdict import gold
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
