"""Every setting of the demo's runs: the configs that `closed_loop` sends to the service.

Chosen on the tuning questions; `docs/demo.md` lists what was tried and what it gave. Values
left out are the service's defaults.
"""

from typing import Any

SYSTEM = "Answer in one short sentence."
# The same for whatever is compared: before and after must differ in the model alone.
SAMPLING = {
    "max_prompt_tokens": 96,
    "max_new_tokens": 32,
    "temperature": 0.7,
    "system": SYSTEM,
}
MAX_TOKENS = 160
# Shares of questions that a run does not train on, by snapshot. The split hangs on SPLIT_SEED and
# the question's text alone, so it is the same in every demo.
HELDOUT = {
    "demonstrations": 0.2,
    "first_ranking": 0.0,
    "ranking": 0.0,
    "first_preferences": 0.3,
    "preferences": 0.3,
    "policy": 0.2,
    "tuning": 0.0,
    "reported": 0.0,
    "yours": 0.0,
}
SPLIT_SEED = 0
# The loop goes round twice; what is made the first time has names that begin so.
ROUNDS = ("first_", "")
# Before and after are sampled with the same random numbers: no other seed, whatever the demo's.
REPORT_SEED = 1_000_003

Config = dict[str, Any]


def sft(model: str, demonstrations: str, *, seed: int) -> Config:
    """One epoch on short answers that people wrote: the tone, not the facts."""
    return {
        "method": "sft",
        "model": {"id": model},
        "demonstrations": {"id": demonstrations},
        "seed": seed,
        "system": SYSTEM,
        "max_tokens": MAX_TOKENS,
        "lora": {"r": 16, "alpha": 32},
        "optim": {"lr": 1e-4, "batch_size": 16, "epochs": 1, "micro_batch_tokens": 1024},
    }


def to_rank(model: str, prompts: str, *, seed: int) -> Config:
    """Eight responses to each question; one comparison per question comes of them.

    Warmer than the policy samples: the more the responses differ, the more a ranking says.
    """
    return {
        **_answer(model, prompts, 8, seed=seed),
        "rollout": {**SAMPLING, "temperature": 1.0},
        "make_comparisons": True,
    }


def to_report(model: str, prompts: str, *, reference: str | None) -> Config:
    """Eight responses to each question, compared with a reference model if one is given."""
    compared = {"reference": {"id": reference}} if reference else {}
    return {**_answer(model, prompts, 8, seed=REPORT_SEED), **compared}


def yours(policy: str, reward: str, prompts: str, *, seed: int) -> Config:
    """Four answers of the final policy to each question, scored by the reward model."""
    scored = {"reward": [{"kind": "model", "model": {"id": reward}}]}
    return {**_answer(policy, prompts, 4, seed=seed), **scored}


def reward_model(model: str, preferences: str, *, seed: int) -> Config:
    """Two epochs over all rankings so far, starting from the SFT model."""
    return {
        "method": "reward_model",
        "model": {"id": model},
        "preferences": {"id": preferences},
        "seed": seed,
        "system": SYSTEM,
        "max_tokens": MAX_TOKENS,
        "lora": {"r": 8, "alpha": 16},
        "optim": {
            "lr": 1e-3,
            "schedule": "linear",
            "batch_size": 2,
            "epochs": 2,
            "micro_batch_tokens": 1024,
        },
    }


def first_policy(model: str, reward: str, prompts: str, *, seed: int) -> Config:
    """Half as many steps at an even pace: its answers are ranked, it is not kept."""
    whole = policy(model, reward, prompts, seed=seed)
    return {**whole, "steps": 8, "optim": {**whole["optim"], "schedule": "constant"}}


def policy(model: str, reward: str, prompts: str, *, seed: int) -> Config:
    """REINFORCE++: 48 responses and one update a step, the best evaluation kept."""
    return {
        "method": "policy_gradient",
        "estimator": "reinforce_pp",
        "model": {"id": model},
        "prompts": {"id": prompts},
        "seed": seed,
        "lora": {"r": 16, "alpha": 32},
        "reward": {"terms": [{"kind": "model", "model": {"id": reward}}], "normalize": "model"},
        "rollout": {**SAMPLING, "prompts_per_step": 48, "samples_per_prompt": 1},
        "kl": {"coef": 0.2, "max": 3.0},
        "optim": {"lr": 4e-4, "schedule": "linear", "micro_batch_tokens": 4096},
        "steps": 16,
        "eval_every": 8,
        "checkpoint_every": 8,
    }


def _answer(model: str, prompts: str, samples: int, *, seed: int) -> Config:
    return {
        "method": "generate",
        "model": {"id": model},
        "prompts": {"id": prompts},
        "seed": seed,
        "samples_per_prompt": samples,
        "rollout": SAMPLING,
        "make_comparisons": False,
    }
