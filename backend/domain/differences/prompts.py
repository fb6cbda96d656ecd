"""What two snapshots have in common: which prompts, and on which side of the split."""

from collections.abc import Mapping, Sequence
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

    @property
    def is_any(self) -> bool:
        """Whether the other snapshot has any of them."""
        return self.training > 0 or self.heldout > 0


def most_of(counts: Sequence[InCommon | None]) -> InCommon | None:
    """The largest of the counts of one set beside several snapshots, None for what is not known.

    What was not counted may be any number, so it is not known whether there are none; that there
    are some is known from the others alone.
    """
    known = [one for one in counts if one is not None]
    if not known:
        return None
    most = InCommon(*map(max, zip(*known, strict=True)))
    return most if most.is_any or len(known) == len(counts) else None


def in_common(first: Sides, other: Sides, split: str) -> InCommon:
    """The prompts of a split of the other snapshot that the first one has, too."""
    asked = [
        prompt
        for prompt, is_heldout in other.items()
        if split == "all" or is_heldout == (split == Split.HELDOUT)
    ]
    found = [first[prompt] for prompt in asked if prompt in first]
    return InCommon(found.count(False), found.count(True), len(asked))
