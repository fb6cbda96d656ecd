"""Which answers of a run become demonstrations: the best of each prompt, by score.

Called by `backend.jobs.answers` and `backend.store.data.freezing`, which have the file.
Pure: lines in, choices out.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.domain.records.imported import hash_of
from backend.errors import InvalidInput
from backend.schemas.data import AnswersFilter
from backend.schemas.records import EvaluatedRecord
from backend.schemas.rewards import terms_by_name


@dataclass(frozen=True)
class Rule:
    """Which answers are kept: see `AnswersFilter`. `weights` by term, of what the score adds up."""

    weights: Mapping[str, float]
    best: int | None
    min_score: float | None
    passed: bool

    @property
    def needs_score(self) -> bool:
        """Whether an answer without a score is left out."""
        return self.best is not None or self.min_score is not None

    def score(self, answer: EvaluatedRecord) -> float | None:
        """The weighted sum of the terms; None where one of them has no score."""
        total = 0.0
        for name, weight in self.weights.items():
            score = answer.scores.get(name)
            if score is None:
                return None
            total += weight * score
        return total


@dataclass(frozen=True)
class Chosen:
    """An answer that is kept: where its line begins in the file, and what it answers."""

    offset: int
    prompt_id: str


@dataclass
class Among:
    """What a rule has chosen among: the model's answers to the prompts of the run itself."""

    answers: int = 0
    prompts: set[str] = field(default_factory=set)
    # Whether anything says of any of them that it passed or did not.
    is_judged: bool = False

    def see(self, answer: EvaluatedRecord) -> None:
        """Count one more."""
        self.answers += 1
        self.prompts.add(answer.prompt_id)
        self.is_judged = self.is_judged or answer.passed is not None


def rule_of(wanted: AnswersFilter, config: Mapping[str, Any]) -> Rule:
    """The rule, with the weights of the run that gave the scores.

    Raises InvalidInput for a term that the run does not have, and for a rule by score without any.
    """
    terms = terms_by_name(config)
    weights = {name: float(term.get("weight", 1.0)) for name, term in terms.items()}
    if wanted.term is not None:
        if wanted.term not in weights:
            raise InvalidInput(
                f"the run has no reward term {wanted.term!r}",
                advice=f"Choose one of: {', '.join(terms) or 'none'}; or leave `term` out for the "
                "weighted sum.",
            )
        weights = {wanted.term: 1.0}
    rule = Rule(weights, wanted.best, wanted.min_score, wanted.passed)
    if rule.needs_score and not weights:
        raise InvalidInput(
            "the run has no reward terms, so its answers have no scores",
            advice="Leave `best` and `min_score` out, or sample again with reward terms.",
        )
    return rule


def choose(
    lines: Iterable[tuple[int, bytes]], rule: Rule, among: Among | None = None
) -> list[Chosen]:
    """The answers that the rule keeps, in the order of the file; `lines` with their offsets.

    `among` counts those that it chose among.

    Of equally good ones the first is better. What says the same to the same prompt again is left
    out, and so is what a baseline answered, or the model to another set than the run's own.
    """
    best: dict[str, list[tuple[float, int]]] = defaultdict(list)
    seen: dict[str, set[str]] = defaultdict(set)
    for offset, line in lines:
        answer = EvaluatedRecord.model_validate_json(line)
        if answer.model != "model" or answer.set_name is not None:
            continue
        if among is not None:
            among.see(answer)
        if not _is_kept(answer, rule):
            continue
        content = hash_of([answer.content])
        if content in seen[answer.prompt_id]:
            continue
        seen[answer.prompt_id].add(content)
        place = (rule.score(answer) or 0.0, -offset)
        of_prompt = best[answer.prompt_id]
        if rule.best is None or len(of_prompt) < rule.best:
            heapq.heappush(of_prompt, place)
        else:
            heapq.heappushpop(of_prompt, place)
    return sorted(_flat(best), key=lambda one: one.offset)


def _is_kept(answer: EvaluatedRecord, rule: Rule) -> bool:
    if rule.passed and not answer.passed:
        return False
    score = rule.score(answer) if rule.needs_score else None
    if rule.needs_score and score is None:
        return False
    return rule.min_score is None or (score is not None and score >= rule.min_score)


def _flat(best: Mapping[str, Iterable[tuple[float, int]]]) -> Iterator[Chosen]:
    for prompt_id, places in best.items():
        for _, minus_offset in places:
            yield Chosen(-minus_offset, prompt_id)
