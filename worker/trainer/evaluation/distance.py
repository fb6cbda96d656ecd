"""How far a model is from a reference on given responses: exact KL and log-probabilities.

Used by the evaluations of policy_gradient and by generate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from transformers import PreTrainedModel

from worker.trainer import precision
from worker.trainer.data.tokens import Tokens, collate, micro_batches_by_prompt
from worker.trainer.models.logprobs import action_hidden, exact_kl
from worker.trainer.run import Run
from worker.trainer.sampling.decoding import Sampling


@dataclass(frozen=True)
class Distance:
    """Exact KL of each response in nats, and its log-probability under model and reference."""

    kl: list[float]
    logp: list[float]
    ref_logp: list[float]


def distance_to(
    run: Run,
    model: PreTrainedModel,
    reference: PreTrainedModel,
    sequences: Sequence[Tokens],
    sampling: Sampling,
) -> Distance:
    """Exact KL and log-probabilities of responses under a model and a reference."""
    hidden = hidden_states(run, reference, sequences, sampling.pad_id)
    head = reference.get_output_embeddings()
    return distance_from(run, model, hidden, head, sequences, sampling)


@torch.no_grad()
def hidden_states(
    run: Run, reference: PreTrainedModel, sequences: Sequence[Tokens], pad_id: int
) -> list[torch.Tensor]:
    """What a reference makes of each micro-batch of `distance_from`, in its order."""
    hidden = []
    for group in _groups(run, sequences):
        run.stop.check()
        batch = collate([sequences[i] for i in group], pad_id=pad_id, device=run.device)
        with precision.autocast(run.device, run.dtype):
            hidden.append(action_hidden(reference, batch))
    return hidden


@torch.no_grad()
def distance_from(
    run: Run,
    model: PreTrainedModel,
    ref_hidden: Sequence[torch.Tensor],
    ref_head: nn.Module,
    sequences: Sequence[Tokens],
    sampling: Sampling,
) -> Distance:
    """The distance to a reference whose hidden states are known, by its head."""
    found: dict[int, tuple[float, ...]] = {}
    for group, hidden in zip(_groups(run, sequences), ref_hidden, strict=True):
        run.stop.check()
        batch = collate([sequences[i] for i in group], pad_id=sampling.pad_id, device=run.device)
        with precision.autocast(run.device, run.dtype):
            columns = exact_kl(model, hidden, ref_head, batch, temperature=sampling.temperature)
        sizes = [len(sequences[i].response) for i in group]
        sums = [[float(part.sum()) for part in column.split(sizes)] for column in columns]
        found |= {index: values for index, *values in zip(group, *sums, strict=True)}
    ordered = [found[i] for i in range(len(sequences))]
    return Distance(*([row[i] for row in ordered] for i in range(3)))


def _groups(run: Run, sequences: Sequence[Tokens]) -> list[list[int]]:
    return micro_batches_by_prompt(sequences, budget=run.config.optim.tokens_without_grad)
