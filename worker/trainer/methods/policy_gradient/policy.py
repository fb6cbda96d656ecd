"""A policy in training: its weights, its reference and the engine that samples.

Made by policy_gradient. With adapters and no other reference, the reference is the same model with
its adapters off; the engine gets the merged weights before it is used.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from peft import PeftModel
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from worker.trainer import precision, random_streams
from worker.trainer.models import adapters, loading
from worker.trainer.run import Run
from worker.trainer.sampling.engines import open_engine


class Policy:
    """`trained` holds the trainable parameters, `causal` is what to call for logits."""

    def __init__(
        self, run: Run, config: PolicyGradientConfig, tokenizer: PreTrainedTokenizerBase
    ) -> None:
        """Load all models; at first policy, reference and sampler are one and the same function."""
        stored = run.dtype if config.lora is not None else torch.float32
        longest = config.rollout.max_prompt_tokens + config.rollout.max_new_tokens
        attention = loading.attention_for(run.device, longest)
        self.tokenizer = tokenizer
        self.causal: PreTrainedModel = loading.load_to_train(run, config, longest=longest)
        self.trained: nn.Module = self.causal
        if config.lora is not None:
            seed = random_streams.derive(config.seed, "adapters")
            self.trained = adapters.add_lora(self.causal, config.lora, seed=seed)
        self._reference: PreTrainedModel | None = None
        other = config.reference if config.reference not in (None, config.model) else None
        if other is not None or config.lora is None:
            self._reference = loading.load_causal_lm(
                other or config.model, dtype=stored, device=run.device, attention=attention
            ).requires_grad_(False)
            precision.halve_linears(self._reference, run.dtype)
        self.trained.eval()
        self.engine = open_engine(
            run,
            config.rollout,
            self.causal,
            lambda: loading.load_causal_lm(
                config.model, dtype=run.dtype, device=run.device
            ).requires_grad_(False),
        )
        self._n_updates_sampled: int | None = None

    def refresh_sampler(self, n_updates: int) -> None:
        """Hand the present weights to the engine, unless it has them.

        `n_updates` counts the optimizer steps behind them: equal counts are equal weights.
        """
        if n_updates != self._n_updates_sampled:
            self.engine.refresh(self.trained)
            self._n_updates_sampled = n_updates

    @contextmanager
    def as_reference(self) -> Iterator[PreTrainedModel]:
        """The frozen reference, without a gradient."""
        with torch.no_grad():
            if self._reference is not None:
                yield self._reference
                return
            assert isinstance(self.trained, PeftModel)  # __init__ loads a reference otherwise
            with self.trained.disable_adapter():
                yield self.causal
