"""What the demo measures on a set of answers, and how sure it is.

`closed_loop` calls it on the answers of the base model, the SFT model and the final policy. Pure
functions over texts and numbers; the service is not asked.
"""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

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
    """Means over a set of answers: the gold score, its parts, and guards that are no part of it."""

    gold: float
    gold_sd: float
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


def measure(answers: Sequence[AnsweredQuestion], known_words: Collection[str]) -> Measures:
    """Score every answer and average."""
    scores = [gold.score(a.prompt, a.content, known_words) for a in answers]
    totals = [score.total for score in scores]
    return Measures(
        gold=fmean(totals),
        gold_sd=stdev(totals),
        complete=fmean(score.complete for score in scores),
        length=fmean(score.length for score in scores),
        known_words=fmean(score.known for score in scores),
        shared_content_word=fmean(score.shared for score in scores),
        echoes=fmean(score.is_echo for score in scores),
        finished=fmean(a.is_finished for a in answers),
        distinct=len({a.content.strip().lower() for a in answers}) / len(answers),
        overlap_with_human=fmean(_overlap(a.content, a.human) for a in answers),
        words=fmean(len(gold.words_of(a.content)) for a in answers),
        base_logp_per_token=fmean(a.base_logp_per_token for a in answers),
    )


def gold_by_prompt(
    answers: Sequence[AnsweredQuestion], known_words: Collection[str]
) -> dict[str, list[float]]:
    """Gold scores under each prompt's id."""
    scores: dict[str, list[float]] = {}
    for a in answers:
        total = gold.score(a.prompt, a.content, known_words).total
        scores.setdefault(a.prompt_id, []).append(total)
    return scores


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


def _overlap(answer: str, human: str) -> float:
    """Share of the person's content words that the answer has; 0 where the person used none."""
    wanted = gold.content_words(human)
    return len(wanted & gold.content_words(answer)) / len(wanted) if wanted else 0.0
