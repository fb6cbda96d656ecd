"""A reward model: a language model's body and one linear head that gives scores.

Trained by `reward_model` and `process_reward_model`, used by the reward terms `model` and
`process`. The score of a whole response is read at its last token, whether that is an end token or
the last token before the limit.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.model_folder.reward_card import CARD_FILE, HEAD_FILE, REWARD_MODEL
from backend.schemas.references import Reference
from backend.schemas.training import ProcessRewardModelConfig, RewardModelConfig
from worker.trainer import precision, random_streams
from worker.trainer.checkpoint import save_tensors
from worker.trainer.data.tokens import (
    Batch,
    Tokens,
    collate,
    micro_batches_by_prompt,
    template_hash,
)
from worker.trainer.errors import ConfigError, MissingModel
from worker.trainer.events import Events
from worker.trainer.models import adapters, files, loading, weights
from worker.trainer.models.body import hidden_at, install_trees
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.run import Run


class RewardModel(nn.Module):
    """`body` gives hidden states, `head` one score; the head and its product are always fp32."""

    def __init__(self, body: nn.Module, head: nn.Linear) -> None:
        super().__init__()
        self.body = body
        self.head = head

    def forward(self, batch: Batch) -> Tensor:
        """Scores of the rows, B, read at each row's last token."""
        return self.at(
            batch, torch.zeros_like(batch.action_B_T).scatter(1, batch.last_B[:, None], True)
        )

    def at(self, batch: Batch, place_B_T: Tensor) -> Tensor:
        """Scores at the marked places, M, in row order."""
        hidden_M_H = hidden_at(self.body, batch, place_B_T)
        with torch.autocast(hidden_M_H.device.type, enabled=False):
            score: Tensor = self.head(hidden_M_H.float()).squeeze(-1)
        return score


@dataclass(frozen=True)
class LoadedScorer:
    """A trained reward model that scores what a policy samples, and how its forwards are made."""

    model: RewardModel
    tokenizer: PreTrainedTokenizerBase
    card: dict[str, object]
    budget: int
    dtype: torch.dtype
    check_stop: Callable[[], None]

    @property
    def system(self) -> str:
        """The system prompt that it was trained with."""
        return str(self.card.get("system", ""))


def new_reward_model(run: Run, config: RewardModelConfig | ProcessRewardModelConfig) -> RewardModel:
    """A reward model on the body of a language model, its head drawn from N(0, 1 / (H + 1)^2)."""
    causal = loading.load_to_train(run, config, longest=config.max_tokens, body_only=True)
    # What AutoModel builds of the saved folder: of OPT the decoder alone is another class.
    body = causal.base_model
    if config.lora is not None:
        adapter_seed = random_streams.derive(config.seed, "adapters")
        body = adapters.add_lora(body, config.lora, seed=adapter_seed)
    return RewardModel(
        body, _new_head(causal.config.get_text_config().hidden_size, config.seed).to(run.device)
    )


def _whole_body(start: Reference) -> PreTrainedModel:
    body: PreTrainedModel = loading.load_whole(start, body_only=True).base_model
    return body


def _new_head(hidden_size: int, seed: int) -> nn.Linear:
    head = nn.Linear(hidden_size, 1, bias=False)
    with torch.no_grad():
        noise = torch.randn(1, hidden_size, generator=random_streams.stream(seed, "head"))
        head.weight.copy_(noise / (hidden_size + 1))
    return head


def score_all(
    model: RewardModel,
    sequences: Sequence[Tokens],
    *,
    pad_id: int,
    budget: int,
    dtype: torch.dtype,
    check_stop: Callable[[], None],
) -> list[float]:
    """Scores of sequences in their order, without a gradient, in eval mode."""
    device = model.head.weight.device
    was_training = model.training
    model.eval()
    scores = [0.0] * len(sequences)
    with torch.no_grad(), precision.autocast(device, dtype):
        for group in micro_batches_by_prompt(sequences, budget=budget):
            check_stop()
            batch = collate([sequences[i] for i in group], pad_id=pad_id, device=device)
            for index, score in zip(group, model(batch).tolist(), strict=True):
                scores[index] = score
    model.train(was_training)
    return scores


def save_reward_model(
    trained: RewardModel,
    start: Reference,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    *,
    card: dict[str, object],
) -> None:
    """Save body (adapters merged, fp32), head, tokenizer and a card with what a user must know."""
    body = adapters.full_model(trained.body, lambda: _whole_body(start))
    loading.save_model(body, tokenizer, folder)
    save_tensors(folder / HEAD_FILE, {"weight": trained.head.weight})
    card = {"kind": REWARD_MODEL, "format": 1, "template": template_hash(tokenizer), **card}
    (folder / CARD_FILE).write_text(json.dumps(card, indent=1))


def load_scorer(
    reference: Reference,
    policy_tokenizer: PreTrainedTokenizerBase,
    *,
    kind: str,
    budget: int,
    dtype: torch.dtype,
    device: torch.device,
    check_stop: Callable[[], None],
    events: Events | None = None,
) -> LoadedScorer:
    """A trained reward model that is to score what a policy samples; alerts go to `events`.

    Raises ConfigError if policy and reward model do not read the same tokens.
    """
    model, tokenizer, card = load_reward_model(
        reference, dtype=dtype, device=device, kind=kind, events=events
    )
    _require_same_tokens(reference, tokenizer, policy_tokenizer, who="the policy")
    return LoadedScorer(model, tokenizer, card, budget, dtype, check_stop)


def check_scorer(
    reference: Reference, tokenizer: PreTrainedTokenizerBase, *, kind: str, who: str
) -> None:
    """Raise ConfigError unless this is a reward model that reads the tokens of `who`.

    Loads no weights.
    """
    _card(reference, kind)
    _require_same_tokens(reference, load_tokenizer(reference), tokenizer, who=who)


def _require_same_tokens(
    reference: Reference,
    ours: PreTrainedTokenizerBase,
    theirs: PreTrainedTokenizerBase,
    *,
    who: str,
) -> None:
    if ours.get_vocab() == theirs.get_vocab() and template_hash(ours) == template_hash(theirs):
        return
    raise ConfigError(
        f"the reward model {reference.path} and {who} have different vocabularies or chat "
        "templates",
        f"Train the reward model from the same base model as {who}, and with the `template` that "
        f"{who} is sampled with.",
    )


def load_reward_model(
    reference: Reference,
    *,
    dtype: torch.dtype,
    device: torch.device,
    kind: str = REWARD_MODEL,
    events: Events | None = None,
) -> tuple[RewardModel, PreTrainedTokenizerBase, dict[str, object]]:
    """A trained reward model in eval mode, its tokenizer and its card; alerts go to `events`.

    Raises ConfigError if the reference is no reward model of this kind, MissingModel if its files
    lack a weight.
    """
    folder, card = _card(reference, kind)
    body = weights.load(AutoModel, reference, dtype=dtype, attention="sdpa", events=events)
    install_trees(body)
    head = _stored_head(folder, body.config.get_text_config().hidden_size)
    model = RewardModel(body, head).to(device).eval().requires_grad_(False)
    return model, load_tokenizer(reference), card


def _card(reference: Reference, kind: str) -> tuple[Path, dict[str, object]]:
    """Folder and card of a reward model. Raises ConfigError if it is none of this kind."""
    if not files.is_reward_model(reference) or reference.path is None:
        raise ConfigError(
            f"reward model: {reference.path or reference.hub_id} has no {CARD_FILE}",
            f"Give the output of a {kind} run.",
        )
    folder = Path(reference.path)
    card = files.read_json(folder / CARD_FILE)
    if card["kind"] != kind:
        raise ConfigError(
            f"the reward term needs a {kind}; {folder} is a {card['kind']}",
            "Use the reward term `model` for a reward_model, and `process` for a "
            "process_reward_model.",
        )
    return folder, card


def _stored_head(folder: Path, hidden_size: int) -> nn.Linear:
    """The head beside a body.

    Raises MissingModel unless its file has one weight of the right shape.
    """
    head = nn.Linear(hidden_size, 1, bias=False)
    try:
        head.load_state_dict(load_file(folder / HEAD_FILE))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise MissingModel(
            f"reward model: {HEAD_FILE} in {folder} is not a head of {hidden_size} numbers: "
            f"{' '.join(str(error).split())[:300]}",
            "Give the output of a run that trained a reward model, with all of its files.",
        ) from error
    return head
