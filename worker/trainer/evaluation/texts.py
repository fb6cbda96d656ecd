"""How likely a model finds texts that nobody trained it on: what it forgot.

Used by evaluate, where the same texts are read by the model and its baseline.
"""

from collections.abc import Sequence

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

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
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import number_of_ids
from worker.trainer.run import Run


def read_texts(
    run: Run, config: EvaluateConfig, model: Reference, tokenizer: PreTrainedTokenizerBase
) -> list[Tokens]:
    """The demonstrations of `config.texts` for a model, none without them.

    What a model of this tokenizer has sampled keeps its ids, and a response that was cut stays
    open, as where sft learns from them. Raises DataError for one that is longer than a prompt with
    its response may be.
    """
    if config.texts is None:
        return []
    reader = ResponseReader(tokenizer, n_ids=number_of_ids(model, tokenizer))
    found = []
    for record in read_records(run.directory, config.texts, DemonstrationRecord, name="texts"):
        prompt = render_prompt(tokenizer, record.messages, system=config.rollout.system)
        tokens = reader.read(response_of(record), prompt)
        _check_length(record, tokens, config.rollout)
        found.append(tokens)
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
