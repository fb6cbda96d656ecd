"""Token ids, masks and batches made of the lines of `inputs/*.jsonl`.

Used by every loop. The text of the input files is tokenized here, once per run; after that a prompt
and its response stay token ids. What an earlier run has sampled comes as ids, see `token_ids`.
Knows nothing of models.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import jinja2
import torch
from pydantic import BaseModel, ValidationError
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import Message
from backend.schemas.references import Reference
from worker.trainer.data import conversations, prefix_tree
from worker.trainer.data.conversations import TEMPLATE_ERRORS
from worker.trainer.data.prefix_tree import PrefixTree
from worker.trainer.errors import ConfigError, DataError

_SYSTEM = {"role": "system", "content": "S"}
_ASKS = {"role": "user", "content": "Hello, world 42!"}
_SAYS = {"role": "assistant", "content": "Hello."}
_PROBES = ([_SYSTEM, _ASKS], [_ASKS], [_ASKS, _SAYS, _ASKS])

RecordT = TypeVar("RecordT", bound=BaseModel)


@dataclass(frozen=True)
class Tokens:
    """A prompt (with its template) followed by a response, as token ids."""

    prompt: list[int]
    response: list[int]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.response)

    @property
    def ids(self) -> list[int]:
        """The whole sequence."""
        return self.prompt + self.response


@dataclass(frozen=True)
class Batch:
    """Sequences as rows, padded on the right; `action_B_T` marks the response tokens.

    `tree` holds the same tokens, each beginning that rows have in common once; without it the rows
    are computed as they are, padding included.
    """

    ids_B_T: Tensor
    action_B_T: Tensor
    last_B: Tensor
    tree: PrefixTree | None


def read_records(
    run_dir: Path, reference: Reference, kind: type[RecordT], *, name: str
) -> list[RecordT]:
    """Read a file of records, in its order.

    Raises ConfigError if the file is missing or not the one that was meant, DataError with the line
    number for a line that is not such a record.
    """
    path = _input_path(run_dir, reference, name)
    content = path.read_bytes()
    if reference.sha256 is not None and hashlib.sha256(content).hexdigest() != reference.sha256:
        raise ConfigError(
            f"{name}: the sha256 of {path} is not the one in the config",
            "Retry the run, which writes its inputs again; from a shell, restore the file or "
            "correct its sha256 in the config.",
        )
    records = []
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            try:
                records.append(kind.model_validate_json(line))
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                raise DataError(
                    f"{path.name}, line {number}: {where}: {first['msg']}",
                    "Freeze the snapshot again; from a shell, correct this line.",
                ) from error
    return records


def render_prompt(
    tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], *, system: str
) -> list[int]:
    """Token ids of a conversation up to where the assistant speaks.

    `system` is used unless the conversation brings its own. With an empty one the shorter of two
    renderings is taken, without a system turn and with an empty one: many templates slip in a
    system prompt of their own when there is none.
    Raises ConfigError for a template that cannot write the conversation, or that writes nothing.
    """
    turns = [message.model_dump() for message in messages]
    try:
        ids = _rendered(tokenizer, turns, system)
    except TEMPLATE_ERRORS as error:
        raise _unfit(turns, f"cannot write this conversation: {str(error)[:500]}") from error
    if not ids:
        raise _unfit(turns, "produces no tokens for this conversation")
    return ids


def _rendered(
    tokenizer: PreTrainedTokenizerBase, turns: list[dict[str, str]], system: str
) -> list[int]:
    if turns[0]["role"] == "system":
        return _render_with_system(tokenizer, turns)
    if system:
        return _render_with_system(tokenizer, [{"role": "system", "content": system}, *turns])
    bare = _render(tokenizer, turns)
    try:
        empty = _render(tokenizer, [{"role": "system", "content": ""}, *turns])
    except jinja2.TemplateError:  # a template without a system role adds none either
        return bare
    return min(bare, empty, key=len)


def _render_with_system(
    tokenizer: PreTrainedTokenizerBase, turns: list[dict[str, str]]
) -> list[int]:
    """The ids of a conversation that begins with a system turn.

    Raises ValueError where the template leaves the system prompt out.
    """
    written = conversations.write(tokenizer, turns, is_open=True)
    if not _is_told(tokenizer, turns, written):
        raise ValueError("it leaves the system prompt out")
    ids: list[int] = tokenizer(written, add_special_tokens=False)["input_ids"]
    return ids


def _is_told(tokenizer: PreTrainedTokenizerBase, turns: list[dict[str, str]], written: str) -> bool:
    """Whether what a template has `written` depends on the system prompt; a blank one says nothing.

    The conversation is written once more only where the system prompt cannot be told from words of
    the template and of other turns, of roles and of special tokens.
    """
    system = turns[0]["content"].strip()
    elsewhere = [tokenizer.get_chat_template(), *tokenizer.all_special_tokens]
    elsewhere += [turn["role"] for turn in turns] + [turn["content"] for turn in turns[1:]]
    if not system or (system in written and not any(system in text for text in elsewhere)):
        return True
    other = {**turns[0], "content": f"{turns[0]['content']} Or not."}
    try:
        return written != conversations.write(tokenizer, [other, *turns[1:]], is_open=True)
    except TEMPLATE_ERRORS:  # It has read the other one, to refuse it.
        return True


def _unfit(turns: list[dict[str, str]], what: str) -> ConfigError:
    shown = " / ".join(f"{turn['role']}: {turn['content'][:80]!r}" for turn in turns[:4])
    return ConfigError(
        f"the template {what} ({shown})",
        "Correct `template` (`rollout.template` where responses are sampled), or choose one of "
        "model, plain, text and r1_zero. A template that refuses system prompts or leaves them out "
        "needs an empty `system` beside it.",
    )


def encode_response(
    tokenizer: PreTrainedTokenizerBase, text: str, *, end_id: int | None
) -> list[int]:
    """Token ids of a response; `end_id` closes it, None leaves it open (cut by the token limit)."""
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids if end_id is None else [*ids, end_id]


def text_of(ids: Sequence[int], tokenizer: PreTrainedTokenizerBase) -> str:
    """The text of a response without its special tokens: what people and rules get to see."""
    return str(tokenizer.decode(list(ids), skip_special_tokens=True))


def check_length(what: str, sequences: Sequence[Tokens], max_tokens: int) -> None:
    """Raise DataError if a sequence of a record, named `what`, is longer than `max_tokens`."""
    longest = max(len(tokens) for tokens in sequences)
    if longest > max_tokens:
        raise DataError(
            f"{what} has {longest} tokens with its prompt, but max_tokens is {max_tokens}",
            "Raise max_tokens, or freeze a snapshot without this record.",
        )


def check_ids(
    what: str, ids: Sequence[int], tokenizer: PreTrainedTokenizerBase, *, n_ids: int
) -> None:
    """Raise DataError if a record, named `what`, is written with an id that the model lacks.

    `n_ids`: how many ids the model has embeddings for; a tokenizer may have been given more tokens.
    """
    largest = max(ids)
    if largest >= n_ids:
        raise DataError(
            f"{what} is written with {str(tokenizer.convert_ids_to_tokens(largest))[:80]!r}, the "
            f"token {largest} of the tokenizer, but the model has {n_ids} tokens, 0 to {n_ids - 1}",
            "Resize the embeddings of the model to its tokenizer (resize_token_embeddings) and "
            "train the new rows, or leave this token out of the template and the texts.",
        )


def template_hash(tokenizer: PreTrainedTokenizerBase) -> str:
    """A hash of how the tokenizer turns conversations into ids."""
    found = [_attempt(tokenizer, turns) for turns in _PROBES]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _attempt(tokenizer: PreTrainedTokenizerBase, turns: list[dict[str, str]]) -> list[int] | None:
    """The ids of a conversation; None where the template refuses it, as some do without a user."""
    try:
        return _render(tokenizer, turns)
    except TEMPLATE_ERRORS:
        return None


def micro_batches(costs: Sequence[int], *, budget: int) -> list[list[int]]:
    """Indices grouped so that the costs in each group, in tokens, sum to at most `budget`.

    Sorted by cost, highest first, ties by index, so that the grouping is a function of the costs
    alone. What costs more than the budget is a group of its own.
    """
    groups: list[list[int]] = []
    left = 0
    for index in sorted(range(len(costs)), key=lambda i: (-costs[i], i)):
        if groups and costs[index] <= left:
            groups[-1].append(index)
        else:
            groups.append([index])
            left = budget
        left -= costs[index]
    return groups


def padded_micro_batches(lengths: Sequence[int], *, budget: int) -> list[list[int]]:
    """Micro-batches for rows without a tree: padded to its longest, a group fits the budget."""
    groups: list[list[int]] = []
    widest = 0
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if groups and (len(groups[-1]) + 1) * widest <= budget:
            groups[-1].append(index)
        else:
            groups.append([index])
            widest = lengths[index]
    return groups


def computed_tokens(sequences: Sequence[Tokens]) -> int:
    """Tokens that are computed for sequences in one micro-batch, a common beginning once."""
    return prefix_tree.n_tokens([tokens.ids for tokens in sequences])


def micro_batches_by_prompt(sequences: Sequence[Tokens], *, budget: int) -> list[list[int]]:
    """Micro-batches in which the responses of a prompt stay together, to compute it once.

    The budget is for tokens that are computed: a prompt counts once for all its responses in a
    micro-batch, and what all prompts begin with once for all. A prompt is torn apart if its
    responses do not fit into the budget together.
    """
    shared = common_prefix([tokens.prompt for tokens in sequences])
    families: dict[tuple[int, ...], list[int]] = {}
    for index, tokens in enumerate(sequences):
        families.setdefault(tuple(tokens.prompt), []).append(index)
    chunks, costs = [], []
    for prompt, family in families.items():
        own = len(prompt) - shared
        lengths = [len(sequences[index].response) for index in family]
        for chunk in micro_batches(lengths, budget=budget - shared - own):
            chunks.append([family[i] for i in chunk])
            costs.append(own + sum(lengths[i] for i in chunk))
    groups = micro_batches(costs, budget=budget - shared)
    return [[index for chunk in group for index in chunks[chunk]] for group in groups]


def collate(
    sequences: Sequence[Tokens], *, pad_id: int, device: torch.device, packing: bool = True
) -> Batch:
    """Make one batch of sequences: rows padded on the right and, with `packing`, their tree."""
    width = max(len(tokens) for tokens in sequences)
    ids_B_T = torch.full((len(sequences), width), pad_id, dtype=torch.long)
    action_B_T = torch.zeros((len(sequences), width), dtype=torch.bool)
    for row, tokens in enumerate(sequences):
        ids_B_T[row, : len(tokens)] = torch.tensor(tokens.ids)
        action_B_T[row, len(tokens.prompt) : len(tokens)] = True
    last_B = torch.tensor([len(tokens) - 1 for tokens in sequences])
    rows = [tokens.ids for tokens in sequences]
    tree = prefix_tree.build(rows, device) if packing else None
    return Batch(ids_B_T.to(device), action_B_T.to(device), last_B.to(device), tree)


def common_prefix(prompts: Sequence[list[int]]) -> int:
    """Number of tokens at the start of all prompts; each keeps at least one of its own."""
    first, last = min(prompts), max(prompts)
    shared = min(len(prompt) for prompt in prompts) - 1
    for place in range(shared):
        if first[place] != last[place]:
            return place
    return max(shared, 0)


def _render(tokenizer: PreTrainedTokenizerBase, turns: list[dict[str, str]]) -> list[int]:
    text = conversations.write(tokenizer, turns, is_open=True)
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def _input_path(run_dir: Path, reference: Reference, name: str) -> Path:
    if reference.path is None:
        raise ConfigError(
            f"{name}: the trainer reads files; found {reference.model_dump(exclude_none=True)}",
            'Write {"path": "inputs/FILE.jsonl"}.',
        )
    path = run_dir / reference.path
    if not path.is_file():
        raise ConfigError(f"{name}: there is no file {path}", "Give the path of an existing file.")
    return path
