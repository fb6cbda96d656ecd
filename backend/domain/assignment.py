"""Who gets which comparison: room under the quota, length of a lease, order on the screen.

Called by `backend.store.data.assignments`, which counts and locks; which comparison comes next
(fewest judgments first, then oldest) is the order of its query.
"""

import random
from collections.abc import Sequence
from datetime import timedelta

LEASE = timedelta(minutes=15)


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
