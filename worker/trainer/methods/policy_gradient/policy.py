"""A policy in training: its weights, its reference and the engine that samples.

Made by policy_gradient. With adapters and no other reference, the reference is the same model with
its adapters off; the engine gets the merged weights before it is used. Where steps have no KL
penalty, a reference of its own is there during evaluations only.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import torch
from peft import PeftModel
from torch import nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.policy_gradient import PolicyGradientConfig
from worker.trainer import precision, random_streams
from worker.trainer.models import adapters, loading
from worker.trainer.run import Run
from worker.trainer.sampling.engines import Engine, open_engine


class Policy:
    """`trained` holds the trainable parameters, `causal` is what to call for logits."""

    def __init__(
        self, run: Run, config: PolicyGradientConfig, tokenizer: PreTrainedTokenizerBase
    ) -> None:
        """Load all models; at first policy, reference and sampler are one and the same function."""
        self._run, self._config = run, config
        longest = config.rollout.max_prompt_tokens + config.rollout.max_new_tokens
        self._attention = loading.attention_for(run.device, longest)
        self.tokenizer = tokenizer
        self.causal: PreTrainedModel = loading.load_to_train(run, config, longest=longest)
        self.trained: nn.Module = self.causal
        if config.lora is not None:
            seed = random_streams.derive(config.seed, "adapters")
            self.trained = adapters.add_lora(self.causal, config.lora, seed=seed)
        other = config.reference if config.reference not in (None, config.model) else None
        self._is_its_own_reference = other is None and config.lora is not None
        self.has_reference_in_steps = config.kl.coef > 0
        self._reference: PreTrainedModel | None = None
        if self.has_reference_in_steps:
            self._reference = self._load_reference()
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

    def _load_reference(self) -> PreTrainedModel | None:
        """The frozen reference; None where it is the policy without its adapters."""
        run, config = self._run, self._config
        if self._is_its_own_reference:
            return None
        reference = loading.load_causal_lm(
            config.reference or config.model,
            dtype=run.dtype if config.lora is not None else torch.float32,
            device=run.device,
            attention=self._attention,
            events=run.events,
        ).requires_grad_(False)
        precision.halve_linears(reference, run.dtype)
        return reference

    @contextmanager
    def reference_at_hand(self) -> Iterator[None]:
        """Allow `as_reference` within, for an evaluation, whether or not steps use a reference.

        A reference that steps do not need is loaded here and let go afterwards.
        """
        if not self.has_reference_in_steps:
            self._reference = self._load_reference()
        try:
            yield
        finally:
            if not self.has_reference_in_steps:
                self._reference = None

    @contextmanager
    def reference_engine(self) -> Iterator[Engine]:
        """An engine that samples as the reference, with the same kernels and the same precision.

        Its weights are loaded for this alone. The policy's engine is closed
        meanwhile, which frees what vLLM holds, and needs the next `refresh_sampler`.
        """
        run, config = self._run, self._config
        self.engine.close()
        self._n_updates_sampled = None
        model = loading.load_causal_lm(
            config.reference or config.model, dtype=run.dtype, device=run.device
        ).requires_grad_(False)
        with closing(open_engine(run, config.rollout, model, lambda: model)) as engine:
            yield engine

    @contextmanager
    def as_reference(self) -> Iterator[PreTrainedModel]:
        """The frozen reference, without a gradient."""
        with torch.no_grad():
            if self._reference is not None:
                yield self._reference
                return
            assert isinstance(self.trained, PeftModel)  # otherwise one is loaded before
            with adapters.switched_off(self.causal):
                yield self.causal
