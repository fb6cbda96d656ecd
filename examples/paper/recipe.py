"""Every setting of the paper in miniature.

Arms differ in `estimator` and in the learning rate, which is tuned for each (`ppo` also has a
critic). Values left out are the service's defaults. `docs/paper.md` says what was tried.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

Config = dict[str, Any]

# How many puzzles of how many people each set has; those of the train split are dealt in this
# order, so that no puzzle is in two sets. The model is taught all sizes, and trained by reward on
# the two smallest; of two people there are 420 outside the test split.
TRAIN_SPLIT: dict[str, dict[int, int]] = {
    "lessons": {2: 300, 3: 12_000, 4: 6_000, 5: 1_500, 6: 600},
    "train": {2: 100, 3: 2_000},
    # Of these, thirty that the taught model seldom solves are learnt by heart.
    "candidates": {3: 150, 4: 150},
    "ranked": {3: 300},
    # What chooses a learning rate.
    "tuning": {3: 200},
}
# Those of the test split; `others` are like the candidates and stand beside the thirty.
TEST_SPLIT: dict[str, dict[int, int]] = {
    "unseen": {2: 80, 3: 200, 4: 100, 5: 60, 6: 30},
    "others": {3: 100, 4: 100},
}
THIRTY, SELDOM = 30, (0.05, 0.30)
# The same rate for all: it says how fast thirty puzzles are learnt by heart.
BY_HEART = 5e-5
# Responses to a puzzle where pass@16 is asked.
MANY = 16
# What is reported is sampled anew: of the responses that chose the thirty some passed for each
# puzzle, so pass@16 would be 1.
REPORTED_SEED, CHOOSING_SEED = 1_000_003, 1_000_004

# Of these the best checkpoint is chosen: one that 105 puzzles chose was sometimes the best by luck.
# 1,680 are left to train on, of which 100 steps of 16 prompts take 1,600.
HELDOUT_FRACTION = 0.2
TUNING_SEED = 100
LEARNING_RATES = (1e-5, 5e-5, 2e-4)
# Without tuning: the middle one.
UNTUNED = 5e-5

ARMS: dict[str, Config] = {
    "grpo": {"estimator": "grpo"},
    "rloo": {"estimator": "rloo"},
    "remax": {"estimator": "remax"},
    "reinforce_pp": {"estimator": "reinforce_pp"},
    "reinforce_pp_baseline": {"estimator": "reinforce_pp_baseline"},
    "ppo": {"estimator": "ppo"},
}
# Where the paper of an estimator has its KL, if not in the reward as k1, where all arms have it.
OWN_KL: dict[str, Config] = {
    "grpo": {"place": "loss", "estimator": "k3"},
    "reinforce_pp_baseline": {"place": "loss", "estimator": "k2"},
}
TWO = ("grpo", "reinforce_pp")
KL_COEF = 1e-3

# With a reward model the question is what happens far away: a rate that goes there, for all.
FAR = 1e-4
RANKINGS_HELDOUT = 0.15
# Annotators' noise (`annotators.NOISE`) is that of Bradley and Terry: right goes before wrong in
# 1 / (1 + exp(-RIGHT_IS_WORTH / NOISE)) = 85 of 100 cases.
RIGHT_IS_WORTH = 0.07
KNIGHTS: Config = {"kind": "knights"}
COIN: Config = {"kind": "function", "function": "paper.random_reward:coin"}

# The longest prompt has six people: six words each, `?` and `<s>`.
PROMPT_TOKENS = 48
# Three people: eight assignments of at most six words, and the answer.
TRAINED_TOKENS = 64
# Six people: 64 assignments, most of which fail at the first or second claim.
LONGEST_TOKENS = 560
LONGEST_LESSON = PROMPT_TOKENS + LONGEST_TOKENS
# In fp32 the sampler computes as the trainer does; a model this small gains nothing by bf16.
SMALL: Config = {"precision": "fp32", "resources": {"threads": 1}}


@dataclass(frozen=True)
class Size:
    """How much is done: the whole study, or a fast one that only shows that all of it runs."""

    seeds: tuple[int, ...]
    steps: int
    tuning_steps: int
    lesson_epochs: float
    samples: int
    is_tuned: bool


FULL = Size(
    seeds=(0, 1, 2), steps=100, tuning_steps=50, lesson_epochs=1.6, samples=4, is_tuned=True
)
FAST = Size(seeds=(0,), steps=30, tuning_steps=0, lesson_epochs=0.7, samples=1, is_tuned=False)


def random_rates(size: Size, rates: dict[str, float]) -> list[float]:
    """The learning rates of the random reward: all that were tried, whichever were chosen."""
    return sorted(set(LEARNING_RATES if size.is_tuned else rates.values()))


def data_hash(size: Size) -> str:
    """Tells studies apart whose puzzles, taught model or choices of puzzles differ.

    A project keeps what it has frozen, so other data begin another one.
    """
    made_of = [
        *(TRAIN_SPLIT, TEST_SPLIT, HELDOUT_FRACTION, RANKINGS_HELDOUT),
        *(THIRTY, SELDOM, MANY, CHOOSING_SEED, RIGHT_IS_WORTH),
        *(sft("", "", size=size), to_rank("", "")),
    ]
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:6]


def sft(model: str, demonstrations: str, *, size: Size) -> Config:
    """The search, taught by heart; both cores, for nothing else can run before it."""
    return {
        "method": "sft",
        "model": {"id": model},
        "demonstrations": {"id": demonstrations},
        "template": "text",
        "max_tokens": LONGEST_LESSON,
        "optim": {
            "lr": 2e-3,
            "schedule": "cosine",
            "warmup_ratio": 0.07,
            "batch_size": 64,
            "epochs": size.lesson_epochs,
            "micro_batch_tokens": 8192,
        },
        **SMALL,
        "resources": {"threads": 2},
    }


def policy(model: str, prompts: str, arm: Config, *, lr: float, seed: int, steps: int) -> Config:
    """A step: 16 prompts, 8 responses each as in the paper's RL from zero, and one update."""
    critic = {"critic": {"lr": lr}} if arm["estimator"] == "ppo" else {}
    return {
        "method": "policy_gradient",
        "model": {"id": model},
        "prompts": {"id": prompts},
        "seed": seed,
        "reward": {"terms": [KNIGHTS]},
        "rollout": _rollout(TRAINED_TOKENS) | {"prompts_per_step": 16, "samples_per_prompt": 8},
        "kl": {"coef": KL_COEF},
        "optim": {"lr": lr, "micro_batch_tokens": 8192},
        "steps": steps,
        "eval_every": 25,
        "log": {"samples_every": 10},
        **SMALL,
        **critic,
        **arm,
    }


def evaluate(
    model: str, prompts: str, *, baseline: str | None, samples: int, seed: int = REPORTED_SEED
) -> Config:
    """Puzzles of the test split by their number of people; the taught model as the baseline."""
    return {
        "method": "evaluate",
        "model": {"id": model},
        **({"baseline_model": {"id": baseline}} if baseline else {}),
        "prompts": {"id": prompts},
        "seed": seed,
        "samples_per_prompt": samples,
        "reward": {"terms": [KNIGHTS]},
        "rollout": _rollout(LONGEST_TOKENS),
        "breakdown": ["n_people"],
        **SMALL,
    }


def to_rank(model: str, prompts: str) -> Config:
    """Four responses to each puzzle, one comparison each."""
    return {
        "method": "generate",
        "model": {"id": model},
        "prompts": {"id": prompts},
        "seed": 0,
        "samples_per_prompt": 4,
        "rollout": _rollout(TRAINED_TOKENS),
        "make_comparisons": True,
        **SMALL,
    }


def reward_model(model: str, preferences: str) -> Config:
    """From the taught model, four times over the rankings."""
    return {
        "method": "reward_model",
        "model": {"id": model},
        "preferences": {"id": preferences},
        "template": "text",
        "optim": {"lr": 1e-4, "batch_size": 16, "epochs": 4, "micro_batch_tokens": 8192},
        **SMALL,
        "resources": {"threads": 2},
    }


def rewarded_by(model: str) -> Config:
    """Its score is the reward, and the solver only measures.

    The KL costs a millionth of a reward per nat: it is measured at every step and holds nothing.
    """
    score = {"kind": "model", "model": {"id": model}}
    return {"reward": {"terms": [score, {**KNIGHTS, "weight": 0.0}]}, "kl": {"coef": 1e-6}}


def _rollout(longest: int) -> Config:
    return {"template": "text", "max_prompt_tokens": PROMPT_TOKENS, "max_new_tokens": longest}
