"""Score a model's responses, alone or against a baseline, into `output/results.json`.

Called by `__main__`. Both models answer the same prompts with the same random numbers, so that two
scores differ by the models and not by luck. Trains nothing.
"""

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean

from backend.schemas.events import SampleLine
from backend.schemas.numbers import finite
from backend.schemas.references import Reference
from backend.schemas.training import EvaluateConfig
from backend.schemas.vocabulary import FinishReason
from worker.trainer.evaluation.bootstrap import mean_with_interval, scored_mean_with_interval
from worker.trainer.models import loading
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.output import write_json, write_output
from worker.trainer.rewards.scorer import Scorer, Scores, build_terms
from worker.trainer.run import Run
from worker.trainer.sampling.answers import Sampled, answer_all, read_split, steps_of
from worker.trainer.sampling.engines import open_engine
from worker.trainer.sampling.prompts import sampling_of

# Rewards that differ by less are a tie: rounding alone moves a reward model's score that much.
TIE_WITHIN = 1e-6


@dataclass(frozen=True)
class Measured:
    """A model's responses and what they scored, in the order of the prompts."""

    sampled: list[Sampled]
    scores: Scores

    @property
    def prompt_ids(self) -> list[str]:
        """The prompt of each response."""
        return [sampled.prompt.id for sampled in self.sampled]


def evaluate(run: Run, config: EvaluateConfig) -> None:
    """Run the whole method: answer, score, compare, write."""
    measured = _measure(run, config, config.model, place=0)
    values = _metrics(measured, config)
    if config.baseline_model is not None:
        baseline = _measure(run, config, config.baseline_model, place=1)
        values |= _comparison(measured, baseline, seed=config.seed)
    steps = _steps(measured, config)
    run.events.metric(steps, values)
    for line in _samples(measured, steps)[: config.log.samples_per_step]:
        run.events.sample(line)
    results = {name: finite(value) for name, value in values.items()}
    write_output(run, lambda folder: write_json(folder / "results.json", results))
    run.events.progress(steps, steps, "saving")


def pass_at_k(n: int, n_passed: int, k: int) -> float:
    """Chance that at least one of k responses passes, drawn without repeat from n.

    1 - C(n - n_passed, k) / C(n, k), the unbiased estimate from n >= k responses.
    Source: Chen et al. 2021 (arXiv 2107.03374), eq. 1.
    """
    return 1.0 - math.comb(n - n_passed, k) / math.comb(n, k)


def win_share(reward: float, other: float) -> float:
    """1 for a higher reward, 0 for a lower one, 0.5 for a tie up to rounding.

    NaN if one of them is not finite.
    """
    if not (math.isfinite(reward) and math.isfinite(other)):
        return math.nan
    if abs(reward - other) <= TIE_WITHIN * max(1.0, abs(other)):
        return 0.5
    return 1.0 if reward > other else 0.0


def ks_of(n_samples: int) -> list[int]:
    """The k of pass@k: powers of two up to the responses per prompt, and their number."""
    powers = [2**exponent for exponent in range(n_samples.bit_length())]
    return sorted({*powers, n_samples})


def _measure(run: Run, config: EvaluateConfig, reference: Reference, *, place: int) -> Measured:
    """Answer and score with one model; `place` numbers it for the progress."""
    tokenizer = load_tokenizer(reference)
    prompts = read_split(run, config, tokenizer)
    model = loading.load_causal_lm(reference, dtype=run.dtype, device=run.device)
    portions = steps_of(prompts)
    n_models = 1 if config.baseline_model is None else 2
    with closing(open_engine(run, config.rollout, model, lambda: model)) as engine:
        sampled = answer_all(
            run,
            engine,
            tokenizer,
            prompts,
            sampling_of(config.rollout, model, tokenizer),
            n_samples=config.samples_per_prompt,
            stream="evaluation",
            first_step=place * portions,
            steps=n_models * portions,
        )
    run.events.progress((place + 1) * portions, n_models * portions, "reward")
    terms = build_terms(config.reward.terms, tokenizer, run, system=config.rollout.system)
    scores = Scorer(config.reward, terms)([one.answer for one in sampled], learn=False)
    n_unscored = sum(not math.isfinite(value) for value in scores.reward)
    if n_unscored > 0:
        whose = "the baseline" if place else "the model"
        run.events.alert(
            "unscored",
            f"{n_unscored} of {len(sampled)} responses of {whose} have no finite reward and are "
            "left out of rewards, win rate and gain.",
        )
    return Measured(sampled, scores)


def _steps(measured: Measured, config: EvaluateConfig) -> int:
    prompts = [one.prompt for one in measured.sampled if one.index == 0]
    return steps_of(prompts) * (1 if config.baseline_model is None else 2)


def _metrics(measured: Measured, config: EvaluateConfig) -> dict[str, float]:
    """Scores, length and pass@k of one model, with intervals by prompt.

    A response that could not be scored is in no mean of scores, and has not passed.
    """
    scores, prompt_ids, seed = measured.scores, measured.prompt_ids, config.seed
    responses = [one.response for one in measured.sampled]
    cut = [float(response.finish_reason is FinishReason.LENGTH) for response in responses]
    values = {
        **scored_mean_with_interval("eval/reward", scores.reward, prompt_ids, seed),
        "eval/length": fmean(len(response.ids) for response in responses),
        "eval/truncated_fraction": fmean(cut),
    }
    finite = [value for value in scores.raw if math.isfinite(value)]
    if finite:
        values["reward/raw_mean"] = fmean(finite)
    for name, scored in scores.terms.items():
        values |= scored_mean_with_interval(f"reward/{name}", scored, prompt_ids, seed)
    if config.pass_reward is not None:
        values |= _passes(scores.raw, prompt_ids, config.pass_reward, config)
    return values


def _passes(
    raw: Sequence[float], prompt_ids: Sequence[str], threshold: float, config: EvaluateConfig
) -> dict[str, float]:
    passed: dict[str, int] = dict.fromkeys(prompt_ids, 0)
    for prompt_id, value in zip(prompt_ids, raw, strict=True):
        passed[prompt_id] += value >= threshold
    values: dict[str, float] = {}
    n = config.samples_per_prompt
    for k in ks_of(n):
        chances = [pass_at_k(n, n_passed, k) for n_passed in passed.values()]
        values |= mean_with_interval(f"eval/pass@{k}", chances, list(passed), config.seed)
    return values


def _comparison(measured: Measured, baseline: Measured, *, seed: int) -> dict[str, float]:
    """Win rate and gain in reward over the baseline, response by response of the same draw."""
    pairs = zip(measured.scores.raw, baseline.scores.raw, strict=True)
    shares = [win_share(*pair) for pair in pairs]
    prompt_ids = measured.prompt_ids
    gains = [
        reward - other
        for reward, other in zip(measured.scores.reward, baseline.scores.reward, strict=True)
    ]
    return {
        **scored_mean_with_interval("eval/win_rate", shares, prompt_ids, seed),
        **scored_mean_with_interval("eval/gain", gains, prompt_ids, seed),
        **scored_mean_with_interval("baseline/reward", baseline.scores.reward, prompt_ids, seed),
        "baseline/length": fmean(len(one.response.ids) for one in baseline.sampled),
    }


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
        )
        for row, one in enumerate(measured.sampled)
        if one.index == 0
    ]
