"""Weights of what another program has sampled: worked numbers, and a plain loop beside them."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from backend.schemas.policy_gradient import Importance
from worker.trainer.importance import weights

LOG_RATIO = torch.tensor([[0.0, math.log(1.5), math.log(4)], [math.log(0.25), 0.0, 9.0]])
MASK = torch.tensor([[True, True, True], [True, True, False]])
HERE = torch.full((2, 3), -1.0)


@pytest.mark.parametrize(
    ("level", "action", "expected", "n_cut"),
    [
        ("token", "truncate", [[1, 1.5, 2], [0.25, 1, 0]], 1),
        ("token", "mask", [[1, 1.5, 0], [0, 1, 0]], 2),
        ("sequence", "truncate", [[2, 2, 2], [0.25, 0.25, 0]], 3),
        ("sequence", "mask", [[0, 0, 0], [0, 0, 0]], 5),
    ],
)
def test_worked_numbers(level: str, action: str, expected: list[list[float]], n_cut: int) -> None:
    config = Importance.model_validate({"level": level, "action": action, "cap": 2})

    found = weights(HERE, HERE - LOG_RATIO, MASK, config)

    assert torch.allclose(found.weight_B_T, torch.tensor(expected, dtype=torch.float32), atol=1e-6)
    assert found.cut_fraction == pytest.approx(n_cut / 5)


@given(
    st.integers(0, 2**31),
    st.sampled_from(["token", "sequence"]),
    st.sampled_from(["truncate", "mask"]),
    st.floats(1.1, 5),
)
def test_equal_to_a_plain_loop(seed: int, level: str, action: str, cap: float) -> None:
    random = torch.Generator().manual_seed(seed)
    ours, theirs = (torch.randn(3, 5, generator=random, dtype=torch.float64) for _ in range(2))
    mask = torch.rand(3, 5, generator=random) < 0.7
    config = Importance.model_validate({"level": level, "action": action, "cap": cap})

    found = weights(ours, theirs, mask, config).weight_B_T

    for row in range(3):
        for place in range(5):
            assert float(found[row, place]) == pytest.approx(
                _plain(ours[row], theirs[row], mask[row], place, config)
            )


def _plain(ours: Tensor, theirs: Tensor, mask: Tensor, place: int, config: Importance) -> float:
    if not mask[place]:
        return 0.0
    places = [place] if config.level == "token" else [i for i in range(5) if mask[i]]
    ratio = 1.0
    for i in places:
        ratio *= math.exp(float(ours[i])) / math.exp(float(theirs[i]))
    if config.action == "truncate":
        return min(ratio, config.cap)
    return ratio if 1 / config.cap <= ratio <= config.cap else 0.0


def test_equal_samplers_weigh_one_and_nothing_has_a_gradient() -> None:
    logp = HERE.clone().requires_grad_()
    found = weights(logp, HERE, MASK, Importance())
    assert torch.equal(found.weight_B_T, MASK.float())
    assert found.cut_fraction == 0
    assert not found.weight_B_T.requires_grad


def test_nothing_sampled_weighs_nothing() -> None:
    found = weights(HERE, HERE, torch.zeros(2, 3, dtype=torch.bool), Importance())
    assert found.cut_fraction == 0
    assert float(found.weight_B_T.sum()) == 0
