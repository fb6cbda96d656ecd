"""Agreement and habits of everybody, of each annotator, of each week; ranks; disputes.

Called by `backend.store.data.agreement`. All lists have a largest length, so that the answer stays
small however large the project is.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeVar

from backend.domain.agreement.disputes import Dispute, disputes
from backend.domain.agreement.habits import Habits, habits
from backend.domain.agreement.judged import Judged
from backend.domain.agreement.pairwise import (
    Meeting,
    Pairwise,
    meetings,
    pairwise,
    tie_rates,
)
from backend.domain.agreement.ranks import RankAgreement, rank_agreement

MOST_ANNOTATORS = 200  # those with the most judgments
MOST_WEEKS = 53  # the newest
MOST_DISPUTES = 50

Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True)
class Facts:
    """How a part of the judgments agrees with others', and what it looks like."""

    agreement: Pairwise
    habits: Habits


@dataclass(frozen=True)
class Overview:
    """What a project's judgments say about their own quality.

    `judged_twice`: comparisons that two annotators ranked, whether they placed the same responses
    or not. `weeks` by their Monday (UTC): a judgment counts in the week in which it was made, an
    agreement in the week of the later of the two judgments.
    """

    everybody: Facts
    judged_twice: int
    annotators: Mapping[str, Facts]
    weeks: Mapping[date, Facts]
    ranks: Sequence[RankAgreement]
    disputes: Sequence[Dispute]


def to_the_end() -> None:
    """Go on, as callers do who wait however long it takes."""


def overview(judged: Sequence[Judged], go_on: Callable[[], None] = to_the_end) -> Overview:
    """The overview of a project: one judgment of each annotator on each comparison at most.

    `go_on` is called before each part; what it raises breaks off the work.
    """

    def facts(of: Sequence[Judged], met: Sequence[Meeting]) -> Facts:
        go_on()
        return Facts(pairwise(met, ties), habits(of))

    go_on()
    met = meetings(judged)
    ties = tie_rates(met)
    by_user = _grouped(judged, [[one.user_id] for one in judged])
    by_week = _grouped(judged, [[_monday(one.at)] for one in judged])
    met_by_user = _grouped(met, [one.users for one in met])
    met_by_week = _grouped(met, [[_monday(one.at)] for one in met])
    users = sorted(by_user, key=lambda one: -len(by_user[one]))[:MOST_ANNOTATORS]
    weeks = sorted(by_week)[-MOST_WEEKS:]
    return Overview(
        everybody=facts(judged, met),
        judged_twice=_judged_twice(judged),
        annotators={one: facts(by_user[one], met_by_user.get(one, [])) for one in users},
        weeks={one: facts(by_week[one], met_by_week.get(one, [])) for one in weeks},
        ranks=rank_agreement(judged),
        disputes=disputes(met, ties, most=MOST_DISPUTES),
    )


_Item = TypeVar("_Item")


def _grouped(
    items: Sequence[_Item], groups: Sequence[Sequence[Group]]
) -> Mapping[Group, list[_Item]]:
    found: dict[Group, list[_Item]] = defaultdict(list)
    for item, names in zip(items, groups, strict=True):
        for name in names:
            found[name].append(item)
    return found


def _monday(at: datetime) -> date:
    return at.date() - timedelta(days=at.weekday())


def _judged_twice(judged: Sequence[Judged]) -> int:
    by_comparison: dict[str, set[str]] = defaultdict(set)
    for one in judged:
        if one.ranking.tiers:
            by_comparison[one.comparison_id].add(one.user_id)
    return sum(len(users) > 1 for users in by_comparison.values())
