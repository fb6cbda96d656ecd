"""Score a model's responses, alone or against a baseline, on one or several sets of prompts.

Called by `__main__`. Both models answer the same prompts with the same random numbers, so that two
scores differ by the models and not by luck. `output/responses.jsonl` keeps what was answered,
`output/results.json` every number. Trains nothing.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.numbers import finite
from backend.schemas.records import EvaluatedRecord
from backend.schemas.references import Reference
from backend.schemas.run_directory.events import SampleLine
from backend.schemas.sections import EvaluationSet
from backend.schemas.training import EvaluateConfig
from worker.trainer.evaluation.breakdown import Breakdown, tell_unknown_keys
from worker.trainer.evaluation.comparison import comparison
from worker.trainer.evaluation.graded import tell_unscored, term_metrics
from worker.trainer.evaluation.measures import measures, prefix_of
from worker.trainer.evaluation.rows import Measured
from worker.trainer.evaluation.texts import (
    Texts,
    change_in_likelihood,
    likelihood,
    read_texts,
    text_logp,
)
from worker.trainer.evaluation.with_interval import score_with_interval
from worker.trainer.models import loading
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.output import write_json, write_lines, write_output
from worker.trainer.rewards import trained
from worker.trainer.rewards.scorer import Scorer, build_terms, tell_not_normalized
from worker.trainer.run import Run
from worker.trainer.sampling.answers import answer_all, read_set, steps_of
from worker.trainer.sampling.engines import Engine, open_engine
from worker.trainer.sampling.prompts import Prompt, require_references, sampling_of

# The prompts of the run itself have no name.
OWN = ""
# The models by their places, as sentences name them.
WHO = ("the model", "the baseline")


@dataclass(frozen=True)
class Asked:
    """What one model is asked: the prompts of every set and the texts, as its tokens."""

    reference: Reference
    tokenizer: PreTrainedTokenizerBase
    prompts: Mapping[str, Sequence[Prompt]]
    texts: Texts


@dataclass(frozen=True)
class Answered:
    """What one model made of every set, and how likely it finds each text, nats."""

    sets: dict[str, Measured]
    texts: Texts
    text_logp: list[float]


def evaluate(run: Run, config: EvaluateConfig) -> None:
    """Run the whole method: answer, score, compare, write."""
    references = [one for one in (config.model, config.baseline_model) if one is not None]
    # Of both before the first answers: what the baseline cannot read would cost those of the model.
    asked = [_asked(run, config, one, place=place) for place, one in enumerate(references)]
    tell_unknown_keys(run, config.breakdown, asked[0].prompts.values())
    breakdown = Breakdown(run, config.breakdown)
    model = _answered(run, config, asked[0], place=0)
    values = _metrics(model, breakdown)
    records = _records(model, "model")
    if config.baseline_model is not None:
        baseline = _answered(run, config, asked[1], place=1)
        values |= _comparisons(model, baseline, breakdown)
        records += _records(baseline, "baseline")
    steps = sum(_portions(one) for one in model.sets.values()) * _n_models(config)
    run.events.metric(steps, values)
    for line in _samples(model.sets[OWN], steps)[: config.log.samples_per_step]:
        run.events.sample(line)
    results = {name: finite(value) for name, value in values.items()}

    def fill(folder: Path) -> None:
        write_json(folder / "results.json", results)
        write_lines(folder / "responses.jsonl", records)

    write_output(run, fill)
    run.events.progress(steps, steps, "saving")


def sets_of(config: EvaluateConfig) -> dict[str, EvaluationSet]:
    """All sets by their names, the prompts of the run itself first."""
    own = EvaluationSet.model_construct(
        name=OWN,
        prompts=config.prompts,
        split=config.split,
        samples_per_prompt=config.samples_per_prompt,
    )
    return {one.name: one for one in (own, *config.evaluation_sets)}


def _asked(run: Run, config: EvaluateConfig, reference: Reference, *, place: int) -> Asked:
    """Read what one model is asked. Raises what its tokens cannot be used for, without weights."""
    tokenizer = load_tokenizer(reference, config.rollout.template)
    trained.check(config.reward.terms, tokenizer, who=WHO[place])
    sets = sets_of(config)
    prompts = {name: read_set(run, config, one, tokenizer, reference) for name, one in sets.items()}
    if place == 0:
        for name, several in prompts.items():
            of = f" of the evaluation set {name}" if name != OWN else ""
            require_references(run, several, config.reward.terms, of=of)
    return Asked(reference, tokenizer, prompts, read_texts(run, config, reference, tokenizer))


def _answered(run: Run, config: EvaluateConfig, asked: Asked, *, place: int) -> Answered:
    """Answer and score every set with one model; `place` numbers it for the progress."""
    reference, tokenizer, prompts = asked.reference, asked.tokenizer, asked.prompts
    model = loading.load_causal_lm(reference, dtype=run.dtype, device=run.device, events=run.events)
    portions = sum(map(steps_of, prompts.values()))
    sampler = _Sampler(
        run, config, model, tokenizer, place * portions, _n_models(config) * portions, WHO[place]
    )
    with closing(open_engine(run, config.rollout, model, lambda: model)) as engine:
        measured = {
            name: sampler(engine, one, prompts[name]) for name, one in sets_of(config).items()
        }
    found = text_logp(run, model, asked.texts, pad_id=int(tokenizer.pad_token_id))
    return Answered(measured, asked.texts, found)


class _Sampler:
    """Samples and grades with one model, set after set."""

    def __init__(
        self,
        run: Run,
        config: EvaluateConfig,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        first_step: int,
        steps: int,
        who: str,
    ) -> None:
        self._run, self._config, self._model, self._tokenizer = run, config, model, tokenizer
        self._step, self._steps, self._who = first_step, steps, who
        terms = build_terms(config.reward.terms, tokenizer, run, system=config.rollout.system)
        tell_not_normalized(run, config.reward, terms)
        self._scorer = Scorer(config.reward, terms)

    def __call__(self, engine: Engine, one: EvaluationSet, prompts: Sequence[Prompt]) -> Measured:
        sampled = answer_all(
            self._run,
            engine,
            self._tokenizer,
            prompts,
            sampling_of(one.rollout_of(self._config.rollout), self._model, self._tokenizer),
            n_samples=one.samples_per_prompt,
            stream="evaluation",
            first_step=self._step,
            steps=self._steps,
            grader=self._scorer,
        )
        self._step += steps_of(prompts)
        self._run.events.progress(self._step, self._steps, "reward")
        scores = self._scorer([one.answer for one in sampled], learn=False)
        measured = Measured(sampled, scores, self._config.pass_reward)
        asked = f"the set {one.name}" if one.name != OWN else "the run's own prompts"
        whose = f"of {self._who} to {asked}"
        tell_unscored(self._run.events, scores.reward, left_out(measured), whose=whose)
        return measured


def left_out(measured: Measured) -> str:
    """Say what follows from the responses without a finite reward, of which there are some."""
    told = "they are left out of rewards, win rate and gain"
    both = zip(measured.passed, measured.scores.reward, strict=True)
    passed = [one for one, reward in both if not math.isfinite(reward)]
    if any(one is None for one in passed):
        return f"{told}."
    n_passed = sum(map(bool, passed))
    if n_passed == 0:
        return f"{told}; none of them has passed."
    return f"{told}; {n_passed} of them passed by the terms that judge correctness."


def _n_models(config: EvaluateConfig) -> int:
    return 1 if config.baseline_model is None else 2


def _portions(measured: Measured) -> int:
    return steps_of([one.prompt for one in measured.sampled if one.index == 0])


def _metrics(answered: Answered, breakdown: Breakdown) -> dict[str, float]:
    """Every number of one model: of each set, of each part of it, of each reward term, of texts."""
    values: dict[str, float] = {}
    for name, measured in answered.sets.items():
        prefix = prefix_of(name)
        values |= measures(measured.rows, prefix)
        values |= breakdown(measured.rows, prefix)
    own = answered.sets[OWN]
    values |= score_with_interval(
        "reward/raw_mean", own.scores.raw, own.prompt_ids, most=own.scores.most_raw
    )
    values |= term_metrics(own.scores, own.prompt_ids)
    return values | likelihood(answered.texts, answered.text_logp)


def _comparisons(model: Answered, baseline: Answered, breakdown: Breakdown) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, measured in model.sets.items():
        values |= comparison(measured, baseline.sets[name].outcome, name, breakdown)
    return values | change_in_likelihood(model.texts, model.text_logp, baseline.text_logp)


def _records(answered: Answered, model: Literal["model", "baseline"]) -> list[EvaluatedRecord]:
    return [
        EvaluatedRecord(
            set_name=name or None,
            model=model,
            prompt_id=one.prompt.id,
            index=one.index,
            content=one.answer.text,
            finish_reason=one.response.finish_reason,
            n_tokens=len(one.response.ids),
            logp_sum=one.response.logp_sum,
            scores={term: values[row] for term, values in measured.scores.terms.items()},
            reward=measured.scores.reward[row],
            passed=measured.passed[row],
            why=measured.scores.why(row),
            **one.prompt.known,
            token_ids=one.token_ids,
        )
        for name, measured in answered.sets.items()
        for row, one in enumerate(measured.sampled)
    ]


def _samples(measured: Measured, step: int) -> list[SampleLine]:
    """The first response to each prompt."""
    scores = measured.scores
    return [
        SampleLine(
            step=step,
            prompt=one.prompt.text,
            response=one.answer.text,
            prompt_id=one.prompt.id,
            index=one.index,
            finish_reason=one.response.finish_reason,
            scores={name: values[row] for name, values in scores.terms.items()}
            | {"reward": scores.reward[row]},
            passed=measured.passed[row],
            why=scores.why(row),
            **one.prompt.known,
            token_ids=one.token_ids,
        )
        for row, one in enumerate(measured.sampled)
        if one.index == 0
    ]
