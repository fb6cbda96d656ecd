"""What the reward terms that are trained models share: loading, and what the scorer asks them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from backend.schemas.model_folder.reward_card import PROCESS_REWARD_MODEL, REWARD_MODEL
from backend.schemas.references import Reference
from backend.schemas.rewards import ModelReward, ProcessReward, RewardTerm
from worker.trainer.models.heads import (
    LoadedScorer,
    check_scorer,
    load_scorer,
)
from worker.trainer.rewards.sampled_response import Grade, SampledResponse
from worker.trainer.run import Run


class TrainedScorer(ABC):
    """A loaded model that scores answers.

    `system` is the system prompt that it was trained with, `statistics` are mean and deviation of
    its held-out scores, if it has any.
    """

    statistics: tuple[float, float] | None = None

    def __init__(self, loaded: LoadedScorer) -> None:
        self._loaded, self.system = loaded, loaded.system

    @abstractmethod
    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Score each answer."""


def load(
    reference: Reference, kind: str, tokenizer: PreTrainedTokenizerBase, run: Run
) -> LoadedScorer:
    """The model of a term, computed as the run computes.

    Raises ConfigError if policy and reward model do not read the same tokens.
    """
    return load_scorer(
        reference,
        tokenizer,
        kind=kind,
        budget=run.config.optim.tokens_without_grad,
        dtype=run.dtype,
        device=run.device,
        check_stop=run.stop.check,
        events=run.events,
    )


def check(terms: Sequence[RewardTerm], tokenizer: PreTrainedTokenizerBase, *, who: str) -> None:
    """Raise ConfigError for a term whose model does not read the tokens of `who`.

    Loads no weights.
    """
    for term in terms:
        if isinstance(term, ModelReward):
            check_scorer(term.model, tokenizer, kind=REWARD_MODEL, who=who)
        elif isinstance(term, ProcessReward):
            check_scorer(term.process_model, tokenizer, kind=PROCESS_REWARD_MODEL, who=who)
