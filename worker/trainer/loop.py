"""The outer loop of all methods that train: steps, evaluations, checkpoints.

A method brings `take_step` and `evaluate`; the loop resumes, stops at safe points and keeps the
best weights. It knows nothing of losses.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from backend.schemas.sections import Optim
from worker.trainer import checkpoint, random_streams
from worker.trainer.bad_batch import saved_if_not_finite
from worker.trainer.data.tokens import Tokens
from worker.trainer.errors import ConfigError, NonFiniteLoss, StopRequested, TrainerError
from worker.trainer.models.adapters import trainable
from worker.trainer.optim import Optimizer
from worker.trainer.run import Run, peak_memory_gib

GroupT = TypeVar("GroupT")

# The part with the first losses, which checkpoints of earlier releases lack: a run that is resumed
# from one tells no change of its held-out loss.
HELDOUT_LOSS = "heldout_loss"
# The part with what a reference was measured to be, which those of a parent lack that did not ask
# for it: it is measured when it is needed.
BASELINE = "baseline"
_MAY_BE_MISSING = (HELDOUT_LOSS, BASELINE)

# Records per optimizer step where the config does not say.
BATCH_SIZE = 16


class Stateful(Protocol):
    """Something that changes from step to step and belongs into a checkpoint.

    Its state is plain JSON and is read after each step: what an unfinished step did to it is not
    kept.
    """

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: Mapping[str, Any]) -> None: ...


class Limit(Protocol):
    """Something that may end a run before its last step, and have it evaluated at once."""

    @property
    def calls_for_evaluation(self) -> bool: ...

    @property
    def is_passed(self) -> bool: ...

    def nothing_within(self) -> TrainerError:
        """What a run ends with that the limit has ended before any evaluation was within it."""
        ...


class TensorState(Protocol):
    """Weights and moments that a method trains beside its model; they change in updates only."""

    def tensors(self) -> dict[str, Tensor]: ...

    def restore_tensors(self, tensors: Mapping[str, Tensor]) -> None: ...

    def clear_gradient(self) -> None: ...


@dataclass(frozen=True)
class Best:
    """The best evaluation so far, what it found, and the trainable weights it was made with."""

    step: int
    values: dict[str, float]
    weights: dict[str, Tensor]


@dataclass
class Loop:
    """The state of a training loop.

    With an `objective` of the metrics of an evaluation the run goes back to the best one at its
    end: higher is better, -inf = never the best. It is asked of the best so far again each time, so
    that what it is made of may change: two evaluations are always compared by the same measure.
    `measure` says what an evaluation measures. Those before a checkpoint with another one do not
    count, and the first of this run is made at once.
    Where the `limit` rests on what was measured, it is one of the `parts`.
    `clock` gives the seconds by which checkpoints are due where the config says no steps.
    """

    run: Run
    model: nn.Module
    optimizer: Optimizer
    steps: int
    objective: Callable[[Mapping[str, float]], float] | None = None
    measure: str = ""
    limit: Limit | None = None
    parts: Mapping[str, Stateful] = field(default_factory=dict)
    tensor_parts: Mapping[str, TensorState] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    best: Best | None = None
    evaluated_step: int = -1
    done_step: int = 0
    part_states: dict[str, dict[str, Any]] = field(default_factory=dict)

    def go(
        self,
        take_step: Callable[[int], dict[str, float]],
        evaluate: Callable[[int], dict[str, float]],
    ) -> None:
        """Run all steps that are left, then bring the best weights back if they are kept.

        Raises StopRequested after writing a checkpoint of the last finished step, and what the
        limit says where it has ended the run and no evaluation was within it.
        """
        self._resume()
        self._settle()
        schedule = checkpoint.Schedule(self.run.config.checkpoint_every, self.clock)
        try:
            self._evaluate_if_due(evaluate)
            while not self._is_over:
                self._step(take_step)
                self._evaluate_if_due(evaluate)
                if schedule.is_due(self.done_step):
                    self.save()
        except StopRequested:
            self.optimizer.clear_gradient()
            for trained in self.tensor_parts.values():
                trained.clear_gradient()
            self.save(is_last=True)
            raise
        self._take_best()

    def save(self, *, is_last: bool = False) -> None:
        """Write a checkpoint of the last finished step.

        The last one of an attempt may take the room that is to stay free: without it work is lost.
        """
        run = self.run
        run.events.progress(self.done_step, self.steps, "saving")
        weights: dict[str, Tensor] = dict(trainable(self.model))
        tensors = {"weights": weights, "optimizer": self.optimizer.state()}
        tensors |= {name: part.tensors() for name, part in self.tensor_parts.items()}
        if self.best is not None:
            tensors["best"] = self.best.weights
        state = {
            "optimizer_steps": self.optimizer.n_steps,
            "tokens": run.events.tokens,
            "measure": self.measure,
            "evaluated_step": self.evaluated_step,
            "best": None
            if self.best is None
            else {"step": self.best.step, "values": self.best.values},
            "environment": run.environment,
            "parts": self.part_states,
        }
        is_best = self.best is not None and self.best.step == self.done_step
        path = checkpoint.save(
            run.checkpoints,
            checkpoint.Checkpoint(self.done_step, state, tensors, is_best=is_best),
            keep=run.config.max_checkpoints,
            min_free_bytes=0 if is_last else run.min_free_bytes,
        )
        run.events.checkpoint(self.done_step, str(path.relative_to(run.directory)), best=is_best)

    def _resume(self) -> None:
        resumed = self.run.resumed
        if resumed is None:
            return
        state = resumed.state
        if resumed.step > self.steps:
            raise ConfigError(
                f"the checkpoint is at step {resumed.step}, but this config has only {self.steps} "
                "steps",
                f"Raise steps or optim.epochs so that there are at least {resumed.step} steps, or "
                "start from the beginning.",
            )
        load_weights(self.model, resumed.tensors["weights"])
        self.optimizer.restore(resumed.tensors["optimizer"], int(state["optimizer_steps"]))
        self.done_step = resumed.step
        # One that does not tell its measure is taken to have this one.
        if state.get("measure", self.measure) == self.measure:
            self._resume_evaluations(resumed)
        else:
            self.run.events.alert(
                "measured_anew",
                "The reward, the held-out prompts, the reference, the sampling or the seed differ "
                "from those of the checkpoint. The run evaluates again now, and no earlier "
                "evaluation counts for the best model.",
                level="info",
                step=self.done_step,
            )
        for name, part in self.parts.items():
            if name in _MAY_BE_MISSING and name not in state["parts"]:
                continue
            _require(name, state["parts"], resumed.step)
            part.restore(state["parts"][name])
        for name, trained in self.tensor_parts.items():
            _require(name, resumed.tensors, resumed.step)
            trained.restore_tensors(resumed.tensors[name])

    def _resume_evaluations(self, resumed: checkpoint.Checkpoint) -> None:
        best = resumed.state["best"]
        if best is not None:
            self.best = Best(int(best["step"]), dict(best["values"]), resumed.tensors["best"])
        self.evaluated_step = int(resumed.state["evaluated_step"])

    @property
    def _is_over(self) -> bool:
        is_passed = self.limit is not None and self.limit.is_passed
        return is_passed or self.done_step >= self.steps

    def _settle(self) -> None:
        self.part_states = {name: part.state() for name, part in self.parts.items()}

    def _step(self, take_step: Callable[[int], dict[str, float]]) -> None:
        run, step = self.run, self.done_step + 1
        started_at, tokens = time.monotonic(), run.events.tokens
        # Only dropout draws from the global generator; it starts anew at every step.
        torch.manual_seed(random_streams.derive(run.config.seed, "dropout", step))
        run.events.progress(self.done_step, self.steps, "update")
        values = take_step(step)
        self.done_step = step
        self._settle()
        seconds = time.monotonic() - started_at
        values["tokens_per_s"] = (run.events.tokens - tokens) / seconds
        values["time/step_s"] = seconds
        values["memory/peak_gib"] = peak_memory_gib(run.device)
        run.events.metric(step, values)
        run.events.progress(step, self.steps, "update")

    def _evaluate_if_due(self, evaluate: Callable[[int], dict[str, float]]) -> None:
        step = self.done_step
        if not self._is_evaluation_due or self.evaluated_step >= step:
            return
        self.run.events.progress(step, self.steps, "evaluation")
        values = evaluate(step)
        self.evaluated_step = step
        self._settle()
        if self._score(values) > self._best_score:
            weights = {n: p.detach().cpu().clone() for n, p in trainable(self.model).items()}
            self.best = Best(step, dict(values), weights)
        if self.best is not None:
            values["eval/best_step"] = float(self.best.step)
        if values:
            self.run.events.metric(step, values)

    @property
    def _is_evaluation_due(self) -> bool:
        step, every = self.done_step, self.run.config.eval_every
        is_first = self.evaluated_step < 0
        is_planned = is_first or step == self.steps or (every > 0 and step % every == 0)
        return is_planned or (self.limit is not None and self.limit.calls_for_evaluation)

    def _score(self, values: Mapping[str, float]) -> float:
        return -math.inf if self.objective is None else self.objective(values)

    @property
    def _best_score(self) -> float:
        return -math.inf if self.best is None else self._score(self.best.values)

    def _take_best(self) -> None:
        if self.best is None or self._best_score == -math.inf:
            # By a limit that a clone has lowered, the best of its checkpoint may be beyond it.
            if self.limit is not None and self.limit.is_passed:
                raise self.limit.nothing_within()
            return
        load_weights(self.model, self.best.weights)
        self.run.events.alert(
            "best_checkpoint",
            f"The output is the model of step {self.best.step} of {self.done_step}: it had the "
            f"best evaluation (objective {self._best_score:.4g}).",
            level="info",
            step=self.done_step,
        )


def _require(part: str, kept: Mapping[str, object], step: int) -> None:
    if part not in kept:
        raise ConfigError(
            f"the checkpoint of step {step} has no state of {part}",
            "Use the settings that the checkpoint was made with, or start from the beginning.",
        )


@torch.no_grad()
def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Put saved trainable weights back, in place."""
    for name, parameter in trainable(model).items():
        if name not in weights:
            raise ConfigError(
                f"the checkpoint has no weights of {name}, which is trained now",
                "Start from the beginning: the version of Podium that made the checkpoint put "
                "adapters on other layers.",
            )
        parameter.copy_(weights[name])


def records_of_step(n_records: int, batch_size: int, step: int, *, seed: int) -> list[int]:
    """Indices of the records of a step (from 1) where every step takes as many."""
    return records_after(n_records, (step - 1) * batch_size, batch_size, seed=seed)


def records_after(n_records: int, n_taken: int, count: int, *, seed: int) -> list[int]:
    """Indices of the next `count` records: every epoch is a permutation of its own.

    A batch may span two epochs. A function of its arguments, so the cursor is `n_taken` itself.
    """
    orders: dict[int, list[int]] = {}
    indices = []
    for place in range(n_taken, n_taken + count):
        epoch, offset = divmod(place, n_records)
        if epoch not in orders:
            orders[epoch] = random_streams.permutation(n_records, seed, "order", epoch)
        indices.append(orders[epoch][offset])
    return indices


def batch_and_steps(optim: Optim, n_records: int) -> tuple[int, int]:
    """Records per optimizer step, and the steps that `optim.epochs` passes take, at least 1."""
    batch_size = min(optim.batch_size or BATCH_SIZE, n_records)
    return batch_size, max(1, math.ceil(n_records * (optim.epochs or 1.0) / batch_size))


def descend(
    run: Run,
    optimizer: Optimizer,
    groups: Sequence[GroupT],
    loss_of: Callable[[GroupT], Tensor],
    step: int,
    sequences: Sequence[Tokens],
) -> dict[str, float]:
    """One optimizer step over micro-batches; their losses add up to the `loss` of the step.

    `sequences` are all that the micro-batches hold: they are counted as tokens, and kept beside the
    run if loss or gradient is not finite.
    Raises NonFiniteLoss, and StopRequested between two micro-batches.
    """
    total, lr = 0.0, optimizer.lr
    with saved_if_not_finite(run, step, sequences):
        for group in groups:
            run.stop.check()
            loss = loss_of(group)
            total += check_finite(loss, step)
            loss.backward()
        grad_norm = optimizer.step()
    run.events.tokens += sum(len(tokens) for tokens in sequences)
    return {"loss": total, "lr": lr, "grad_norm": grad_norm}


def check_finite(loss: Tensor, step: int) -> float:
    """The loss as a number.

    Raises NonFiniteLoss naming the step.
    """
    value = float(loss.detach())
    if not math.isfinite(value):
        raise NonFiniteLoss(
            f"the loss is {value} at step {step}", "Lower optim.lr, or set precision to fp32."
        )
    return value
