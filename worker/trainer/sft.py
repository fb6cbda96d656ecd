"""Supervised fine-tuning: make the demonstrated responses likelier.

Called by `__main__`. The loss is the negative log-likelihood per response token, averaged over all
response tokens of a step; the prompt gives no loss.
"""

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import DemonstrationRecord
from backend.schemas.training import SftConfig
from backend.schemas.vocabulary import Split
from worker.trainer import models, random_streams
from worker.trainer.data import (
    Tokens,
    collate,
    encode_response,
    micro_batches,
    read_records,
    render_prompt,
)
from worker.trainer.errors import ConfigError, DataError
from worker.trainer.logprobs import action_logp
from worker.trainer.loop import Evaluation, Loop, batch_and_steps, descend, records_of_step
from worker.trainer.optim import Optimizer
from worker.trainer.output import write_causal_lm
from worker.trainer.run import Run


def train(run: Run, config: SftConfig) -> None:
    """Run the whole method: data, model, steps, evaluation, output."""
    if config.packing:
        raise ConfigError("packing is not available", "set packing to false")
    tokenizer = models.load_tokenizer(config.model)
    train_set, heldout = _read(run, config, tokenizer)
    stored = run.dtype if config.lora is not None else torch.float32
    causal = models.load_causal_lm(
        config.model,
        dtype=stored,
        device=run.device,
        attention=models.attention_for(run.device, config.max_tokens),
    )
    model: nn.Module = causal
    if config.lora is not None:
        adapter_seed = random_streams.derive(config.seed, "adapters")
        model = models.add_lora(causal, config.lora, seed=adapter_seed)
    batch_size, steps = batch_and_steps(config.optim, len(train_set))
    optimizer = Optimizer(models.trainable(model), config.optim, steps)
    pad_id, budget = int(tokenizer.pad_token_id), config.optim.micro_batch_tokens

    def summed_loss(chosen: list[Tokens]) -> torch.Tensor:
        batch = collate(chosen, pad_id=pad_id, device=run.device)
        with models.autocast(run.device, run.dtype):
            return -action_logp(causal, batch, temperature=1.0).logp_N.sum()

    def take_step(step: int) -> dict[str, float]:
        model.train()
        indices = records_of_step(len(train_set), batch_size, step, seed=config.seed)
        rows = [train_set[i] for i in indices]
        n_tokens = sum(len(row.response) for row in rows)
        values = descend(
            run,
            optimizer,
            micro_batches([len(row) for row in rows], budget=budget),
            lambda group: summed_loss([rows[i] for i in group]) / n_tokens,
            step,
        )
        run.events.tokens += sum(len(row) for row in rows)
        return values

    def evaluate(_step: int) -> Evaluation:
        if not heldout:
            return Evaluation({})
        model.eval()
        total = 0.0
        with torch.no_grad():
            for group in micro_batches([len(row) for row in heldout], budget=budget):
                run.stop.check()
                total += float(summed_loss([heldout[i] for i in group]))
        return Evaluation({"eval/loss": total / sum(len(row.response) for row in heldout)})

    Loop(run, model, optimizer, steps).go(take_step, evaluate)
    write_causal_lm(run, model, config.model, tokenizer)


def _read(
    run: Run, config: SftConfig, tokenizer: PreTrainedTokenizerBase
) -> tuple[list[Tokens], list[Tokens]]:
    records = read_records(
        run.directory, config.demonstrations, DemonstrationRecord, name="demonstrations"
    )
    sides: dict[Split, list[Tokens]] = {Split.TRAIN: [], Split.HELDOUT: []}
    for record in records:
        tokens = Tokens(
            render_prompt(tokenizer, record.messages, system=config.system),
            encode_response(tokenizer, record.response, end_id=int(tokenizer.eos_token_id)),
        )
        if len(tokens) > config.max_tokens:
            raise DataError(
                f"demonstration {record.demonstration_id} has {len(tokens)} tokens, "
                f"max_tokens is {config.max_tokens}",
                "raise max_tokens, or leave the record out",
            )
        sides[record.split].append(tokens)
    if not sides[Split.TRAIN]:
        raise DataError(
            f"none of the {len(records)} demonstrations is in the train split",
            "make the snapshot with a smaller held-out fraction, or import more demonstrations",
        )
    return sides[Split.TRAIN], sides[Split.HELDOUT]
