"""A model's answers to prompts, sampled in portions: what generate and evaluate begin with.

It scores nothing and writes nothing but progress.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from backend.schemas.training import EvaluateConfig, GenerateConfig
from worker.trainer.errors import DataError
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.run import Run
from worker.trainer.sampling.decoding import Request, Response, Sampling
from worker.trainer.sampling.engines import Engine
from worker.trainer.sampling.prompts import Prompt, answer, read_prompts

# Prompts between two progress lines.
PROMPTS_PER_STEP = 64


@dataclass(frozen=True)
class Sampled:
    """One response: the `index`-th to its prompt."""

    prompt: Prompt
    index: int
    response: Response
    answer: SampledResponse


def read_split(
    run: Run, config: GenerateConfig | EvaluateConfig, tokenizer: PreTrainedTokenizerBase
) -> list[Prompt]:
    """The prompts of the config's split, in their order.

    Raises DataError if there is none.
    """
    prompts = [
        prompt
        for prompt in read_prompts(run.directory, config.prompts, tokenizer, config.rollout)
        if config.split == "all" or prompt.is_heldout == (config.split == "heldout")
    ]
    if not prompts:
        raise DataError(
            f"the snapshot has no prompts in its {config.split} split",
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
) -> list[Sampled]:
    """`n_samples` responses to each prompt, in the order of the prompts.

    Progress goes from `first_step` on, of `steps`. The same stream, seed and prompt ids give the
    same random numbers, whatever the model.
    """
    found: list[Sampled] = []
    for portion in range(steps_of(prompts)):
        run.events.progress(first_step + portion, steps, "rollout")
        chosen = prompts[portion * PROMPTS_PER_STEP : (portion + 1) * PROMPTS_PER_STEP]
        responses = engine.sample(
            [Request(prompt.id, prompt.ids, n_samples) for prompt in chosen],
            sampling,
            seed=run.config.seed,
            stream=(stream,),
            between_tokens=run.stop.check,
        )
        for prompt, several in zip(chosen, responses, strict=True):
            found += [
                Sampled(prompt, index, response, answer(prompt, response, tokenizer))
                for index, response in enumerate(several)
            ]
    run.events.tokens += sum(len(sampled.response.ids) for sampled in found)
    return found
