"""How good a policy is on the named sets of its config, which choose nothing.

Called at every evaluation. The random numbers are always the same, and those of an evaluate run
with the same seed; as there, no over-long penalty is part of the reward.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from transformers import PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.sections import EvaluationSet
from worker.trainer.evaluation.breakdown import Breakdown
from worker.trainer.evaluation.measures import measures
from worker.trainer.evaluation.rows import Measured
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.rewards.scorer import Scorer
from worker.trainer.run import Run
from worker.trainer.sampling.answers import Sampled, all_sampled, read_set
from worker.trainer.sampling.beside import graded_beside
from worker.trainer.sampling.decoding import Request
from worker.trainer.sampling.prompts import Prompt, require_references, sampling_of


def read_named(
    run: Run,
    config: PolicyGradientConfig,
    tokenizer: PreTrainedTokenizerBase,
    heldout: Sequence[Prompt],
) -> dict[str, list[Prompt]]:
    """The prompts of each set by its name, read before any weights are loaded.

    Warns of those that are among `heldout`, which choose the output, and of those without the
    reference that a reward term needs. Raises DataError where no prompt of a set has one.
    """
    found = {
        one.name: read_set(run, config, one, tokenizer, config.model)
        for one in config.evaluation_sets
    }
    for name, prompts in found.items():
        _tell_chosen_on(run, name, prompts, heldout)
        require_references(run, prompts, config.reward.terms, of=f" of the evaluation set {name}")
    return found


class NamedSets:
    """The sets with their prompts."""

    def __init__(
        self,
        run: Run,
        config: PolicyGradientConfig,
        policy: Policy,
        prompts: Mapping[str, Sequence[Prompt]],
    ) -> None:
        self._run, self._config, self._policy, self._prompts = run, config, policy, prompts

    def metrics(self, scorer: Scorer, breakdown: Breakdown) -> dict[str, float]:
        """`eval/NAME/...` of every set, with the weights that the policy's sampler has."""
        values: dict[str, float] = {}
        for one in self._config.evaluation_sets:
            self._run.stop.check()
            sampled = self._sampled(one, scorer)
            # The penalty is of the limit that training samples with; a set may have another.
            answers = [answered.answer for answered in sampled]
            scores = scorer(answers, learn=False, penalize=False)
            comparable = replace(scores, reward=scorer.comparable(scores))
            measured = Measured(sampled, comparable, pass_reward=None)
            prefix = f"eval/{one.name}/"
            values |= measures(measured.rows, prefix) | breakdown(measured.rows, prefix)
        return values

    def _sampled(self, one: EvaluationSet, scorer: Scorer) -> list[Sampled]:
        policy, prompts = self._policy, self._prompts[one.name]
        with graded_beside(scorer, prompts, policy.tokenizer) as on_response:
            responses = policy.engine.sample(
                [Request(prompt.id, prompt.ids, one.samples_per_prompt) for prompt in prompts],
                sampling_of(one.rollout_of(self._config.rollout), policy.causal, policy.tokenizer),
                seed=self._run.config.seed,
                stream=("evaluation",),
                between_tokens=self._run.stop.check,
                on_response=on_response,
            )
        return all_sampled(prompts, responses, policy.tokenizer)


def _tell_chosen_on(
    run: Run, name: str, prompts: Sequence[Prompt], heldout: Sequence[Prompt]
) -> None:
    """Warn of a set that holds held-out prompts: by their tokens, for snapshots share no ids."""
    choosing = {tuple(prompt.ids) for prompt in heldout}
    n_choosing = sum(tuple(prompt.ids) in choosing for prompt in prompts)
    if n_choosing > 0:
        run.events.alert(
            "set_chose_the_output",
            f"{n_choosing} of {len(prompts)} prompts of the evaluation set {name} are held-out "
            "prompts of the run, which choose the output, so the numbers of the set are too good. "
            "Freeze a snapshot of other prompts, or set the split of this evaluation set to train.",
        )
