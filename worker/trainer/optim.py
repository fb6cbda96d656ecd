"""AdamW with a schedule, a clipped gradient and a state that is plain tensors.

Every training loop owns one `Optimizer`; it does not know what the loss is.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from backend.schemas.sections import Optim
from worker.trainer.errors import NonFiniteLoss

_MOMENTS = ("exp_avg", "exp_avg_sq")


class Optimizer:
    """AdamW (betas 0.9, 0.999) over the trainable parameters of a model, counted in `n_steps`."""

    def __init__(self, parameters: Mapping[str, nn.Parameter], config: Optim, total_steps: int):
        self._parameters = dict(parameters)
        self._config = config
        self._total_steps = max(total_steps, 1)
        self.n_steps = 0
        # Fused: one pass over weights and moments instead of seven, which on a CPU, where memory
        # is the limit, takes a seventh of the time.
        self._adamw = torch.optim.AdamW(
            list(self._parameters.values()),
            lr=config.lr,
            weight_decay=config.weight_decay,
            fused=True,
        )
        # Now, in one piece, and not in the holes that the first backward pass has left.
        self.restore(
            {
                f"{moment}/{name}": torch.zeros_like(parameter)
                for name, parameter in self._parameters.items()
                for moment in _MOMENTS
            },
            n_steps=0,
        )

    @property
    def lr(self) -> float:
        """Learning rate of the next step."""
        return learning_rate(self._config, self.n_steps, self._total_steps)

    def step(self) -> float:
        """Clip the gradient, update, clear the gradient; returns its norm before clipping.

        Raises NonFiniteLoss and changes nothing if the gradient is not finite.
        """
        norm = float(
            nn.utils.clip_grad_norm_(list(self._parameters.values()), self._config.grad_clip)
        )
        if not math.isfinite(norm):
            raise NonFiniteLoss(
                f"the norm of the gradient is {norm} at optimizer step {self.n_steps + 1}",
                "Lower optim.lr, or set precision to fp32.",
            )
        for group in self._adamw.param_groups:
            group["lr"] = self.lr
        self._adamw.step()
        self._adamw.zero_grad(set_to_none=True)
        self.n_steps += 1
        return norm

    def clear_gradient(self) -> None:
        """Forget a gradient that will not be used."""
        self._adamw.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Tensor]:
        """Return the moments of AdamW by their name and that of their parameter."""
        return {
            f"{moment}/{name}": self._adamw.state[parameter][moment]
            for name, parameter in self._parameters.items()
            for moment in _MOMENTS
        }

    def restore(self, state: Mapping[str, Tensor], n_steps: int) -> None:
        """Take the moments and the count of a checkpoint."""
        self.n_steps = n_steps
        for name, parameter in self._parameters.items():
            if f"exp_avg/{name}" in state:
                self._adamw.state[parameter] = {
                    "step": torch.tensor(float(n_steps), device=parameter.device),
                    **{m: state[f"{m}/{name}"].to(parameter.device) for m in _MOMENTS},
                }


def learning_rate(config: Optim, step: int, total_steps: int) -> float:
    """Learning rate of optimizer step `step` (from 0): linear warm-up, then the schedule to 0."""
    warmup_steps = round(config.warmup_ratio * total_steps)
    if step < warmup_steps:
        return config.lr * (step + 1) / warmup_steps
    progress = min((step - warmup_steps) / max(total_steps - warmup_steps, 1), 1.0)
    if config.schedule == "linear":
        return config.lr * (1 - progress)
    if config.schedule == "cosine":
        return config.lr * 0.5 * (1 + math.cos(math.pi * progress))
    return config.lr
