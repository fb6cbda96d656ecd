"""The reward term `process`: how likely each step is right, combined into one number."""

from collections.abc import Callable, Sequence
from statistics import fmean

import torch
from transformers import PreTrainedTokenizerBase

from backend.schemas.rewards import ProcessReward
from worker.trainer import models
from worker.trainer.data import collate, micro_batches_by_prompt
from worker.trainer.reward_head import PROCESS_REWARD_MODEL, load_scorer
from worker.trainer.rewards.answer import Answer
from worker.trainer.solutions import SEPARATORS, places_of, step_ends


def combined(probabilities: Sequence[float], combine: str) -> float:
    """One reward in 0..1 of the probabilities that the steps are right."""
    if combine == "min":
        return min(probabilities)
    return probabilities[-1] if combine == "last" else fmean(probabilities)


class ProcessScorer:
    """A loaded process reward model."""

    def __init__(
        self,
        term: ProcessReward,
        policy_tokenizer: PreTrainedTokenizerBase,
        *,
        budget: int,
        dtype: torch.dtype,
        device: torch.device,
        check_stop: Callable[[], None],
    ) -> None:
        """Raises ConfigError if policy and model do not read the same tokens."""
        self._model, self._tokenizer, card = load_scorer(
            term.process_model,
            policy_tokenizer,
            kind=PROCESS_REWARD_MODEL,
            dtype=dtype,
            device=device,
        )
        self._combine, self._separator = term.combine, SEPARATORS[str(card["separator"])]
        self._budget, self._dtype, self._check_stop = budget, dtype, check_stop
        self._pad_id, self._device = int(self._tokenizer.pad_token_id), device
        self.system = str(card.get("system", ""))

    @torch.no_grad()
    def __call__(self, answers: Sequence[Answer]) -> list[float]:
        """One reward per answer."""
        rewards = [0.0] * len(answers)
        sequences = [answer.tokens for answer in answers]
        ends = [step_ends(s.response, self._tokenizer, self._separator) for s in sequences]
        for group in micro_batches_by_prompt(sequences, budget=self._budget):
            self._check_stop()
            rows, row_ends = [sequences[i] for i in group], [ends[i] for i in group]
            batch = collate(rows, pad_id=self._pad_id, device=self._device)
            with models.autocast(self._device, self._dtype):
                score_M = self._model.at(batch, places_of(rows, row_ends, batch.action_B_T))
            parts = score_M.sigmoid().split([len(own) for own in row_ends])
            for index, part in zip(group, parts, strict=True):
                rewards[index] = combined(part.tolist(), self._combine)
        return rewards
