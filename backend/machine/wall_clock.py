"""The time of day, as rows of the store have it.

On the queue side of the worker nothing measures a duration by it: clocks of machines differ.
"""

from datetime import UTC, datetime


def now() -> datetime:
    """Return this moment, in UTC."""
    return datetime.now(UTC)
