"""The reward term `model`: the score of a trained reward model, on the very same token ids."""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from backend.schemas.model_folder.reward_card import REWARD_MODEL
from backend.schemas.rewards import ModelReward
from worker.trainer.models.heads import LoadedScorer, score_all
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, Score, measured
from worker.trainer.rewards.trained import TrainedScorer, load
from worker.trainer.run import Run


def build(term: ModelReward, tokenizer: PreTrainedTokenizerBase, run: Run) -> Score:
    """The term with its reward model."""
    return ModelScorer(load(term.model, REWARD_MODEL, tokenizer, run))


class ModelScorer(TrainedScorer):
    """A loaded reward model; `statistics` are those of its held-out scores, if it has any."""

    def __init__(self, loaded: LoadedScorer) -> None:
        super().__init__(loaded)
        heldout = loaded.card.get("heldout_score")
        if isinstance(heldout, dict) and float(heldout["std"]) > 0:
            self.statistics = float(heldout["mean"]), float(heldout["std"])

    def __call__(self, answers: Sequence[SampledResponse]) -> list[Grade]:
        """Score each answer with the reward model."""
        loaded = self._loaded
        scores = score_all(
            loaded.model,
            [answer.tokens for answer in answers],
            pad_id=int(loaded.tokenizer.pad_token_id),
            budget=loaded.budget,
            dtype=loaded.dtype,
            check_stop=loaded.check_stop,
        )
        return measured(scores)
