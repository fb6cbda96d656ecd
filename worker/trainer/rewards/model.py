"""The reward term `model`: the score of a trained reward model, on the very same token ids."""

from collections.abc import Callable, Sequence

import torch
from transformers import PreTrainedTokenizerBase

from backend.schemas.references import Reference
from worker.trainer.reward_head import REWARD_MODEL, load_scorer, score_all
from worker.trainer.rewards.answer import Answer


class ModelScorer:
    """A loaded reward model; `mean` and `std` are those of its held-out scores, if it has any."""

    def __init__(
        self,
        reference: Reference,
        policy_tokenizer: PreTrainedTokenizerBase,
        *,
        budget: int,
        dtype: torch.dtype,
        device: torch.device,
        check_stop: Callable[[], None],
    ) -> None:
        """Raises ConfigError if policy and reward model do not read the same tokens."""
        self._model, tokenizer, card = load_scorer(
            reference, policy_tokenizer, kind=REWARD_MODEL, dtype=dtype, device=device
        )
        self._budget, self._dtype, self._check_stop = budget, dtype, check_stop
        self._pad_id = int(tokenizer.pad_token_id)
        self.system = str(card.get("system", ""))
        heldout = card.get("heldout_score")
        self.statistics: tuple[float, float] | None = None
        if isinstance(heldout, dict) and float(heldout["std"]) > 0:
            self.statistics = float(heldout["mean"]), float(heldout["std"])

    def __call__(self, answers: Sequence[Answer]) -> list[float]:
        """One score per answer."""
        return score_all(
            self._model,
            [answer.tokens for answer in answers],
            pad_id=self._pad_id,
            budget=self._budget,
            dtype=self._dtype,
            check_stop=self._check_stop,
        )
