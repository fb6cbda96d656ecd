"""Rewards of responses: score each term, add up, normalize, clip.

Built once per run by policy_gradient, generate and evaluations; each kind of term has its own file
beside this one, under the name that the schema gives it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import AnyRewardTerm, Reward, term_names
from worker.trainer.errors import ConfigError
from worker.trainer.rewards.sampled_response import (
    FoundJudge,
    Grade,
    SampledResponse,
    Score,
    SlowScore,
)
from worker.trainer.rewards.trained import TrainedScorer
from worker.trainer.run import Run

SMALLEST_STD = 1e-4


@dataclass(frozen=True)
class Term:
    """A named term of the reward; `is_share`: each of its scores lies between 0 and 1."""

    name: str
    weight: float
    score: Score
    is_share: bool = False


def build_terms(
    terms: Sequence[AnyRewardTerm], tokenizer: PreTrainedTokenizerBase, run: Run, *, system: str
) -> list[Term]:
    """The terms of a config, ready to score."""
    built: list[Term] = []
    names = term_names([(term.kind, term.name) for term in terms])
    for name, term in zip(names, terms, strict=True):
        score = _build(term, tokenizer, run)
        if isinstance(score, TrainedScorer) and score.system != system:
            run.events.alert(
                "system_prompt_differs",
                f"The reward model was trained with the system prompt {score.system!r}, but "
                f"responses are sampled with {system!r}. Set rollout.system to that of the reward "
                "model, or train the reward model with this one.",
            )
        built.append(Term(name, term.weight, score, term.is_share))
    return built


def _build(term: AnyRewardTerm, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """Build a term with the file of its kind, named as in the schema and loaded only now."""
    file = import_module(f"worker.trainer.rewards.{term.kind}")
    score: Score = file.build(term, tokenizer, run)
    return score


@dataclass(frozen=True)
class Scores:
    """Holds of each response what each term says, the weighted sum of scores, what is added to it
    as a penalty (empty without one), and the reward that is trained on.

    A response that a term with a weight could not score has a reward that is not finite, which no
    mean counts. Whether it passed, the terms that judge it say.
    """

    grades: dict[str, list[Grade]]
    raw: list[float]
    penalty: list[float]
    reward: list[float]
    # The first term that is a trained model, which chooses the best of several responses.
    chooser: str | None = None
    # The terms by their names: what was summed, and which can score between 0 and 1 alone.
    weights: Mapping[str, float] = field(default_factory=dict)
    bounded: frozenset[str] = frozenset()

    @cached_property
    def terms(self) -> dict[str, list[float]]:
        """The scores by each term, before its weight."""
        return {name: [one.score for one in grades] for name, grades in self.grades.items()}

    @cached_property
    def passed(self) -> list[bool | None]:
        """Whether each response is correct by all terms that judge it; None where none does."""
        if not self.grades:
            return [None] * len(self.raw)
        return [_all_passed(several) for several in zip(*self.grades.values(), strict=True)]

    @cached_property
    def answers(self) -> list[str | None]:
        """What each response answers, by the first term that reads an answer; None without one."""
        if not self.grades:
            return [None] * len(self.raw)
        rows = zip(*self.grades.values(), strict=True)
        return [next((g.answer for g in row if g.answer is not None), None) for row in rows]

    @cached_property
    def coverage(self) -> dict[str, float]:
        """The share of responses with a score, by term that judges correctness or missed some."""
        found = {
            name: sum(map(math.isfinite, values)) / max(len(values), 1)
            for name, values in self.terms.items()
        }
        judging = self.judging
        return {name: share for name, share in found.items() if share < 1 or name in judging}

    @cached_property
    def failed(self) -> list[int]:
        """The rows on which a grader itself failed, of a term of whichever weight."""
        rows = zip(*self.grades.values(), strict=True)
        return [row for row, grades in enumerate(rows) if any(one.may_change for one in grades)]

    @cached_property
    def judging(self) -> set[str]:
        """The terms that say whether a response is correct."""
        return {
            name
            for name, grades in self.grades.items()
            if grades and _all_passed(grades) is not None
        }

    @cached_property
    def shares(self) -> set[str]:
        """The terms whose scores lie between 0 and 1, by their kind or as judges that did so."""
        return {
            name
            for name, values in self.terms.items()
            if name in self.bounded
            or (
                name in self.judging and all(0 <= one <= 1 for one in filter(math.isfinite, values))
            )
        }

    @cached_property
    def most(self) -> float | None:
        """The largest reward there can be, the least being 0; None if it has no such bounds.

        It has them if it is the plain sum of shares.
        """
        is_plain = not self.penalty and all(
            reward == raw
            for reward, raw in zip(self.reward, self.raw, strict=True)
            if math.isfinite(raw)
        )
        return self.most_raw if is_plain else None

    @cached_property
    def most_raw(self) -> float | None:
        """The largest weighted sum there can be, as `most` says it of the reward."""
        summed = {name: weight for name, weight in self.weights.items() if weight}
        if not summed or not summed.keys() <= self.shares:
            return None
        return sum(summed.values()) if min(summed.values()) > 0 else None

    def why(self, row: int) -> dict[str, str]:
        """Return, by term, why the response of this row did not pass or has no score."""
        return {name: grades[row].why for name, grades in self.grades.items() if grades[row].why}

    @property
    def total(self) -> list[float]:
        """The weighted sum with its penalty."""
        if not self.penalty:
            return self.raw
        return [raw + penalty for raw, penalty in zip(self.raw, self.penalty, strict=True)]

    def rows(self, start: int, stop: int) -> "Scores":
        """Take the scores of the responses from `start` to before `stop`."""
        rows = slice(start, stop)
        grades = {name: several[rows] for name, several in self.grades.items()}
        return replace(
            self,
            grades=grades,
            raw=self.raw[rows],
            penalty=self.penalty[rows],
            reward=self.reward[rows],
        )

    def with_rows(self, rows: Sequence[int], again: "Scores") -> "Scores":
        """The same where these rows were scored again, not yet normalized.

        Only grades that may change are replaced, because a reward model in bf16 would score the
        others slightly differently in another batch.
        """
        grades = {name: list(several) for name, several in self.grades.items()}
        for name, several in grades.items():
            for place, row in enumerate(rows):
                if several[row].may_change:
                    several[row] = again.grades[name][place]
        raw = _weighted_sums(grades, self.weights, len(self.raw))
        return replace(self, grades=grades, raw=raw, reward=raw)

    @staticmethod
    def joined(parts: "Sequence[Scores]") -> "Scores":
        """Join the scores of several batches, one after another."""
        return Scores(
            {name: [g for part in parts for g in part.grades[name]] for name in parts[0].grades},
            [value for part in parts for value in part.raw],
            [value for part in parts for value in part.penalty],
            [value for part in parts for value in part.reward],
            parts[0].chooser,
            parts[0].weights,
            parts[0].bounded,
        )


def _weighted_sums(
    grades: Mapping[str, Sequence[Grade]], weights: Mapping[str, float], n: int
) -> list[float]:
    # A term of weight 0 is watched only; where it has no score the others still have a sum.
    summed = [(weight, grades[name]) for name, weight in weights.items() if weight]
    return [sum((weight * of[i].score for weight, of in summed), 0.0) for i in range(n)]


def _all_passed(grades: Sequence[Grade]) -> bool | None:
    judged = [grade.passed for grade in grades if grade.passed is not None]
    return all(judged) if judged else None


class Scorer:
    """The whole pipeline up to the clip; `learn` says whether a running normalizer sees a batch.

    `penalty` is added to the weighted sum of a response before anything else happens to it.
    `measure` says what this sum is made of: the statistics of another one are not gone on with, and
    `on_new_sum` is called where there were any.
    """

    def __init__(
        self,
        reward: Reward,
        terms: Sequence[Term],
        penalty: Callable[[SampledResponse], float] | None = None,
        *,
        measure: str = "",
        on_new_sum: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_new_sum = on_new_sum
        self._terms = list(terms)
        self._penalty = penalty
        self._measure = measure
        self._clip = None if reward.clip_after_baseline else reward.clip
        self._running = Running()
        statistics = _only_model_statistics(self._terms)
        if reward.normalize == "model" and statistics is None:
            raise ConfigError(
                "reward.normalize is model, but the reward model has no mean and standard "
                "deviation of held-out scores: it was trained without held-out rankings, or "
                "scored all of them alike",
                "Set reward.normalize to none (policy_gradient can also use running), or train the "
                "reward model with held-out rankings.",
            )
        trained = (term.name for term in self._terms if isinstance(term.score, TrainedScorer))
        self._chooser = next(trained, None)
        self._is_running = reward.normalize == "running"
        use_fixed = reward.normalize in ("auto", "model") and statistics is not None
        self._fixed = statistics if use_fixed and statistics is not None else (0.0, 1.0)

    def __call__(
        self, answers: Sequence[SampledResponse], *, learn: bool, penalize: bool = True
    ) -> Scores:
        """Score answers in their order, with the penalty unless `penalize` is False."""
        grades = {term.name: term.score(answers) for term in self._terms}
        weights = {term.name: term.weight for term in self._terms}
        raw = _weighted_sums(grades, weights, len(answers))
        penalized = self._penalty if penalize else None
        penalty = [] if penalized is None else [penalized(a) for a in answers]
        bounded = frozenset(term.name for term in self._terms if term.is_share)
        scores = Scores(grades, raw, penalty, raw, self._chooser, weights, bounded)
        if self._is_running and learn:
            self._running.add(scores.total)
        return self.normalized(scores)

    @cached_property
    def _slow(self) -> list[SlowScore]:
        return [term.score for term in self._terms if isinstance(term.score, SlowScore)]

    @property
    def is_slow(self) -> bool:
        """Whether a term gains by beginning before all responses are there."""
        return bool(self._slow)

    def begin(self, answer: SampledResponse) -> None:
        """Let the slow terms begin with an answer that will be scored."""
        for score in self._slow:
            score.begin(answer)

    def forget(self) -> None:
        """Give up what was begun: it will not be asked for."""
        for score in self._slow:
            score.forget()

    def normalized(self, scores: Scores) -> Scores:
        """The same scores with the reward that the statistics of this moment give."""
        mean, std = self._running.statistics() if self._is_running else self._fixed
        reward = [self._clipped((value - mean) / std) for value in scores.total]
        return replace(scores, reward=reward)

    def comparable(self, scores: Scores) -> list[float]:
        """Rewards that can be compared over the whole run, whenever they were scored.

        Where the statistics run these are the sums with their penalty, else the rewards trained on.
        """
        return scores.total if self._is_running else scores.reward

    @property
    def unit(self) -> float:
        """The comparable reward that is worth 1 of the reward trained on at this moment."""
        return self._running.statistics()[1] if self._is_running else 1.0

    def state(self) -> dict[str, Any]:
        """The running normalizer, which terms were found to judge, and what both are of."""
        running = self._running
        return {
            "n": running.n,
            "mean": running.mean,
            "m2": running.m2,
            "judges": [name for name, score in self._found_judges.items() if score.judges],
            "measure": self._measure,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what a checkpoint has learned of the reward, unless it was another reward."""
        if state.get("measure", self._measure) != self._measure:
            if self._is_running and int(state["n"]) > 0:
                self._on_new_sum()
            return
        self._running = Running(int(state["n"]), float(state["mean"]), float(state["m2"]))
        # Checkpoints of earlier versions do not name the terms that judge.
        judges = state.get("judges", ())
        for name, score in self._found_judges.items():
            score.judges = name in judges

    @property
    def _found_judges(self) -> dict[str, FoundJudge]:
        return {t.name: t.score for t in self._terms if isinstance(t.score, FoundJudge)}

    def _clipped(self, value: float) -> float:
        if self._clip is None or not math.isfinite(value):
            return value
        return max(-self._clip, min(self._clip, value))


def tell_statistics_anew(run: Run) -> None:
    """Say that a run whose reward differs from its checkpoint's learns its scale anew."""
    run.events.alert(
        "statistics_anew",
        "The reward terms, their weights or the over-long penalty (its settings or "
        "rollout.max_new_tokens) differ from those of the checkpoint, so the mean and standard "
        "deviation of reward.normalize running start again: the first rewards are on another "
        "scale than those of the parent.",
        level="info",
        step=run.first_step,
    )


def tell_not_normalized(run: Run, reward: Reward, terms: Sequence[Term]) -> None:
    """Warn of a reward model that `auto` would normalize by, but that has no statistics."""
    if reward.normalize != "auto" or len(terms) != 1 or terms[0].weight == 0:
        return
    (kind,) = [term.kind for term in reward.terms]
    if kind == "model" and _only_model_statistics(terms) is None:
        run.events.alert_once(
            "not_normalized",
            "reward.normalize is auto, but the reward model has no mean and standard deviation of "
            "held-out scores (it was trained without held-out rankings, or scored all of them "
            "alike), so its scores are not normalized. Train it with held-out rankings, or set "
            "reward.normalize to none if that is meant; policy_gradient can also use running.",
        )


def _only_model_statistics(terms: Sequence[Term]) -> tuple[float, float] | None:
    """Mean and deviation of the weighted sum where a reward model is all of it."""
    if len(terms) != 1 or not isinstance(terms[0].score, TrainedScorer):
        return None
    statistics, weight = terms[0].score.statistics, terms[0].weight
    if statistics is None or weight == 0:
        return None
    mean, std = statistics
    return weight * mean, max(abs(weight) * std, SMALLEST_STD)


@dataclass
class Running:
    """Welford's mean and variance over everything seen."""

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0

    def add(self, values: Sequence[float]) -> None:
        """See more values; those that are not finite are passed over."""
        for value in values:
            if math.isfinite(value):
                self.n += 1
                difference = value - self.mean
                self.mean += difference / self.n
                self.m2 += difference * (value - self.mean)

    def statistics(self) -> tuple[float, float]:
        """Mean and population standard deviation, at least 1e-4; (0, 1) before the first value."""
        if self.n == 0:
            return 0.0, 1.0
        return self.mean, max(math.sqrt(self.m2 / self.n), SMALLEST_STD)
