"""Who gets which comparison: judgments wanted, room under that, leases, how long, in which order.

`backend.store.data.assignments` counts and locks; which comparison comes next (fewest
judgments and leases first, then oldest) is the order of the query of `candidates` beside it.
"""

import hashlib
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

LEASE = timedelta(minutes=15)
# What is left of a lease that is released: a page that reloads renews it within this time.
RELEASED = timedelta(minutes=1)
# From the grant; who works without a network cannot come back sooner.
RENEWABLE = timedelta(hours=2)
RENEWABLE_OFFLINE = timedelta(hours=8)
# Live ones of an annotator in a project: each keeps a comparison from everybody else.
MOST_LEASES = 20


# What a comparison wants that overlaps: agreement needs two annotators for one comparison.
OVERLAP_JUDGMENTS = 2


class Quota(NamedTuple):
    """How many judgments a new comparison wants, and whether only the overlap made it so many."""

    judgments_required: int
    is_overlap: bool = False


class QuotaRule(NamedTuple):
    """What a project says about new comparisons.

    Each wants `each` judgments. The first `overlap_first` of the project, and a share of those that
    follow (from 0 to 1), want at least two.
    """

    each: int
    overlap_first: int = 0
    overlap_share: float = 0.0

    @property
    def overlaps(self) -> bool:
        """Whether any new comparison gets a second judgment that others do not get."""
        return self.each < OVERLAP_JUDGMENTS and (self.overlap_first > 0 or self.overlap_share > 0)

    def quota(self, comparison_id: str, *, place: int) -> Quota:
        """The quota of a new comparison; `place` counts the project's comparisons from 0.

        Which ones belong to the share is drawn by id, so that it is related to nothing in the data.
        """
        if self.overlaps and (place < self.overlap_first or self._draws(comparison_id)):
            return Quota(OVERLAP_JUDGMENTS, is_overlap=True)
        return Quota(self.each)

    def _draws(self, comparison_id: str) -> bool:
        drawn = int.from_bytes(hashlib.sha256(comparison_id.encode()).digest()[:6]) / 2**48
        return drawn < self.overlap_share


def leased_until(at: datetime, *, is_offline: bool) -> datetime:
    """Say when a lease granted or renewed now expires; without a network nobody renews it."""
    return at + (RENEWABLE_OFFLINE if is_offline else LEASE)


def renewable_until(granted_at: datetime, *, is_offline: bool) -> datetime:
    """Say when a lease ends however often it is renewed."""
    return granted_at + (RENEWABLE_OFFLINE if is_offline else RENEWABLE)


def has_room(*, required: int, submitted: int, live_leases: int) -> bool:
    """Whether one more lease keeps judgments and live leases within the quota."""
    return submitted + live_leases < required


def presented_order(response_ids: Sequence[str], *, comparison_id: str, user_id: str) -> list[str]:
    """The order in which an annotator sees the responses: random over annotators and comparisons,
    the same each time for one of both, so that a reload does not move the cards."""
    order = list(response_ids)
    # Not for secrets: the order only has to be unrelated to which model wrote what.
    random.Random(f"{comparison_id}/{user_id}").shuffle(order)
    return order
