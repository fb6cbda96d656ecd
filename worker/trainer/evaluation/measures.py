"""What the responses to one set of prompts come to: `eval/*`, each number with its interval.

Called by evaluate and by evaluations of policies. Pure: rows in, metrics out. Every prompt has the
same number of responses. A response without a score is in no mean of scores; whether it passed, its
row says.
"""

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from worker.trainer.evaluation.pass_at_k import best_of_k, ks_of, majority_at_k, pass_at_k
from worker.trainer.evaluation.with_interval import (
    hits_per_weight,
    length_with_interval,
    mean_with_interval,
    rate_with_interval,
    score_with_interval,
)

# More values of one key are no breakdown but a list.
MOST_VALUES = 20


class TooManyValues(Exception):
    """A metadata key that says something else of almost every prompt."""


@dataclass(frozen=True)
class Row:
    """One response, as far as it is counted.

    `reward` is after normalization and clip, `raw` the weighted sum of the terms; both are not
    finite where a term has no score. `passed`: None where nothing says what is correct. `answer`:
    what the response answers, as it counts in a vote. `preferred`: how much the reward model likes
    it, None without one. `most`: the largest reward of those that begin at 0; None = any.
    """

    prompt_id: str
    text: str
    n_tokens: int
    is_cut: bool
    reward: float
    raw: float
    passed: bool | None = None
    answer: str | None = None
    preferred: float | None = None
    most: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def prefix_of(set_name: str) -> str:
    """What the names of a set's metrics begin with; the prompts of the run itself have no name."""
    return f"eval/{set_name}/" if set_name else "eval/"


def measures(rows: Sequence[Row], prefix: str = "eval/") -> dict[str, float]:
    """All that can be said of a set, under names that begin with `prefix`."""
    prompts = [row.prompt_id for row in rows]
    values = {
        **_reward(rows, prompts),
        **rate_with_interval("coverage", [float(math.isfinite(row.raw)) for row in rows], prompts),
        **mean_with_interval("length", [float(row.n_tokens) for row in rows], prompts),
        **rate_with_interval("truncated_fraction", [float(row.is_cut) for row in rows], prompts),
        **_distinctness(rows),
        **_best_reward(rows),
    }
    if all(row.passed is not None for row in rows):
        values |= _correctness(rows)
    return {f"{prefix}{name}": value for name, value in values.items()}


def _reward(rows: Sequence[Row], prompts: Sequence[str]) -> dict[str, float]:
    most = rows[0].most
    return score_with_interval("reward", [row.reward for row in rows], prompts, most=most)


def broken_down(
    metadata: Sequence[Mapping[str, Any]],
    key: str,
    measure: Callable[[Sequence[int]], Mapping[str, float]],
) -> dict[str, float]:
    """What `measure` says of the prompts of each value of a metadata key, as `NAME/KEY.VALUE`.

    `metadata`: of each row; `measure` is asked for the rows at some places. Raises TooManyValues
    with more than `MOST_VALUES` values.
    """
    parts: dict[str, list[int]] = defaultdict(list)
    for place, known in enumerate(metadata):
        if key in known:
            parts[_text(known[key])].append(place)
    if len(parts) > MOST_VALUES:
        raise TooManyValues(
            f"the prompts' metadata has {len(parts)} values of `{key}`; a breakdown may have "
            f"{MOST_VALUES}, so this one is left out. Choose another key in `breakdown`."
        )
    written = _told_apart(parts)
    return {
        _named(name, f"{key}.{written[text]}"): number
        for text, places in sorted(parts.items(), key=lambda both: written[both[0]])
        for name, number in measure(places).items()
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _told_apart(texts: Iterable[str]) -> dict[str, str]:
    """Each text as part of a metric's name; those that would be one name get a hash of the text."""
    written = {text: _written(text) for text in texts}
    counts = Counter(written.values())
    return {
        text: name if counts[name] == 1 else f"{name[:33]}.{_hash(text)}"
        for text, name in written.items()
    }


def _written(text: str) -> str:
    """A text in the letters, digits and few signs that the name of a metric takes.

    It does not end as the ends of an interval do.
    """
    name = re.sub(r"[^A-Za-z0-9_.+-]", "_", text)[:40]
    return re.sub(r"_(low|high)$", r"-\1", name)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _named(name: str, part: str) -> str:
    for end in ("_low", "_high"):
        if name.endswith(end):
            return f"{name.removesuffix(end)}/{part}{end}"
    return f"{name}/{part}"


def _correctness(rows: Sequence[Row]) -> dict[str, float]:
    """pass@k, maj@k and best-of-k, the length of right and wrong responses, score per token."""
    is_right = [bool(row.passed) for row in rows]
    is_wrong = [not one for one in is_right]
    lengths = [float(row.n_tokens) for row in rows]
    prompts = [row.prompt_id for row in rows]
    values = {
        **hits_per_weight("score_per_token", list(map(float, is_right)), lengths, prompts),
        **length_with_interval("length_right", lengths, is_right, prompts),
        **length_with_interval("length_wrong", lengths, is_wrong, prompts),
    }
    groups = _by_prompt(rows)
    for k in ks_of(min(map(len, groups.values()))):
        values |= _at_k(groups, k)
    return values


def _at_k(groups: Mapping[str, Sequence[Row]], k: int) -> dict[str, float]:
    prompts = list(groups)
    passed = [[bool(row.passed) for row in rows] for rows in groups.values()]
    values = rate_with_interval(
        f"pass@{k}", [pass_at_k(len(one), sum(one), k) for one in passed], prompts
    )
    if k == 1:
        return values
    if any(row.answer is not None for rows in groups.values() for row in rows):
        votes = [
            majority_at_k([row.answer for row in rows], right, k)
            for rows, right in zip(groups.values(), passed, strict=True)
        ]
        values |= rate_with_interval(f"maj@{k}", votes, prompts)
    if all(row.preferred is not None for rows in groups.values() for row in rows):
        best = [
            best_of_k([row.preferred or 0.0 for row in rows], list(map(float, right)), k)
            for rows, right in zip(groups.values(), passed, strict=True)
        ]
        values |= rate_with_interval(f"bon@{k}", best, prompts)
    return values


def _best_reward(rows: Sequence[Row]) -> dict[str, float]:
    """The reward of the response that the reward model prefers of k, whatever is correct.

    Of the responses that have a reward, for as many k as each prompt has that has any: all k have
    the same prompts, those of the mean reward.
    """
    if any(row.preferred is None for row in rows):
        return {}
    values: dict[str, float] = {}
    scored = _by_prompt([row for row in rows if math.isfinite(row.reward)])
    fewest = min(map(len, scored.values()), default=0)
    for k in ks_of(min(map(len, _by_prompt(rows).values()))):
        if 1 < k <= fewest:
            best = [
                best_of_k([row.preferred or 0.0 for row in own], [row.reward for row in own], k)
                for own in scored.values()
            ]
            name, most = f"bon_reward@{k}", rows[0].most
            values |= score_with_interval(name, best, list(scored), most=most)
    return values


def _distinctness(rows: Sequence[Row]) -> dict[str, float]:
    """How different the responses to one prompt are: as wholes, and in pairs of words.

    Source of the second: Li et al. 2016 (arXiv 1510.03055), distinct-2. With one response to each
    prompt neither says anything.
    """
    groups = _by_prompt(rows)
    if min(map(len, groups.values())) < 2:
        return {}
    prompts = list(groups)
    whole = [len({row.text for row in own}) / len(own) for own in groups.values()]
    bigrams = [
        [pair for row in own for pair in pairwise(row.text.split())] for own in groups.values()
    ]
    return {
        **rate_with_interval("distinct", whole, prompts),
        **rate_with_interval(
            "distinct_2",
            [float(len(set(own))) for own in bigrams],
            prompts,
            [float(len(own)) for own in bigrams],
        ),
    }


def _by_prompt(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.prompt_id].append(row)
    return groups
