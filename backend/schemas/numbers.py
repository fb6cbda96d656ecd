"""Numbers as lines, columns and JSON keep them: finite, or null; sizes as sentences say them.

The lines of a run directory, records and the answers of the API share them, so that trainer, worker
and API mean the same by a number.
"""

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator


def finite(value: float | None) -> float | None:
    """The number itself, or None for NaN and the infinities, which neither JSON nor charts have."""
    return value if value is not None and math.isfinite(value) else None


def mean(values: Sequence[float]) -> float | None:
    """The mean, or None where there is nothing to take it of."""
    return sum(values) / len(values) if values else None


def gb(n_bytes: int) -> str:
    """A size in GB, in MB below 0.1 GB."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 10**8 else f"{n_bytes / 1e6:.1f} MB"


# A measured value of a schema; a gap where the number was not finite.
Measured = Annotated[float | None, AfterValidator(finite)]


# The largest step or number that a column holds.
LARGEST = 2**63 - 1
