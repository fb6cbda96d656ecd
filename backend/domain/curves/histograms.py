"""Histograms that can be added up, and the bytes in which they are kept.

`backend.schemas.run_directory.events.Histogram` says which values a bin holds.
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate, pairwise

# Values by bin; none is 0.
Counts = Mapping[int, int]

_EACH = struct.calcsize("<hQ")


def added(parts: Iterable[Counts]) -> dict[int, int]:
    """What several histograms hold together."""
    found: Counter[int] = Counter()
    for part in parts:
        found.update(part)
    return found


def packed(counts: Counts) -> bytes:
    """The distances from bin to bin (2 bytes each), then the counts (8 bytes each), by zlib."""
    bins = sorted(counts)
    steps = [after - before for before, after in pairwise([0, *bins])]
    n = len(bins)
    return zlib.compress(struct.pack(f"<{n}h{n}Q", *steps, *(counts[bin_] for bin_ in bins)))


def unpacked(kept: bytes) -> dict[int, int]:
    """What `packed` was given, in the order of its bins."""
    told = zlib.decompress(kept)
    n = len(told) // _EACH
    numbers = struct.unpack(f"<{n}h{n}Q", told)
    return dict(zip(accumulate(numbers[:n]), numbers[n:], strict=True))
