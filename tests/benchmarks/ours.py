"""Our side of a trainer benchmark: `python -m tests.benchmarks.ours JOB.json` runs one job.

Prints seconds of each timed step, their phases and the memory as one line of JSON.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.benchmarks.work import (
    DROPPED_STEPS,
    KL_COEF,
    LEARNING_RATE,
    Job,
    Record,
    memory_mib,
    records,
)
from worker.trainer.__main__ import main
from worker.trainer.data import prefix_tree
from worker.trainer.loop import Loop
from worker.trainer.sampling import prompts

RECORD_FILES = {
    "sft": "demonstrations",
    "reward_model": "preferences",
    "dpo": "preferences",
    "policy_gradient": "prompts",
}


def run(job: Job) -> dict[str, Any]:
    """Run the trainer in this process and read what it said about its steps."""
    after_imports = memory_mib("VmRSS")
    if not job.sharing:
        prefix_tree.FEWEST_SAVED_TOKENS = 10**9
    # The same length for all: nothing ends a response before the limit.
    prompts.end_ids = lambda *_: []  # type: ignore[assignment]
    run_dir = Path(tempfile.mkdtemp())
    _lay_out(run_dir, job)
    cpu_seconds = _count_cpu_seconds()
    code = main([str(run_dir / "config.json"), "--run-dir", str(run_dir)])
    assert not code, (run_dir / "exit.json").read_text()
    lines = [json.loads(line) for line in (run_dir / "events.jsonl").read_bytes().splitlines()]
    steps = [line["values"] for line in lines if "time/step_s" in line.get("values", {})]
    timed = steps[DROPPED_STEPS:]
    phases = {name for values in timed for name in values if name.startswith("time/")}
    return {
        "seconds": [values["time/step_s"] for values in timed],
        "cpu_seconds": cpu_seconds[DROPPED_STEPS:],
        "phases": {
            name.removeprefix("time/").removesuffix("_s"): [values[name] for values in timed]
            for name in sorted(phases - {"time/step_s"})
        },
        "after_imports_mib": after_imports,
        "peak_mib": memory_mib("VmHWM"),
    }


def _count_cpu_seconds() -> list[float]:
    found: list[float] = []
    step = Loop._step

    def counted(*arguments: Any) -> None:
        started_at = time.process_time()
        step(*arguments)
        found.append(time.process_time() - started_at)

    Loop._step = counted  # type: ignore[method-assign]
    return found


def _lay_out(run_dir: Path, job: Job) -> None:
    name = RECORD_FILES[job.method]
    (run_dir / "inputs").mkdir()
    (run_dir / "inputs" / f"{name}.jsonl").write_text(
        "".join(
            json.dumps(_line(job.method, index, record)) + "\n"
            for index, record in enumerate(records(job))
        )
    )
    (run_dir / "config.json").write_text(json.dumps(_config(job, name)))


def _config(job: Job, name: str) -> dict[str, Any]:
    optim: dict[str, Any] = {"lr": LEARNING_RATE}
    if not job.default_micro_batch:
        # One for the whole step, as TRL's: more than its tokens, for responses get an end token.
        optim["micro_batch_tokens"] = 2 * max(64, job.n_tokens)
    config: dict[str, Any] = {
        "method": job.method,
        "model": {"path": job.model},
        name: {"path": f"inputs/{name}.jsonl"},
        "precision": job.precision,
        "optim": optim,
        "log": {"samples_every": 100_000},
        "resources": {"threads": int(os.environ["OMP_NUM_THREADS"])},
        "checkpoint_every": 100_000,
    }
    if job.method == "policy_gradient":
        in_loss = {"place": "loss", "estimator": "k3"} if job.estimator == "grpo" else {}
        return config | {
            "estimator": job.estimator,
            "reward": {"terms": [{"kind": "regex", "pattern": "a"}]},
            "rollout": {
                "prompts_per_step": job.batch,
                "samples_per_prompt": job.responses,
                "max_prompt_tokens": job.prompt_tokens,
                "max_new_tokens": job.response_tokens[1],
            },
            "kl": {"coef": KL_COEF} | in_loss,
            "steps": job.steps,
        }
    optim |= {"batch_size": job.batch, "epochs": 1}
    packing = {"packing": job.packing} if job.method == "sft" else {}
    return config | packing | {"max_tokens": job.prompt_tokens + job.response_tokens[1] + 8}


def _line(method: str, index: int, record: Record) -> dict[str, Any]:
    line: dict[str, Any] = {
        "prompt_id": f"p{index}",
        "messages": [{"role": "user", "content": record.prompt}],
        "split": "train",
    }
    if method == "policy_gradient":
        return line
    if method == "sft":
        return line | {"demonstration_id": f"d{index}", "response": record.responses[0]}
    ids = [f"r{index}_{k}" for k in range(len(record.responses))]
    return line | {
        "judgment_id": f"j{index}",
        "comparison_id": f"c{index}",
        # Cut by the limit: no end token is added, as the peer's template adds none.
        "responses": [
            {"id": i, "content": content, "finish_reason": "length"}
            for i, content in zip(ids, record.responses, strict=True)
        ],
        "tiers": [[i] for i in ids],
        "unranked": [],
        "verdict": "ranked",
        "annotator": "benchmark",
        "presented_order": ids,
    }


if __name__ == "__main__":
    print(json.dumps(run(Job.load(Path(sys.argv[1])))))
