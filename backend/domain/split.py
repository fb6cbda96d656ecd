"""Which prompts are held out: decided by the prompt's content and a seed, never by the record.

Called when a snapshot is frozen. The same prompt falls on the same side in every snapshot with the
same seed and fraction, whatever else is in it, so a policy is never trained on prompts that its
reward model was tested on. The exception is a small snapshot: if a side would be empty, the nearest
prompt moves over.
"""

import hashlib
from collections.abc import Collection


def position(content_sha256: str, seed: int) -> float:
    """Where a prompt stands in [0, 1) for this seed."""
    digest = hashlib.sha256(f"{seed}:{content_sha256}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def heldout(contents: Collection[str], *, fraction: float, seed: int) -> set[str]:
    """The content hashes that are held out: those that stand below `fraction`.

    With two prompts or more and a fraction above 0 neither side is empty: the nearest prompt moves
    over. A single prompt is always for training.
    """
    if fraction == 0 or len(contents) < 2:
        return set()
    ordered = sorted(contents, key=lambda content: (position(content, seed), content))
    below = sum(position(content, seed) < fraction for content in ordered)
    return set(ordered[: min(max(below, 1), len(ordered) - 1)])
