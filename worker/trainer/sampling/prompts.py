"""Prompts for sampling: records to token ids, and responses back to text.

Used by generate, policy_gradient and evaluations. Samples nothing itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.records import PromptRecord
from backend.schemas.references import Reference
from backend.schemas.sections import Rollout
from worker.trainer.data.tokens import Tokens, read_records, render_prompt
from worker.trainer.errors import DataError
from worker.trainer.models.tokenizer import end_ids
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.sampling.decoding import Response, Sampling


@dataclass(frozen=True)
class Prompt:
    """A prompt as people wrote it and as token ids with its template."""

    id: str
    text: str
    ids: list[int]
    is_heldout: bool


def read_prompts(
    run_dir: Path, reference: Reference, tokenizer: PreTrainedTokenizerBase, rollout: Rollout
) -> list[Prompt]:
    """All prompts of a snapshot.

    Raises DataError if one is longer than `max_prompt_tokens` or there is none.
    """
    prompts = []
    for record in read_records(run_dir, reference, PromptRecord, name="prompts"):
        ids = render_prompt(tokenizer, record.messages, system=rollout.system)
        if len(ids) > rollout.max_prompt_tokens:
            raise DataError(
                f"prompt {record.prompt_id} has {len(ids)} tokens with its chat template, but "
                f"rollout.max_prompt_tokens is {rollout.max_prompt_tokens}",
                "Raise rollout.max_prompt_tokens, or freeze a snapshot without this prompt.",
            )
        text = "\n".join(m.content for m in record.messages if m.role != "system")
        prompts.append(Prompt(record.prompt_id, text, ids, record.split == "heldout"))
    if not prompts:
        raise DataError("the snapshot has no prompts", "Import prompts and freeze a new snapshot.")
    return prompts


def read_both_splits(
    run_dir: Path, config: PolicyGradientConfig, tokenizer: PreTrainedTokenizerBase
) -> tuple[list[Prompt], list[Prompt]]:
    """The prompts to train on, and those held out, perhaps none.

    Raises DataError as `read_prompts` does, without prompts to train on, and where `kl.max` has
    none to be measured on.
    """
    prompts = read_prompts(run_dir, config.prompts, tokenizer, config.rollout)
    train = [prompt for prompt in prompts if not prompt.is_heldout]
    heldout = [prompt for prompt in prompts if prompt.is_heldout]
    if not train:
        raise DataError(
            "the snapshot has no prompts in its train split",
            "Freeze a snapshot with a smaller held-out fraction.",
        )
    if config.kl.max is not None and not heldout:
        raise DataError(
            "kl.max is measured on held-out prompts, and the snapshot has none",
            "Freeze a snapshot with a held-out fraction, or leave kl.max out.",
        )
    return train, heldout


def sampling_of(
    rollout: Rollout, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> Sampling:
    """How to sample with this model."""
    return Sampling(
        max_new_tokens=rollout.max_new_tokens,
        temperature=rollout.temperature,
        top_p=rollout.top_p,
        end_ids=end_ids(model, tokenizer),
        pad_id=int(tokenizer.pad_token_id),
    )


def answer(
    prompt: Prompt, response: Response, tokenizer: PreTrainedTokenizerBase
) -> SampledResponse:
    """A sampled response as reward terms see it."""
    text = str(tokenizer.decode(response.ids, skip_special_tokens=True))
    return SampledResponse(Tokens(prompt.ids, response.ids), text, response.finish_reason)


def token_texts(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Each token as text, for display."""
    return [str(tokenizer.decode([token])) for token in ids]
