"""A model's answers to prompts, sampled in portions: what generate and evaluate begin with.

It scores nothing and writes nothing but progress.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.records import TokenIds
from backend.schemas.references import Reference
from backend.schemas.sections import EvaluationSet, Rollout
from backend.schemas.training import EvaluateConfig, GenerateConfig
from worker.trainer.data.token_ids import kept_ids
from worker.trainer.errors import DataError
from worker.trainer.models.tokenizer import number_of_ids
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.run import Run
from worker.trainer.sampling.beside import Grader, graded_beside
from worker.trainer.sampling.decoding import Request, Response, Sampling
from worker.trainer.sampling.engines import Engine
from worker.trainer.sampling.prompts import Prompt, answer, read_prompts

# Prompts between two progress lines.
PROMPTS_PER_STEP = 64


@dataclass(frozen=True)
class Sampled:
    """One response: the `index`-th to its prompt, and what records keep of its tokens."""

    prompt: Prompt
    index: int
    response: Response
    answer: SampledResponse
    token_ids: TokenIds


def read_split(
    run: Run, config: GenerateConfig, tokenizer: PreTrainedTokenizerBase
) -> list[Prompt]:
    """The prompts of the config's split, in their order.

    Raises DataError if there is none.
    """
    return _side(run, config.prompts, config.split, tokenizer, config.rollout, config.model)


def read_set(
    run: Run,
    config: EvaluateConfig | PolicyGradientConfig,
    one: EvaluationSet,
    tokenizer: PreTrainedTokenizerBase,
    model: Reference,
) -> list[Prompt]:
    """The prompts of a set for a model, in their order. Raises DataError if there is none."""
    return _side(run, one.prompts, one.split, tokenizer, config.rollout, model)


def _side(
    run: Run,
    reference: Reference,
    split: str,
    tokenizer: PreTrainedTokenizerBase,
    rollout: Rollout,
    model: Reference,
) -> list[Prompt]:
    n_ids = number_of_ids(model, tokenizer)
    prompts = [
        prompt
        for prompt in read_prompts(run.directory, reference, tokenizer, rollout, n_ids=n_ids)
        if split == "all" or prompt.is_heldout == (split == "heldout")
    ]
    if not prompts:
        raise DataError(
            f"the snapshot has no prompts in its {split} split",
            "Set split to another value, or freeze a snapshot with that split.",
        )
    return prompts


def steps_of(prompts: Sequence[Prompt]) -> int:
    """Progress steps that sampling these prompts takes."""
    return -(-len(prompts) // PROMPTS_PER_STEP)


def answer_all(
    run: Run,
    engine: Engine,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[Prompt],
    sampling: Sampling,
    *,
    n_samples: int,
    stream: str,
    first_step: int,
    steps: int,
    grader: Grader | None = None,
) -> list[Sampled]:
    """`n_samples` responses to each prompt, in the order of the prompts.

    `grader` begins with them while others are being sampled. Progress goes from `first_step` on, of
    `steps`. The same stream, seed and prompt ids give the same random numbers, whatever the model.
    """
    found: list[Sampled] = []
    for portion in range(steps_of(prompts)):
        run.events.progress(first_step + portion, steps, "rollout")
        chosen = prompts[portion * PROMPTS_PER_STEP : (portion + 1) * PROMPTS_PER_STEP]
        with graded_beside(grader, chosen, tokenizer) as on_response:
            responses = engine.sample(
                [Request(prompt.id, prompt.ids, n_samples) for prompt in chosen],
                sampling,
                seed=run.config.seed,
                stream=(stream,),
                between_tokens=run.stop.check,
                on_response=on_response,
            )
        found += all_sampled(chosen, responses, tokenizer)
    run.events.tokens += sum(len(sampled.response.ids) for sampled in found)
    return found


def all_sampled(
    prompts: Sequence[Prompt],
    responses: Sequence[Sequence[Response]],
    tokenizer: PreTrainedTokenizerBase,
) -> list[Sampled]:
    """Each response with its prompt, in the order of the prompts."""
    found = []
    for prompt, several in zip(prompts, responses, strict=True):
        for index, response in enumerate(several):
            given = answer(prompt, response, tokenizer)
            found.append(Sampled(prompt, index, response, given, kept_ids(given.tokens, tokenizer)))
    return found
