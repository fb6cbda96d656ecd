"""Sample responses: one forward per token over all rows that have not ended yet.

Used by generate, policy_gradient and evaluations. The token at a place is a function of the logits
and of a number drawn beforehand for (seed, step, prompt, sample, place), by the inverse of the
cumulative distribution; so neither the batch size nor the order of the rows nor who else draws
changes a response. In policy_gradient the model here is a copy for sampling: adapters merged, in
the precision of the computation. Axes: B rows, P prompts, T tokens of a row, V vocabulary, J parts
of it, C tokens of one part.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import DynamicCache, DynamicLayer

from backend.schemas.vocabulary import FinishReason
from worker.trainer import random_streams
from worker.trainer.data.tokens import common_prefix
from worker.trainer.errors import NonFiniteLoss
from worker.trainer.sampling.stopping import StopStrings

# Rows decoded together; beyond this the cores are full and only the cache grows.
MAX_ROWS = 128
# The vocabulary is searched in two levels: first the block, then the token in it.
BLOCK = 256


@dataclass(frozen=True)
class Request:
    """A prompt and how many responses it gets; `key` names it in the random streams."""

    key: str
    prompt: list[int]
    n_samples: int = 1


@dataclass(frozen=True)
class Response:
    """Sampled tokens with the one that ended them, and their log-probabilities when sampled."""

    ids: list[int]
    logp: list[float]
    finish_reason: FinishReason

    @property
    def logp_sum(self) -> float:
        """Log-probability of the whole response, nats."""
        return sum(self.logp)


@dataclass(frozen=True)
class Sampling:
    """How to sample; `end_ids` end a response and belong to it, as do ids that complete `stops`.

    `greedy` takes the likeliest token at every place, whatever `temperature` and `top_p` say.
    """

    max_new_tokens: int
    temperature: float
    top_p: float
    end_ids: Sequence[int]
    pad_id: int
    greedy: bool = False
    stops: StopStrings | None = None


# Told of a response as soon as it has ended: the place of its request, and what was sampled.
OnResponse = Callable[[int, Response], None]


def ignore(place: int, response: Response) -> None:
    """Do nothing: nobody waits for single responses."""


def sample(
    model: PreTrainedModel,
    requests: Sequence[Request],
    sampling: Sampling,
    *,
    seed: int,
    stream: Sequence[str | int],
    between_tokens: Callable[[], None] = lambda: None,
    on_response: OnResponse = ignore,
) -> list[list[Response]]:
    """Responses per request, in the order of the requests.

    `stream` names the random numbers (e.g. ("rollout", step)). `between_tokens` is called between
    decode steps and may raise to stop, `on_response` with each response that ends itself.
    """
    order = sorted(range(len(requests)), key=lambda i: (-len(requests[i].prompt), i))
    found: dict[int, list[Response]] = {}
    for group in _decode_groups(order, requests):
        chosen = [requests[i] for i in group]
        decoding = _Decoding(model, chosen, sampling, seed=seed, stream=stream)
        with torch.inference_mode():
            responses = decoding.run(between_tokens, _at_places(on_response, group))
        for index, request in zip(group, chosen, strict=True):
            found[index] = [responses.pop(0) for _ in range(request.n_samples)]
    return [found[index] for index in range(len(requests))]


def _at_places(told: OnResponse, group: Sequence[int]) -> OnResponse:
    return lambda place, response: told(group[place], response)


def _decode_groups(order: Sequence[int], requests: Sequence[Request]) -> list[list[int]]:
    groups: list[list[int]] = []
    rows = 0
    for index in order:
        n_samples = requests[index].n_samples
        if groups and rows + n_samples <= MAX_ROWS:
            groups[-1].append(index)
            rows += n_samples
        else:
            groups.append([index])
            rows = n_samples
    return groups


@dataclass
class _Row:
    request: int
    uniform: Tensor
    ids: list[int] = field(default_factory=list)
    logp: list[float] = field(default_factory=list)
    ended: bool = False


class _Decoding:
    """One group of requests, from the prompt's forward to the last row's end."""

    def __init__(
        self,
        model: PreTrainedModel,
        requests: Sequence[Request],
        sampling: Sampling,
        *,
        seed: int,
        stream: Sequence[str | int],
    ) -> None:
        self.model, self.requests, self.sampling = model, requests, sampling
        self.body, self.head = model.get_decoder(), model.get_output_embeddings()
        self.device = model.device
        self.rows = [
            _Row(
                place,
                random_streams.uniforms(sampling.max_new_tokens, seed, *stream, request.key, i),
            )
            for place, request in enumerate(requests)
            for i in range(request.n_samples)
        ]

    def run(
        self, between_tokens: Callable[[], None], on_response: OnResponse = ignore
    ) -> list[Response]:
        logits_B_V, cache, mask_B_T, position_B = self._prefill()
        active = list(range(len(self.rows)))
        for place in range(self.sampling.max_new_tokens):
            between_tokens()
            uniform_B = torch.stack([self.rows[row].uniform[place] for row in active])
            token_B, logp_B = draw(
                logits_B_V,
                None if self.sampling.greedy else uniform_B.to(self.device),
                temperature=self.sampling.temperature,
                top_p=self.sampling.top_p,
            )
            self._record(active, token_B.tolist(), logp_B.tolist())
            ended = [self.rows[row].ended for row in active]
            for row in compress(active, ended):
                on_response(self.rows[row].request, self._response(self.rows[row]))
            keep = closed_up(ended)
            if not keep or place + 1 == self.sampling.max_new_tokens:
                break
            if len(keep) < len(active):
                kept = torch.tensor(keep, device=self.device)
                active = [active[i] for i in keep]
                token_B, mask_B_T, position_B = token_B[kept], mask_B_T[kept], position_B[kept]
                cache.batch_select_indices(kept)
            mask_B_T = torch.cat([mask_B_T, mask_B_T.new_ones(len(active), 1)], dim=1)
            logits_B_V = self._forward(token_B[:, None], cache, mask_B_T, position_B[:, None])
            position_B = position_B + 1
        return [self._response(row) for row in self.rows]

    def _prefill(self) -> tuple[Tensor, DynamicCache, Tensor, Tensor]:
        """Run the prompts: what all have in common once, the rest once per request."""
        prompts = [request.prompt for request in self.requests]
        # Padding stands after what is shared, where a window of some last tokens would hold it.
        shared = common_prefix(prompts) if sees_all(self.model) else 0
        width = max(len(prompt) for prompt in prompts) - shared
        ids_P_T = torch.full((len(prompts), width), self.sampling.pad_id)
        mask_P_T = torch.ones(len(prompts), shared + width, dtype=torch.long)
        for row, prompt in enumerate(prompts):
            n_padding = shared + width - len(prompt)
            ids_P_T[row, n_padding:] = torch.tensor(prompt[shared:])
            mask_P_T[row, shared : shared + n_padding] = 0
        position_P_T = (mask_P_T.cumsum(-1) - 1).to(self.device)
        ids_P_T, mask_P_T = ids_P_T.to(self.device), mask_P_T.to(self.device)
        cache = roomy_cache(self.model, shared + width + self.sampling.max_new_tokens)
        if shared:
            ids_1_T = torch.tensor([prompts[0][:shared]], device=self.device)
            self._forward(ids_1_T, cache, mask_P_T[:1, :shared], position_P_T[:1, :shared])
            cache.batch_select_indices(torch.zeros(len(prompts), dtype=torch.long))
        logits_P_V = self._forward(ids_P_T, cache, mask_P_T, position_P_T[:, shared:])
        repeats = torch.tensor([request.n_samples for request in self.requests])
        source_B = torch.arange(len(prompts)).repeat_interleave(repeats).to(self.device)
        cache.batch_select_indices(source_B)
        next_B = position_P_T[:, -1] + 1
        return logits_P_V[source_B], cache, mask_P_T[source_B], next_B[source_B]

    def _forward(self, ids: Tensor, cache: DynamicCache, mask: Tensor, position: Tensor) -> Tensor:
        hidden_B_T_H = self.body(
            input_ids=ids,
            attention_mask=mask,
            position_ids=position,
            past_key_values=cache,
            use_cache=True,
        ).last_hidden_state
        # Of a view on three axes the product would copy the head's weights for each row.
        logits: Tensor = self.head(hidden_B_T_H[:, -1].contiguous()).float()
        return logits

    def _record(self, active: list[int], tokens: list[int], logps: list[float]) -> None:
        require_finite(logps)
        for row, token, logp in zip(active, tokens, logps, strict=True):
            self.rows[row].ids.append(token)
            self.rows[row].logp.append(logp)
            self.rows[row].ended = self._is_end(self.rows[row].ids)

    def _is_end(self, ids: list[int]) -> bool:
        stops = self.sampling.stops
        return ids[-1] in self.sampling.end_ids or (stops is not None and stops.is_complete(ids))

    def _response(self, row: _Row) -> Response:
        return Response(row.ids, row.logp, FinishReason.STOP if row.ended else FinishReason.LENGTH)


def closed_up(ended: Sequence[bool]) -> list[int]:
    """Places of the rows that go on: the last of them stand where others have ended before them.

    So few rows move, and where each ends up is a place that nobody needs any more.
    """
    n_left = len(ended) - sum(ended)
    behind = [place for place in range(n_left, len(ended)) if not ended[place]]
    return [behind.pop() if ended[place] else place for place in range(n_left)]


def require_finite(logps: Sequence[float]) -> None:
    """Raise NonFiniteLoss if a log-probability of what was sampled is not finite."""
    if not all(map(math.isfinite, logps)):
        raise NonFiniteLoss(
            "the model's logits are NaN or infinite, so nothing can be sampled",
            "Set precision to fp32. In training, also lower optim.lr and clone the run from an "
            "earlier checkpoint.",
        )


def draw(
    logits_B_V: Tensor, uniform_B: Tensor | None, *, temperature: float, top_p: float
) -> tuple[Tensor, Tensor]:
    """Tokens at the given quantiles of softmax(logits / temperature), and their log-probabilities.

    Without quantiles the likeliest token, the one with the lowest id among equals.

    With top_p < 1 the token comes from the smallest set of likeliest tokens that holds top_p of the
    mass; its log-probability is still that under the whole distribution. Logits that are NaN give
    a NaN.
    """
    scaled_B_V = logits_B_V / temperature
    scaled_B_V -= scaled_B_V.amax(-1, keepdim=True)
    mass_B_V = scaled_B_V.exp()
    whole_B = mass_B_V.sum(-1)
    if uniform_B is None:
        token_B = scaled_B_V.argmax(-1)
    else:
        if top_p < 1:
            mass_B_V = _nucleus(mass_B_V, whole_B, top_p)
        token_B = _inverse_cumulative(mass_B_V, uniform_B)
    logp_B = scaled_B_V.gather(-1, token_B[:, None])[:, 0] - whole_B.log()
    return token_B, logp_B


def _inverse_cumulative(mass_B_V: Tensor, uniform_B: Tensor) -> Tensor:
    n_rows, n_tokens = mass_B_V.shape
    padded = torch.nn.functional.pad(mass_B_V, (0, -n_tokens % BLOCK))
    block_B_J_C = padded.view(n_rows, -1, BLOCK)
    upto_B_J = block_B_J_C.sum(-1, dtype=torch.float64).cumsum(-1)
    target_B = uniform_B * upto_B_J[:, -1]
    block_B = torch.searchsorted(upto_B_J, target_B[:, None], right=True)[:, 0]
    block_B = block_B.clamp(max=upto_B_J.shape[1] - 1)
    row_B = torch.arange(n_rows, device=mass_B_V.device)
    within_B_C = block_B_J_C[row_B, block_B].double()
    rest_B = target_B - (upto_B_J[row_B, block_B] - within_B_C.sum(-1))
    place_B = torch.searchsorted(within_B_C.cumsum(-1), rest_B[:, None], right=True)[:, 0]
    # Rounding can point just past the last token that has any mass.
    last_B = (BLOCK - 1) - (within_B_C > 0).flip(-1).int().argmax(-1)
    # The last bound is for masses that are NaN.
    return (block_B * BLOCK + torch.minimum(place_B, last_B)).clamp(max=n_tokens - 1)


def _nucleus(mass_B_V: Tensor, whole_B: Tensor, top_p: float) -> Tensor:
    sorted_B_V, index_B_V = mass_B_V.sort(dim=-1, descending=True, stable=True)
    before_B_V = sorted_B_V.cumsum(-1) - sorted_B_V
    sorted_B_V = sorted_B_V.masked_fill(before_B_V >= top_p * whole_B[:, None], 0.0)
    return torch.zeros_like(mass_B_V).scatter_(-1, index_B_V, sorted_B_V)


class _RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """A layer of the cache with room for all tokens: appending copies nothing else."""

    capacity = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        n_rows, n_heads, _, size = key_states.shape
        self.dtype, self.device = key_states.dtype, key_states.device
        self.room_k = key_states.new_empty(n_rows, n_heads, self.capacity, size)
        self.room_v = value_states.new_empty(n_rows, n_heads, self.capacity, value_states.shape[-1])
        self.keys, self.values = self.room_k[:, :, :0], self.room_v[:, :, :0]
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object
    ) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.keys.shape[-2]
        end = start + key_states.shape[-2]
        self.room_k[:, :, start:end] = key_states
        self.room_v[:, :, start:end] = value_states
        self.keys, self.values = self.room_k[:, :, :end], self.room_v[:, :, :end]
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        used = self.keys.shape[-2]
        moved = (indices != torch.arange(len(indices), device=indices.device)).nonzero()[:, 0]
        if (indices[moved] >= len(indices)).all():
            # Nobody is overwritten who is still to be read: the others stay where they are.
            source = indices[moved]
            for room in (self.room_k, self.room_v):
                room[moved, :, :used] = room[source, :, :used]
            self.room_k, self.room_v = self.room_k[: len(indices)], self.room_v[: len(indices)]
            self.keys, self.values = self.room_k[:, :, :used], self.room_v[:, :, :used]
            return
        room_k = self.room_k.new_empty(len(indices), *self.room_k.shape[1:])
        room_v = self.room_v.new_empty(len(indices), *self.room_v.shape[1:])
        room_k[:, :, :used] = self.keys[indices]
        room_v[:, :, :used] = self.values[indices]
        self.room_k, self.room_v = room_k, room_v
        self.keys, self.values = room_k[:, :, :used], room_v[:, :, :used]


def sees_all(model: PreTrainedModel) -> bool:
    """Whether each token attends to all before it in every layer: no windows, no other states."""
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


def roomy_cache(model: PreTrainedModel, capacity: int) -> DynamicCache:
    """A key-value cache that never has to grow; layers of another kind than full attention stay."""
    cache = DynamicCache(config=model.config)
    layer_class = type("_Roomy", (_RoomyLayer,), {"capacity": capacity})
    for index, layer in enumerate(cache.layers):
        if type(layer) is DynamicLayer:
            cache.layers[index] = layer_class()
    return cache
