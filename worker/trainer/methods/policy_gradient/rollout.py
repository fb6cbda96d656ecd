"""One step's responses with everything that is known of them, as rows of response tokens.

Made by the collector, completed by the loop, read by the report. The prompt's tokens are not among
the columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from backend.schemas.vocabulary import FinishReason
from worker.trainer.importance import Weights
from worker.trainer.models.logprobs import TokenLogp
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.rewards.scorer import Scores
from worker.trainer.sampling.decoding import Request, Response
from worker.trainer.sampling.prompts import Prompt


@dataclass(frozen=True)
class AskedPrompt:
    """A prompt that was asked in a step, and what its responses scored."""

    prompt_id: str
    scores: Scores


@dataclass
class Rollout:
    """Tensors are B x T over response tokens, fp32 on the CPU; `mask_B_T` marks those that count.

    A response that is left out (cut and `overlong` is mask, or without a finite reward, its own or
    that of its baseline) has an empty row in the mask. `n_sampled` counts all tokens that were
    sampled for this step, those of greedy responses and of replaced prompts too; `n_replaced` the
    replaced prompts, with dynamic sampling; `asked` has every prompt of the step, these too.
    `ref_logp_B_T` is None where no KL is asked for.
    """

    prompts: list[Prompt]
    responses: list[Response]
    answers: list[SampledResponse]
    scores: Scores
    group_B: Tensor
    mask_B_T: Tensor
    sampler_logp_B_T: Tensor
    seconds: dict[str, float]
    n_sampled: int
    asked: list[AskedPrompt] = field(default_factory=list)
    greedy_reward_B: Tensor | None = None
    value_B_T: Tensor | None = None
    n_replaced: int | None = None
    importance: Weights | None = None
    ref_logp_B_T: Tensor | None = None
    logp_B_T: Tensor = field(default_factory=lambda: torch.empty(0))
    entropy_B_T: Tensor = field(default_factory=lambda: torch.empty(0))

    @property
    def n_tokens(self) -> int:
        """Tokens that the step has to do with: prompts of the rows, and all that were sampled."""
        return sum(len(answer.tokens.prompt) for answer in self.answers) + self.n_sampled

    @property
    def n_unscored(self) -> int:
        """Responses without a finite reward, their own or that of their baseline."""
        reward_B = torch.tensor(self.scores.reward, dtype=torch.float64)
        if self.greedy_reward_B is not None:
            reward_B = reward_B - self.greedy_reward_B
        return int((~reward_B.isfinite()).sum())

    def put_found(self, rows: Sequence[int], found: TokenLogp) -> None:
        """Put the policy's log-probabilities and entropies of these rows in their columns."""
        self.put(self.logp_B_T, rows, found.logp_N.detach())
        self.put(self.entropy_B_T, rows, found.entropy_N.detach())

    def put(self, column_B_T: Tensor, rows: Sequence[int], value_N: Tensor) -> None:
        """Put what was found of the tokens of these rows, row after row, into a column."""
        sizes = [len(self.responses[row].ids) for row in rows]
        for row, value in zip(rows, value_N.cpu().split(sizes), strict=True):
            column_B_T[row, : len(value)] = value


def requests_of(prompts: Sequence[Prompt], n_samples: int) -> list[Request]:
    """A request per prompt; one that comes twice in a step gets random numbers of its own."""
    seen: dict[str, int] = {}
    requests = []
    for prompt in prompts:
        seen[prompt.id] = seen.get(prompt.id, 0) + 1
        again = f"#{seen[prompt.id]}" if seen[prompt.id] > 1 else ""
        requests.append(Request(prompt.id + again, prompt.ids, n_samples))
    return requests


def action_mask(
    responses: Sequence[Response], reward: Sequence[float], *, masks_overlong: bool
) -> Tensor:
    """Which response tokens count; the sampled end token does."""
    width = max(len(response.ids) for response in responses)
    mask_B_T = torch.zeros(len(responses), width, dtype=torch.bool)
    finite_B = torch.isfinite(torch.tensor(reward)).tolist()
    for row, response in enumerate(responses):
        is_cut = response.finish_reason is FinishReason.LENGTH
        if finite_B[row] and not (masks_overlong and is_cut):
            mask_B_T[row, : len(response.ids)] = True
    return mask_B_T


def pad_rows(rows: Sequence[Sequence[float]]) -> Tensor:
    """Rows of numbers as B x T, fp32, zero at the right."""
    return pad_sequence([torch.tensor(r, dtype=torch.float32) for r in rows], batch_first=True)


def pad_flat(value_N: Tensor, lengths: Sequence[int]) -> Tensor:
    """Values of all rows one after another as B x T, zero at the right; keeps the gradient."""
    return pad_sequence(value_N.split(list(lengths)), batch_first=True)
