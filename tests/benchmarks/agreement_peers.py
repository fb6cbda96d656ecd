"""What krippendorff, scipy, choix and crowd-kit say about the same rankings.

`python -m tests.benchmarks.agreement_peers < cases.json` in an environment that has them; Podium
has none of them. tests/benchmarks/agreement_proof.py makes that environment; the answers to a few
cases are kept in tests/backend/agreement/peers.json for the quick tests.

A case is {"rankings": [[rank of each response, ...] for each annotator], "wins": [[better, worse],
...] by place, "prior": number}.
"""

import json
import sys
from importlib.metadata import version
from typing import Any

import choix
import krippendorff
import numpy as np
import pandas as pd
from crowdkit.aggregation import BradleyTerry
from scipy.stats import friedmanchisquare


def alpha(rankings: list[list[float]]) -> float:
    """Krippendorff's alpha of one comparison, each response a unit."""
    return float(krippendorff.alpha(np.array(rankings), level_of_measurement="ordinal"))


def kendalls_w(rankings: list[list[float]]) -> float:
    """Friedman's statistic, which corrects for ties, as a share of its largest value."""
    statistic = friedmanchisquare(*np.array(rankings).T).statistic
    return float(statistic / (len(rankings) * (len(rankings[0]) - 1)))


def strengths(wins: list[list[int]], responses: int, prior: float) -> list[float]:
    """choix penalizes alpha times the squares, we prior / 2."""
    return [float(x) for x in choix.opt_pairwise(responses, wins, alpha=prior / 2, tol=1e-12)]


def free_strengths(wins: list[list[int]]) -> list[float]:
    """crowd-kit's, without a prior; it never ends before n_iter if tol is 0."""
    rows = [(str(a), str(b), str(a)) for a, b in wins]
    data = pd.DataFrame(rows, columns=["left", "right", "label"])
    scores = BradleyTerry(n_iter=20_000, tol=0).fit_predict(data)
    logs = np.log(scores.sort_index().to_numpy())
    return [float(x) for x in logs - logs.mean()]


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """All four about one case."""
    rankings, wins = case["rankings"], case["wins"]
    return {
        **case,
        "alpha": alpha(rankings),
        "kendalls_w": kendalls_w(rankings),
        "strengths": strengths(wins, len(rankings[0]), case["prior"]),
        "free_strengths": free_strengths(wins),
    }


if __name__ == "__main__":
    names = ("krippendorff", "scipy", "choix", "crowd-kit")
    json.dump(
        {
            "versions": {name: version(name) for name in names},
            "cases": [answer(case) for case in json.load(sys.stdin)],
        },
        sys.stdout,
    )
