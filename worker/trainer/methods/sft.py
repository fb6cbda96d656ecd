"""Supervised fine-tuning: make the demonstrated responses likelier.

Called by `__main__`. The loss is the negative log-likelihood per response token, averaged over all
response tokens of a step; what others say gives no loss.
"""

from collections.abc import Sequence

import torch
from torch import nn
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import DemonstrationRecord
from backend.schemas.training import SftConfig
from backend.schemas.vocabulary import HELDOUT_FRACTION, Split
from worker.trainer import precision, random_streams
from worker.trainer.data.ends import closing_id
from worker.trainer.data.token_ids import ResponseReader, response_of
from worker.trainer.data.tokens import (
    Tokens,
    check_length,
    collate,
    computed_tokens,
    encode_response,
    micro_batches,
    padded_micro_batches,
    read_records,
    render_prompt,
)
from worker.trainer.errors import DataError
from worker.trainer.evaluation.heldout_loss import HeldoutLoss
from worker.trainer.loop import HELDOUT_LOSS, Loop, batch_and_steps, descend, records_of_step
from worker.trainer.models import adapters, loading
from worker.trainer.models.body import takes_trees
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import load_tokenizer, number_of_ids
from worker.trainer.optim import Optimizer
from worker.trainer.output import write_causal_lm
from worker.trainer.run import Run

# The turns of one demonstration that are trained on, each with all that comes before it.
Turns = list[Tokens]
# The prompt of a demonstration, and its turns.
Demonstration = tuple[str, Turns]


def train(run: Run, config: SftConfig) -> None:
    """Run the whole method: data, model, steps, evaluation, output."""
    tokenizer = load_tokenizer(config.model, config.template)
    train_records, heldout_records = _read(run, config, tokenizer)
    train_set, heldout = ([turns for _, turns in side] for side in (train_records, heldout_records))
    causal = loading.load_to_train(run, config, longest=config.max_tokens)
    packing = config.packing and takes_trees(causal)
    if config.packing and not packing:
        run.events.alert(
            "packing",
            "This model does not support packing (its layers are not plain attention), so its "
            "records are padded.",
        )
    model: nn.Module = causal
    if config.lora is not None:
        adapter_seed = random_streams.derive(config.seed, "adapters")
        model = adapters.add_lora(causal, config.lora, seed=adapter_seed)
    batch_size, steps = batch_and_steps(config.optim, len(train_set))
    optimizer = Optimizer(adapters.trainable(model), config.optim, steps)
    pad_id, budget = int(tokenizer.pad_token_id), config.optim.micro_batch_tokens

    def logp_of(chosen: Sequence[Tokens]) -> torch.Tensor:
        batch = collate(chosen, pad_id=pad_id, device=run.device, packing=packing)
        with precision.autocast(run.device, run.dtype):
            return action_logp(causal, batch, temperature=1.0).logp_N

    def take_step(step: int) -> dict[str, float]:
        model.train()
        indices = records_of_step(len(train_set), batch_size, step, seed=config.seed)
        records = [train_set[i] for i in indices]
        n_tokens = _response_tokens(records)
        groups = group_turns(records, budget=budget, packing=packing)
        sequences = [tokens for turns in records for tokens in turns]

        def loss_of(group: Sequence[Tokens]) -> torch.Tensor:
            return -logp_of(group).sum() / n_tokens

        return descend(run, optimizer, groups, loss_of, step, sequences)

    prompt_N = [prompt_id for prompt_id, turns in heldout_records for _ in turns]
    heldout_N = [tokens for turns in heldout for tokens in turns]
    heldout_loss = HeldoutLoss(
        prompt_N, [float(len(tokens.response)) for tokens in heldout_N], measure=heldout_N
    )

    def evaluate(step: int) -> dict[str, float]:
        if not heldout:
            return {}
        model.eval()
        found: dict[int, float] = {}
        with torch.no_grad():
            for group in group_turns(
                heldout, budget=config.optim.tokens_without_grad, packing=packing
            ):
                run.stop.check()
                parts = logp_of(group).split([len(tokens.response) for tokens in group])
                sums = torch.stack([part.sum() for part in parts]).tolist()
                found |= {id(tokens): -own for tokens, own in zip(group, sums, strict=True)}
        values = heldout_loss.metrics(step, [found[id(tokens)] for tokens in heldout_N])
        return values | {"eval/prompts": float(len(set(prompt_N)))}

    Loop(run, model, optimizer, steps, parts={HELDOUT_LOSS: heldout_loss}).go(take_step, evaluate)
    write_causal_lm(run, model, config.model, tokenizer)


def group_turns(records: Sequence[Turns], *, budget: int, packing: bool) -> list[list[Tokens]]:
    """Micro-batches of at most `budget` tokens; packed, the turns of a record stay together."""
    if packing:
        groups = micro_batches([computed_tokens(turns) for turns in records], budget=budget)
        return [[tokens for i in group for tokens in records[i]] for group in groups]
    flat = [tokens for turns in records for tokens in turns]
    groups = padded_micro_batches([len(tokens) for tokens in flat], budget=budget)
    return [[flat[i] for i in group] for group in groups]


def _response_tokens(records: Sequence[Turns]) -> int:
    return sum(len(tokens.response) for turns in records for tokens in turns)


def _read(
    run: Run, config: SftConfig, tokenizer: PreTrainedTokenizerBase
) -> tuple[list[Demonstration], list[Demonstration]]:
    records = read_records(
        run.directory, config.demonstrations, DemonstrationRecord, name="demonstrations"
    )
    reader = ResponseReader(tokenizer, n_ids=number_of_ids(config.model, tokenizer))
    sides: dict[Split, list[Demonstration]] = {Split.TRAIN: [], Split.HELDOUT: []}
    for record in records:
        turns = encode_turns(record, tokenizer, config, reader)
        check_length(f"demonstration {record.demonstration_id}", turns, config.max_tokens)
        sides[record.split].append((record.prompt_id, turns))
    reader.tell(run.events)
    if not sides[Split.TRAIN]:
        raise DataError(
            f"no demonstration is in the train split (0 of {len(records)})",
            f"Freeze a snapshot with a lower {HELDOUT_FRACTION}, or import more demonstrations.",
        )
    return sides[Split.TRAIN], sides[Split.HELDOUT]


def encode_turns(
    record: DemonstrationRecord,
    tokenizer: PreTrainedTokenizerBase,
    config: SftConfig,
    reader: ResponseReader,
) -> Turns:
    """The response and, with `assistant_turns: all`, what the assistant said before it.

    Each turn is rendered with the conversation before it as it is rendered for sampling, and ends
    with the end token, but for a response that was cut where it was sampled; an opening turn of the
    assistant answers nothing and is left out. What a model of this tokenizer has sampled keeps its
    ids.
    """
    prompt = render_prompt(tokenizer, record.messages, system=config.system)
    turns = [reader.read(response_of(record), prompt)]
    if config.assistant_turns == "all":
        end_id = closing_id(tokenizer)
        turns += [
            Tokens(
                render_prompt(tokenizer, record.messages[:place], system=config.system),
                encode_response(tokenizer, message.content, end_id=end_id),
            )
            for place, message in enumerate(record.messages)
            if message.role == "assistant" and place > 0
        ]
    return turns
