"""The presets of every method: the settings of papers, and what fits a small machine.

`GET /methods` sends them to the New run form, with the source of every setting. They leave out the
references to models and data; the defaults of everything they do not say stand in
`backend.schemas.training`.
"""

from collections.abc import Mapping, Sequence

from backend.domain.presets.policy_gradient import POLICY_PRESETS
from backend.domain.presets.sourced import PODIUM, sourced
from backend.schemas.presets import Preset
from backend.schemas.vocabulary import Method

_SMALL_LORA = {"r": 16, "alpha": 32.0, "dropout": 0.0, "targets": "linear"}
_SMALLER_LORA = {"r": 8, "alpha": 16.0, "dropout": 0.0, "targets": "linear"}
_INSTRUCT_GPT = "Ouyang et al. 2022 (arXiv 2203.02155)"

PRESETS: Mapping[Method, Sequence[Preset]] = {
    Method.SFT: (
        sourced(
            "Small CPU run",
            "Trains adapters for one epoch on about a hundred short demonstrations.",
            {
                PODIUM: {
                    "lora": _SMALL_LORA,
                    "optim": {"lr": 2e-4, "batch_size": 8, "epochs": 1},
                    "max_tokens": 128,
                }
            },
        ),
        sourced(
            "InstructGPT supervised stage",
            "Full fine-tuning with a cosine schedule for 2 epochs; the paper has 16. The cosine "
            "ends at 0, the paper's at a tenth of the peak.",
            {
                f"{_INSTRUCT_GPT}, appendix C.1": {
                    "optim": {"lr": 9.65e-6, "schedule": "cosine", "batch_size": 32}
                },
                PODIUM: {"optim": {"epochs": 2}, "max_tokens": 1024},
            },
        ),
    ),
    Method.REWARD_MODEL: (
        sourced(
            "Small CPU run",
            "Trains adapters for one epoch on about a hundred ranked comparisons.",
            {
                PODIUM: {
                    "lora": _SMALLER_LORA,
                    "optim": {"lr": 2e-4, "batch_size": 8, "epochs": 1},
                    "max_tokens": 128,
                }
            },
        ),
        sourced(
            "InstructGPT reward model",
            "All pairs of a ranking together, one epoch. The cosine ends at 0, the paper's at a "
            "tenth of the peak.",
            {
                f"{_INSTRUCT_GPT}, appendix C.2": {
                    "optim": {"lr": 9e-6, "schedule": "cosine", "batch_size": 64, "epochs": 1}
                },
                PODIUM: {"max_tokens": 1024},
            },
        ),
    ),
    Method.PROCESS_REWARD_MODEL: (
        sourced(
            "Small CPU run",
            "Trains adapters for one epoch on a few hundred solutions with labelled steps.",
            {
                PODIUM: {
                    "lora": _SMALLER_LORA,
                    "optim": {"lr": 2e-4, "batch_size": 8, "epochs": 1},
                    "max_tokens": 256,
                }
            },
        ),
        sourced(
            "Math-Shepherd (OpenRLHF)",
            "Full fine-tuning on the data of Wang et al. 2023 (arXiv 2312.08935).",
            {
                "OpenRLHF's example": {"optim": {"lr": 1e-6, "batch_size": 256, "epochs": 1}},
                PODIUM: {"max_tokens": 1024},
            },
        ),
    ),
    Method.DPO: (
        sourced(
            "Small CPU run",
            "Trains adapters for one epoch on about a hundred ranked comparisons.",
            {
                PODIUM: {
                    "lora": _SMALL_LORA,
                    "optim": {"lr": 5e-5, "batch_size": 8, "epochs": 1},
                    "max_tokens": 128,
                }
            },
        ),
        sourced(
            "DPO (settings of the paper)",
            "Here the warm-up is a tenth of the steps (150 steps in the paper), a batch is 64 "
            "rankings (64 pairs in the paper), and AdamW takes the place of RMSprop.",
            {
                "Rafailov et al. 2023 (arXiv 2305.18290), appendix B": {
                    "beta": 0.1,
                    "optim": {"lr": 1e-6, "batch_size": 64},
                },
                PODIUM: {"optim": {"warmup_ratio": 0.1, "epochs": 1}, "max_tokens": 1024},
            },
        ),
    ),
    Method.POLICY_GRADIENT: POLICY_PRESETS,
    Method.GENERATE: (
        sourced(
            "Small CPU run",
            "Four short responses per prompt, ready to rank.",
            {
                PODIUM: {
                    "samples_per_prompt": 4,
                    "rollout": {"max_prompt_tokens": 96, "max_new_tokens": 32, "temperature": 0.7},
                }
            },
        ),
    ),
}


def presets(method: Method) -> list[Preset]:
    """The presets of a method; `config` lacks `method` and the references."""
    return list(PRESETS.get(method, ()))
