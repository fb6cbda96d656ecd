"""Presets of policy_gradient: the settings of papers, each by the source that gives it.

Read by `backend.domain.presets.registry`. Where a paper leaves something open, the authors' script
is taken; what neither says is our choice, and the preset says so.
"""

from collections.abc import Sequence

from backend.domain.presets.sourced import PODIUM, sourced
from backend.schemas.presets import Preset

_HU = "Hu et al. 2025 (arXiv 2501.03262)"
_OPENRLHF = "OpenRLHF's script and defaults"
_HU_BATCH: dict[str, object] = {
    "optim": {"lr": 5e-7},
    "rollout": {"prompts_per_step": 32, "samples_per_prompt": 8},
    "clip": {"low": 0.2, "high": 0.2},
}
_OPENRLHF_ROLLOUT: dict[str, object] = {
    "rollout": {"max_prompt_tokens": 1024, "max_new_tokens": 1024, "temperature": 1.0},
    "loss_average": "token",
    "epochs_per_rollout": 1,
}
# One update per rollout.
_LENGTH_OF_RUN: dict[str, object] = {"steps": 500, "eval_every": 20}
_ONE_UPDATE: dict[str, object] = _LENGTH_OF_RUN | {"minibatch_size": None}

POLICY_PRESETS: Sequence[Preset] = (
    sourced(
        "Small CPU run",
        "REINFORCE++ with adapters, short responses and a strong KL penalty.",
        {
            PODIUM: {
                "estimator": "reinforce_pp",
                "lora": {"r": 16, "alpha": 32.0, "dropout": 0.0, "targets": "linear"},
                "optim": {"lr": 2e-4},
                "rollout": {
                    "prompts_per_step": 64,
                    "samples_per_prompt": 1,
                    "max_prompt_tokens": 96,
                    "max_new_tokens": 32,
                    "temperature": 0.7,
                },
                "kl": {"coef": 0.15, "estimator": "k1", "place": "reward"},
                "steps": 20,
                "eval_every": 5,
            }
        },
    ),
    sourced(
        "REINFORCE++ (settings of the paper)",
        "k1 KL in the reward, advantages whitened over the batch. The paper gives no mini-batches, "
        "lengths or temperature. Each rollout gets one update, so the clip never acts (in the "
        "script, 8 updates of 1,024 responses each). The loss is averaged over tokens as in "
        "OpenRLHF; the paper's equation 1 averages over each response first.",
        {
            _HU: _HU_BATCH
            | {
                "estimator": "reinforce_pp",
                "kl": {"coef": 1e-3, "estimator": "k1", "place": "reward"},
            },
            _OPENRLHF: _OPENRLHF_ROLLOUT,
            PODIUM: _ONE_UPDATE,
        },
    ),
    sourced(
        "REINFORCE++-baseline (settings of the paper)",
        "The paper's appendix: the mean reward of a prompt's responses is subtracted, and a k2 KL "
        "is in the loss. The paper gives no mini-batches, lengths or temperature. Each rollout "
        "gets one update, so the clip never acts.",
        {
            _HU: _HU_BATCH
            | {
                "estimator": "reinforce_pp_baseline",
                "kl": {"coef": 1e-3, "estimator": "k2", "place": "loss"},
            },
            _OPENRLHF: _OPENRLHF_ROLLOUT,
            PODIUM: _ONE_UPDATE,
        },
    ),
    sourced(
        "REINFORCE++-baseline (order of OpenRLHF)",
        "The reward is clipped after the baseline and not normalized; k1 KL in the reward and the "
        "cosine schedule are OpenRLHF's too. Prompts and responses per step are the paper's, and "
        "each rollout gets one update.",
        {
            _OPENRLHF: _OPENRLHF_ROLLOUT
            | {
                "estimator": "reinforce_pp_baseline",
                "optim": {"lr": 5e-7, "schedule": "cosine", "warmup_ratio": 0.03},
                "clip": {"low": 0.2, "high": 0.2},
                "reward": {"clip": 10.0, "clip_after_baseline": True, "normalize": "none"},
                "kl": {"coef": 0.01, "estimator": "k1", "place": "reward"},
            },
            _HU: {"rollout": {"prompts_per_step": 32, "samples_per_prompt": 8}},
            PODIUM: _ONE_UPDATE,
        },
    ),
    sourced(
        "GRPO (DeepSeekMath)",
        "1,024 responses a step, 64 to each prompt, one update a step, a k3 KL in the loss. The "
        "loss is averaged over each response first, as in the paper's equation 3 (there the k3, "
        "too; here k3 is a mean over tokens). The paper gives no temperature and no length of "
        "prompts.",
        {
            "Shao et al. 2024 (arXiv 2402.03300), section 4.2": {
                "estimator": "grpo",
                "optim": {"lr": 1e-6},
                "rollout": {
                    "prompts_per_step": 16,
                    "samples_per_prompt": 64,
                    "max_new_tokens": 1024,
                },
                "kl": {"coef": 0.04, "estimator": "k3", "place": "loss"},
                "loss_average": "sequence",
                "epochs_per_rollout": 1,
                "minibatch_size": None,
            },
            PODIUM: _LENGTH_OF_RUN | {"rollout": {"max_prompt_tokens": 1024, "temperature": 1.0}},
        },
    ),
    sourced(
        "Dr. GRPO (settings of the paper)",
        "No division by the group's deviation, a constant divisor of the loss, no KL. Rollouts of "
        "128 prompts x 8 responses in eight updates, as in the authors' script.",
        {
            "Liu et al. 2025 (arXiv 2503.20783)": {
                "estimator": "dr_grpo",
                "loss_average": "constant",
                "kl": {"coef": 0.0},
            },
            "The authors' script (sail-sg/understand-r1-zero)": {
                "optim": {"lr": 1e-6, "schedule": "constant"},
                "rollout": {
                    "prompts_per_step": 128,
                    "samples_per_prompt": 8,
                    "max_prompt_tokens": 1024,
                    "max_new_tokens": 3000,
                    "temperature": 1.0,
                    "top_p": 1.0,
                },
                "epochs_per_rollout": 1,
                "minibatch_size": 128,
            },
            PODIUM: _LENGTH_OF_RUN,
        },
    ),
    sourced(
        "DAPO (settings of the paper)",
        "A higher upper clip, dynamic sampling, token mean, a soft penalty of long responses, no "
        "KL. 512 prompts x 16 responses in 16 updates; the warm-up is the paper's 20 steps, of "
        "500. At most as many prompts are replaced as the script samples.",
        {
            "Yu et al. 2025 (arXiv 2503.14476), section 4.1": {
                "estimator": "grpo",
                "optim": {"lr": 1e-6, "schedule": "constant", "warmup_ratio": 0.04},
                "rollout": {
                    "prompts_per_step": 512,
                    "samples_per_prompt": 16,
                    "max_new_tokens": 20_480,
                },
                "minibatch_size": 512,
                "clip": {"low": 0.2, "high": 0.28},
                "kl": {"coef": 0.0},
                "loss_average": "token",
                "overlong": "penalize",
                "overlong_penalty": {"buffer_tokens": 4096},
            },
            "The authors' script (verl, recipe/dapo)": {
                "optim": {"weight_decay": 0.1, "grad_clip": 1.0},
                "rollout": {"max_prompt_tokens": 2048, "temperature": 1.0, "top_p": 1.0},
                "overlong_penalty": {"factor": 1.0},
                "dynamic_sampling": {"max_replacements": 14_848},
                "epochs_per_rollout": 1,
            },
            PODIUM: _LENGTH_OF_RUN,
        },
    ),
)
