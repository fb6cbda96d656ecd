"""Sample responses to prompts and write them to `output/responses.jsonl`.

Called by `__main__`. With a reference it also measures how far the model has gone from it; with
reward terms it scores each response. Trains nothing.
"""

from contextlib import closing

from backend.schemas.records import GeneratedRecord
from backend.schemas.rewards import Reward
from backend.schemas.run_directory.events import SampleLine
from backend.schemas.training import GenerateConfig
from backend.schemas.vocabulary import FinishReason
from worker.trainer.evaluation.distance import Distance, distance_to
from worker.trainer.evaluation.graded import pass_rate, term_metrics
from worker.trainer.evaluation.with_interval import mean_with_interval, rate_with_interval
from worker.trainer.models import loading
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.output import write_lines, write_output
from worker.trainer.rewards.scorer import Scorer, Scores, build_terms
from worker.trainer.run import Run
from worker.trainer.sampling.answers import Sampled, answer_all, read_split, steps_of
from worker.trainer.sampling.decoding import Response
from worker.trainer.sampling.engines import open_engine
from worker.trainer.sampling.prompts import require_references, sampling_of


def generate(run: Run, config: GenerateConfig) -> None:
    """Run the whole method: sample, measure, score, write."""
    tokenizer = load_tokenizer(config.model, config.rollout.template)
    prompts = read_split(run, config, tokenizer)
    require_references(run, prompts, config.reward)
    model = loading.load_causal_lm(
        config.model, dtype=run.dtype, device=run.device, events=run.events
    )
    sampling = sampling_of(config.rollout, model, tokenizer)
    steps = steps_of(prompts)
    with closing(open_engine(run, config.rollout, model, lambda: model)) as engine:
        sampled = answer_all(
            run,
            engine,
            tokenizer,
            prompts,
            sampling,
            n_samples=config.samples_per_prompt,
            stream="generate",
            first_step=0,
            steps=steps,
        )
    answers = [one.answer for one in sampled]
    prompt_ids = [one.prompt.id for one in sampled]
    values = _sampling_metrics([one.response for one in sampled], prompt_ids)
    distance: Distance | None = None
    if config.reference is not None:
        run.events.progress(steps, steps, "logprob")
        reference = loading.load_causal_lm(
            config.reference, dtype=run.dtype, device=run.device, events=run.events
        )
        distance = distance_to(run, model, reference, [a.tokens for a in answers], sampling)
        values |= mean_with_interval("kl/exact", distance.kl, prompt_ids)
        values |= mean_with_interval("eval/ref_logp", distance.ref_logp, prompt_ids)
    scores: Scores | None = None
    if config.reward:
        run.events.progress(steps, steps, "reward")
        terms = build_terms(config.reward, tokenizer, run, system=config.rollout.system)
        reward = Reward(terms=list(config.reward), normalize="none")
        scores = Scorer(reward, terms)(answers, learn=False)
        values |= term_metrics(scores, prompt_ids)
        values |= pass_rate(scores, prompt_ids)
    records = _records(sampled, distance, scores)
    run.events.metric(steps, values)
    for record, one in list(zip(records, sampled, strict=True))[: config.log.samples_per_step]:
        run.events.sample(
            SampleLine(
                step=steps,
                prompt=one.prompt.text,
                response=record.content,
                prompt_id=one.prompt.id,
                index=record.index,
                finish_reason=record.finish_reason,
                scores=record.scores,
                passed=record.passed,
                why=record.why,
                **one.prompt.known,
                token_ids=record.token_ids,
            )
        )
    write_output(run, lambda folder: write_lines(folder / "responses.jsonl", records))
    run.events.progress(steps, steps, "saving")


def _sampling_metrics(responses: list[Response], prompt_ids: list[str]) -> dict[str, float]:
    lengths = [float(len(response.ids)) for response in responses]
    cut = [float(response.finish_reason is FinishReason.LENGTH) for response in responses]
    return {
        "responses": float(len(responses)),
        **mean_with_interval("length/mean", lengths, prompt_ids),
        **rate_with_interval("truncated_fraction", cut, prompt_ids),
    }


def _records(
    sampled: list[Sampled], distance: Distance | None, scores: Scores | None
) -> list[GeneratedRecord]:
    return [
        GeneratedRecord(
            prompt_id=one.prompt.id,
            index=one.index,
            content=one.answer.text,
            finish_reason=one.response.finish_reason,
            n_tokens=len(one.response.ids),
            logp_sum=one.response.logp_sum,
            ref_logp_sum=None if distance is None else distance.ref_logp[row],
            scores={}
            if scores is None
            else {name: values[row] for name, values in scores.terms.items()},
            passed=None if scores is None else scores.passed[row],
            why={} if scores is None else scores.why(row),
            **one.prompt.known,
            token_ids=one.token_ids,
        )
        for row, one in enumerate(sampled)
    ]
