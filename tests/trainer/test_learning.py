"""Every estimator climbs to an optimum that is known, by the trainer as it is, with a fixed seed.

A model of seven tokens answers with up to three of them, so the sum over all responses is exact:
policies are compared by their true values, not by samples.
"""

import json
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from backend.schemas.references import Reference
from backend.schemas.vocabulary import Estimator
from tests.letters_model import END, LETTERS, make_letters_model
from tests.trainer.conftest import Workshop
from worker.trainer.models import loading

PROMPTS = ["ab", "c", "fed"]
LONGEST = 3
# What a response is worth, letter by letter; the best begin with "ab".
TERMS = {"^a": 1.0, "^.b": 0.5, "f": -0.5}
BEST = 1.5
ENOUGH = 0.95


@pytest.fixture(scope="module")
def letters_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a model that reads and writes six letters."""
    return make_letters_model(tmp_path_factory.mktemp("letters"))


@dataclass(frozen=True)
class Exact:
    """All responses to a prompt, Y of them: their log-probabilities and their rewards."""

    logp_Y: Tensor
    reward_Y: Tensor

    def value(self, reference: "Exact", beta: float) -> float:
        """E[reward] - beta KL(policy || reference)."""
        penalised_Y = self.reward_Y - beta * (self.logp_Y - reference.logp_Y)
        return float((self.logp_Y.exp() * penalised_Y).sum())

    def best_value(self, beta: float) -> float:
        """The most that any policy can have with this reference: beta log E[exp(reward / beta)]."""
        return float(beta * (self.logp_Y + self.reward_Y / beta).logsumexp(0))


def responses() -> list[tuple[int, ...]]:
    """Every response: three letters, or fewer and the end."""
    whole = product(range(END + 1), repeat=LONGEST)
    cut = {ids[: ids.index(END) + 1] if END in ids else ids for ids in whole}
    return sorted(cut)


def reward(ids: tuple[int, ...]) -> float:
    """The reward of a response."""
    text = "".join(LETTERS[i] for i in ids if i != END)
    return sum(weight for pattern, weight in TERMS.items() if re.search(pattern, text))


@torch.no_grad()
def exact_of(folder: Path) -> list[Exact]:
    """A saved policy on each prompt."""
    reference = Reference(path=str(folder))
    model = loading.load_causal_lm(reference, dtype=torch.float32, device=torch.device("cpu"))
    all_of_them = responses()
    found = []
    for text in PROMPTS:
        prompt = [LETTERS.index(letter) for letter in text]
        padded = [[*prompt, *ids, *[END] * (LONGEST - len(ids))] for ids in all_of_them]
        logits_Y_T_V = model(torch.tensor(padded)).logits[:, len(prompt) - 1 :].double()
        logp_Y_T_V = logits_Y_T_V.log_softmax(-1)
        logp = [
            sum(float(logp_Y_T_V[y, t, token]) for t, token in enumerate(ids))
            for y, ids in enumerate(all_of_them)
        ]
        found.append(
            Exact(
                torch.tensor(logp, dtype=torch.float64),
                torch.tensor([reward(ids) for ids in all_of_them], dtype=torch.float64),
            )
        )
        assert float(found[-1].logp_Y.exp().sum()) == pytest.approx(1.0, abs=1e-6)
    return found


def trained(workshop: Workshop, model: Path, estimator: str, **more: Any) -> list[Exact]:
    """The policy after the run, on each prompt."""
    config = {
        "method": "policy_gradient",
        "estimator": estimator,
        "model": {"path": str(model)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "reward": {
            "terms": [{"kind": "regex", "pattern": p, "weight": w} for p, w in TERMS.items()],
            "normalize": "none",
        },
        "rollout": {
            "prompts_per_step": 3,
            "samples_per_prompt": 64,
            "max_prompt_tokens": 8,
            "max_new_tokens": LONGEST,
        },
        "optim": {"lr": 5e-3, "schedule": "cosine"},
        "steps": 70,
        "log": {"samples_per_step": 0},
    } | more
    run_dir = workshop.lay_out("run", config)
    records = [
        {"prompt_id": text, "messages": [{"role": "user", "content": text}], "split": "train"}
        for text in PROMPTS
    ]
    lines = [json.dumps(record) + "\n" for record in records]
    (run_dir / "inputs" / "prompts.jsonl").write_text("".join(lines))
    report = workshop.run_here(run_dir)
    assert report["code"] == 0, report
    return exact_of(run_dir / "output")


def gained(after: list[Exact], before: list[Exact], beta: float) -> list[float]:
    """Per prompt, the share of what there was to gain."""
    shares = []
    for start, end in zip(before, after, strict=True):
        base, best = start.value(start, beta), start.best_value(beta) if beta else BEST
        shares.append((end.value(start, beta) - base) / (best - base))
    return shares


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [str(one) for one in Estimator if one != "grpo"])
def test_the_reference_tilted_by_the_reward_is_found(
    workshop: Workshop, letters_model: Path, estimator: str
) -> None:
    """Reward less .2 KL gains 95 % of what reference * exp(reward / .2) would gain.

    A KL of the wrong sign or scale has its optimum elsewhere.
    """
    after = trained(workshop, letters_model, estimator, kl={"coef": 0.2})
    shares = gained(after, exact_of(letters_model), 0.2)
    assert sum(shares) / len(shares) >= ENOUGH


@pytest.mark.slow
def test_grpo_finds_the_best_responses(workshop: Workshop, letters_model: Path) -> None:
    """Without a KL: grpo divides the reward by its deviation and not the KL, so its beta moves."""
    after = trained(workshop, letters_model, "grpo", kl={"coef": 0.0})
    shares = gained(after, exact_of(letters_model), 0.0)
    assert sum(shares) / len(shares) >= ENOUGH
