"""The reward term `model`: the score of a trained reward model, on the very same token ids."""

from collections.abc import Sequence

from worker.trainer.models.heads import LoadedScorer, score_all
from worker.trainer.rewards.sampled_response import SampledResponse


class ModelScorer:
    """A loaded reward model; `statistics` are those of its held-out scores, if it has any."""

    def __init__(self, loaded: LoadedScorer) -> None:
        self._loaded, self.system = loaded, loaded.system
        heldout = loaded.card.get("heldout_score")
        self.statistics: tuple[float, float] | None = None
        if isinstance(heldout, dict) and float(heldout["std"]) > 0:
            self.statistics = float(heldout["mean"]), float(heldout["std"])

    def __call__(self, answers: Sequence[SampledResponse]) -> list[float]:
        """One score per answer."""
        loaded = self._loaded
        return score_all(
            loaded.model,
            [answer.tokens for answer in answers],
            pad_id=int(loaded.tokenizer.pad_token_id),
            budget=loaded.budget,
            dtype=loaded.dtype,
            check_stop=loaded.check_stop,
        )
