"""What two snapshots have in common: which prompts, and on which side of the split."""

from collections.abc import Mapping
from typing import NamedTuple

from backend.schemas.compared.differences import PromptOverlap
from backend.schemas.vocabulary import Split

Sides = Mapping[bytes, bool]


def overlap(first: Sides, other: Sides) -> PromptOverlap:
    """The prompts of the other snapshot beside those of the first.

    Each maps a prompt to whether it is held out.
    """
    common = first.keys() & other.keys()
    heldout = {prompt for prompt, is_heldout in first.items() if is_heldout}
    other_heldout = {prompt for prompt, is_heldout in other.items() if is_heldout}
    return PromptOverlap(
        in_both=len(common),
        added=len(other.keys() - common),
        removed=len(first.keys() - common),
        heldout_in_both=len(heldout & other_heldout),
        is_heldout_equal=heldout == other_heldout,
        trained_on_heldout=len((heldout & common) - other_heldout),
        heldout_from_training=len((other_heldout & common) - heldout),
    )


class InCommon(NamedTuple):
    """How many of a set's prompts another snapshot has on each side of its split, of how many."""

    training: int
    heldout: int
    of: int


def in_common(first: Sides, other: Sides, split: str) -> InCommon:
    """The prompts of a split of the other snapshot that the first one has, too."""
    asked = [
        prompt
        for prompt, is_heldout in other.items()
        if split == "all" or is_heldout == (split == Split.HELDOUT)
    ]
    found = [first[prompt] for prompt in asked if prompt in first]
    return InCommon(found.count(False), found.count(True), len(asked))
