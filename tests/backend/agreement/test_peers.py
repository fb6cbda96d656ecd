"""Alpha, W and strengths are what krippendorff, scipy, choix and crowd-kit say.

peers.json holds their answers, with their versions: tests/benchmarks/agreement_peers.py wrote it,
and tests/benchmarks/agreement_proof.py asks them again about many more cases.
"""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from backend.domain.aggregation.strengths import fit
from backend.domain.agreement.alpha import coincidences, ordinal_alpha
from backend.domain.agreement.ranks import kendalls_w

ANSWERS = json.loads((Path(__file__).parent / "peers.json").read_text())


def check(case: dict[str, Any]) -> None:
    """Ours is what the others say."""
    rankings = [tuple(one) for one in case["rankings"]]
    units = [list(values) for values in zip(*rankings, strict=True)]
    assert ordinal_alpha(coincidences(units)) == pytest.approx(case["alpha"], abs=1e-9)
    assert kendalls_w(rankings) == pytest.approx(case["kendalls_w"], abs=1e-9)
    names = [str(place) for place in range(len(rankings[0]))]
    wins = {(a, b): 0.0 for a in names for b in names if a != b}
    for better, worse in case["wins"]:
        wins[str(better), str(worse)] += 1
    ours = fit(names, wins, {}, prior=case["prior"]).of
    assert [ours[one] for one in names] == pytest.approx(case["strengths"], abs=1e-5)
    free = fit(names, wins, {}, prior=1e-9).of
    for a, b in combinations(range(len(names)), 2):
        theirs = case["free_strengths"]
        assert free[names[a]] - free[names[b]] == pytest.approx(theirs[a] - theirs[b], abs=1e-4)


@pytest.mark.parametrize("case", ANSWERS["cases"])
def test_ours_is_what_the_others_say(case: dict[str, Any]) -> None:
    check(case)
