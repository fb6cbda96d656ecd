"""Who samples: a copy of the model in this process, or vLLM in one of its own.

Made by the methods that sample; `rollout.engine` names it. Whoever samples gets token ids and gives
token ids with their log-probabilities; within a run nothing is tokenized again.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import nn
from transformers import PreTrainedModel

from backend.schemas.sections import Rollout
from worker.trainer.models import adapters
from worker.trainer.run import Run
from worker.trainer.sampling.decoding import (
    OnResponse,
    Request,
    Response,
    Sampling,
    ignore,
    sample,
)
from worker.trainer.sampling.vllm_engine import VllmEngine


class Engine(Protocol):
    """Samples with the weights of the last `refresh`, before that with those it was made with."""

    def refresh(self, trained: nn.Module) -> None:
        """Take over the present weights of a model, adapters merged."""

    def sample(
        self,
        requests: Sequence[Request],
        sampling: Sampling,
        *,
        seed: int,
        stream: Sequence[str | int],
        between_tokens: Callable[[], None],
        on_response: OnResponse = ignore,
    ) -> list[list[Response]]:
        """Responses per request, in the order of the requests.

        `stream` names the random numbers; `between_tokens` is called now and then and may raise. An
        engine that knows of a response before the others have ended tells `on_response` of it.
        """

    def close(self) -> None:
        """Let go of what it holds; it samples no more before the next `refresh`."""


class TransformersEngine:
    """A copy of the model in this process, merged and in the compute precision."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model

    @torch.no_grad()
    def refresh(self, trained: nn.Module) -> None:
        """Copy what training has changed into the copy, in place."""
        targets = dict(self._model.named_parameters())
        for name, weight in adapters.trained_weights(trained):
            targets[name].copy_(weight)

    def sample(
        self,
        requests: Sequence[Request],
        sampling: Sampling,
        *,
        seed: int,
        stream: Sequence[str | int],
        between_tokens: Callable[[], None],
        on_response: OnResponse = ignore,
    ) -> list[list[Response]]:
        """See `decoding.sample`."""
        return sample(
            self._model,
            requests,
            sampling,
            seed=seed,
            stream=stream,
            between_tokens=between_tokens,
            on_response=on_response,
        )

    def close(self) -> None:
        """Do nothing: this engine holds nothing that must be released."""


def open_engine(
    run: Run, rollout: Rollout, model: PreTrainedModel, copy: Callable[[], PreTrainedModel]
) -> Engine:
    """The engine that the config names, with the weights of `model`.

    `copy` gives the model that may sample in this process: another one where `model` is trained.
    vllm starts when it is first used, and raises ConfigError and EngineFailed only then.
    """
    if rollout.engine == "vllm":
        return VllmEngine(run, rollout, model)
    return TransformersEngine(copy())
