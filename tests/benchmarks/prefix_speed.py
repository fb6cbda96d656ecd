"""What computing prompts once saves: log-probabilities and their gradient, three ways, in turn.

Padded rows, rows without padding, and rows whose prompts are computed once. In processor seconds of
one thread, which other processes on the machine hardly change. PODIUM_BENCH_MODEL=FOLDER names a
real model; without it a small Llama is measured.
"""

import os
import random
import time
from pathlib import Path
from statistics import median

import pytest
import torch
from transformers import PreTrainedModel

from backend.schemas.references import Reference
from tests.benchmarks.work import small_llama
from worker.trainer import precision
from worker.trainer.data import prefix_tree
from worker.trainer.data.tokens import Tokens, collate
from worker.trainer.models import loading
from worker.trainer.models.logprobs import action_logp

pytestmark = pytest.mark.benchmark

CPU = torch.device("cpu")
ROUNDS = 3


def prompts_with_responses(
    n_prompts: int, n_responses: int, prompt_tokens: int, response_tokens: tuple[int, int]
) -> list[Tokens]:
    chance = random.Random(0)
    rows = []
    for _ in range(n_prompts):
        prompt = chance.choices(range(10, 200), k=prompt_tokens)
        rows += [
            Tokens(prompt, chance.choices(range(10, 200), k=chance.randint(*response_tokens)))
            for _ in range(n_responses)
        ]
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    named = os.environ.get("PODIUM_BENCH_MODEL")
    return Path(named) if named else small_llama(tmp_path_factory.mktemp("model") / "small")


def cpu_seconds(model: PreTrainedModel, rows: list[Tokens]) -> float:
    started_at = time.process_time()
    with precision.autocast(CPU, torch.bfloat16):
        loss = action_logp(model, collate(rows, pad_id=2, device=CPU), temperature=1.0).logp_N.sum()
    loss.backward()
    model.zero_grad()
    return time.process_time() - started_at


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("policy, 3 prompts x 4, P 64, R 48", prompts_with_responses(3, 4, 64, (48, 48))),
        ("a ranking of 4, P 128, R 96", prompts_with_responses(1, 4, 128, (96, 96))),
        ("12 demonstrations of 20 to 126", prompts_with_responses(12, 1, 10, (10, 116))),
    ],
)
def test_forward_and_backward(
    name: str, rows: list[Tokens], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    reference = Reference(path=str(folder))
    model = loading.load_causal_lm(reference, dtype=torch.float32, device=CPU, attention="eager")
    ways = {"padded rows": ("eager", 16), "no padding": ("tree_eager", 10**9)}
    ways["prompts once"] = ("tree_eager", prefix_tree.FEWEST_SAVED_TOKENS)
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(ROUNDS + 1):
        for way, (attention, fewest) in ways.items():
            model.set_attn_implementation(attention)
            monkeypatch.setattr(prefix_tree, "FEWEST_SAVED_TOKENS", fewest)
            found = cpu_seconds(model, rows)
            if turn > 0:
                seconds[way].append(found)
    base = median(seconds["padded rows"])
    print(f"\n{name}, forward and backward in bf16, processor seconds:")
    for way, values in seconds.items():
        print(f"  {way:14} {median(values):6.3f}  {base / median(values):4.2f}x")
