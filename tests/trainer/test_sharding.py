"""Traps 6 to 8: how a batch is split, over micro-batches or processes, changes no update."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from tests.trainer.sharding import LENGTHS, RULES, Update, load, run_rank, update
from tests.warm.hosts import ENVIRONMENT, TRAINER
from tests.warm.process import WarmProcess

ROWS = list(range(len(LENGTHS)))


def check_equal(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    """Equal to 1e-6 of the largest entry, tensor by tensor."""
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        largest = float(tensor.abs().max())
        assert largest > 0, name
        assert torch.allclose(found[name], tensor, rtol=0, atol=1e-6 * largest), name


@pytest.mark.parametrize("how", RULES, ids=lambda how: how.estimator)
@pytest.mark.parametrize("size", [4, 3, 1])
def test_07_micro_batches_of_unequal_length_give_the_gradient_of_the_whole(
    tiny_model: Path, how: Update, size: int
) -> None:
    whole = update(load(tiny_model), how, ROWS)
    parts = update(load(tiny_model), replace(how, micro_batch=size), ROWS)
    check_equal(parts, whole)


def test_08_a_step_of_plain_descent_does_not_depend_on_the_split_either(tiny_model: Path) -> None:
    """Nothing divides by the number of micro-batches once more: SGD at learning rate 1."""
    deltas = []
    for size in (8, 2):
        model = load(tiny_model)
        before = {name: p.detach().clone() for name, p in model.named_parameters()}
        update(model, Update("reinforce_pp", "token", size), ROWS)
        torch.optim.SGD(model.parameters(), lr=1.0).step()
        deltas.append({n: p.detach() - before[n] for n, p in model.named_parameters()})
    check_equal(deltas[1], deltas[0])


@pytest.mark.slow
def test_06_two_processes_give_the_gradient_of_one(tiny_model: Path, tmp_path: Path) -> None:
    """Over gloo: every second row each, in micro-batches of two; advantages from all rows."""
    given = os.environ | ENVIRONMENT
    ranks = [
        WarmProcess(
            run_rank, [str(rank), "2", str(tiny_model), str(tmp_path)], given,
            tmp_path / f"rank-{rank}.log", host=TRAINER,
        )
        for rank in range(2)
    ]  # fmt: skip
    for rank in ranks:
        assert rank.wait(120) == 0, rank.log.read_text()

    for how in RULES:
        check_equal(load_file(tmp_path / how.estimator), update(load(tiny_model), how, ROWS))
