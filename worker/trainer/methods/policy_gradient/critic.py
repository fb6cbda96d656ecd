"""The critic of ppo: what reward is still to come, guessed before each action.

Owned by policy_gradient, which adds its loss to the policy's. A linear value head that starts at 0,
on a trunk of its own or on the policy's.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from backend.schemas.policy_gradient import Critic as CriticConfig
from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import Reference
from backend.schemas.rewards import ModelReward
from worker.trainer import losses, random_streams
from worker.trainer.data.tokens import Batch
from worker.trainer.errors import ConfigError
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.models import adapters, gradient_checkpointing, loading
from worker.trainer.models.heads import load_reward_model
from worker.trainer.models.logprobs import action_hidden
from worker.trainer.optim import Optimizer
from worker.trainer.run import Run


class Critic:
    """Values V(s_t) of the prefixes before each action token, and their own optimizer.

    Trunk, head and moments belong to the checkpoint. On a shared trunk only the head is the
    critic's own; the trunk moves with the policy's optimizer.
    """

    def __init__(
        self, run: Run, config: PolicyGradientConfig, policy: Policy, *, total_steps: int
    ) -> None:
        self._config = config.critic or CriticConfig()
        self._trunk: PreTrainedModel | None = None
        self._parameters: dict[str, nn.Parameter] = {}
        if self._config.trunk != "shared":
            self._trunk = _load_trunk(run, config, self._config.trunk).requires_grad_(True)
            trained: nn.Module = self._trunk
            if config.lora is not None:
                seed = random_streams.derive(config.seed, "critic")
                trained = adapters.add_lora(self._trunk, config.lora, seed=seed)
            trained.eval()
            self._parameters = {f"trunk.{n}": p for n, p in adapters.trainable(trained).items()}
        self._head = _zero_head((self._trunk or policy.causal).config.get_text_config().hidden_size)
        self._head.to(run.device)
        self._parameters |= {f"head.{n}": p for n, p in self._head.named_parameters()}
        optim = config.optim.model_copy(update={"lr": self._config.lr})
        self._optimizer = Optimizer(self._parameters, optim, total_steps)

    def values(self, batch: Batch, policy_hidden_N_H: Tensor) -> Tensor:
        """Values at the action tokens, N, fp32; with a gradient unless under no_grad."""
        hidden_N_H = policy_hidden_N_H
        if self._trunk is not None:
            hidden_N_H = action_hidden(self._trunk, batch)
        with torch.autocast(hidden_N_H.device.type, enabled=False):
            value_N: Tensor = self._head(hidden_N_H.float()).squeeze(-1)
        return value_N

    def loss(
        self,
        value_B_T: Tensor,
        old_value_B_T: Tensor,
        return_B_T: Tensor,
        mask_B_T: Tensor,
        *,
        denominator: float,
    ) -> tuple[Tensor, losses.ValueLoss]:
        """Compute what to add to the policy's loss, and the value loss itself."""
        found = losses.value_loss(
            value_B_T,
            old_value_B_T,
            return_B_T,
            mask_B_T,
            clip=self._config.clip,
            denominator=denominator,
        )
        weight = self._config.loss_coef if self._trunk is None else 1.0
        return weight * found.loss, found

    def step(self) -> dict[str, float]:
        """Take one optimizer step; return its metrics."""
        lr = self._optimizer.lr
        return {"value/grad_norm": self._optimizer.step(), "value/lr": lr}

    def clear_gradient(self) -> None:
        """Forget a gradient that will not be used."""
        self._optimizer.clear_gradient()

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors that a checkpoint keeps."""
        return {
            "n_steps": torch.tensor(self._optimizer.n_steps),
            **{f"weight/{name}": p for name, p in self._parameters.items()},
            **{f"optimizer/{name}": t for name, t in self._optimizer.state().items()},
        }

    @torch.no_grad()
    def restore_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Take what a checkpoint kept.

        Raises ConfigError where that is a critic of other weights.
        """
        weights = {name for name in tensors if name.startswith("weight/")}
        if weights != {f"weight/{name}" for name in self._parameters}:
            raise ConfigError(
                f"critic.trunk is {self._config.trunk}, but the critic of the checkpoint was "
                "trained on another trunk",
                "Set critic.trunk as it was in the run of the checkpoint, or start from the "
                "beginning.",
            )
        for name, parameter in self._parameters.items():
            parameter.copy_(tensors[f"weight/{name}"])
        moments = {
            name.removeprefix("optimizer/"): tensor
            for name, tensor in tensors.items()
            if name.startswith("optimizer/")
        }
        self._optimizer.restore(moments, int(tensors["n_steps"]))


def explained_variance(value_B_T: Tensor, return_B_T: Tensor, mask_B_T: Tensor) -> float:
    """1 - Var(return - value) / Var(return) over the mask; 0 where the returns do not vary.

    1 = the critic foresees every return, 0 = no better than their mean, below 0 = worse.
    Source: OpenAI baselines' `explained_variance`, over the action tokens alone.
    """
    return_N = return_B_T[mask_B_T].double()
    error_N = return_N - value_B_T[mask_B_T]
    variance = float(return_N.var(correction=0))
    return 1.0 - float(error_N.var(correction=0)) / variance if variance > 0 else 0.0


def _zero_head(hidden_size: int) -> nn.Linear:
    head = nn.Linear(hidden_size, 1)
    for parameter in head.parameters():
        nn.init.zeros_(parameter)
    return head


def _load_trunk(run: Run, config: PolicyGradientConfig, start: str) -> PreTrainedModel:
    if start == "reward_model":
        dtype = run.dtype if config.lora is not None else torch.float32
        scorer, _, _ = load_reward_model(
            _reward_model(config), dtype=dtype, device=run.device, events=run.events
        )
        assert isinstance(scorer.body, PreTrainedModel)
        if config.optim.gradient_checkpointing:
            gradient_checkpointing.install(scorer.body)
        return scorer.body
    longest = config.rollout.max_prompt_tokens + config.rollout.max_new_tokens
    causal = loading.load_to_train(run, config, longest=longest)
    decoder: PreTrainedModel = causal.get_decoder()
    return decoder


def _reward_model(config: PolicyGradientConfig) -> Reference:
    """The first reward model among the terms; the config has made sure that there is one."""
    return next(term.model for term in config.reward.terms if isinstance(term, ModelReward))
