"""How good a policy is on prompts that it does not train on, and how far from its reference.

Used by policy_gradient (every `eval_every` steps) and generate. Every evaluation uses the same
random numbers, so that two differ by what the policy learned and not by luck.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import nn
from transformers import PreTrainedModel

from backend.schemas.vocabulary import FinishReason
from worker.trainer import models
from worker.trainer.bootstrap import mean_with_interval, scored_mean_with_interval
from worker.trainer.data import Tokens, collate, micro_batches_by_prompt
from worker.trainer.logprobs import action_hidden, exact_kl
from worker.trainer.policy import Policy
from worker.trainer.prompts import Prompt, answer
from worker.trainer.rewards.scorer import Scorer
from worker.trainer.rollout import Request, Sampling
from worker.trainer.run import Run

SAMPLES_PER_PROMPT = 2


@dataclass(frozen=True)
class Distance:
    """Per response, nats: exact KL, and its log-probability under model and reference."""

    kl: list[float]
    logp: list[float]
    ref_logp: list[float]


def evaluate_policy(
    run: Run, policy: Policy, prompts: Sequence[Prompt], sampling: Sampling, scorer: Scorer
) -> dict[str, float]:
    """Comparable reward, exact KL (both with intervals by prompt), length and truncation.

    Sampled with the weights that the policy's sampler has. Responses that could not be scored count
    in everything but the reward, which is missing where none could.
    """
    responses = policy.engine.sample(
        [Request(prompt.id, prompt.ids, SAMPLES_PER_PROMPT) for prompt in prompts],
        sampling,
        seed=run.config.seed,
        stream=("evaluation",),
        between_tokens=run.stop.check,
    )
    pairs = [(p, r) for p, several in zip(prompts, responses, strict=True) for r in several]
    answers = [answer(prompt, response, policy.tokenizer) for prompt, response in pairs]
    reward = scorer.comparable(scorer(answers, learn=False))
    sequences = [a.tokens for a in answers]
    with policy.as_reference() as reference:
        hidden = _hidden_states(run, reference, sequences, sampling.pad_id)
        head = reference.get_output_embeddings()
    distance = _distance(run, policy.causal, hidden, head, sequences, sampling)
    prompt_ids = [prompt.id for prompt, _ in pairs]
    lengths = [float(len(response.ids)) for _, response in pairs]
    return {
        **scored_mean_with_interval("eval/reward", reward, prompt_ids, run.config.seed),
        **mean_with_interval("kl/exact", distance.kl, prompt_ids, run.config.seed),
        "eval/length": fmean(lengths),
        "eval/truncated_fraction": fmean(
            float(response.finish_reason is FinishReason.LENGTH) for _, response in pairs
        ),
        "eval/ref_logp": fmean(distance.ref_logp),
    }


def distance_to(
    run: Run,
    model: PreTrainedModel,
    reference: PreTrainedModel,
    sequences: Sequence[Tokens],
    sampling: Sampling,
) -> Distance:
    """Exact KL and log-probabilities of responses under a model and a reference."""
    hidden = _hidden_states(run, reference, sequences, sampling.pad_id)
    head = reference.get_output_embeddings()
    return _distance(run, model, hidden, head, sequences, sampling)


def _groups(run: Run, sequences: Sequence[Tokens]) -> list[list[int]]:
    return micro_batches_by_prompt(sequences, budget=run.config.optim.tokens_without_grad)


@torch.no_grad()
def _hidden_states(
    run: Run, reference: PreTrainedModel, sequences: Sequence[Tokens], pad_id: int
) -> list[torch.Tensor]:
    hidden = []
    for group in _groups(run, sequences):
        run.stop.check()
        batch = collate([sequences[i] for i in group], pad_id=pad_id, device=run.device)
        with models.autocast(run.device, run.dtype):
            hidden.append(action_hidden(reference, batch))
    return hidden


@torch.no_grad()
def _distance(
    run: Run,
    model: PreTrainedModel,
    ref_hidden: Sequence[torch.Tensor],
    ref_head: nn.Module,
    sequences: Sequence[Tokens],
    sampling: Sampling,
) -> Distance:
    found: dict[int, tuple[float, ...]] = {}
    for group, hidden in zip(_groups(run, sequences), ref_hidden, strict=True):
        run.stop.check()
        batch = collate([sequences[i] for i in group], pad_id=sampling.pad_id, device=run.device)
        with models.autocast(run.device, run.dtype):
            columns = exact_kl(model, hidden, ref_head, batch, temperature=sampling.temperature)
        sizes = [len(sequences[i].response) for i in group]
        sums = [[float(part.sum()) for part in column.split(sizes)] for column in columns]
        found |= {index: values for index, *values in zip(group, *sums, strict=True)}
    ordered = [found[i] for i in range(len(sequences))]
    return Distance(*([row[i] for row in ordered] for i in range(3)))
