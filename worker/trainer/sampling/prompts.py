"""Prompts for sampling: records to token ids, and responses back to text.

Used by generate, policy_gradient and evaluations. Samples nothing itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.records import PromptRecord
from backend.schemas.references import Reference
from backend.schemas.rewards import RewardTerm
from backend.schemas.sections import Rollout
from backend.schemas.vocabulary import HELDOUT_FRACTION
from worker.trainer.data.tokens import Tokens, check_ids, read_records, render_prompt, text_of
from worker.trainer.errors import DataError
from worker.trainer.models.tokenizer import end_ids, number_of_ids
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.run import Run
from worker.trainer.sampling.decoding import Response, Sampling
from worker.trainer.sampling.stopping import StopStrings, special_stops


@dataclass(frozen=True)
class Prompt:
    """A prompt as people wrote it and as token ids with its template, and what is known of it."""

    id: str
    text: str
    ids: list[int]
    is_heldout: bool
    reference: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> dict[str, Any]:
        """What its record says of it besides its words, as the lines of events and results do."""
        return {
            "reference": self.reference,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
        }


def read_prompts(
    run_dir: Path,
    reference: Reference,
    tokenizer: PreTrainedTokenizerBase,
    rollout: Rollout,
    *,
    n_ids: int,
) -> list[Prompt]:
    """All prompts of a snapshot; `n_ids`: how many ids the model has.

    Raises DataError if one is longer than `max_prompt_tokens` or holds an id that the model does
    not have, or if there is none, ConfigError for a stop string that no response can hold.
    """
    special_stops(rollout.stop, tokenizer)
    prompts = []
    for record in read_records(run_dir, reference, PromptRecord, name="prompts"):
        ids = render_prompt(tokenizer, record.messages, system=rollout.system)
        if len(ids) > rollout.max_prompt_tokens:
            raise DataError(
                f"prompt {record.prompt_id} has {len(ids)} tokens with its chat template, but "
                f"rollout.max_prompt_tokens is {rollout.max_prompt_tokens}",
                "Raise rollout.max_prompt_tokens, or freeze a snapshot without this prompt.",
            )
        check_ids(f"prompt {record.prompt_id}", ids, tokenizer, n_ids=n_ids)
        text = "\n".join(m.content for m in record.messages if m.role != "system")
        known = (record.reference, tuple(record.tags), record.metadata)
        prompts.append(Prompt(record.prompt_id, text, ids, record.split == "heldout", *known))
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
    n_ids = number_of_ids(config.model, tokenizer)
    prompts = read_prompts(run_dir, config.prompts, tokenizer, config.rollout, n_ids=n_ids)
    train = [prompt for prompt in prompts if not prompt.is_heldout]
    heldout = [prompt for prompt in prompts if prompt.is_heldout]
    if not train:
        raise DataError(
            "the snapshot has no prompts in its train split",
            f"Freeze a snapshot with a lower {HELDOUT_FRACTION}.",
        )
    if config.kl.max is not None and not heldout:
        raise DataError(
            "kl.max is measured on held-out prompts, and the snapshot has none",
            f"Freeze a snapshot with {HELDOUT_FRACTION} above 0, or leave kl.max out.",
        )
    return train, heldout


def require_references(
    run: Run, prompts: Sequence[Prompt], terms: Sequence[RewardTerm], *, of: str = ""
) -> None:
    """Tell of prompts without the ground truth that a reward term compares with.

    `of` says in sentences whose they are. Raises DataError if no prompt has one.
    """
    # One of weight 0 only watches: what it cannot score is not left out.
    comparing = next((term for term in terms if term.needs_reference and term.weight), None)
    n_without = sum(prompt.reference is None for prompt in prompts)
    if comparing is None or n_without == 0:
        return
    kind = type(comparing).model_fields["kind"].default
    if n_without == len(prompts):
        raise DataError(
            f"the reward term {kind} compares responses with the ground truth of their prompt "
            f"(`reference`), and no prompt{of} has one (0 of {len(prompts)})",
            "Import the prompts with `reference` into a new project, or use another reward term"
            f"{', or leave the set out' if of else ''}.",
        )
    run.events.alert(
        "no_reference",
        f"{n_without} of {len(prompts)} prompts{of} came without a ground truth (`reference`), so "
        f"the reward term {kind} cannot score their responses, which are left out.",
    )


def sampling_of(
    rollout: Rollout, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> Sampling:
    """How to sample with this model.

    At temperature 0 the likeliest token is taken, and log-probabilities are those at 1.
    """
    return Sampling(
        max_new_tokens=rollout.max_new_tokens,
        temperature=rollout.temperature or 1.0,
        top_p=rollout.top_p,
        end_ids=[*end_ids(model, tokenizer), *special_stops(rollout.stop, tokenizer)],
        pad_id=int(tokenizer.pad_token_id),
        greedy=rollout.temperature == 0,
        stops=StopStrings(rollout.stop, tokenizer) if rollout.stop else None,
    )


def answer(
    prompt: Prompt, response: Response, tokenizer: PreTrainedTokenizerBase
) -> SampledResponse:
    """A sampled response as reward terms see it."""
    text = text_of(response.ids, tokenizer)
    return SampledResponse(
        Tokens(prompt.ids, response.ids),
        text,
        response.finish_reason,
        prompt=prompt.text,
        reference=prompt.reference,
        tags=prompt.tags,
        metadata=prompt.metadata,
    )


def token_texts(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Each token as text, for display."""
    return [str(tokenizer.decode([token])) for token in ids]
