"""Responses in steps: where each step ends among the tokens, and records of labelled steps.

Used by process_reward_model for training and by the reward term `process` for scoring, so that both
read a step at the same token. Knows nothing of models.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import SolutionRecord
from backend.schemas.training import ProcessRewardModelConfig
from backend.schemas.vocabulary import HELDOUT_FRACTION, Split
from worker.trainer.data.ends import closing_id
from worker.trainer.data.tokens import (
    Tokens,
    check_ids,
    check_length,
    encode_response,
    read_records,
    render_prompt,
)
from worker.trainer.errors import DataError
from worker.trainer.run import Run

SEPARATORS = {"newline": "\n", "blank_line": "\n\n"}


@dataclass(frozen=True)
class Solution:
    """A response as token ids, the places in it where its steps end, and a label for each."""

    prompt_id: str
    tokens: Tokens
    ends: list[int]
    labels: list[float]


def step_ends(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase, separator: str) -> list[int]:
    """Places of the tokens of a response at which its steps end.

    A step ends with the token that completes the separator after it, the last one with the last
    token of the response. Steps of white space alone are none; a response without any has one end,
    its last token. A function of the ids: nothing is tokenized anew.
    """
    ends: list[int] = []
    n_steps = 0
    for place, token in enumerate(ids):
        if separator[-1] in _text([token], tokenizer):
            *done, _ = _text(ids[: place + 1], tokenizer).split(separator)
            n_done = sum(bool(step.strip()) for step in done)
            if n_done > n_steps:
                ends.append(place)
            n_steps = n_done
    has_rest = bool(_text(ids, tokenizer).split(separator)[-1].strip())
    return [*ends, len(ids) - 1] if has_rest or not ends else ends


def places_of(
    sequences: Sequence[Tokens], ends: Sequence[Sequence[int]], like_B_T: Tensor
) -> Tensor:
    """True where a step of a row ends, B x T as `like_B_T`."""
    place_B_T = torch.zeros_like(like_B_T, dtype=torch.bool)
    for row, (tokens, own) in enumerate(zip(sequences, ends, strict=True)):
        place_B_T[row, [len(tokens.prompt) + end for end in own]] = True
    return place_B_T


def read_solutions(
    run: Run, config: ProcessRewardModelConfig, tokenizer: PreTrainedTokenizerBase, *, n_ids: int
) -> tuple[list[Solution], list[Solution]]:
    """The solutions of the train and of the held-out split.

    `n_ids`: how many ids the model has. Raises DataError for one that is too long, holds an id that
    the model does not have or whose steps hold the separator, and if there is nothing to train on.
    """
    records = read_records(run.directory, config.solutions, SolutionRecord, name="solutions")
    sides: dict[Split, list[Solution]] = {Split.TRAIN: [], Split.HELDOUT: []}
    for record in records:
        solution = _encode(record, config, tokenizer)
        check_ids(f"solution {record.solution_id}", solution.tokens.ids, tokenizer, n_ids=n_ids)
        sides[record.split].append(solution)
    if not sides[Split.TRAIN]:
        raise DataError(
            f"no solution is in the train split (0 of {len(records)})",
            f"Freeze a snapshot with a lower {HELDOUT_FRACTION}, or import more solutions.",
        )
    return sides[Split.TRAIN], sides[Split.HELDOUT]


_ADVICE = {
    "newline": "Split the steps at each newline before you import them, or set separator to "
    "blank_line.",
    "blank_line": "Split the steps at each blank line before you import them.",
}


def _encode(
    record: SolutionRecord, config: ProcessRewardModelConfig, tokenizer: PreTrainedTokenizerBase
) -> Solution:
    separator = SEPARATORS[config.separator]
    text = separator.join(step.content.strip() for step in record.steps)
    end_id = closing_id(tokenizer) if record.is_finished else None
    tokens = Tokens(
        render_prompt(tokenizer, record.messages, system=config.system),
        encode_response(tokenizer, text if record.is_finished else text + separator, end_id=end_id),
    )
    check_length(f"solution {record.solution_id}", [tokens], config.max_tokens)
    ends = step_ends(tokens.response, tokenizer, separator)
    if len(ends) != len(record.steps):
        raise DataError(
            f"solution {record.solution_id} has {len(record.steps)} labelled steps, but its text "
            f"splits into {len(ends)} steps at each {config.separator.replace('_', ' ')}",
            _ADVICE[config.separator],
        )
    return Solution(record.prompt_id, tokens, ends, [step.label for step in record.steps])


def _text(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> str:
    return str(
        tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    )
