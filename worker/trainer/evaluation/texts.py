"""How likely a model finds texts that nobody trained it on: what it forgot.

Used by evaluate, where the same texts are read by the model and its baseline.
"""

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.records import DemonstrationRecord
from backend.schemas.training import EvaluateConfig
from worker.trainer import precision
from worker.trainer.data.tokens import (
    Tokens,
    check_length,
    collate,
    encode_response,
    micro_batches_by_prompt,
    read_records,
    render_prompt,
)
from worker.trainer.models.logprobs import action_logp
from worker.trainer.run import Run


def read_texts(
    run: Run, config: EvaluateConfig, tokenizer: PreTrainedTokenizerBase
) -> list[Tokens]:
    """The demonstrations of `config.texts`, none without it.

    Raises DataError for one that is longer than a prompt with its response may be.
    """
    if config.texts is None:
        return []
    longest = config.rollout.max_prompt_tokens + config.rollout.max_new_tokens
    end_id = int(tokenizer.eos_token_id)
    found = []
    for record in read_records(run.directory, config.texts, DemonstrationRecord, name="texts"):
        prompt = render_prompt(tokenizer, record.messages, system=config.rollout.system)
        tokens = Tokens(prompt, encode_response(tokenizer, record.response, end_id=end_id))
        check_length(f"text {record.demonstration_id}", [tokens], longest)
        found.append(tokens)
    return found


@torch.no_grad()
def text_logp(
    run: Run, model: PreTrainedModel, texts: Sequence[Tokens], *, pad_id: int
) -> list[float]:
    """The log-probability of each text after its prompt, nats."""
    if not texts:
        return []
    found = [0.0] * len(texts)
    for group in micro_batches_by_prompt(texts, budget=run.config.optim.tokens_without_grad):
        run.stop.check()
        batch = collate([texts[i] for i in group], pad_id=pad_id, device=run.device)
        with precision.autocast(run.device, run.dtype):
            logp_N = action_logp(model, batch, temperature=1.0).logp_N
        parts = logp_N.split([len(texts[i].response) for i in group])
        for index, part in zip(group, parts, strict=True):
            found[index] = float(part.sum())
    return found
