"""Sample, score, estimate advantages, update: REINFORCE++ and its relatives.

Called by `__main__`. Told top to bottom in `PolicyGradient.take_step`; the mathematics stands in
`advantages` and `losses`. One step = one rollout with all its updates.
"""

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial

import torch
from torch import Tensor

from backend.schemas.policy_gradient import Gae, PolicyGradientConfig
from backend.schemas.vocabulary import CRITIC_ESTIMATORS
from worker.trainer import losses, precision, random_streams
from worker.trainer.advantages import Advantages, estimate
from worker.trainer.bad_batch import saved_if_not_finite
from worker.trainer.data.tokens import Batch, collate, micro_batches_by_prompt
from worker.trainer.evaluation.breakdown import Breakdown, tell_unknown_keys
from worker.trainer.evaluation.texts import read_texts
from worker.trainer.importance import Weights, weights
from worker.trainer.loop import Loop, check_finite
from worker.trainer.methods.policy_gradient import measure_hash
from worker.trainer.methods.policy_gradient import report as rollout_report
from worker.trainer.methods.policy_gradient.collector import Collector
from worker.trainer.methods.policy_gradient.critic import Critic
from worker.trainer.methods.policy_gradient.evaluation import evaluate_policy
from worker.trainer.methods.policy_gradient.kl_control import KlControl
from worker.trainer.methods.policy_gradient.kl_limit import KlLimit
from worker.trainer.methods.policy_gradient.named_sets import read_named
from worker.trainer.methods.policy_gradient.overlong import penalty_of
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.methods.policy_gradient.prompt_scores import prompt_scores_line
from worker.trainer.methods.policy_gradient.reported import Reported
from worker.trainer.methods.policy_gradient.rollout import Rollout, pad_flat
from worker.trainer.methods.policy_gradient.samples import LoggedRows, sample_lines
from worker.trainer.models import adapters
from worker.trainer.models.logprobs import TokenLogp, action_logp
from worker.trainer.models.tokenizer import declared_ends, load_tokenizer
from worker.trainer.optim import Optimizer
from worker.trainer.output import write_causal_lm
from worker.trainer.rewards.scorer import (
    Scorer,
    build_terms,
    tell_not_normalized,
    tell_statistics_anew,
)
from worker.trainer.run import Run, give_freed_memory_back
from worker.trainer.sampling.prompts import read_both_splits, require_references, sampling_of


def train(run: Run, config: PolicyGradientConfig) -> None:
    """Run the whole method: data, models, steps, evaluations, output."""
    training = PolicyGradient(run, config)
    loop = Loop(
        run,
        training.policy.trained,
        training.optimizer,
        config.steps,
        objective=training.objective,
        measure=measure_hash.of_evaluations(config, training.heldout_prompts, training.more_ends),
        limit=training.kl_limit,
        parts={
            "kl": training.kl_control,
            "kl_limit": training.kl_limit,
            "reward": training.scorer,
            "prompts": training.collector,
            **training.reported.parts,
        },
        tensor_parts={} if training.critic is None else {"critic": training.critic},
    )
    with closing(training.policy.engine):
        loop.go(training.take_step, training.evaluate)
    write_causal_lm(run, training.policy.trained, config.model, training.policy.tokenizer)


class PolicyGradient:
    """Trains a policy; holds everything that lives as long as the run."""

    def __init__(self, run: Run, config: PolicyGradientConfig) -> None:
        self.run, self.config = run, config
        rollout = config.rollout
        # Data that cannot be used is told before any weights are loaded.
        tokenizer = load_tokenizer(config.model, rollout.template)
        train_prompts, self.heldout_prompts = read_both_splits(run.directory, config, tokenizer)
        require_references(run, train_prompts + self.heldout_prompts, config.reward.terms)
        named = read_named(run, config, tokenizer, train_prompts, self.heldout_prompts)
        tell_unknown_keys(run, config.breakdown, [self.heldout_prompts, *named.values()])
        texts = read_texts(run, config, config.model, tokenizer)
        self.policy = Policy(run, config, tokenizer)
        self.sampling = sampling_of(rollout, self.policy.causal, tokenizer)
        declared = declared_ends(self.policy.causal, tokenizer)
        self.more_ends = [one for one in self.sampling.end_ids if one not in declared]
        self.breakdown = Breakdown(run, config.breakdown)
        self.reported = Reported(run, config, self.policy, named, texts, more_ends=self.more_ends)
        terms = build_terms(config.reward.terms, tokenizer, run, system=rollout.system)
        tell_not_normalized(run, config.reward, terms)
        self.scorer = Scorer(
            config.reward,
            terms,
            penalty_of(config),
            measure=measure_hash.of_sums(config),
            on_new_sum=lambda: tell_statistics_anew(run),
        )
        self.collector = Collector(
            run, config, self.policy, train_prompts, self.sampling, self.scorer
        )
        n_responses = config.n_responses
        self.minibatch_size = min(config.minibatch_size or n_responses, n_responses)
        updates = -(-n_responses // self.minibatch_size) * config.epochs_per_rollout
        self.is_single_update = updates == 1
        self.optimizer = Optimizer(
            adapters.trainable(self.policy.trained), config.optim, config.steps * updates
        )
        self.critic: Critic | None = None
        if config.estimator in CRITIC_ESTIMATORS:
            self.critic = Critic(run, config, self.policy, total_steps=config.steps * updates)
        self.n_steps_before = 0
        self.kl_control = KlControl(config.kl, n_samples=n_responses)
        self.kl_limit = KlLimit(config.kl.max)
        first_prompt = tokenizer.decode(train_prompts[0].ids)
        run.events.alert(
            "rendered_prompt",
            f"The first prompt as the model reads it: {first_prompt}",
            level="info",
        )
        if not self.heldout_prompts:
            run.events.alert(
                "no_heldout",
                "The snapshot has no held-out prompts, so the output is the model of the last "
                "step.",
            )

    def take_step(self, step: int) -> dict[str, float]:
        """Sample one rollout and update the policy by it; return the metrics of the step."""
        self.n_steps_before = self.optimizer.n_steps
        self.policy.refresh_sampler(self.optimizer.n_steps)
        rollout = self.collector.collect(step)
        minibatches = self._partition(rollout, step)
        started_at = time.monotonic()
        give_freed_memory_back()
        kept = self._log_probabilities(rollout, minibatches)
        rollout.seconds["logprob"] = time.monotonic() - started_at
        advantages = self._advantages(rollout)
        coef = self.kl_control.coef
        self.run.events.progress(step - 1, self.config.steps, "update")
        started_at = time.monotonic()
        give_freed_memory_back()
        values = {"lr": self.optimizer.lr, "kl/coef": coef}
        updates = [
            self._update(rollout, advantages, groups, kept, step)
            for _ in range(self.config.epochs_per_rollout)
            for groups in minibatches
        ]
        rollout.seconds["update"] = time.monotonic() - started_at
        rollout.importance = self._importance(rollout)
        self.run.events.tokens += rollout.n_tokens
        values |= rollout_report.mean_of(updates)
        values |= rollout_report.metrics(rollout, advantages)
        spread = rollout_report.distributions(rollout, advantages)
        if spread:
            self.run.events.distributions(step, spread)
        self.run.events.prompt_scores(prompt_scores_line(step, rollout.asked))
        values["optimizer_steps"] = float(self.optimizer.n_steps)
        if rollout.n_unscored > 0:
            self.run.events.alert(
                "unscored",
                f"Left out {rollout.n_unscored} of {len(rollout.responses)} responses, because "
                "their reward or that of their greedy baseline is not finite.",
                step=step,
            )
        if "kl/response" in values:
            self.kl_control.update(values["kl/response"])
            self.kl_limit.sampled(values["kl/response"])
        if "reward/mean" not in values:
            self.run.events.alert(
                "nothing_to_train",
                "All responses of this step were left out, so nothing was trained.",
                step=step,
            )
        if (step - 1) % self.config.log.samples_every == 0:
            self._log_samples(rollout, advantages, step)
        return values

    def _log_samples(self, rollout: Rollout, advantages: Advantages, step: int) -> None:
        logged = LoggedRows(rollout, self.config.log)
        has_trained = self.optimizer.n_steps > self.n_steps_before
        asks = has_trained and logged.detailed
        new_logp = self._logp_of(rollout, logged.detailed) if asks else {}
        tokenizer = self.policy.tokenizer
        for line in sample_lines(rollout, advantages, logged, new_logp, step, tokenizer):
            self.run.events.sample(line)

    @torch.no_grad()
    def _logp_of(self, rollout: Rollout, rows: Sequence[int]) -> dict[int, list[float]]:
        """Log-probabilities of the tokens of these rows under the policy as it is now, nats."""
        sequences = [rollout.answers[row].tokens for row in rows]
        budget = self.config.optim.tokens_without_grad
        found: dict[int, list[float]] = {}
        for places in micro_batches_by_prompt(sequences, budget=budget):
            group = [rows[place] for place in places]
            logp_N = self._forward(self.policy.causal, rollout, group).logp_N.cpu()
            sizes = [len(rollout.responses[row].ids) for row in group]
            parts = (part.tolist() for part in logp_N.split(sizes))
            found |= dict(zip(group, parts, strict=True))
        return found

    def evaluate(self, step: int) -> dict[str, float]:
        """The named sets, the texts, and reward and exact KL on the held-out prompts."""
        if not self.heldout_prompts and not self.reported:
            return {}
        self.reported.ask_reference(self.scorer)
        self.policy.refresh_sampler(self.optimizer.n_steps)
        values = self.reported.metrics(self.scorer, self.breakdown)
        return values | self._heldout(step) if self.heldout_prompts else values

    def _heldout(self, step: int) -> dict[str, float]:
        """Evaluate on held-out prompts, which choose the output; above `kl.max` the run ends."""
        with self.policy.reference_at_hand():
            values, probes = evaluate_policy(
                self.run,
                self.policy,
                self.heldout_prompts,
                self.sampling,
                self.scorer,
                breakdown=self.breakdown,
                step=step,
                n_probes=self.config.log.probes,
                critic=self.critic,
            )
        for line in probes:
            self.run.events.sample(line)
        if "eval/reward" in values:
            values["eval/objective"] = self._reward_less_kl(values)
        self.kl_limit.measured(values["kl/exact"])
        if self.kl_limit.is_passed:
            self.run.events.alert(
                "kl_max",
                f"kl/exact is {values['kl/exact']:.3g} nats per response, above kl.max "
                f"{self.config.kl.max:g}: the run ends. Its output is the model of the best "
                "evaluation within kl.max; if there is none, the run fails.",
            )
        return values

    def objective(self, values: Mapping[str, float]) -> float:
        """How good an evaluation was by what is trained today; -inf above `kl.max`.

        By the reward alone the farthest policy would win.
        """
        if "eval/reward" not in values or not self.kl_limit.allows(values["kl/exact"]):
            return -math.inf
        return self._reward_less_kl(values)

    def _reward_less_kl(self, values: Mapping[str, float]) -> float:
        """Reward - coef * KL with the coefficient of the next step, in units of `eval/reward`."""
        price = self.kl_control.coef * self.scorer.unit
        return values["eval/reward"] - price * values["kl/exact"]

    def _partition(self, rollout: Rollout, step: int) -> list[list[list[int]]]:
        """Minibatches of micro-batches of rows; the same for the old log-probs and all epochs.

        Prompts are shuffled, not responses: those of one prompt stay next to each other.
        """
        rows_of: dict[int, list[int]] = {}
        for row, prompt in enumerate(rollout.group_B.tolist()):
            rows_of.setdefault(prompt, []).append(row)
        families = list(rows_of.values())
        order = random_streams.permutation(len(families), self.config.seed, "minibatches", step)
        shuffled = [row for place in order for row in families[place]]
        minibatches = []
        for start in range(0, len(shuffled), self.minibatch_size):
            rows = sorted(shuffled[start : start + self.minibatch_size])
            sequences = [rollout.answers[row].tokens for row in rows]
            budget = self.config.optim.micro_batch_tokens
            groups = micro_batches_by_prompt(sequences, budget=budget)
            minibatches.append([[rows[i] for i in group] for group in groups])
        return minibatches

    def _log_probabilities(
        self, rollout: Rollout, minibatches: list[list[list[int]]]
    ) -> list[TokenLogp]:
        """Fill in the log-probabilities under the policy, and under the reference if asked for.

        Where one update is all there is and `micro_batch_tokens` holds the whole rollout, the
        policy's forward keeps its gradient and is returned, so that it need not run twice.
        Otherwise the list is empty, and what nothing needs before the update is left to it.
        """
        groups = [group for minibatch in minibatches for group in minibatch]
        keeps_gradient = self.is_single_update and len(groups) == 1
        columns = torch.zeros(3, *rollout.mask_B_T.shape)
        rollout.logp_B_T, rollout.entropy_B_T, value_B_T = columns
        rollout.value_B_T = None if self.critic is None else value_B_T
        kept: list[TokenLogp] = []
        if not keeps_gradient and not self._is_needed_before(rollout):
            rollout.logp_B_T.fill_(torch.nan)  # until the update has put them there
            groups = []
        for group in groups:
            self.run.stop.check()
            with torch.set_grad_enabled(keeps_gradient):
                found = self._forward(self.policy.causal, rollout, group)
            self._estimate_values(rollout, group, found)
            if keeps_gradient:
                kept.append(found)
            rollout.put_found(group, found)
        if self.policy.has_reference_in_steps:
            rollout.ref_logp_B_T = self._reference_logp(rollout)
        return kept

    def _reference_logp(self, rollout: Rollout) -> Tensor:
        """Log-probabilities of all response tokens under the reference, B x T, nats."""
        ref_logp_B_T = torch.zeros(rollout.mask_B_T.shape)
        budget = self.config.optim.tokens_without_grad
        sequences = [answer.tokens for answer in rollout.answers]
        for group in micro_batches_by_prompt(sequences, budget=budget):
            self.run.stop.check()
            with self.policy.as_reference() as reference:
                found = self._forward(reference, rollout, group)
            rollout.put(ref_logp_B_T, group, found.logp_N)
        return ref_logp_B_T

    def _is_needed_before(self, rollout: Rollout) -> bool:
        """Whether the policy's log-probabilities are asked for before the one update gives them.

        By later updates, advantages, values; by the report of a step without an update.
        """
        asked_for = not self.is_single_update or self._has_kl_in_reward or self.critic is not None
        return asked_for or not rollout.mask_B_T.any()

    @torch.no_grad()
    def _estimate_values(self, rollout: Rollout, group: list[int], found: TokenLogp) -> None:
        if rollout.value_B_T is None:
            return
        value_B_T = self._values(rollout, group, found).cpu()
        rollout.value_B_T[group, : value_B_T.shape[1]] = value_B_T

    def _values(self, rollout: Rollout, group: list[int], found: TokenLogp) -> Tensor:
        assert self.critic is not None  # asked for by ppo alone
        lengths = [len(rollout.responses[row].ids) for row in group]
        with precision.autocast(self.run.device, self.run.dtype):
            value_N = self.critic.values(self._batch(rollout, group), found.hidden_N_H)
        return pad_flat(value_N, lengths)

    @property
    def _has_kl_in_reward(self) -> bool:
        return self.config.kl.place == "reward" and self.kl_control.coef > 0

    def _advantages(self, rollout: Rollout) -> Advantages:
        config = self.config
        gae = config.gae or Gae()
        kl_B_T = torch.zeros(rollout.mask_B_T.shape)
        if self._has_kl_in_reward and rollout.ref_logp_B_T is not None:
            kl_B_T = losses.kl(rollout.logp_B_T, rollout.ref_logp_B_T, config.kl.estimator)
        return estimate(
            config.estimator,
            reward_B=torch.tensor(rollout.scores.reward, dtype=torch.float64),
            kl_B_T=kl_B_T,
            mask_B_T=rollout.mask_B_T,
            group_B=rollout.group_B,
            kl_coef=self.kl_control.coef,
            gamma=gae.gamma,
            lam=gae.lam if config.estimator in CRITIC_ESTIMATORS else 1.0,
            value_B_T=rollout.value_B_T,
            greedy_reward_B=rollout.greedy_reward_B,
            shaped_clip=config.reward.clip if config.reward.clip_after_baseline else None,
        )

    def _importance(self, rollout: Rollout) -> Weights | None:
        """Weigh the tokens of a rollout; None where sampler and trainer compute alike."""
        config = self.config.importance
        if config is None or not self._is_off_policy:
            return None
        return weights(rollout.logp_B_T, rollout.sampler_logp_B_T, rollout.mask_B_T, config)

    @property
    def _is_off_policy(self) -> bool:
        """Whether the sampler's probabilities differ from ours by more than fp32 rounds.

        In bf16 another batch shape alone moves a log-probability by some hundredths of a nat.
        """
        return self.config.rollout.engine != "transformers" or self.run.dtype != torch.float32

    def _update(
        self,
        rollout: Rollout,
        advantages: Advantages,
        groups: list[list[int]],
        kept: list[TokenLogp],
        step: int,
    ) -> dict[str, float]:
        """One optimizer step over a minibatch; the denominator is that of the whole minibatch."""
        rows = [row for group in groups for row in group]
        n_actions = int(rollout.mask_B_T[rows].sum())
        if n_actions == 0:
            return {}
        parts = []
        sequences = [rollout.answers[row].tokens for row in rows]
        known = partial(rollout_report.columns, rollout, advantages, rows)
        with saved_if_not_finite(self.run, step, sequences, known):
            for place, group in enumerate(groups):
                if self.optimizer.n_steps == self.n_steps_before:
                    self.run.stop.check()  # not between updates: a step is whole or not at all
                found = kept[place] if kept else self._forward(self.policy.causal, rollout, group)
                if self.is_single_update:
                    rollout.put_found(group, found)
                loss, report = self._loss(rollout, advantages, group, found, rows)
                check_finite(loss, step)
                loss.backward()
                parts.append((int(rollout.mask_B_T[group].sum()) / n_actions, report))
            values = rollout_report.combine(parts) | {"grad_norm": self.optimizer.step()}
            return values | (self.critic.step() if self.critic is not None else {})

    def _loss(
        self,
        rollout: Rollout,
        advantages: Advantages,
        group: list[int],
        found: TokenLogp,
        rows: list[int],
    ) -> tuple[Tensor, rollout_report.UpdateReport]:
        config, device = self.config, self.run.device
        lengths = [len(rollout.responses[row].ids) for row in group]
        width = max(lengths)
        mask_B_T = rollout.mask_B_T[group, :width].to(device)
        logp_B_T = pad_flat(found.logp_N, lengths)
        # With one update per rollout the old policy is this very forward: the ratio is exactly 1.
        old_B_T = logp_B_T.detach()
        if not self.is_single_update:
            old_B_T = rollout.logp_B_T[group, :width].to(device)
        denominator = _denominator(config, rollout.mask_B_T[rows], self.sampling.max_new_tokens)
        advantage_B_T = advantages.advantage_B_T[group, :width]
        if config.importance is not None and self._is_off_policy:
            # A weight >= 0 on the loss of a token is one on its advantage, clipped or not.
            sampler_logp_B_T = rollout.sampler_logp_B_T[group, :width].to(device)
            weighed = weights(old_B_T, sampler_logp_B_T, mask_B_T, config.importance)
            advantage_B_T = advantage_B_T.to(device) * weighed.weight_B_T
        policy = losses.policy_loss(
            logp_B_T,
            old_B_T,
            advantage_B_T.to(device),
            mask_B_T,
            clip_low=config.clip.low,
            clip_high=config.clip.high,
            dual_clip=config.clip.dual,
            average=config.loss_average,
            denominator=denominator,
        )
        loss, n_actions = policy.loss, float(rollout.mask_B_T[rows].sum())
        if config.kl.place == "loss" and rollout.ref_logp_B_T is not None:
            ref_B_T = rollout.ref_logp_B_T[group, :width].to(device)
            kl_B_T = losses.kl(logp_B_T, ref_B_T, config.kl.estimator)
            kl_mean = losses.aggregate(kl_B_T, mask_B_T, average="token", denominator=n_actions)
            loss = loss + self.kl_control.coef * kl_mean
        if config.entropy_coef > 0:
            entropy_B_T = pad_flat(found.entropy_N, lengths)
            bonus = losses.aggregate(entropy_B_T, mask_B_T, average="token", denominator=n_actions)
            loss = loss - config.entropy_coef * bonus
        if self.critic is None or rollout.value_B_T is None:
            return loss, rollout_report.UpdateReport.of(policy, loss)
        added, value = self.critic.loss(
            self._values(rollout, group, found),
            rollout.value_B_T[group, :width].to(device),
            advantages.return_B_T[group, :width].to(device),
            mask_B_T,
            denominator=n_actions,
        )
        return loss + added, rollout_report.UpdateReport.of(policy, loss, value)

    def _batch(self, rollout: Rollout, group: Sequence[int]) -> Batch:
        return collate(
            [rollout.answers[row].tokens for row in group],
            pad_id=self.sampling.pad_id,
            device=self.run.device,
        )

    def _forward(
        self, causal: torch.nn.Module, rollout: Rollout, group: Sequence[int]
    ) -> TokenLogp:
        with precision.autocast(self.run.device, self.run.dtype):
            return action_logp(
                causal,
                self._batch(rollout, group),
                temperature=self.sampling.temperature,
                entropy_gradient=self.config.entropy_coef > 0,
            )


def _denominator(config: PolicyGradientConfig, mask_B_T: Tensor, max_new_tokens: int) -> float:
    if config.loss_average == "token":
        return float(mask_B_T.sum())
    n_rows = float(mask_B_T.any(dim=1).sum())  # a response that is left out divides nothing
    return n_rows if config.loss_average == "sequence" else n_rows * max_new_tokens
