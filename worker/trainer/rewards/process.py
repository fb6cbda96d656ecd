"""The reward term `process`: how likely each step is right, combined into one number."""

from collections.abc import Sequence
from statistics import fmean

import torch
from transformers import PreTrainedTokenizerBase

from backend.schemas.model_folder.reward_card import PROCESS_REWARD_MODEL
from backend.schemas.rewards import ProcessReward
from worker.trainer import precision
from worker.trainer.data.solutions import SEPARATORS, places_of, step_ends
from worker.trainer.data.tokens import collate, micro_batches_by_prompt
from worker.trainer.models.heads import LoadedScorer
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, Score, measured
from worker.trainer.rewards.trained import TrainedScorer, load
from worker.trainer.run import Run


def build(term: ProcessReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its process reward model."""
    loaded = load(term.process_model, PROCESS_REWARD_MODEL, tokenizer, run)
    return ProcessScorer(loaded, term.combine)


def combined(probabilities: Sequence[float], combine: str) -> float:
    """Combine the probabilities that the steps are right into one reward in 0..1."""
    if combine == "min":
        return min(probabilities)
    return probabilities[-1] if combine == "last" else fmean(probabilities)


class ProcessScorer(TrainedScorer):
    """A loaded process reward model; `combine` makes one reward of a response's steps."""

    def __init__(self, loaded: LoadedScorer, combine: str) -> None:
        super().__init__(loaded)
        self._combine = combine
        self._separator = SEPARATORS[str(loaded.card["separator"])]

    @torch.no_grad()
    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Reward each answer by its steps."""
        loaded, tokenizer = self._loaded, self._loaded.tokenizer
        device = loaded.model.head.weight.device
        rewards = [0.0] * len(answers)
        sequences = [answer.tokens for answer in answers]
        ends = [step_ends(s.response, tokenizer, self._separator) for s in sequences]
        for group in micro_batches_by_prompt(sequences, budget=loaded.budget):
            loaded.check_stop()
            rows, row_ends = [sequences[i] for i in group], [ends[i] for i in group]
            batch = collate(rows, pad_id=int(tokenizer.pad_token_id), device=device)
            with precision.autocast(device, loaded.dtype):
                score_M = loaded.model.at(batch, places_of(rows, row_ends, batch.action_B_T))
            parts = score_M.sigmoid().split([len(own) for own in row_ends])
            for index, part in zip(group, parts, strict=True):
                rewards[index] = combined(part.tolist(), self._combine)
        return measured(rewards)
