"""Collect one step's rollout: choose prompts, sample responses, score them.

Owned by policy_gradient. It moves on in the prompts and in the reward's running statistics; it
trains nothing and computes no advantage.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.vocabulary import Estimator
from worker.trainer.loop import records_after
from worker.trainer.policy import Policy
from worker.trainer.prompts import Prompt, answer
from worker.trainer.rewards.answer import Answer
from worker.trainer.rewards.scorer import Scorer
from worker.trainer.rollout import Request, Response, Sampling, sample
from worker.trainer.rollout_batch import Rollout, action_mask, pad_rows, requests_of
from worker.trainer.run import Run


@dataclass
class _Account:
    """What the step has cost so far: seconds by phase, and tokens that were sampled."""

    seconds: dict[str, float] = field(default_factory=lambda: {"rollout": 0.0, "reward": 0.0})
    n_sampled: int = 0

    @contextmanager
    def spending(self, phase: str) -> Iterator[None]:
        """Count the seconds of the block to a phase."""
        started_at = time.monotonic()
        yield
        self.seconds[phase] += time.monotonic() - started_at


class Collector:
    """`train_prompts` in random order, epoch after epoch; how many were taken is its state."""

    def __init__(
        self,
        run: Run,
        config: PolicyGradientConfig,
        policy: Policy,
        train_prompts: Sequence[Prompt],
        sampling: Sampling,
        scorer: Scorer,
    ) -> None:
        self._run, self._config, self._policy = run, config, policy
        self._train_prompts, self._sampling, self._scorer = train_prompts, sampling, scorer
        self._n_taken = 0

    def state(self) -> dict[str, Any]:
        """How many prompts were taken."""
        return {"n_taken": self._n_taken}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on after the prompts of a checkpoint."""
        self._n_taken = int(state["n_taken"])

    def collect(self, step: int) -> Rollout:
        """The rollout of a step, without log-probabilities."""
        config, account = self._config, _Account()
        n_samples = config.rollout.samples_per_prompt
        self._policy.refresh_sampler()
        chosen = self._take(config.rollout.prompts_per_step)
        responses = self._respond(requests_of(chosen, n_samples), step, self._sampling, account)
        prompts = [prompt for prompt in chosen for _ in range(n_samples)]
        answers = self._answers(prompts, responses)
        with self._scoring(step, account):
            scores = self._scorer(answers, learn=True)
        comparable = scores.reward
        greedy_B: list[float] | None = None
        if config.estimator is Estimator.REMAX:
            rewards = self._greedy_rewards(chosen, step, account)
            greedy_B = [rewards[prompt.id] for prompt in prompts]
            comparable = [r - g for r, g in zip(scores.reward, greedy_B, strict=True)]
        return Rollout(
            prompts=prompts,
            responses=responses,
            answers=answers,
            scores=scores,
            group_B=torch.arange(len(chosen)).repeat_interleave(n_samples),
            mask_B_T=action_mask(responses, comparable, masks_overlong=config.overlong == "mask"),
            sampler_logp_B_T=pad_rows([response.logp for response in responses]),
            seconds=account.seconds,
            n_sampled=account.n_sampled,
            greedy_reward_B=None if greedy_B is None else torch.tensor(greedy_B).double(),
        )

    def _take(self, count: int) -> list[Prompt]:
        seed, prompts = self._config.seed, self._train_prompts
        indices = records_after(len(prompts), self._n_taken, count, seed=seed)
        self._n_taken += count
        return [prompts[i] for i in indices]

    def _respond(
        self, requests: Sequence[Request], step: int, sampling: Sampling, account: _Account
    ) -> list[Response]:
        self._run.events.progress(step - 1, self._config.steps, "rollout")
        with account.spending("rollout"):
            found = sample(
                self._policy.sampler,
                requests,
                sampling,
                seed=self._config.seed,
                stream=("rollout", step),
                between_tokens=self._run.stop.check,
            )
        responses = [response for several in found for response in several]
        account.n_sampled += sum(len(response.ids) for response in responses)
        return responses

    def _answers(self, prompts: Sequence[Prompt], responses: Sequence[Response]) -> list[Answer]:
        tokenizer = self._policy.tokenizer
        return [answer(p, r, tokenizer) for p, r in zip(prompts, responses, strict=True)]

    @contextmanager
    def _scoring(self, step: int, account: _Account) -> Iterator[None]:
        self._run.events.progress(step - 1, self._config.steps, "reward")
        with account.spending("reward"):
            yield

    def _greedy_rewards(
        self, chosen: Sequence[Prompt], step: int, account: _Account
    ) -> dict[str, float]:
        """Reward of the greedy response by prompt id; the running statistics do not see it."""
        prompts = list({prompt.id: prompt for prompt in chosen}.values())
        sampling = replace(self._sampling, greedy=True)
        responses = self._respond(requests_of(prompts, 1), step, sampling, account)
        with self._scoring(step, account):
            rewards = self._scorer(self._answers(prompts, responses), learn=False).reward
        return {prompt.id: reward for prompt, reward in zip(prompts, rewards, strict=True)}
