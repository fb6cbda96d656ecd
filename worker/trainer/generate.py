"""Sample responses to prompts and write them to `output/responses.jsonl`.

Called by `__main__`. With a reference it also measures how far the model has gone from it; with
reward terms it scores each response. Trains nothing.
"""

from statistics import fmean

from backend.schemas.events import SampleLine
from backend.schemas.records import GeneratedRecord
from backend.schemas.training import GenerateConfig
from backend.schemas.vocabulary import FinishReason
from worker.trainer import models
from worker.trainer.errors import DataError
from worker.trainer.output import write_lines, write_output
from worker.trainer.policy_evaluation import Distance, distance_to, mean_with_interval
from worker.trainer.prompts import Prompt, answer, read_prompts, sampling_of
from worker.trainer.rewards.answer import Answer
from worker.trainer.rewards.scorer import build_terms
from worker.trainer.rollout import Request, Response, sample
from worker.trainer.run import Run

# Prompts between two progress lines.
PROMPTS_PER_STEP = 64


def generate(run: Run, config: GenerateConfig) -> None:
    """Run the whole method: sample, measure, score, write."""
    tokenizer = models.load_tokenizer(config.model)
    model = models.load_causal_lm(config.model, dtype=run.dtype, device=run.device)
    prompts = [
        prompt
        for prompt in read_prompts(run.directory, config.prompts, tokenizer, config.rollout)
        if config.split == "all" or prompt.is_heldout == (config.split == "heldout")
    ]
    if not prompts:
        raise DataError(f"the snapshot has no {config.split} prompts", "choose another split")
    sampling = sampling_of(config.rollout, model, tokenizer)
    pairs: list[tuple[Prompt, int, Response]] = []
    steps = -(-len(prompts) // PROMPTS_PER_STEP)
    for step in range(steps):
        run.events.progress(step, steps, "rollout")
        chosen = prompts[step * PROMPTS_PER_STEP : (step + 1) * PROMPTS_PER_STEP]
        responses = sample(
            model,
            [Request(prompt.id, prompt.ids, config.samples_per_prompt) for prompt in chosen],
            sampling,
            seed=config.seed,
            stream=("generate",),
            between_tokens=run.stop.check,
        )
        for prompt, several in zip(chosen, responses, strict=True):
            pairs += [(prompt, index, response) for index, response in enumerate(several)]
    run.events.tokens += sum(len(response.ids) for _, _, response in pairs)
    answers = [answer(prompt, response, tokenizer) for prompt, _, response in pairs]
    prompt_ids = [prompt.id for prompt, _, _ in pairs]
    values = _sampling_metrics([response for _, _, response in pairs])
    distance: Distance | None = None
    if config.reference is not None:
        run.events.progress(steps, steps, "logprob")
        reference = models.load_causal_lm(config.reference, dtype=run.dtype, device=run.device)
        distance = distance_to(run, model, reference, [a.tokens for a in answers], sampling)
        values |= mean_with_interval("kl/exact", distance.kl, prompt_ids, config.seed)
        values["eval/ref_logp"] = fmean(distance.ref_logp)
    scores: dict[str, list[float]] = {}
    if config.reward:
        run.events.progress(steps, steps, "reward")
        for term in build_terms(config.reward, tokenizer, run, system=config.rollout.system):
            scores[term.name] = term.score(answers)
            values |= mean_with_interval(
                f"reward/{term.name}", scores[term.name], prompt_ids, config.seed
            )
    records = _records(pairs, answers, distance, scores)
    run.events.metric(steps, values)
    for record, (prompt, _, _) in list(zip(records, pairs, strict=True))[
        : config.log.samples_per_step
    ]:
        run.events.sample(
            SampleLine(
                step=steps,
                prompt=prompt.text,
                response=record.content,
                prompt_id=prompt.id,
                index=record.index,
                finish_reason=record.finish_reason,
                scores=record.scores,
            )
        )
    write_output(run, lambda folder: write_lines(folder / "responses.jsonl", records))
    run.events.progress(steps, steps, "saving")


def _sampling_metrics(responses: list[Response]) -> dict[str, float]:
    return {
        "length/mean": fmean(len(response.ids) for response in responses),
        "truncated_fraction": fmean(
            float(response.finish_reason is FinishReason.LENGTH) for response in responses
        ),
    }


def _records(
    pairs: list[tuple[Prompt, int, Response]],
    answers: list[Answer],
    distance: Distance | None,
    scores: dict[str, list[float]],
) -> list[GeneratedRecord]:
    return [
        GeneratedRecord(
            prompt_id=prompt.id,
            index=index,
            content=answers[i].text,
            finish_reason=response.finish_reason,
            n_tokens=len(response.ids),
            logp_sum=response.logp_sum,
            ref_logp_sum=None if distance is None else distance.ref_logp[i],
            scores={name: values[i] for name, values in scores.items()},
        )
        for i, (prompt, index, response) in enumerate(pairs)
    ]
