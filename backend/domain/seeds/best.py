"""The best of several groups of seeds, and how it differs from each of the others; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

from backend.domain.seeds.estimates import (
    FEWEST_FOR_INTERVAL,
    FEWEST_FOR_IQM,
    Difference,
    centre,
    difference,
)


@dataclass(frozen=True)
class Best:
    """`place`: of the best group. `differences`: from the others by place, the next best first.

    `n_comparisons`: how many pairs of groups have an interval, all of which hold together.
    """

    place: int
    differences: Mapping[int, Difference]
    n_comparisons: int


def best_of(groups: Mapping[int, Sequence[float]], *, is_lower_better: bool) -> Best:
    """The best of these values by place. Raises ValueError for none.

    One estimator chooses the best and compares it: the IQM if every group that can have an interval
    has ten seeds, else the mean. The seeds that are compared have chosen which group is the best,
    so that each of its differences is the largest of many: the intervals are of all pairs, not only
    of the pairs with the best.
    """
    sizes = [n for values in groups.values() if (n := len(values)) >= FEWEST_FOR_INTERVAL]
    is_iqm = bool(sizes) and min(sizes) >= FEWEST_FOR_IQM
    sign = 1 if is_lower_better else -1
    middle = {place: centre(values, is_iqm=is_iqm) for place, values in groups.items()}
    first, *others = sorted(groups, key=lambda place: sign * middle[place])
    n = max(1, comb(len(sizes), 2))
    found = {
        place: difference(groups[first], groups[place], is_iqm=is_iqm, n_comparisons=n)
        for place in others
    }
    return Best(first, found, n)
