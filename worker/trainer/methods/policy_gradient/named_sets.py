"""How good a policy is on the named sets of its config, which choose nothing.

Called at every evaluation. The random numbers are always the same, and those of an evaluate run
with the same seed; as there, no over-long penalty is part of the reward. Where the config compares
with the reference, that answers each set once, by the same random numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from transformers import PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.sections import EvaluationSet
from worker.trainer.evaluation.breakdown import Breakdown
from worker.trainer.evaluation.comparison import comparison
from worker.trainer.evaluation.graded import tell_unscored
from worker.trainer.evaluation.measures import measures, prefix_of
from worker.trainer.evaluation.outcome import Outcome
from worker.trainer.evaluation.rows import Measured
from worker.trainer.methods.policy_gradient.baseline import Baseline
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.rewards.scorer import Scorer, Scores
from worker.trainer.run import Run
from worker.trainer.sampling.answers import Sampled, all_sampled, read_set
from worker.trainer.sampling.beside import graded_beside
from worker.trainer.sampling.decoding import Request
from worker.trainer.sampling.engines import Engine
from worker.trainer.sampling.prompts import Prompt, require_references, sampling_of


def read_named(
    run: Run,
    config: PolicyGradientConfig,
    tokenizer: PreTrainedTokenizerBase,
    train: Sequence[Prompt],
    heldout: Sequence[Prompt],
) -> dict[str, list[Prompt]]:
    """The prompts of each set by its name, read before any weights are loaded.

    Warns of those that are among `heldout`, which choose the output, of those of other snapshots
    that are among `train`, and of those without the reference that a reward term needs. Raises
    DataError where no prompt of a set has one.
    """
    found = {
        one.name: read_set(run, config, one, tokenizer, config.model)
        for one in config.evaluation_sets
    }
    # Whoever names the run's own snapshot means its training prompts.
    own = {one.name for one in config.evaluation_sets if one.prompts.is_same(config.prompts)}
    for name, prompts in found.items():
        _tell_chosen_on(run, name, prompts, heldout)
        if name not in own:
            _tell_trained_on(run, name, prompts, train)
        require_references(run, prompts, config.reward.terms, of=f" of the evaluation set {name}")
    return found


class NamedSets:
    """The sets with their prompts; `measures`: by name, the hash of what the reference answers."""

    def __init__(
        self,
        run: Run,
        config: PolicyGradientConfig,
        policy: Policy,
        prompts: Mapping[str, Sequence[Prompt]],
        baseline: Baseline,
        measures: Mapping[str, str],
    ) -> None:
        self._run, self._config, self._policy, self._prompts = run, config, policy, prompts
        self._baseline, self._measures = baseline, measures
        # Of the reference, with responses on which a grader failed.
        self._failed: dict[str, Measured] = {}

    def ask_reference(self, scorer: Scorer) -> None:
        """Let the reference answer the sets that it has not answered yet.

        Call it before the sampler gets the policy's weights: the reference samples in its place.
        Responses on which a grader failed before are graded again: every evaluation is compared
        with them, so a failure of one moment would bend a whole curve.
        """
        for name, measured in list(self._failed.items()):
            self._keep(name, self._graded_again(measured, scorer))
        asked = [one for one in self._config.evaluation_sets if one.name in self._measures]
        asked = [one for one in asked if self._measures[one.name] not in self._baseline]
        if not asked:
            return
        with self._policy.reference_engine() as engine:
            for one in asked:
                measured = self._measured(one, engine, scorer)
                tell_unscored(
                    self._run.events,
                    measured.scores.reward,
                    "they are left out of win rate and gain.",
                    whose=f"of the reference to the set {one.name}",
                )
                self._keep(one.name, measured)

    def _keep(self, name: str, measured: Measured) -> None:
        """Keep what the reference's responses to a set came to, and whether that may change."""
        has_failed = bool(measured.scores.failed)
        self._baseline.keep(self._measures[name], asdict(measured.outcome), is_final=not has_failed)
        if has_failed:
            self._failed[name] = measured
        else:
            self._failed.pop(name, None)

    def _graded_again(self, measured: Measured, scorer: Scorer) -> Measured:
        before = measured.scores
        again = self._scored([measured.sampled[row] for row in before.failed], scorer)
        scores = scorer.normalized(before.with_rows(before.failed, again))
        return replace(measured, scores=replace(scores, reward=scorer.comparable(scores)))

    def metrics(self, scorer: Scorer, breakdown: Breakdown) -> dict[str, float]:
        """`eval/NAME/...` of every set, with the weights that the policy's sampler has."""
        values: dict[str, float] = {}
        for one in self._config.evaluation_sets:
            measured = self._measured(one, self._policy.engine, scorer)
            prefix = prefix_of(one.name)
            values |= measures(measured.rows, prefix) | breakdown(measured.rows, prefix)
            if one.name in self._measures:
                baseline = Outcome(**self._baseline[self._measures[one.name]])
                values |= comparison(measured, baseline, one.name, breakdown)
        return values

    def _measured(self, one: EvaluationSet, engine: Engine, scorer: Scorer) -> Measured:
        self._run.stop.check()
        sampled = self._sampled(one, engine, scorer)
        return Measured(sampled, self._scored(sampled, scorer), pass_reward=None)

    def _scored(self, sampled: Sequence[Sampled], scorer: Scorer) -> Scores:
        # The penalty is of the limit that training samples with; a set may have another.
        answers = [answered.answer for answered in sampled]
        scores = scorer(answers, learn=False, penalize=False)
        return replace(scores, reward=scorer.comparable(scores))

    def _sampled(self, one: EvaluationSet, engine: Engine, scorer: Scorer) -> list[Sampled]:
        policy, prompts = self._policy, self._prompts[one.name]
        with graded_beside(scorer, prompts, policy.tokenizer) as on_response:
            responses = engine.sample(
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
    """Warn of a set that holds held-out prompts."""
    n_choosing = _n_common(prompts, heldout)
    if n_choosing > 0:
        run.events.alert(
            "set_chose_the_output",
            f"{n_choosing} of {len(prompts)} prompts of the evaluation set {name} are held-out "
            "prompts of the run, which choose the output, so the numbers of the set are too good. "
            "Freeze a snapshot of other prompts, or set the split of this evaluation set to train.",
        )


def _tell_trained_on(
    run: Run, name: str, prompts: Sequence[Prompt], train: Sequence[Prompt]
) -> None:
    """Warn of a set of another snapshot that holds training prompts."""
    n_trained = _n_common(prompts, train)
    if n_trained > 0:
        run.events.alert(
            "set_was_trained_on",
            f"{n_trained} of {len(prompts)} prompts of the evaluation set {name} are training "
            "prompts of the run, so the set does not show how the policy does on unseen prompts. "
            "Freeze a snapshot of other prompts.",
        )


def _n_common(prompts: Sequence[Prompt], others: Sequence[Prompt]) -> int:
    """How many prompts are among the others, by their tokens: snapshots share no ids."""
    known = {tuple(prompt.ids) for prompt in others}
    return sum(tuple(prompt.ids) in known for prompt in prompts)
