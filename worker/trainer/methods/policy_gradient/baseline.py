"""What the reference answered and how likely it finds texts: numbers that are measured once.

Owned by policy_gradient where its config compares with the reference; a part of its checkpoints.
It measures nothing itself.
"""

from collections.abc import Collection, Mapping
from typing import Any

Numbers = Mapping[str, Any]


class Baseline:
    """Numbers by the hash of what they measure (`measure_hash`): plain JSON, no text.

    `measures`: the hashes that this run asks for. What a checkpoint has of others is forgotten, and
    what it lacks is measured when it is first asked for, for a clone may have other sets than its
    parent. The reference and its random numbers stay, so the same numbers come out then. Numbers
    that a failed grader left open are not kept either, and are measured again.
    """

    def __init__(self, measures: Collection[str]) -> None:
        self._measures = frozenset(measures)
        self._known: dict[str, Numbers] = {}
        self._passing: set[str] = set()

    def __contains__(self, measure: str) -> bool:
        return measure in self._known

    def __getitem__(self, measure: str) -> Numbers:
        return self._known[measure]

    def keep(self, measure: str, numbers: Numbers, *, is_final: bool = True) -> None:
        """Keep what was measured; unless it `is_final`, not in checkpoints."""
        self._known[measure] = numbers
        (self._passing.discard if is_final else self._passing.add)(measure)

    @property
    def is_asked(self) -> bool:
        """Whether the run asks for anything."""
        return bool(self._measures)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        final = self._known.items()
        return {"known": {name: found for name, found in final if name not in self._passing}}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take what a checkpoint kept, as far as this run asks for it."""
        known = state["known"].items()
        self._known = {measure: found for measure, found in known if measure in self._measures}
