"""How good a policy is on prompts that it does not train on, and how far from its reference.

Used by policy_gradient before the first step, every `eval_every` steps, after the last one, and at
once where a rollout is above `kl.max`. Every evaluation uses the same random numbers, so that two
differ by what the policy learned and not by luck.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from backend.schemas.run_directory.events import SampleLine
from worker.trainer import precision
from worker.trainer.data.token_ids import kept_ids
from worker.trainer.data.tokens import collate
from worker.trainer.evaluation.breakdown import Breakdown
from worker.trainer.evaluation.distance import distance_from, hidden_states
from worker.trainer.evaluation.graded import pass_rate, tell_unscored
from worker.trainer.evaluation.rows import Measured
from worker.trainer.evaluation.with_interval import (
    mean_with_interval,
    rate_with_interval,
    score_with_interval,
)
from worker.trainer.methods.policy_gradient.critic import Critic
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.methods.policy_gradient.samples import rounded
from worker.trainer.models.logprobs import action_logp
from worker.trainer.rewards.scorer import Scorer, Scores
from worker.trainer.run import Run
from worker.trainer.sampling.answers import Sampled, all_sampled
from worker.trainer.sampling.beside import graded_beside
from worker.trainer.sampling.decoding import Request, Sampling
from worker.trainer.sampling.prompts import Prompt, token_texts

SAMPLES_PER_PROMPT = 2


def evaluate_policy(
    run: Run,
    policy: Policy,
    prompts: Sequence[Prompt],
    sampling: Sampling,
    scorer: Scorer,
    *,
    breakdown: Breakdown,
    step: int,
    n_probes: int,
    critic: Critic | None,
) -> tuple[dict[str, float], list[SampleLine]]:
    """Comparable reward, exact KL (both with intervals by prompt), length and truncation.

    The same but for the KL by the parts of `breakdown`.

    Also the first response to each of the first `n_probes` prompts, token by token, with what the
    `critic` expected. Sampled with
    the weights that the policy's sampler has. Responses that could not be scored count in
    everything but the reward, which is missing where none could; an alert says how many there were.
    """
    with graded_beside(scorer, prompts, policy.tokenizer) as on_response:
        responses = policy.engine.sample(
            [Request(prompt.id, prompt.ids, SAMPLES_PER_PROMPT) for prompt in prompts],
            sampling,
            seed=run.config.seed,
            stream=("evaluation",),
            between_tokens=run.stop.check,
            on_response=on_response,
        )
    sampled = all_sampled(prompts, responses, policy.tokenizer)
    scores = scorer([one.answer for one in sampled], learn=False)
    reward = scorer.comparable(scores)
    tell_unscored(run.events, reward, "the held-out reward leaves them out.", step=step)
    measured = Measured(sampled, replace(scores, reward=reward), pass_reward=None)
    sequences = [one.answer.tokens for one in sampled]
    with policy.as_reference() as reference:
        hidden = hidden_states(run, reference, sequences, sampling.pad_id)
        head = reference.get_output_embeddings()
    distance = distance_from(run, policy.causal, hidden, head, sequences, sampling)
    prompt_ids = measured.prompt_ids
    values = {
        **score_with_interval("eval/reward", reward, prompt_ids, most=measured.scores.most),
        **rate_with_interval(
            "eval/coverage", list(map(float, map(math.isfinite, reward))), prompt_ids
        ),
        **pass_rate(scores, prompt_ids),
        **mean_with_interval("kl/exact", distance.kl, prompt_ids),
        **mean_with_interval("eval/length", measured.lengths, prompt_ids),
        **rate_with_interval(
            "eval/truncated_fraction", [float(row.is_cut) for row in measured.rows], prompt_ids
        ),
        **mean_with_interval("eval/ref_logp", distance.ref_logp, prompt_ids),
    }
    rows = range(0, SAMPLES_PER_PROMPT * min(n_probes, len(prompts)), SAMPLES_PER_PROMPT)
    lines = [
        _probe_line(step, sampled[row], scores.rows(row, row + 1), reward[row]) for row in rows
    ]
    tokens = _token_values(run, policy, critic, [sampled[row] for row in rows], sampling)
    values |= _parts_of(values, breakdown(measured.rows, "eval/"))
    return values, [_with_tokens(line, told) for line, told in zip(lines, tokens, strict=True)]


def _parts_of(whole: Mapping[str, float], parts: Mapping[str, float]) -> dict[str, float]:
    """Keep each `eval/NAME/KEY.VALUE` whose `eval/NAME` is known of all prompts."""
    return {name: value for name, value in parts.items() if name.rpartition("/")[0] in whole}


def _probe_line(step: int, one: Sampled, scores: Scores, reward: float) -> SampleLine:
    named = {name: values[0] for name, values in scores.terms.items()}
    return SampleLine(
        kind="probe",
        step=step,
        prompt=one.prompt.text,
        response=one.answer.text,
        prompt_id=one.prompt.id,
        finish_reason=one.response.finish_reason,
        scores={**named, "reward": reward, "n_tokens": float(len(one.response.ids))},
        passed=scores.passed[0],
        why=scores.why(0),
        **one.prompt.known,
    )


def _with_tokens(line: SampleLine, told: Mapping[str, Any]) -> SampleLine:
    """Add what is told of the tokens; the KL of the response is the sum of theirs, as elsewhere."""
    scores = line.scores | {"kl": sum(told["kl"])}
    return line.model_copy(update={**told, "scores": scores})


@torch.no_grad()
def _token_values(
    run: Run,
    policy: Policy,
    critic: Critic | None,
    responses: Sequence[Sampled],
    sampling: Sampling,
) -> list[dict[str, Any]]:
    """Texts, log-probabilities, KL (that of the token, k1), entropies and values of responses."""
    told = []
    for one in responses:
        run.stop.check()
        sequence = one.answer.tokens
        batch = collate([sequence], pad_id=sampling.pad_id, device=run.device)
        with precision.autocast(run.device, run.dtype):
            now = action_logp(policy.causal, batch, temperature=sampling.temperature)
            with policy.as_reference() as reference:
                ref = action_logp(reference, batch, temperature=sampling.temperature)
            value_N = None if critic is None else critic.values(batch, now.hidden_N_H)
        told.append(
            {
                "token_ids": kept_ids(sequence, policy.tokenizer),
                "tokens": token_texts(sequence.response, policy.tokenizer),
                "logp": rounded(now.logp_N.tolist()),
                "sampler_logp": rounded(one.response.logp),
                "kl": rounded((now.logp_N - ref.logp_N).tolist()),
                "entropy": rounded(now.entropy_N.tolist()),
                "value": None if value_N is None else rounded(value_N.tolist()),
            }
        )
    return told
