"""What several responses to one prompt are worth: one of k passes, or most of k agree.

Used by evaluate and by evaluations of policies. All three are exact over every choice of k from
the n responses that were sampled; none draws.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache


def pass_at_k(n: int, n_passed: int, k: int) -> float:
    """Chance that at least one of k responses passes, drawn without repeat from n.

    1 - C(n - n_passed, k) / C(n, k), the unbiased estimate from n >= k responses.
    Source: Chen et al. 2021 (arXiv 2107.03374), eq. 1.
    """
    return 1.0 - math.comb(n - n_passed, k) / math.comb(n, k)


def ks_of(n_samples: int) -> list[int]:
    """The k of pass@k: powers of two up to the responses per prompt, and their number."""
    powers = [2**exponent for exponent in range(n_samples.bit_length())]
    return sorted({*powers, n_samples})


def majority_at_k(answers: Sequence[str | None], passed: Sequence[bool], k: int) -> float:
    """Chance that the most frequent answer of k responses is right, drawn without repeat.

    Answers that are equally frequent share the chance. None is no answer and has no vote. All
    responses that passed count as one answer, however it is written.
    Source: Wang et al. 2023 (arXiv 2203.11171), whose majority vote is over one draw.
    """
    others = Counter(
        answer for answer, is_right in zip(answers, passed, strict=True) if not is_right
    )
    silent = others.pop(None, 0)
    return _majority(sum(passed), tuple(sorted(others.values())), silent, k)


@cache
def _majority(right: int, others: tuple[int, ...], silent: int, k: int) -> float:
    """Sum over the number of votes `most` for the right answer; no other may have more of them."""
    wins = 0.0
    for most in range(1, min(right, k) + 1):
        ways = _ways(others, silent, most, k - most)
        shared = sum(count / (1 + tied) for tied, count in enumerate(ways))
        wins += math.comb(right, most) * shared
    return wins / math.comb(right + sum(others) + silent, k)


def _ways(others: Sequence[int], silent: int, most: int, drawn: int) -> list[int]:
    """Count the ways in which `drawn` responses come from the other answers and the silent ones, no
    answer more than `most` times; by how many answers have exactly `most`.
    """
    # ways[d][t]: in how many ways to draw d, of which t answers have `most` votes.
    ways = [[math.comb(silent, d)] for d in range(drawn + 1)]
    for size in others:
        ways = [_with_one_more(ways, size, most, d) for d in range(drawn + 1)]
    return ways[drawn]


def _with_one_more(before: Sequence[Sequence[int]], size: int, most: int, d: int) -> list[int]:
    by_tied = [0] * (max(map(len, before)) + 1)
    for votes in range(min(size, most, d) + 1):
        is_tied = int(votes == most)
        for tied, ways in enumerate(before[d - votes]):
            by_tied[tied + is_tied] += ways * math.comb(size, votes)
    while len(by_tied) > 1 and by_tied[-1] == 0:
        by_tied.pop()
    return by_tied


def best_of_k(chosen_by: Sequence[float], worth: Sequence[float], k: int) -> float:
    """Expected worth of the response that `chosen_by` prefers among k, drawn without repeat.

    Equal preferences share the chance. Source: the unbiased estimate of Nakano et al. 2021
    (arXiv 2112.09332), appendix I, for which n >= k responses are enough.
    """
    n = len(worth)
    order = sorted(range(n), key=lambda i: chosen_by[i])
    expected, below = 0.0, 0
    while below < n:
        tied = [i for i in order[below:] if chosen_by[i] == chosen_by[order[below]]]
        upto = below + len(tied)
        chance = (math.comb(upto, k) - math.comb(below, k)) / math.comb(n, k)
        expected += chance * math.fsum(worth[i] for i in tied) / len(tied)
        below = upto
    return expected
