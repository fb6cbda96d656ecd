"""Layers that compute what a model's own do, and keep half as much for the backward pass.

Put into pre-norm decoder layers (Llama, Mistral, Qwen and their kin) by `install`. Autograd keeps
whatever each operation has read; what is cheap to make again from what is kept anyway, these make
again. Axes: `...` rows and tokens, H hidden size.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional
from transformers import PreTrainedModel

_NORMS = ("input_layernorm", "post_attention_layernorm")
_LAYER = {*_NORMS, "self_attn", "mlp"}
_MLP = {"gate_proj", "up_proj", "down_proj", "act_fn"}
# Relative; another order of sums is off by less, another formula by more.
_TOLERANCE = 1e-5


def install(model: PreTrainedModel) -> None:
    """Replace the layers of each block if all give equal numbers within 1e-5; keep other blocks."""
    for block in model.modules():
        own = dict(block.named_children())
        if own.keys() != _LAYER:
            continue
        lean = {name: _lean(own[name]) for name in (*_NORMS, "mlp")}
        if not all(layer is not None and _is_equal(layer, own[n]) for n, layer in lean.items()):
            continue
        for name, layer in lean.items():
            setattr(block, name, layer)
        for part in block.modules():
            if type(part) is nn.Linear:
                part.__class__ = Linear


def _lean(layer: nn.Module) -> nn.Module | None:
    children = dict(layer.named_children())
    if children.keys() == _MLP:
        return GatedMlp(children["gate_proj"], children["up_proj"], children["down_proj"])
    weight, eps = getattr(layer, "weight", None), getattr(layer, "variance_epsilon", None)
    if not isinstance(weight, nn.Parameter) or not isinstance(eps, float):
        return None
    return RmsNorm(weight, eps)


@torch.no_grad()
def _is_equal(lean: nn.Module, own: nn.Module) -> bool:
    weight = next(own.parameters())
    size = weight.shape[-1]
    x_2_H = torch.linspace(-1, 2, 2 * size, device=weight.device, dtype=weight.dtype).view(2, size)
    found, expected = lean(x_2_H).float(), own(x_2_H).float()
    return bool((found - expected).norm() <= _TOLERANCE * expected.norm())


class RmsNorm(nn.Module):
    """Root-mean-square norm for linear layers to read: in the dtype of autocast where that is on.

    Source: Zhang and Sennrich 2019 (arXiv 1910.07467), equation 4.
    """

    def __init__(self, weight: nn.Parameter, eps: float) -> None:
        super().__init__()
        self.weight = weight
        self._eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalize over the last axis: `... x H` to `... x H`."""
        return _call(_RmsNorm, x, self.weight, self._eps, _compute_dtype(x))


class GatedMlp(nn.Module):
    """A gated MLP, down(silu(gate(x)) * up(x)); under autocast it keeps only what gate and up gave.

    Source: Shazeer 2020 (arXiv 2002.05202), equation 6.
    """

    def __init__(self, gate_proj: nn.Module, up_proj: nn.Module, down_proj: nn.Module) -> None:
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = gate_proj, up_proj, down_proj

    def forward(self, x: Tensor) -> Tensor:
        """Apply the MLP: `... x H` to `... x H`."""
        gate, up = self.gate_proj(x), self.up_proj(x)
        if not torch.is_autocast_enabled(x.device.type):
            # In fp32 making the product again takes more time than its memory is worth.
            product = functional.silu(gate) * up
        elif type(self.down_proj) is Linear and self.down_proj.bias is None:
            return _call(_GatedLinear, gate, up, self.down_proj.weight)
        else:
            product = _call(_Gated, gate, up)
        down: Tensor = self.down_proj(product)
        return down


class Linear(nn.Linear):
    """A linear layer that keeps its weight itself, not the copy that autocast has made of it."""

    bias: nn.Parameter | None  # type: ignore[assignment]

    def forward(self, input: Tensor) -> Tensor:
        """Map `... x in_features` to `... x out_features`, in autocast's dtype if it is on."""
        if _compute_dtype(input) == self.weight.dtype:
            return functional.linear(input, self.weight, self.bias)
        return _call(_Linear, input.to(_compute_dtype(input)), self.weight, self.bias)


class _RmsNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
        wide = _wide(x)
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
        _keep(ctx, x, weight, scale)
        return (weight * (wide * scale).to(x.dtype)).to(dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, scale = ctx.saved_tensors
        normal, grad = _wide(x) * scale, _wide(gradients[0])
        to_weight = (grad * normal).flatten(0, -2).sum(0) if ctx.needs_input_grad[1] else None
        grad = grad * weight
        share = (grad * normal).mean(-1, keepdim=True)
        return grad.sub_(normal.mul_(share)).mul_(scale).to(x.dtype), to_weight, None, None


class _Linear(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        _keep(ctx, x, weight)
        return functional.linear(x, weight.to(x.dtype), None if bias is None else bias.to(x.dtype))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (grad,), (x, weight) = gradients, ctx.saved_tensors
        to_weight = _to_weight(grad, x, weight) if ctx.needs_input_grad[1] else None
        to_bias = grad.flatten(0, -2).sum(0).to(weight.dtype) if ctx.needs_input_grad[2] else None
        return grad @ weight.to(x.dtype), to_weight, to_bias


class _Gated(Function):
    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor) -> Tensor:
        _keep(ctx, gate, up)
        return functional.silu(gate) * up

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        (grad,), (gate, up) = gradients, ctx.saved_tensors
        return _through_gate(grad, gate, up, functional.silu(gate))


class _GatedLinear(Function):
    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor, weight: Tensor) -> Tensor:
        _keep(ctx, gate, up, weight)
        return functional.linear(functional.silu(gate) * up, weight.to(up.dtype))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (grad,), (gate, up, weight) = gradients, ctx.saved_tensors
        opened = functional.silu(gate)
        to_weight = _to_weight(grad, opened * up, weight) if ctx.needs_input_grad[2] else None
        return *_through_gate(grad @ weight.to(up.dtype), gate, up, opened), to_weight


def _call(function: type[Function], *arguments: Any) -> Tensor:
    """Call the function, without the cost of autograd where no gradient is wanted."""
    result: Tensor = (
        function.apply(*arguments)
        if torch.is_grad_enabled()
        else function.forward(None, *arguments)
    )
    return result


def _keep(ctx: Any, *tensors: Tensor) -> None:
    if ctx is not None:
        ctx.save_for_backward(*tensors)


def _compute_dtype(x: Tensor) -> torch.dtype:
    is_cast = torch.is_autocast_enabled(x.device.type)
    return torch.get_autocast_dtype(x.device.type) if is_cast else x.dtype


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _to_weight(grad: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    return (grad.flatten(0, -2).t() @ x.flatten(0, -2)).to(weight.dtype)


def _through_gate(grad: Tensor, gate: Tensor, up: Tensor, opened: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of gate and up from that of opened * up, where opened = silu(gate)."""
    return torch.ops.aten.silu_backward(grad * up, gate), opened.mul_(grad)
