"""Train a reward model on rankings, K-wise: all pairs of a ranking from one forward per response.

Called by `__main__`. Held-out accuracy counts pairs and prompts and has an interval by prompt. Mean
and deviation of the held-out scores are stored with the model, to normalize rewards later; so are
its calibration curve and its length bias.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from statistics import fmean, pstdev

import torch
from torch import Tensor

from backend.schemas.training import RewardModelConfig
from worker.trainer import losses, precision
from worker.trainer.data.rankings import (
    Ranking,
    group_rankings,
    read_rankings,
    responses_of,
    sizes_of,
)
from worker.trainer.data.tokens import collate
from worker.trainer.evaluation.calibration import calibration_curve, calibration_error, described
from worker.trainer.evaluation.heldout_loss import HeldoutLoss
from worker.trainer.evaluation.length_bias import length_bias
from worker.trainer.evaluation.rankings import (
    RankingScores,
    heldout_metrics,
    judge,
    mean_of,
    uncounted_metrics,
)
from worker.trainer.loop import HELDOUT_LOSS, Loop, batch_and_steps, descend, records_of_step
from worker.trainer.models import adapters
from worker.trainer.models.heads import RewardModel, new_reward_model, save_reward_model, score_all
from worker.trainer.models.tokenizer import load_tokenizer, number_of_ids
from worker.trainer.optim import Optimizer
from worker.trainer.output import write_output
from worker.trainer.run import Run


def train(run: Run, config: RewardModelConfig) -> None:
    """Run the whole method: data, model, steps, evaluation, output."""
    tokenizer = load_tokenizer(config.model, config.template)
    data = read_rankings(
        run,
        config.preferences,
        tokenizer,
        n_ids=number_of_ids(config.model, tokenizer),
        system=config.system,
        max_tokens=config.max_tokens,
    )
    train_set, heldout = data.train, data.heldout
    model = new_reward_model(run, config)
    batch_size, steps = batch_and_steps(config.optim, len(train_set))
    optimizer = Optimizer(adapters.trainable(model), config.optim, steps)
    pad_id, budget = int(tokenizer.pad_token_id), config.optim.micro_batch_tokens

    def take_step(step: int) -> dict[str, float]:
        model.train()
        indices = records_of_step(len(train_set), batch_size, step, seed=config.seed)
        rankings = [train_set[i] for i in indices]
        judged: list[RankingScores] = []

        def loss_of(group: list[int]) -> Tensor:
            chosen = [rankings[i] for i in group]
            scores = _forward(model, chosen, pad_id, run)
            judged.extend(judge(s.detach(), r) for s, r in zip(scores, chosen, strict=True))
            return _loss(scores, chosen, config) / len(rankings)

        groups = group_rankings(rankings, budget=budget)
        values = descend(run, optimizer, groups, loss_of, step, responses_of(rankings))
        return values | _named(mean_of(judged))

    def scores_of(rankings: list[Ranking]) -> list[Tensor]:
        scores = score_all(
            model,
            responses_of(rankings),
            pad_id=pad_id,
            budget=config.optim.tokens_without_grad,
            dtype=run.dtype,
            check_stop=run.stop.check,
        )
        return list(torch.tensor(scores).split(sizes_of(rankings)))

    evaluated: list[Tensor] = []
    heldout_loss = HeldoutLoss(
        [one.prompt_id for one in heldout],
        [1.0] * len(heldout),
        measure=(heldout, config.loss, config.margin, config.center),
    )

    def evaluate(step: int) -> dict[str, float]:
        if not heldout:
            return uncounted_metrics(data)
        evaluated[:] = scores_of(heldout)
        flat = torch.cat(evaluated)
        each = zip(evaluated, heldout, strict=True)
        values = heldout_loss.metrics(step, [float(_loss([s], [r], config)) for s, r in each])
        values |= {
            "eval/score_mean": float(flat.mean()),
            "eval/score_std": float(flat.std(correction=0)),
            "eval/calibration_error": calibration_error(calibration_curve(evaluated, heldout)),
        }
        values |= heldout_metrics(evaluated, heldout)
        return values | length_bias(evaluated, heldout).metrics()

    Loop(run, model, optimizer, steps, parts={HELDOUT_LOSS: heldout_loss}).go(take_step, evaluate)
    card: dict[str, object] = {"system": config.system, "max_tokens": config.max_tokens}
    if heldout:
        # A run resumed after its last evaluation has not seen the scores.
        card |= _heldout_card(evaluated or scores_of(heldout), heldout, run, steps)
    write_output(
        run, lambda folder: save_reward_model(model, config.model, tokenizer, folder, card=card)
    )


def _heldout_card(
    scores: Sequence[Tensor], heldout: Sequence[Ranking], run: Run, step: int
) -> dict[str, object]:
    """What the finished model is like on the held-out split, for its card and for the reader."""
    flat = torch.cat(list(scores)).tolist()
    curve = calibration_curve(scores, heldout)
    run.events.alert("calibration", described(curve), level="info", step=step)
    return {
        "heldout_score": {"mean": fmean(flat), "std": pstdev(flat), "n": len(flat)},
        "calibration": [asdict(one) for one in curve],
        "length_bias": asdict(length_bias(scores, heldout)),
    }


def _named(means: dict[str, float]) -> dict[str, float]:
    return {
        name if name in ("accuracy", "margin") else f"reward/{name}": value
        for name, value in means.items()
    }


def _forward(model: RewardModel, rankings: list[Ranking], pad_id: int, run: Run) -> list[Tensor]:
    batch = collate(responses_of(rankings), pad_id=pad_id, device=run.device)
    with precision.autocast(run.device, run.dtype):
        score_N: Tensor = model(batch)
    return list(score_N.split(sizes_of(rankings)))


def _loss(
    scores: Sequence[Tensor], rankings: Sequence[Ranking], config: RewardModelConfig
) -> Tensor:
    function = losses.listwise_loss
    if config.loss == "pairwise":
        function = partial(losses.ranking_loss, margin=config.margin)
    total = []
    for score_K, ranking in zip(scores, rankings, strict=True):
        total.append(function(score_K, ranking.tiers))
        if config.center > 0:
            total.append(config.center * losses.centering_loss(score_K, ranking.tiers))
    return torch.stack(total).sum()
