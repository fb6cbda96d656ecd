"""What the demo measures on a set of answers, and how sure it is.

`closed_loop` calls it on the answers of the base model, the SFT model and the final policy. Pure
functions over texts and numbers; the service is not asked.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

import gold

RESAMPLES = 5000
BOOTSTRAP_SEED = 7


@dataclass(frozen=True)
class AnsweredQuestion:
    """One sampled answer; the log-probability is the frozen base model's, in nats."""

    prompt_id: str
    prompt: str
    human: str
    content: str
    is_finished: bool
    base_logp_per_token: float = 0.0


@dataclass(frozen=True)
class Measures:
    """Of an answer, or the mean of many: the gold score, its parts, and what is not in it.

    `distinct` of an answer is one over the number of answers that say the same; the mean is the
    number of different answers divided by the number of answers.
    """

    gold: float
    complete: float
    length: float
    known_words: float
    shared_content_word: float
    echoes: float
    finished: float
    distinct: float
    overlap_with_human: float
    words: float
    base_logp_per_token: float


# What training must not spoil. The first three are parts of gold, shown by themselves because gold
# can rise while one of them gets worse; the other four are not in it.
GUARDS = (
    *("shared_content_word", "known_words", "echoes"),
    *("distinct", "finished", "overlap_with_human", "base_logp_per_token"),
)


def of_each(answers: Sequence[AnsweredQuestion], known_words: Collection[str]) -> list[Measures]:
    """Every answer measured, in the order of the answers."""
    alike = Counter(_said(a) for a in answers)
    return [_of(a, gold.score(a.prompt, a.content, known_words), alike[_said(a)]) for a in answers]


def mean_of(measured: Sequence[Measures]) -> Measures:
    """Means over answers."""
    return Measures(**{name: fmean(values_of(measured, name)) for name in asdict(measured[0])})


def values_of(measured: Sequence[Measures], name: str) -> list[float]:
    """One measure of every answer."""
    return [getattr(one, name) for one in measured]


def by_prompt(
    answers: Sequence[AnsweredQuestion], values: Sequence[float]
) -> dict[str, list[float]]:
    """Values of answers under each prompt's id."""
    found: dict[str, list[float]] = {}
    for answer, value in zip(answers, values, strict=True):
        found.setdefault(answer.prompt_id, []).append(value)
    return found


def paired_interval(
    before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]
) -> tuple[float, float]:
    """95 % interval of the mean difference, prompts resampled; both hold the same prompts."""
    if before.keys() != after.keys():
        raise ValueError("the two sides do not answer the same prompts; sample both from one set")
    return interval([fmean(after[key]) - fmean(before[key]) for key in sorted(before)])


def interval(
    values: Sequence[float], statistic: Callable[[Sequence[float]], float] = fmean
) -> tuple[float, float]:
    """95 % percentile bootstrap interval of a statistic of independent values."""
    source = random.Random(BOOTSTRAP_SEED)
    drawn = sorted(statistic(source.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return drawn[int(0.025 * RESAMPLES)], drawn[int(0.975 * RESAMPLES)]


def strict_differences(tiers: Sequence[Sequence[str]], gold_of: Mapping[str, float]) -> list[float]:
    """gold(preferred) - gold(other) for every strict pair of a ranking."""
    return [
        gold_of[better] - gold_of[worse]
        for rank, tier in enumerate(tiers)
        for better in tier
        for lower in tiers[rank + 1 :]
        for worse in lower
    ]


def gold_accuracy(differences: Sequence[float]) -> float:
    """The share of recorded strict pairs that gold itself ranks as the annotators did.

    `differences` as of `strict_differences`; a pair of equal gold counts half. The annotators'
    noise cannot be known from an unseen text, so no reward model can be expected to exceed this.
    """
    return fmean(1.0 if one > 0 else 0.5 if one == 0 else 0.0 for one in differences)


def _said(answer: AnsweredQuestion) -> str:
    return answer.content.strip().lower()


def _of(answer: AnsweredQuestion, score: gold.Gold, n_alike: int) -> Measures:
    return Measures(
        gold=score.total,
        complete=score.complete,
        length=score.length,
        known_words=score.known,
        shared_content_word=score.shared,
        echoes=float(score.is_echo),
        finished=float(answer.is_finished),
        distinct=1 / n_alike,
        overlap_with_human=_overlap(answer.content, answer.human),
        words=float(len(gold.words_of(answer.content))),
        base_logp_per_token=answer.base_logp_per_token,
    )


def _overlap(answer: str, human: str) -> float:
    """Share of the person's content words that the answer has; 0 where the person used none."""
    wanted = gold.content_words(human)
    return len(wanted & gold.content_words(answer)) / len(wanted) if wanted else 0.0
