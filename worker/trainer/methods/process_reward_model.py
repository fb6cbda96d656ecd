"""Train a process reward model: how likely is each step of a response right?

Called by `__main__`. The head of a reward model is read where a step ends, at the token that
completes the separator after it; its sigmoid is the probability that the step is right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from backend.schemas.model_folder.reward_card import PROCESS_REWARD_MODEL
from backend.schemas.training import ProcessRewardModelConfig
from worker.trainer import losses, precision
from worker.trainer.data.solutions import Solution, places_of, read_solutions
from worker.trainer.data.tokens import collate, computed_tokens, micro_batches
from worker.trainer.evaluation.heldout_loss import HeldoutLoss
from worker.trainer.evaluation.with_interval import rate_with_interval
from worker.trainer.loop import HELDOUT_LOSS, Loop, batch_and_steps, descend, records_of_step
from worker.trainer.models import adapters
from worker.trainer.models.heads import (
    RewardModel,
    new_reward_model,
    save_reward_model,
)
from worker.trainer.models.tokenizer import load_tokenizer, number_of_ids
from worker.trainer.optim import Optimizer
from worker.trainer.output import write_output
from worker.trainer.run import Run


@dataclass(frozen=True)
class StepPredictions:
    """The steps of one solution that a label calls right or wrong, and how many were told so."""

    prompt_id: str
    n_right: int
    n_right_found: float
    n_wrong: int
    n_wrong_found: float

    @property
    def n(self) -> int:
        """Labelled steps; a label of exactly one half calls a step neither."""
        return self.n_right + self.n_wrong

    @property
    def n_found(self) -> float:
        """Steps told rightly; a probability of exactly one half is half of it."""
        return self.n_right_found + self.n_wrong_found


def train(run: Run, config: ProcessRewardModelConfig) -> None:
    """Run the whole method: data, model, steps, evaluation, output."""
    tokenizer = load_tokenizer(config.model, config.template)
    train_set, heldout = read_solutions(
        run, config, tokenizer, n_ids=number_of_ids(config.model, tokenizer)
    )
    model = new_reward_model(run, config)
    batch_size, steps = batch_and_steps(config.optim, len(train_set))
    optimizer = Optimizer(adapters.trainable(model), config.optim, steps)
    pad_id, budget = int(tokenizer.pad_token_id), config.optim.micro_batch_tokens

    def take_step(step: int) -> dict[str, float]:
        model.train()
        indices = records_of_step(len(train_set), batch_size, step, seed=config.seed)
        solutions = [train_set[i] for i in indices]
        n_steps = sum(len(solution.labels) for solution in solutions)
        judged: list[StepPredictions] = []

        def loss_of(group: list[int]) -> Tensor:
            chosen = [solutions[i] for i in group]
            scores = step_scores(model, chosen, pad_id, run)
            judged.extend(judge(s.detach(), one) for s, one in zip(scores, chosen, strict=True))
            return summed_loss(scores, [one.labels for one in chosen]) / n_steps

        sequences = [solution.tokens for solution in solutions]
        groups = _groups(solutions, budget)
        values = descend(run, optimizer, groups, loss_of, step, sequences)
        n_judged = sum(one.n for one in judged)
        if n_judged:
            values["accuracy"] = sum(one.n_found for one in judged) / n_judged
        return values

    heldout_loss = HeldoutLoss(
        [one.prompt_id for one in heldout],
        [float(len(one.labels)) for one in heldout],
        measure=heldout,
    )

    @torch.no_grad()
    def evaluate(step: int) -> dict[str, float]:
        if not heldout:
            return {}
        model.eval()
        loss_of: dict[int, float] = {}
        judged = []
        for group in _groups(heldout, config.optim.tokens_without_grad):
            run.stop.check()
            chosen = [heldout[i] for i in group]
            scores = step_scores(model, chosen, pad_id, run)
            for i, score_M, one in zip(group, scores, chosen, strict=True):
                loss_of[i] = float(summed_loss([score_M], [one.labels]))
                judged.append(judge(score_M, one))
        loss_N = [loss_of[i] for i in range(len(heldout))]
        return heldout_loss.metrics(step, loss_N) | heldout_metrics(judged)

    Loop(run, model, optimizer, steps, parts={HELDOUT_LOSS: heldout_loss}).go(take_step, evaluate)
    card: dict[str, object] = {
        "kind": PROCESS_REWARD_MODEL,
        "system": config.system,
        "max_tokens": config.max_tokens,
        "separator": config.separator,
    }
    write_output(
        run, lambda folder: save_reward_model(model, config.model, tokenizer, folder, card=card)
    )


def step_scores(
    model: RewardModel, solutions: Sequence[Solution], pad_id: int, run: Run
) -> list[Tensor]:
    """Log-odds that each step is right, one tensor per solution."""
    sequences, ends = [one.tokens for one in solutions], [one.ends for one in solutions]
    batch = collate(sequences, pad_id=pad_id, device=run.device)
    with precision.autocast(run.device, run.dtype):
        score_M = model.at(batch, places_of(sequences, ends, batch.action_B_T))
    return list(score_M.split([len(own) for own in ends]))


def summed_loss(scores: Sequence[Tensor], labels: Sequence[Sequence[float]]) -> Tensor:
    """The losses of all steps of some solutions added up, nats; see `losses.step_loss`.

    Divided by the steps of the whole batch it is this part's share of the batch's mean.
    """
    score_M = torch.cat(list(scores))
    label_M = torch.tensor([label for own in labels for label in own], device=score_M.device)
    return losses.step_loss(score_M, label_M).sum()


def judge(score_M: Tensor, solution: Solution) -> StepPredictions:
    """Compare the log-odds of a solution's steps with their labels."""
    label_M = torch.tensor(solution.labels, device=score_M.device)
    told_right_M = (score_M > 0).double() + 0.5 * (score_M == 0).double()
    is_right_M, is_wrong_M = label_M > 0.5, label_M < 0.5
    return StepPredictions(
        solution.prompt_id,
        int(is_right_M.sum()),
        float(told_right_M[is_right_M].sum()),
        int(is_wrong_M.sum()),
        float((1 - told_right_M)[is_wrong_M].sum()),
    )


def heldout_metrics(judged: Sequence[StepPredictions]) -> dict[str, float]:
    """Metrics `eval/*`: accuracy with its 95 % interval by prompt, and of each kind of step."""
    n_right, n_wrong = sum(one.n_right for one in judged), sum(one.n_wrong for one in judged)
    values = {
        "eval/steps": float(n_right + n_wrong),
        "eval/prompts": float(len({one.prompt_id for one in judged})),
    }
    if n_right:
        values["eval/accuracy_right"] = sum(one.n_right_found for one in judged) / n_right
    if n_wrong:
        values["eval/accuracy_wrong"] = sum(one.n_wrong_found for one in judged) / n_wrong
    counted = [one for one in judged if one.n > 0]
    if counted:
        values |= rate_with_interval(
            "eval/accuracy",
            [one.n_found for one in counted],
            [one.prompt_id for one in counted],
            [float(one.n) for one in counted],
        )
    return values


def _groups(solutions: Sequence[Solution], budget: int) -> list[list[int]]:
    return micro_batches([computed_tokens([one.tokens]) for one in solutions], budget=budget)
