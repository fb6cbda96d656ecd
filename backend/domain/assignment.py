"""Who gets which comparison: room under the quota, how many leases, how long, in which order.

Called by `backend.store.data.assignments`, which counts and locks; which comparison comes next
(fewest judgments first, then oldest) is the order of its query.
"""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

LEASE = timedelta(minutes=15)
# From the grant; who works without a network cannot come back sooner.
RENEWABLE = timedelta(hours=2)
RENEWABLE_OFFLINE = timedelta(hours=8)
# Live ones of an annotator in a project: each keeps a comparison from everybody else.
MOST_LEASES = 20


def renewable_until(granted_at: datetime, *, is_offline: bool) -> datetime:
    """When a lease ends however often it is renewed."""
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
