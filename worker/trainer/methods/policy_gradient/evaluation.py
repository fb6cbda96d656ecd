"""How good a policy is on prompts that it does not train on, and how far from its reference.

Used by policy_gradient, every `eval_every` steps. Every evaluation uses the same
random numbers, so that two differ by what the policy learned and not by luck.
"""

from collections.abc import Sequence
from statistics import fmean

from backend.schemas.vocabulary import FinishReason
from worker.trainer.evaluation.bootstrap import mean_with_interval, scored_mean_with_interval
from worker.trainer.evaluation.distance import distance_from, hidden_states
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.rewards.scorer import Scorer
from worker.trainer.run import Run
from worker.trainer.sampling.decoding import Request, Sampling
from worker.trainer.sampling.prompts import Prompt, answer

SAMPLES_PER_PROMPT = 2


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
        hidden = hidden_states(run, reference, sequences, sampling.pad_id)
        head = reference.get_output_embeddings()
    distance = distance_from(run, policy.causal, hidden, head, sequences, sampling)
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
