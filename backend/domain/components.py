"""Connected components: which nodes a chain of links joins."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(links: Iterable[tuple[Node, Node]]) -> dict[Node, Node]:
    """Map each node that a link names to one node that stands for its component.

    Nodes come in the order in which links name them; a link of a node with itself names it.
    """
    above: dict[Node, Node] = {}

    def top(one: Node) -> Node:
        while above.setdefault(one, one) != one:
            above[one] = above[above[one]]  # Halves the way of the next search.
            one = above[one]
        return one

    for one, other in links:
        first, second = top(one), top(other)
        above[second] = first
    return {one: top(one) for one in above}
