"""How likely a model finds texts that nobody trained it on: what it forgot.

Used by evaluate, where the model and its baseline read the same texts, and by evaluations of
policies, where the policy and its reference do. A text of N.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.records import DemonstrationRecord
from backend.schemas.references import Reference
from backend.schemas.sections import Rollout
from backend.schemas.training import EvaluateConfig
from worker.trainer import precision
from worker.trainer.data.token_ids import ResponseReader, response_of
from worker.trainer.data.tokens import (
    Tokens,
    collate,
    micro_batches_by_prompt,
    read_records,
    render_prompt,
)
from worker.trainer.errors import DataError
from worker.trainer.evaluation.with_interval import ratio_with_interval
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import number_of_ids
from worker.trainer.run import Run


@dataclass(frozen=True)
class Texts:
    """Texts as the tokens of a model, and the prompt that each of them follows."""

    tokens: list[Tokens]
    prompt_ids: list[str]


def read_texts(
    run: Run,
    config: EvaluateConfig | PolicyGradientConfig,
    model: Reference,
    tokenizer: PreTrainedTokenizerBase,
) -> Texts:
    """The demonstrations of `config.texts` for a model, none without them.

    What a model of this tokenizer has sampled keeps its ids, and a response that was cut stays
    open, as where sft learns from them. Raises DataError for one that is longer than a prompt with
    its response may be.
    """
    found = Texts([], [])
    if config.texts is None:
        return found
    reader = ResponseReader(tokenizer, n_ids=number_of_ids(model, tokenizer))
    for record in read_records(run.directory, config.texts, DemonstrationRecord, name="texts"):
        prompt = render_prompt(tokenizer, record.messages, system=config.rollout.system)
        tokens = reader.read(response_of(record), prompt)
        _check_length(record, tokens, config.rollout)
        found.tokens.append(tokens)
        found.prompt_ids.append(record.prompt_id)
    reader.tell(run.events)
    return found


def _check_length(record: DemonstrationRecord, tokens: Tokens, rollout: Rollout) -> None:
    if len(tokens) > rollout.longest:
        raise DataError(
            f"text {record.demonstration_id} has {len(tokens)} tokens with its prompt, but "
            f"rollout.max_prompt_tokens ({rollout.max_prompt_tokens}) and rollout.max_new_tokens "
            f"({rollout.max_new_tokens}) are {rollout.longest} together",
            "Raise rollout.max_prompt_tokens, or freeze a snapshot without this demonstration.",
        )


@torch.no_grad()
def text_logp(run: Run, model: PreTrainedModel, texts: Texts, *, pad_id: int) -> list[float]:
    """The log-probability of each text after its prompt, nats."""
    tokens = texts.tokens
    if not tokens:
        return []
    found = [0.0] * len(tokens)
    for group in micro_batches_by_prompt(tokens, budget=run.config.optim.tokens_without_grad):
        run.stop.check()
        batch = collate([tokens[i] for i in group], pad_id=pad_id, device=run.device)
        with precision.autocast(run.device, run.dtype):
            logp_N = action_logp(model, batch, temperature=1.0).logp_N
        parts = logp_N.split([len(tokens[i].response) for i in group])
        for index, part in zip(group, parts, strict=True):
            found[index] = float(part.sum())
    return found


def likelihood(texts: Texts, logp_N: Sequence[float]) -> dict[str, float]:
    """`eval/text_logp`, nats per token of all texts; nothing without any."""
    return _per_token("eval/text_logp", texts, logp_N)


def change_in_likelihood(
    texts: Texts, logp_N: Sequence[float], before_N: Sequence[float]
) -> dict[str, float]:
    """`eval/text_change`: text by text less what another model finds."""
    change_N = [now - before for now, before in zip(logp_N, before_N, strict=True)]
    return _per_token("eval/text_change", texts, change_N)


def _per_token(name: str, texts: Texts, value_N: Sequence[float]) -> dict[str, float]:
    n_tokens = [float(len(tokens.response)) for tokens in texts.tokens]
    return ratio_with_interval(name, value_N, n_tokens, texts.prompt_ids)
