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
from backend.schemas.vocabulary import GREEDY_ESTIMATORS
from worker.trainer.advantages import are_equal
from worker.trainer.bad_batch import saved_if_not_finite
from worker.trainer.data.tokens import Tokens
from worker.trainer.loop import records_after
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.methods.policy_gradient.rollout import (
    AskedPrompt,
    Rollout,
    action_mask,
    pad_rows,
    requests_of,
)
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.rewards.scorer import Scorer, Scores
from worker.trainer.run import Run
from worker.trainer.sampling.beside import graded_beside
from worker.trainer.sampling.decoding import Request, Response, Sampling
from worker.trainer.sampling.prompts import Prompt, answer


@dataclass(frozen=True)
class _Group:
    """A prompt with its responses and what they scored."""

    prompt: Prompt
    responses: list[Response]
    answers: list[SampledResponse]
    scores: Scores


@dataclass
class _Account:
    """What a step has cost so far: seconds by phase, tokens sampled; and all that was asked."""

    seconds: dict[str, float] = field(default_factory=lambda: {"rollout": 0.0, "reward": 0.0})
    n_sampled: int = 0
    groups: list[_Group] = field(default_factory=list)

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
        self._masks_overlong = config.overlong == "mask"
        self._n_taken = 0

    def state(self) -> dict[str, Any]:
        """The state that a checkpoint keeps: how many prompts were taken."""
        return {"n_taken": self._n_taken}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on after the prompts of a checkpoint."""
        self._n_taken = int(state["n_taken"])

    def collect(self, step: int) -> Rollout:
        """The rollout of a step by the policy's sampler, without log-probabilities."""
        account = _Account()
        groups = self._answered(self._config.rollout.prompts_per_step, step, account)
        n_replaced = self._replace_without_signal(groups, step, account)
        # Later prompts have moved the running statistics: one normalization for all.
        scores = self._scorer.normalized(Scores.joined([group.scores for group in groups]))
        greedy_B = self._greedy_rewards(groups, step, account)
        comparable = [r - g for r, g in zip(scores.reward, greedy_B, strict=True)]
        responses = [response for group in groups for response in group.responses]
        sizes = torch.tensor([len(group.responses) for group in groups])
        return Rollout(
            prompts=[group.prompt for group in groups for _ in group.responses],
            responses=responses,
            answers=[answer for group in groups for answer in group.answers],
            scores=scores,
            group_B=torch.arange(len(groups)).repeat_interleave(sizes),
            mask_B_T=action_mask(responses, comparable, masks_overlong=self._masks_overlong),
            sampler_logp_B_T=pad_rows([response.logp for response in responses]),
            seconds=account.seconds,
            n_sampled=account.n_sampled,
            asked=[AskedPrompt(one.prompt.id, one.scores) for one in account.groups],
            greedy_reward_B=torch.tensor(greedy_B).double() if self._is_greedy else None,
            n_replaced=n_replaced if self._config.dynamic_sampling is not None else None,
        )

    def _answered(self, n_prompts: int, step: int, account: _Account) -> list[_Group]:
        """The next prompts, sampled and scored."""
        chosen = self._take(n_prompts)
        n_samples = self._config.rollout.samples_per_prompt
        # Of all that were asked in this step, so that a prompt that comes again draws anew.
        before = [group.prompt for group in account.groups]
        requests = requests_of([*before, *chosen], n_samples)[len(before) :]
        asked = [Tokens(request.prompt, []) for request in requests]
        with saved_if_not_finite(self._run, step, asked):
            responses = self._respond(chosen, requests, step, self._sampling, account)
        answers = [self._answers(p, r) for p, r in zip(chosen, responses, strict=True)]
        scores = self._score([a for several in answers for a in several], step, account, learn=True)
        groups = [
            _Group(*found, scores.rows(i * n_samples, (i + 1) * n_samples))
            for i, found in enumerate(zip(chosen, responses, answers, strict=True))
        ]
        account.groups += groups
        return groups

    def _replace_without_signal(self, groups: list[_Group], step: int, account: _Account) -> int:
        """Put new prompts in place of those without a signal, up to the limit; how many it took.

        What is without a signal when the limit is reached stays.
        """
        dynamic, n_replaced = self._config.dynamic_sampling, 0
        while dynamic is not None and n_replaced < dynamic.max_replacements:
            idle = [i for i, group in enumerate(groups) if not self._has_signal(group)]
            places = idle[: dynamic.max_replacements - n_replaced]
            if not places:
                break
            found = self._answered(len(places), step, account)
            for place, group in zip(places, found, strict=True):
                groups[place] = group
            n_replaced += len(places)
        return n_replaced

    def _has_signal(self, group: _Group) -> bool:
        """Whether some of the responses that count are correct and some are not.

        Where no term judges that: whether they differ in their reward.
        """
        reward, passed = group.scores.reward, group.scores.passed
        mask_B_T = action_mask(group.responses, reward, masks_overlong=self._masks_overlong)
        judged = all(one is not None for one in passed)
        signal_B = torch.tensor(passed if judged else reward, dtype=torch.float64)
        return not are_equal(signal_B[mask_B_T.any(dim=1)])

    def _take(self, count: int) -> list[Prompt]:
        seed, prompts = self._config.seed, self._train_prompts
        indices = records_after(len(prompts), self._n_taken, count, seed=seed)
        self._n_taken += count
        return [prompts[i] for i in indices]

    def _respond(
        self,
        prompts: Sequence[Prompt],
        requests: Sequence[Request],
        step: int,
        sampling: Sampling,
        account: _Account,
    ) -> list[list[Response]]:
        self._run.events.progress(step - 1, self._config.steps, "rollout")
        beside = graded_beside(self._scorer, prompts, self._policy.tokenizer)
        with account.spending("rollout"), beside as on_response:
            found = self._policy.engine.sample(
                requests,
                sampling,
                seed=self._config.seed,
                stream=("rollout", step),
                between_tokens=self._run.stop.check,
                on_response=on_response,
            )
        account.n_sampled += sum(len(r.ids) for responses in found for r in responses)
        return found

    def _answers(self, prompt: Prompt, responses: Sequence[Response]) -> list[SampledResponse]:
        return [answer(prompt, response, self._policy.tokenizer) for response in responses]

    def _score(
        self, answers: Sequence[SampledResponse], step: int, account: _Account, *, learn: bool
    ) -> Scores:
        self._run.events.progress(step - 1, self._config.steps, "reward")
        with account.spending("reward"):
            return self._scorer(answers, learn=learn)

    @property
    def _is_greedy(self) -> bool:
        return self._config.estimator in GREEDY_ESTIMATORS

    def _greedy_rewards(
        self, groups: Sequence[_Group], step: int, account: _Account
    ) -> list[float]:
        """Return for each response the reward of its prompt's greedy response for remax, else 0.

        The running statistics do not see it.
        """
        rewards = dict.fromkeys((group.prompt.id for group in groups), 0.0)
        if self._is_greedy:
            prompts = list({group.prompt.id: group.prompt for group in groups}.values())
            sampling = replace(self._sampling, greedy=True)
            found = self._respond(prompts, requests_of(prompts, 1), step, sampling, account)
            answers = [self._answers(p, r)[0] for p, r in zip(prompts, found, strict=True)]
            scores = self._score(answers, step, account, learn=False)
            rewards = dict(zip(rewards, scores.reward, strict=True))
        return [rewards[group.prompt.id] for group in groups for _ in group.responses]
