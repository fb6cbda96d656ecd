"""Prompts by their tags and the plain values of their metadata: what a snapshot can choose them by.

One pass over all prompts of a project; what has too many values tells no groups apart.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from backend.schemas.data import PromptGroup, PromptGroups
from backend.schemas.numbers import LARGEST
from backend.schemas.paging import LONGEST_LABEL

# Of a key of the metadata, as in the breakdown of an evaluation.
MOST_VALUES = 20
MOST_GROUPS = 1000
# The first of them: what groups cost grows with the number of keys.
MOST_KEYS = 100

# Tags, and the texts of plain values by their key.
_Group = tuple[tuple[str, ...], frozenset[tuple[str, str]]]


def text_of(value: object) -> str | None:
    """A plain value as JSON, so that `1`, `true` and `"1"` differ; None for any other value.

    `3.0` is `3`, as it is to browsers.
    """
    if isinstance(value, str) and len(value) > LONGEST_LABEL:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and abs(value) > LARGEST:
        return None
    return json.dumps(value) if isinstance(value, bool | int | float | str) else None


class PromptCounts:
    """How many prompts are alike."""

    def __init__(self) -> None:
        self._counts: Counter[_Group] = Counter()
        self._values: dict[str, set[str]] = {}
        self._left_out: set[str] = set()
        self._has_tags, self._has_more_keys = True, False

    def take(self, tags: Sequence[str], metadata: Mapping[str, Any]) -> None:
        """Count a prompt."""
        known: dict[str, str] = {}
        for key, value in metadata.items():
            if key in self._left_out or not self._has_place(key):
                continue
            text = text_of(value)
            values = self._values.setdefault(key, set()) | ({text} if text is not None else set())
            if text is None or len(values) > MOST_VALUES:
                self._leave_out(key)
            else:
                self._values[key], known[key] = values, text
        group = tuple(sorted(set(tags))) if self._has_tags else ()
        self._counts[group, frozenset(known.items())] += 1
        while len(self._counts) > MOST_GROUPS:
            self._leave_out_most()

    def _has_place(self, key: str) -> bool:
        """Whether a key is counted; those beyond the first `MOST_KEYS` are not."""
        if key in self._values or len(self._values) + len(self._left_out) < MOST_KEYS:
            return True
        self._has_more_keys = True
        return False

    def _leave_out_most(self) -> None:
        """Leave out the key with the most values, or the tags if they have more."""
        n_tags = len({tags for tags, _ in self._counts})
        key = max(self._values, key=lambda one: (len(self._values[one]), one), default=None)
        if key is None or n_tags > len(self._values[key]):
            self._has_tags = False
            self._regroup()
        else:
            self._leave_out(key)

    def _leave_out(self, key: str) -> None:
        self._left_out.add(key)
        if self._values.pop(key, None) is not None:
            self._regroup()

    def _regroup(self) -> None:
        before, self._counts = self._counts, Counter()
        for (tags, known), prompts in before.items():
            kept = frozenset(one for one in known if one[0] in self._values)
            self._counts[tags if self._has_tags else (), kept] += prompts

    def answer(self) -> PromptGroups:
        """The groups, the largest first."""
        groups = [
            PromptGroup(
                tags=list(tags),
                metadata={key: json.loads(text) for key, text in sorted(known)},
                prompts=prompts,
            )
            for (tags, known), prompts in self._counts.most_common()
        ]
        return PromptGroups(
            groups=groups,
            left_out=sorted(self._left_out),
            has_more_keys=self._has_more_keys,
            has_tags=self._has_tags,
        )
