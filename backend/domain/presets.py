"""Named starting points for run configs: the settings of papers, and what fits a small machine.

`GET /methods` sends them to the New run form. They leave out the references to models and data; the
defaults of everything they do not say stand in `backend.schemas.training`.
"""

from collections.abc import Mapping, Sequence

from backend.schemas.runs import Preset
from backend.schemas.vocabulary import Method

_SMALL_LORA = {"r": 16, "alpha": 32.0, "dropout": 0.0, "targets": "linear"}

_PAPER_BATCH: dict[str, object] = {
    "optim": {"lr": 5e-7},
    "rollout": {
        "prompts_per_step": 32,
        "samples_per_prompt": 8,
        "max_prompt_tokens": 1024,
        "max_new_tokens": 1024,
        "temperature": 1.0,
    },
    "clip": {"low": 0.2, "high": 0.2},
    "steps": 500,
    "eval_every": 20,
    "checkpoint_every": 50,
}

PRESETS: Mapping[Method, Sequence[Preset]] = {
    Method.SFT: (
        Preset(
            name="Small CPU run",
            description="One epoch of adapters on about a hundred short demonstrations.",
            config={
                "lora": _SMALL_LORA,
                "optim": {"lr": 2e-4, "batch_size": 8, "epochs": 1},
                "max_tokens": 128,
            },
        ),
        Preset(
            name="InstructGPT supervised stage",
            description="Full fine-tuning, cosine schedule, fewer epochs than the paper (Ouyang "
            "et al. 2022, appendix C.1).",
            config={
                "optim": {"lr": 9.65e-6, "schedule": "cosine", "batch_size": 32, "epochs": 2},
                "max_tokens": 1024,
            },
        ),
    ),
    Method.REWARD_MODEL: (
        Preset(
            name="Small CPU run",
            description="One epoch of adapters on about a hundred ranked comparisons.",
            config={
                "lora": {"r": 8, "alpha": 16.0, "dropout": 0.0, "targets": "linear"},
                "optim": {"lr": 2e-4, "batch_size": 8, "epochs": 1},
                "max_tokens": 128,
            },
        ),
        Preset(
            name="InstructGPT reward model",
            description="All pairs of a ranking together, one epoch (Ouyang et al. 2022, C.2).",
            config={
                "optim": {"lr": 9e-6, "schedule": "cosine", "batch_size": 64, "epochs": 1},
                "max_tokens": 1024,
            },
        ),
    ),
    Method.PROCESS_REWARD_MODEL: (
        Preset(
            name="Small CPU run",
            description="One epoch of adapters on some hundred solutions with labelled steps.",
            config={
                "lora": {"r": 8, "alpha": 16.0, "dropout": 0.0, "targets": "linear"},
                "optim": {"lr": 2e-4, "batch_size": 8, "epochs": 1},
                "max_tokens": 256,
            },
        ),
        Preset(
            name="Math-Shepherd (OpenRLHF)",
            description="Full fine-tuning, one epoch at 1e-6 in batches of 256, as in OpenRLHF's "
            "example for the data of Wang et al. 2023 (arXiv 2312.08935).",
            config={
                "optim": {"lr": 1e-6, "batch_size": 256, "epochs": 1},
                "max_tokens": 1024,
            },
        ),
    ),
    Method.DPO: (
        Preset(
            name="Small CPU run",
            description="One epoch of adapters on about a hundred ranked comparisons.",
            config={
                "lora": _SMALL_LORA,
                "optim": {"lr": 5e-5, "batch_size": 8, "epochs": 1},
                "max_tokens": 128,
            },
        ),
        Preset(
            name="DPO (settings of the paper)",
            description="beta 0.1 and learning rate 1e-6 of Rafailov et al. 2023, appendix B. "
            "Here the warm-up is a tenth of the steps (150 steps in the paper), a batch is 64 "
            "rankings (64 pairs in the paper), and AdamW takes the place of RMSprop.",
            config={
                "beta": 0.1,
                "optim": {"lr": 1e-6, "warmup_ratio": 0.1, "batch_size": 64, "epochs": 1},
                "max_tokens": 1024,
            },
        ),
    ),
    Method.POLICY_GRADIENT: (
        Preset(
            name="Small CPU run",
            description="REINFORCE++ with adapters, short responses and a strong KL penalty.",
            config={
                "estimator": "reinforce_pp",
                "lora": _SMALL_LORA,
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
            },
        ),
        Preset(
            name="REINFORCE++ (settings of the paper)",
            description="Batch size, learning rate, clip range and KL coefficient of Hu et al. "
            "2025 (arXiv 2501.03262): 32 prompts x 8 responses per step, k1 KL in the reward, "
            "advantages whitened over the batch. Each rollout gets one update, so the clip "
            "never acts, and the loss is averaged over tokens, not over responses as in the "
            "paper.",
            config=_PAPER_BATCH
            | {
                "estimator": "reinforce_pp",
                "kl": {"coef": 0.001, "estimator": "k1", "place": "reward"},
            },
        ),
        Preset(
            name="REINFORCE++-baseline (settings of the paper)",
            description="Settings of the appendix of Hu et al. 2025: the mean reward of a prompt's "
            "responses is subtracted, and a k2 KL with coefficient 1e-3 is in the loss. Each "
            "rollout gets one update, so the clip never acts.",
            config=_PAPER_BATCH
            | {
                "estimator": "reinforce_pp_baseline",
                "kl": {"coef": 1e-3, "estimator": "k2", "place": "loss"},
            },
        ),
        Preset(
            name="REINFORCE++-baseline (order of OpenRLHF)",
            description="The reward is clipped after the baseline and not normalized; k1 KL in the "
            "reward with coefficient 0.01 and the cosine schedule are OpenRLHF's too. Batch "
            "sizes, learning rate and one update per rollout are not its defaults.",
            config=_PAPER_BATCH
            | {
                "estimator": "reinforce_pp_baseline",
                "optim": {"lr": 5e-7, "schedule": "cosine", "warmup_ratio": 0.03},
                "reward": {"clip": 10.0, "clip_after_baseline": True, "normalize": "none"},
                "kl": {"coef": 0.01, "estimator": "k1", "place": "reward"},
            },
        ),
    ),
    Method.GENERATE: (
        Preset(
            name="Small CPU run",
            description="Four short responses per prompt, ready to rank.",
            config={
                "samples_per_prompt": 4,
                "rollout": {"max_prompt_tokens": 96, "max_new_tokens": 32, "temperature": 0.7},
            },
        ),
    ),
}


def presets(method: Method) -> list[Preset]:
    """The presets of a method; `config` lacks `method` and the references."""
    return list(PRESETS.get(method, ()))
