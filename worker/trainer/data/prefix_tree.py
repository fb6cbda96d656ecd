"""Rows of tokens as a tree: what several rows begin with is there once.

Built by `tokens.collate` and `models.body`, computed by `body` and `attention`. Rows that begin
with the same system prompt, or the responses of one prompt, are branches of one stem; a token's
hidden state depends on the tokens before it alone, so computing each stem once is exact. Knows
nothing of models.

Axes: N tokens of the tree, B rows, T tokens of a row; within one block of attention S segments,
Q of their own tokens, L tokens that they see, M own tokens of the block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

# A stem that saves fewer tokens is not worth a segment of its own.
FEWEST_SAVED_TOKENS = 16
# Segments in one block are padded to the longest, which costs attention alone; the shortest still
# has this share of it, unless the block is too small to keep a processor busy.
FULLEST_PADDING = 0.75
BUSY_TOKENS = 256


@dataclass(frozen=True)
class Segment:
    """Places `begin` to `end` of `rows`, which are alike up to there; never empty."""

    rows: list[int]
    begin: int
    end: int


@dataclass(frozen=True)
class Block:
    """Segments whose attention is one call: tokens `start` to `stop` of the tree.

    `place_M` says where each of these tokens stands among the S x Q places, None if they fill them
    in order. `key_S_L` are the tokens before them and their own, None if there are none before.
    `bias_S_Q_L` is 0 where a token sees another, those up to itself, and -inf elsewhere; fp32; its
    S is 1 where that is the same for all segments.
    """

    start: int
    stop: int
    n_segments: int
    place_M: Tensor | None
    key_S_L: Tensor | None
    bias_S_Q_L: Tensor


@dataclass(frozen=True)
class PrefixTree:
    """`ids_N` and their places in their rows; `node_B_T` finds each row's tokens among them.

    Past the end of a row `node_B_T` is 0.
    """

    ids_N: Tensor
    position_N: Tensor
    node_B_T: Tensor
    blocks: list[Block]


def segments(rows: Sequence[list[int]]) -> list[Segment]:
    """The rows cut where they part, so that each token that is worth it is in one segment."""
    found = []
    pending = [(sorted(range(len(rows)), key=lambda row: rows[row]), 0)]
    while pending:
        members, begin = pending.pop()
        first, last = rows[members[0]], rows[members[-1]]
        end = _common(first, last, begin)
        is_leaf = end == len(last)  # sorted: the last one holds all that the others hold
        if is_leaf or (end - begin) * (len(members) - 1) >= FEWEST_SAVED_TOKENS:
            if end > begin:
                found.append(Segment(members, begin, end))
            begin = end
        if not is_leaf:
            branches = groupby(members, key=lambda row: rows[row][end : end + 1])
            pending += [(list(branch), begin) for _, branch in branches]
    return found


def n_tokens(rows: Sequence[list[int]]) -> int:
    """How many tokens the tree of these rows has."""
    return sum(segment.end - segment.begin for segment in segments(rows))


def build(rows: Sequence[list[int]], device: torch.device) -> PrefixTree:
    """The tree of rows that are not empty, on a device."""
    width = max(len(row) for row in rows)
    node_B_T = torch.zeros(len(rows), width, dtype=torch.long)
    ids: list[int] = []
    positions: list[int] = []
    grouped = _blocks(segments(rows))
    for segment in (segment for block in grouped for segment in block):
        nodes = torch.arange(len(ids), len(ids) + segment.end - segment.begin)
        node_B_T[segment.rows, segment.begin : segment.end] = nodes
        ids += rows[segment.rows[0]][segment.begin : segment.end]
        positions += range(segment.begin, segment.end)
    blocks = []
    start = 0
    for block in grouped:
        blocks.append(_block(block, start, node_B_T, device))
        start = blocks[-1].stop
    return PrefixTree(
        torch.tensor(ids).to(device),
        torch.tensor(positions).to(device),
        node_B_T.to(device),
        blocks,
    )


def _common(first: list[int], last: list[int], begin: int) -> int:
    end = begin
    shortest = min(len(first), len(last))
    while end < shortest and first[end] == last[end]:
        end += 1
    return end


def _blocks(found: Sequence[Segment]) -> list[list[Segment]]:
    blocks: list[list[Segment]] = []
    for segment in sorted(found, key=lambda s: (s.begin > 0, s.begin - s.end, -s.end, s.rows)):
        if blocks and _belongs(segment, blocks[-1]):
            blocks[-1].append(segment)
        else:
            blocks.append([segment])
    return blocks


def _belongs(segment: Segment, block: Sequence[Segment]) -> bool:
    longest = block[0]  # of the segments; what they see is of any length
    widest = max(other.end for other in block)
    if (segment.begin > 0) != (longest.begin > 0):
        return False
    if len(block) * (longest.end - longest.begin) < BUSY_TOKENS:
        return True
    is_full = segment.end - segment.begin >= FULLEST_PADDING * (longest.end - longest.begin)
    return is_full and FULLEST_PADDING * segment.end <= widest <= segment.end / FULLEST_PADDING


def _block(block: Sequence[Segment], start: int, node_B_T: Tensor, device: torch.device) -> Block:
    sizes_S = torch.tensor([segment.end - segment.begin for segment in block])
    begin_S = torch.tensor([segment.begin for segment in block])
    n_queries, n_keys = int(sizes_S.max()), max(segment.end for segment in block)
    own_S_Q = torch.arange(n_queries) < sizes_S[:, None]
    place_M = None if bool(own_S_Q.all()) else own_S_Q.flatten().nonzero()[:, 0].to(device)
    has_stem = block[0].begin > 0
    key_S_L = node_B_T[[segment.rows[0] for segment in block], :n_keys] if has_stem else None
    position_S_Q = begin_S[:, None] + torch.arange(n_queries)
    if not has_stem:
        position_S_Q = position_S_Q[:1]
    bias_S_Q_L = torch.zeros(*position_S_Q.shape, n_keys)
    bias_S_Q_L[torch.arange(n_keys) > position_S_Q[:, :, None]] = -torch.inf
    return Block(
        start,
        start + int(sizes_S.sum()),
        len(block),
        place_M,
        key_S_L.to(device) if key_S_L is not None else None,
        bias_S_Q_L.to(device),
    )
