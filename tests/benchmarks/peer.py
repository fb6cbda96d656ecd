"""TRL's side of a trainer benchmark: `python -m tests.benchmarks.peer JOB.json` runs one job.

Prints seconds of each timed step, their phases and the memory as one line of JSON. Its options are
those of the job; where TRL's own defaults would cost it time (gradient checkpointing, reference
log-probabilities anew at each step) they are switched off.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoTokenizer, TrainerCallback
from trl import (
    DPOConfig,
    DPOTrainer,
    GRPOConfig,
    GRPOTrainer,
    RewardConfig,
    RewardTrainer,
    RLOOConfig,
    RLOOTrainer,
    SFTConfig,
    SFTTrainer,
)

from tests.benchmarks.work import (
    DROPPED_STEPS,
    KL_COEF,
    LEARNING_RATE,
    Job,
    Record,
    memory_mib,
    records,
)


class StepTimes(TrainerCallback):  # type: ignore[misc]
    """When each step ended."""

    def __init__(self) -> None:
        self.ended_at: list[float] = []
        self.cpu_at: list[float] = []

    def on_step_end(self, *_: Any, **__: Any) -> None:
        """A step is all that happens from the end of the one before."""
        self.ended_at.append(time.monotonic())
        self.cpu_at.append(time.process_time())


def run(job: Job) -> dict[str, Any]:
    """Build the trainer, run it, and read its times."""
    after_imports = memory_mib("VmRSS")
    times = StepTimes()
    trainer = TRAINERS[job.method](job)
    trainer.add_callback(times)
    rollout: list[float] = []
    scored: list[float] = []
    if job.method == "policy_gradient":
        _time(trainer, "_generate", rollout)
        _time(trainer, "_generate_and_score_completions", scored)
    trainer.train()
    ends = times.ended_at
    phases: dict[str, list[float]] = {}
    seconds = [b - a for a, b in pairwise(ends)][DROPPED_STEPS - 1 :]
    if rollout:
        sampled, both = rollout[DROPPED_STEPS:], scored[DROPPED_STEPS:]
        phases = {
            "rollout": sampled,
            "logprob": [all_ - part for all_, part in zip(both, sampled, strict=True)],
            "update": [step - part for step, part in zip(seconds, both, strict=True)],
        }
    return {
        "seconds": seconds,
        "cpu_seconds": [b - a for a, b in pairwise(times.cpu_at)][DROPPED_STEPS - 1 :],
        "phases": phases,
        "after_imports_mib": after_imports,
        "peak_mib": memory_mib("VmHWM"),
    }


def _time(trainer: Any, name: str, into: list[float]) -> None:
    function: Callable[..., Any] = getattr(trainer, name)

    def timed(*arguments: Any, **named: Any) -> Any:
        started_at = time.monotonic()
        result = function(*arguments, **named)
        into.append(time.monotonic() - started_at)
        return result

    setattr(trainer, name, timed)


def _common(job: Job) -> dict[str, Any]:
    return {
        "output_dir": tempfile.mkdtemp(),
        "max_steps": job.steps,
        "learning_rate": LEARNING_RATE,
        "lr_scheduler_type": "constant",
        "gradient_checkpointing": False,
        "bf16": job.precision == "bf16" and not job.best,
        "use_cpu": not torch.cuda.is_available(),
        "report_to": "none",
        "save_strategy": "no",
        "logging_strategy": "no",
        "disable_tqdm": True,
        "model_init_kwargs": {"dtype": "bfloat16" if job.best else "float32"},
    }


def _lora(job: Job, **more: Any) -> LoraConfig | None:
    return (
        LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", **more) if job.best else None
    )


def _said(role: str, content: str) -> list[dict[str, str]]:
    return [{"role": role, "content": content}]


def _pairs(found: list[Record]) -> Dataset:
    return Dataset.from_list(
        [
            {
                "prompt": _said("user", record.prompt),
                "chosen": _said("assistant", chosen),
                "rejected": _said("assistant", rejected),
            }
            for record in found
            for chosen, rejected in combinations(record.responses, 2)
        ]
    )


def _n_pairs(job: Job) -> int:
    return job.batch * job.responses * (job.responses - 1) // 2


def _sft(job: Job) -> SFTTrainer:
    rows = [
        {"prompt": _said("user", r.prompt), "completion": _said("assistant", r.responses[0])}
        for r in records(job)
    ]
    # A packed row holds what `max_length` holds: as many tokens a step as the rows have together.
    length = job.prompt_tokens + job.response_tokens[1]
    n_rows, length = (1, job.n_tokens) if job.packing else (job.batch, length)
    return SFTTrainer(
        job.model,
        args=SFTConfig(
            **_common(job),
            per_device_train_batch_size=n_rows,
            max_length=length,
            packing=job.packing,
        ),
        train_dataset=Dataset.from_list(rows),
        peft_config=_lora(job),
    )


def _reward(job: Job) -> RewardTrainer:
    return RewardTrainer(
        job.model,
        args=RewardConfig(**_common(job), per_device_train_batch_size=_n_pairs(job)),
        train_dataset=_pairs(records(job)),
        peft_config=_lora(job, modules_to_save=["score"], task_type="SEQ_CLS"),
    )


def _dpo(job: Job) -> DPOTrainer:
    return DPOTrainer(
        job.model,
        args=DPOConfig(
            **_common(job),
            per_device_train_batch_size=_n_pairs(job),
            precompute_ref_log_probs=True,
        ),
        train_dataset=_pairs(records(job)),
        peft_config=_lora(job),
    )


def _policy(job: Job) -> RLOOTrainer | GRPOTrainer:
    trainer, config = {
        "rloo": (RLOOTrainer, RLOOConfig),
        "grpo": (GRPOTrainer, GRPOConfig),
    }[job.estimator]
    n_new = job.response_tokens[1]
    return trainer(
        job.model,
        reward_funcs=[_reward_of],
        args=config(
            **_common(job),
            per_device_train_batch_size=job.batch * job.responses,
            steps_per_generation=1,
            num_generations=job.responses,
            max_completion_length=n_new,
            generation_kwargs={"min_new_tokens": n_new},
            beta=KL_COEF,
        ),
        train_dataset=Dataset.from_list(
            [{"prompt": _said("user", record.prompt)} for record in records(job)]
        ),
        processing_class=AutoTokenizer.from_pretrained(job.model, padding_side="left"),
        peft_config=_lora(job),
    )


def _reward_of(completions: list[list[dict[str, str]]], **_: Any) -> list[float]:
    return [float("a" in completion[0]["content"]) for completion in completions]


TRAINERS: dict[str, Callable[[Job], Any]] = {
    "sft": _sft,
    "reward_model": _reward,
    "dpo": _dpo,
    "policy_gradient": _policy,
}

if __name__ == "__main__":
    print(json.dumps(run(Job.load(Path(sys.argv[1])))))
