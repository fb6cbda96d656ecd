"""Which prompts are held out: decided by the prompt's content and a seed, never by the record.

Called when a snapshot is frozen. The same prompt falls on the same side in every snapshot with the
same seed and fraction, whatever else is in it, so a policy is never trained on prompts that its
reward model was tested on. The exception is a small snapshot: if a side would be empty, the nearest
prompt moves over.
"""

import hashlib


def position(content_sha256: str, seed: int) -> float:
    """Where a prompt stands in [0, 1) for this seed."""
    digest = hashlib.sha256(f"{seed}:{content_sha256}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class Sides:
    """The same decision for prompts that come one by one: all are seen before the first is asked.

    It keeps two prompts, however many there are.
    """

    def __init__(self, *, fraction: float, seed: int) -> None:
        self._fraction = fraction
        self._seed = seed
        self._first: tuple[float, str] | None = None
        self._last: tuple[float, str] | None = None

    @property
    def is_needed(self) -> bool:
        """Whether anything may be held out."""
        return self._fraction > 0

    def see(self, content_sha256: str) -> None:
        """A prompt is among those that are split."""
        place = (position(content_sha256, self._seed), content_sha256)
        self._first = place if self._first is None else min(self._first, place)
        self._last = place if self._last is None else max(self._last, place)

    def holds_out(self, content_sha256: str) -> bool:
        """Whether a prompt is held out: it stands below the fraction, or moved over.

        With two prompts or more and a fraction above 0 neither side is empty: the nearest prompt
        moves over. A single prompt is always for training.
        """
        if not self.is_needed or self._first is None or self._last is None:
            return False
        if self._first == self._last:
            return False
        if self._first[0] >= self._fraction:
            return content_sha256 == self._first[1]
        if self._last[0] < self._fraction:
            return content_sha256 != self._last[1]
        return position(content_sha256, self._seed) < self._fraction
