"""What `Sides` holds out of contents that it has all seen, as a set."""

from collections.abc import Collection

from backend.domain.records.split import Sides


def heldout(contents: Collection[str], *, fraction: float, seed: int) -> set[str]:
    """The content hashes that are held out."""
    sides = Sides(fraction=fraction, seed=seed)
    for content in contents:
        sides.see(content)
    return {content for content in contents if sides.holds_out(content)}
