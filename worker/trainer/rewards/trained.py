"""What the reward terms that are trained models share: loading, and what the scorer asks them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from backend.schemas.model_folder.reward_card import SAID_OF
from backend.schemas.references import Reference, pointers
from backend.schemas.rewards import RewardTerm
from backend.schemas.vocabulary import ModelKind
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
    for pointer in (one for term in terms for one in pointers(term)):
        kind = pointer.wants.kind
        if isinstance(kind, ModelKind):
            check_scorer(pointer.reference, tokenizer, kind=SAID_OF[kind], who=who)
