"""Why runs end badly, in a sentence each, and what to do about it with the numbers of the run.

Called by the worker when a run ends and by the API when it is shown. Pure: a cause, a config and
what was measured go in, words come out.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backend.domain.dotted_path import value_at
from backend.domain.run_state import CRASH_LIMIT
from backend.plural import plural
from backend.schemas.methods import SAMPLERS
from backend.schemas.numbers import gb
from backend.schemas.vocabulary import FailureCause

C = FailureCause

SENTENCES: dict[FailureCause, str] = {
    C.OUT_OF_MEMORY: "The trainer ran out of memory.",
    C.NON_FINITE_LOSS: "The loss, a gradient or the logits became NaN or infinite.",
    C.CONFIG: "The config is not valid for this run.",
    C.DATA: "The data cannot be used as it is.",
    C.MISSING_MODEL: "A model that the run needs is missing, has changed or cannot be loaded.",
    C.CHECKPOINT: "The checkpoint to start from is missing or damaged.",
    C.DISK: "The disk of the run directory is full or not writable.",
    C.TIMEOUT: "The run exceeded its time limit (resources.timeout_s).",
    C.KILLED: "The trainer was ended by a signal that Podium did not send.",
    C.WORKER_LOST: "The worker of this run stopped responding.",
    C.BUG: "The trainer stopped with an unexpected error.",
    C.NOT_STARTED: "The trainer could not be started.",
    C.OUTPUT: "The trainer finished, but its results cannot be used or stored.",
    C.UNEXPLAINED: "The trainer ended without reporting why.",
}

# Phases in which a model reads what is there, without a gradient. The evaluation of a policy
# samples first.
_READING_PHASES = frozenset({"reward", "logprob", "reference", "evaluation"})
# The trainer's own sampler decodes so many responses together, however many a step has
# (`worker.trainer.sampling.decoding.MAX_ROWS`).
_ROWS = 128
_OTHER_MODEL = "The weights of this model give NaN or infinite logits in fp32. Use another model."
# One record has about so many tokens: fewer of them in a pass make no sense.
_LEAST_TOKENS = 256
# How much is computed at once: a change of it fits every checkpoint and every schedule.
_OF_PASSES = frozenset({"optim.micro_batch_tokens", "optim.gradient_checkpointing"})


@dataclass(frozen=True)
class Facts:
    """What was known when the run ended; None = not known."""

    phase: str = ""
    step: int = 0
    steps: int = 0
    # Where this attempt began, and how long it took.
    first_step: int = 0
    # The last checkpoint that the run has, be it the one that it began with.
    checkpoint_step: int | None = None
    ran_s: float = 0.0
    disk_free_bytes: int | None = None
    checkpoint_bytes: int | None = None


@dataclass(frozen=True)
class Advice:
    """What to do in a clone of the run: a sentence, and new values by dotted path of the config."""

    text: str
    changes: dict[str, Any] = field(default_factory=dict)


def cause_of(word: str | None, otherwise: FailureCause = C.UNEXPLAINED) -> FailureCause:
    """Return the cause that a word names, `otherwise` if this release does not know the word."""
    return FailureCause(word) if word in set(FailureCause) else otherwise


def advise(cause: FailureCause, config: Mapping[str, Any], facts: Facts) -> Advice | None:
    """Say what would help, in numbers of this run; None if only the message can say."""
    if cause == C.OUT_OF_MEMORY:
        return _with_checkpoint(_less_memory(config, facts), config, facts)
    if cause == C.NON_FINITE_LOSS:
        return _gentler(config)
    if cause == C.TIMEOUT:
        return _longer(config, facts)
    return _more_disk(config, facts) if cause == C.DISK else None


def after_crash(crashes: int, checkpoint_step: int | None) -> str:
    """What becomes of a run that has crashed so often since its last checkpoint."""
    if crashes >= CRASH_LIMIT:
        return (
            f"The run has crashed {crashes} times without a new checkpoint, so Podium does not "
            "retry it automatically. Fix the cause, then retry the run."
        )
    where = "from the beginning" if checkpoint_step is None else f"from step {checkpoint_step}"
    return f"Podium retries the run automatically {where}."


def _with_checkpoint(advice: Advice, config: Mapping[str, Any], facts: Facts) -> Advice:
    """Name the checkpoint that a clone with these changes can start from, if there is one."""
    step = None if config.get("method") in SAMPLERS else facts.checkpoint_step
    if not step or not advice.changes or not advice.changes.keys() <= _OF_PASSES:
        return advice
    how = f"Start the clone from the checkpoint of step {step:,} to keep what was trained by then."
    return replace(advice, text=f"{advice.text} {how}")


def _less_memory(config: Mapping[str, Any], facts: Facts) -> Advice:
    is_sampler = config.get("method") in SAMPLERS
    is_sampling = facts.phase == "rollout" or (is_sampler and facts.phase not in _READING_PHASES)
    if facts.phase == "evaluation" and value_at(config, "rollout.max_new_tokens"):
        found = _joined(_half_of_longest(config), _smaller_passes(config))
    else:
        found = _fewer_rows(config) if is_sampling else _smaller_passes(config)
    if found is not None:
        return found
    has_gradients = not (is_sampling or is_sampler or facts.phase in _READING_PHASES)
    if has_gradients and value_at(config, "optim.gradient_checkpointing") is False:
        text = "Set optim.gradient_checkpointing to true. Steps then take about a third longer."
        return Advice(text, {"optim.gradient_checkpointing": True})
    if config.get("lora") is None and not is_sampler:
        return Advice("Train with LoRA (lora.r 16), or use a machine with more memory.")
    return Advice("Use a smaller model, shorter records or a machine with more memory.")


def _joined(*several: Advice | None) -> Advice | None:
    given = [one for one in several if one is not None]
    changes = {path: value for one in given for path, value in one.changes.items()}
    return Advice(" ".join(one.text for one in given), changes) if given else None


def _fewer_rows(config: Mapping[str, Any]) -> Advice | None:
    """Sample fewer responses at once where a step has few, else shorter ones."""
    if config.get("method") in SAMPLERS:
        return _half_of_longest(config)
    prompts = _number(config, "rollout.prompts_per_step") or 0
    rows = prompts * (_number(config, "rollout.samples_per_prompt") or 1)
    fewer = _halved(config, "rollout.prompts_per_step") if rows < 2 * _ROWS else None
    return fewer or _halved(config, "rollout.max_new_tokens")


def _half_of_longest(config: Mapping[str, Any]) -> Advice | None:
    """Halve the longest responses: those of the rollout or of an evaluation set."""
    longest = max(
        (
            (one.get("max_new_tokens") or 0, one["name"])
            for one in config.get("evaluation_sets") or []
        ),
        default=(0, ""),
    )
    if longest[0] <= (_number(config, "rollout.max_new_tokens") or 0):
        return _halved(config, "rollout.max_new_tokens")
    tokens, name = longest
    return Advice(f"Lower max_new_tokens of evaluation set {name} from {tokens} to {tokens // 2}.")


def _smaller_passes(config: Mapping[str, Any]) -> Advice | None:
    return _halved(config, "optim.micro_batch_tokens", least=_LEAST_TOKENS)


def _halved(config: Mapping[str, Any], path: str, *, least: int = 1) -> Advice | None:
    value = _number(config, path)
    if value is None or value // 2 < least:
        return None
    return Advice(f"Lower {path} from {value} to {value // 2}.", {path: value // 2})


def _gentler(config: Mapping[str, Any]) -> Advice:
    may_be_bf16 = config.get("precision") in ("auto", "bf16")
    if config.get("method") in SAMPLERS:
        return _finer(config["precision"]) if may_be_bf16 else Advice(_OTHER_MODEL)
    rate = value_at(config, "optim.lr")
    if not isinstance(rate, int | float):
        return Advice("Lower optim.lr or optim.grad_clip, or set precision to fp32.")
    text = f"Lower optim.lr from {rate:g} to {rate / 2:g}"
    if may_be_bf16:
        text += f", or set precision from {config['precision']} to fp32"
    return Advice(f"{text}.", {"optim.lr": rate / 2})


def _finer(precision: str) -> Advice:
    text = f"Set precision from {precision} to fp32. If that does not help, the weights themselves "
    return Advice(f"{text}give NaN or infinite logits: use another model.", {"precision": "fp32"})


def _longer(config: Mapping[str, Any], facts: Facts) -> Advice | None:
    limit = value_at(config, "resources.timeout_s")
    start = None if config.get("method") in SAMPLERS else facts.checkpoint_step
    done = facts.step - facts.first_step
    left = facts.steps - (start or 0)
    if not isinstance(limit, int | float) or done <= 0 or left <= 0:
        return None
    pace_s = facts.ran_s / done
    needed_s = math.ceil(1.2 * pace_s * left)
    if needed_s <= limit:
        how = "begins again" if start is None else "resumes from its last checkpoint"
        text = f"Retry the run: it {how} with another {limit:g} s"
        return Advice(
            f"{text}; the remaining {plural(left, 'step')} will take about "
            f"{math.ceil(pace_s * left)} s."
        )
    text = f"Raise resources.timeout_s from {limit:g} to {needed_s}"
    took = f"{plural(done, 'step')} took {facts.ran_s:.0f} s, and"
    return Advice(f"{text}: {took} {_to_do(left, start)}.", {"resources.timeout_s": needed_s})


def _to_do(left: int, start: int | None) -> str:
    if start is None:
        return f"a clone begins again with all {left:,}"
    remain = plural(left, "step remains", "steps remain")
    return f"{remain} for a clone that starts from the checkpoint of step {start:,}"


def _more_disk(config: Mapping[str, Any], facts: Facts) -> Advice | None:
    if facts.disk_free_bytes is None:
        return None
    text = f"{gb(facts.disk_free_bytes)} are free on the disk of the run directories"
    if facts.checkpoint_bytes:
        text += f", and a checkpoint takes {gb(facts.checkpoint_bytes)}"
    text += (
        ". Free space (`podium prune` helps), or make the run directory writable; then retry the "
        "run."
    )
    kept = None if config.get("method") in SAMPLERS else _number(config, "max_checkpoints")
    if kept is not None and kept > 1:
        text += f" A clone with max_checkpoints {kept - 1} instead of {kept} needs less."
    return Advice(text)


def _number(config: Mapping[str, Any], path: str) -> int | None:
    value = value_at(config, path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
