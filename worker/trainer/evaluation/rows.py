"""A model's responses to one set with what they scored, as the rows that are counted."""

import math
from dataclasses import dataclass
from functools import cached_property

from backend.schemas.vocabulary import FinishReason
from worker.trainer.evaluation.measures import Row
from worker.trainer.evaluation.outcome import Outcome
from worker.trainer.rewards.scorer import Scores
from worker.trainer.sampling.answers import Sampled


@dataclass(frozen=True)
class Measured:
    """A model's responses and what they scored, in the order of the prompts.

    `pass_reward`: the finite weighted sum from which on a response passes where no term judges what
    is correct; None = then nothing says it.
    """

    sampled: list[Sampled]
    scores: Scores
    pass_reward: float | None

    @cached_property
    def prompt_ids(self) -> list[str]:
        """The prompt of each response."""
        return [sampled.prompt.id for sampled in self.sampled]

    @cached_property
    def lengths(self) -> list[float]:
        """Tokens of each response."""
        return [float(len(one.response.ids)) for one in self.sampled]

    @cached_property
    def passed(self) -> list[bool | None]:
        """Whether each row passed, by the terms that judge it, else by its weighted sum."""
        threshold, scores = self.pass_reward, self.scores
        return [
            math.isfinite(raw) and raw >= threshold
            if passed is None and threshold is not None
            else passed
            for raw, passed in zip(scores.raw, scores.passed, strict=True)
        ]

    @cached_property
    def outcome(self) -> Outcome:
        """What another model's responses to the same prompts are compared with."""
        scores = self.scores
        return Outcome(scores.raw, scores.reward, scores.most, self.passed, self.lengths)

    @cached_property
    def rows(self) -> list[Row]:
        """Each response as it is counted; the first reward model says which it prefers."""
        scores = self.scores
        preferred = None if scores.chooser is None else scores.terms[scores.chooser]
        return [
            Row(
                prompt_id=one.prompt.id,
                text=one.answer.text,
                n_tokens=len(one.response.ids),
                is_cut=one.response.finish_reason is FinishReason.LENGTH,
                reward=scores.reward[i],
                raw=scores.raw[i],
                passed=self.passed[i],
                answer=scores.answers[i],
                preferred=None if preferred is None else _order(preferred[i]),
                most=scores.most,
                metadata=one.prompt.metadata,
            )
            for i, one in enumerate(self.sampled)
        ]


def _order(preferred: float) -> float:
    """A response that could not be scored is chosen last."""
    return preferred if math.isfinite(preferred) else -math.inf
