"""Train a reward model on rankings, K-wise: all pairs of a ranking from one forward per response.

Called by `__main__`. Held-out accuracy counts pairs and prompts and has an interval by prompt; mean
and deviation of the held-out scores are stored with the model, to normalize rewards later.
"""

from dataclasses import dataclass
from statistics import fmean, pstdev

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import PreferenceRecord
from backend.schemas.training import RewardModelConfig
from backend.schemas.vocabulary import FinishReason, Split, Verdict
from worker.trainer import losses, models
from worker.trainer.bootstrap import interval95
from worker.trainer.data import (
    Tokens,
    collate,
    encode_response,
    micro_batches,
    read_records,
    render_prompt,
)
from worker.trainer.errors import DataError
from worker.trainer.loop import Evaluation, Loop, check_finite, records_of_step, steps_of_epochs
from worker.trainer.optim import Optimizer
from worker.trainer.output import write_output
from worker.trainer.reward_head import RewardModel, new_reward_model, save_reward_model, score_all
from worker.trainer.run import Run

BATCH_SIZE = 16


@dataclass(frozen=True)
class Ranking:
    """The responses of one judgment as token ids, and its tiers as indices into them."""

    prompt_id: str
    responses: list[Tokens]
    tiers: list[list[int]]


@dataclass(frozen=True)
class Judged:
    """Scores of rankings against their tiers, pair by pair."""

    n_right: list[float]
    n_pairs: list[float]
    margins: list[float]
    loss: float


def train(run: Run, config: RewardModelConfig) -> None:
    """Run the whole method: data, model, steps, evaluation, output."""
    tokenizer = models.load_tokenizer(config.model)
    train_set, heldout = _read(run, config, tokenizer)
    model = new_reward_model(
        config.model,
        config.lora,
        seed=config.seed,
        longest=config.max_tokens,
        dtype=run.dtype,
        device=run.device,
    )
    batch_size = min(config.optim.batch_size or BATCH_SIZE, len(train_set))
    steps = steps_of_epochs(len(train_set), batch_size, config.optim.epochs or 1.0)
    optimizer = Optimizer(models.trainable(model), config.optim, steps)
    pad_id, budget = int(tokenizer.pad_token_id), config.optim.micro_batch_tokens

    def take_step(step: int) -> dict[str, float]:
        model.train()
        indices = records_of_step(len(train_set), batch_size, step, seed=config.seed)
        rankings = [train_set[i] for i in indices]
        total, judged = 0.0, []
        for group in _groups(rankings, budget):
            run.stop.check()
            chosen = [rankings[i] for i in group]
            scores = _forward(model, chosen, pad_id, run)
            loss = _loss(scores, chosen, config.loss) / len(rankings)
            total += check_finite(loss, step)
            loss.backward()
            judged.append(judge([s.detach() for s in scores], chosen))
        lr = optimizer.lr
        norm = optimizer.step()
        run.events.tokens += sum(len(tokens) for r in rankings for tokens in r.responses)
        n_pairs = sum(sum(part.n_pairs) for part in judged)
        return {
            "loss": total,
            "lr": lr,
            "grad_norm": norm,
            "accuracy": sum(sum(part.n_right) for part in judged) / n_pairs,
            "margin": sum(sum(part.margins) for part in judged) / n_pairs,
        }

    def scores_of(rankings: list[Ranking]) -> list[Tensor]:
        flat = [tokens for ranking in rankings for tokens in ranking.responses]
        scores = score_all(
            model, flat, pad_id=pad_id, budget=budget, dtype=run.dtype, check_stop=run.stop.check
        )
        return list(torch.tensor(scores).split([len(r.responses) for r in rankings]))

    evaluated: dict[int, list[Tensor]] = {}

    def evaluate(step: int) -> Evaluation:
        if not heldout:
            return Evaluation({})
        evaluated.clear()
        evaluated[step] = scores_of(heldout)
        return Evaluation(_heldout_metrics(evaluated[step], heldout, config.seed))

    Loop(run, model, optimizer, steps).go(take_step, evaluate)
    card: dict[str, object] = {"system": config.system, "max_tokens": config.max_tokens}
    if heldout:
        # A run resumed after its last evaluation has not seen the scores.
        found = evaluated.get(steps) or scores_of(heldout)
        scores = [float(score) for part in found for score in part]
        card["heldout_score"] = {"mean": fmean(scores), "std": pstdev(scores), "n": len(scores)}
    write_output(
        run, lambda folder: save_reward_model(model, config.model, tokenizer, folder, card=card)
    )


def judge(scores: list[Tensor], rankings: list[Ranking]) -> Judged:
    """Compare scores with rankings: right pairs, pairs and margin per ranking.

    Tied pairs of a ranking do not count; a tied score on a strict pair counts half.
    """
    n_right, n_pairs, margins, total = [], [], [], []
    for score_K, ranking in zip(scores, rankings, strict=True):
        first, second, wins = losses.tier_pairs(ranking.tiers)
        strict = [i for i, win in enumerate(wins) if win == 1.0]
        margin_P = score_K[[first[i] for i in strict]] - score_K[[second[i] for i in strict]]
        n_right.append(float((margin_P > 0).sum()) + 0.5 * float((margin_P == 0).sum()))
        n_pairs.append(float(len(strict)))
        margins.append(float(margin_P.sum()))
        total.append(float(losses.ranking_loss(score_K, ranking.tiers)))
    return Judged(n_right, n_pairs, margins, fmean(total))


def _heldout_metrics(scores: list[Tensor], rankings: list[Ranking], seed: int) -> dict[str, float]:
    judged = judge(scores, rankings)
    n_pairs = sum(judged.n_pairs)
    flat = torch.cat(scores)
    values = {
        "eval/loss": judged.loss,
        "eval/score_mean": float(flat.mean()),
        "eval/score_std": float(flat.std(correction=0)),
        "eval/pairs": n_pairs,
        "eval/prompts": float(len({ranking.prompt_id for ranking in rankings})),
    }
    if n_pairs:
        with_pairs = [i for i, n in enumerate(judged.n_pairs) if n > 0]
        low, high = interval95(
            [judged.n_right[i] for i in with_pairs],
            [judged.n_pairs[i] for i in with_pairs],
            [rankings[i].prompt_id for i in with_pairs],
            seed=seed,
        )
        values |= {
            "eval/accuracy": sum(judged.n_right) / n_pairs,
            "eval/accuracy_low": low,
            "eval/accuracy_high": high,
            "eval/margin": sum(judged.margins) / n_pairs,
        }
    return values


def _groups(rankings: list[Ranking], budget: int) -> list[list[int]]:
    """Rankings grouped so that all responses of one stay in one forward."""
    widths = [max(len(tokens) for tokens in ranking.responses) for ranking in rankings]
    most = max(len(ranking.responses) for ranking in rankings)
    return micro_batches(widths, budget=max(1, budget // most))


def _forward(model: RewardModel, rankings: list[Ranking], pad_id: int, run: Run) -> list[Tensor]:
    flat = [tokens for ranking in rankings for tokens in ranking.responses]
    batch = collate(flat, pad_id=pad_id, device=run.device)
    with models.autocast(run.device, run.dtype):
        score_N: Tensor = model(batch)
    return list(score_N.split([len(ranking.responses) for ranking in rankings]))


def _loss(scores: list[Tensor], rankings: list[Ranking], kind: str) -> Tensor:
    function = losses.ranking_loss if kind == "pairwise" else losses.listwise_loss
    return torch.stack(
        [function(score, r.tiers) for score, r in zip(scores, rankings, strict=True)]
    ).sum()


def _read(
    run: Run, config: RewardModelConfig, tokenizer: PreTrainedTokenizerBase
) -> tuple[list[Ranking], list[Ranking]]:
    records = read_records(run.directory, config.preferences, PreferenceRecord, name="preferences")
    sides: dict[Split, list[Ranking]] = {Split.TRAIN: [], Split.HELDOUT: []}
    for record in records:
        ranking = _encode(record, config, tokenizer)
        if len([index for tier in ranking.tiers for index in tier]) >= 2:
            sides[record.split].append(ranking)
    if not sides[Split.TRAIN]:
        raise DataError(
            f"none of the {len(records)} judgments gives a pair to train on",
            "rank more comparisons, or make the snapshot with a smaller held-out fraction",
        )
    return sides[Split.TRAIN], sides[Split.HELDOUT]


def _encode(
    record: PreferenceRecord, config: RewardModelConfig, tokenizer: PreTrainedTokenizerBase
) -> Ranking:
    prompt = render_prompt(tokenizer, record.messages, system=config.system)
    responses = []
    for response in record.responses:
        is_cut = response.finish_reason is FinishReason.LENGTH
        end_id = None if is_cut else int(tokenizer.eos_token_id)
        tokens = Tokens(prompt, encode_response(tokenizer, response.content, end_id=end_id))
        if len(tokens) > config.max_tokens:
            raise DataError(
                f"response {response.id} has {len(tokens)} tokens with its prompt, "
                f"max_tokens is {config.max_tokens}",
                "raise max_tokens, or leave the comparison out",
            )
        responses.append(tokens)
    place = {response.id: index for index, response in enumerate(record.responses)}
    tiers = record.tiers if record.verdict is Verdict.RANKED else []
    try:
        return Ranking(record.prompt_id, responses, [[place[i] for i in tier] for tier in tiers])
    except KeyError as error:
        raise DataError(
            f"judgment {record.judgment_id} ranks {error.args[0]}, which is none of its responses"
        ) from error
