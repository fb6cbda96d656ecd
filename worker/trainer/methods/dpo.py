"""Direct preference optimization: train the policy on rankings, without a reward model.

Called by `__main__`. A response's score is its implicit reward, beta times its log-ratio to the
reference; all strict pairs of a ranking come from one forward per response. The reference is the
starting model, or the one that the config names; its log-probabilities are computed once.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.training import DpoConfig
from worker.trainer import losses, precision, random_streams
from worker.trainer.data.rankings import (
    Ranking,
    Rankings,
    group_rankings,
    read_rankings,
    responses_of,
    sizes_of,
    with_strict_pairs,
)
from worker.trainer.data.tokens import collate
from worker.trainer.evaluation.heldout_loss import HeldoutLoss
from worker.trainer.evaluation.rankings import (
    RankingScores,
    heldout_metrics,
    judge,
    mean_of,
    uncounted_metrics,
)
from worker.trainer.loop import HELDOUT_LOSS, Loop, batch_and_steps, descend, records_of_step
from worker.trainer.models import adapters, loading
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import load_tokenizer, number_of_ids
from worker.trainer.optim import Optimizer
from worker.trainer.output import write_causal_lm
from worker.trainer.run import Run, give_freed_memory_back


def train(run: Run, config: DpoConfig) -> None:
    """Run the whole method: data, model, reference, steps, evaluation, output."""
    tokenizer = load_tokenizer(config.model, config.template)
    data = _read(run, config, tokenizer)
    train_set, heldout = data.train, data.heldout
    causal = _load(run, config)
    reference = _load_reference(run, config) or causal
    batch_size, steps = batch_and_steps(config.optim, len(train_set))
    pad_id, budget = int(tokenizer.pad_token_id), config.optim.micro_batch_tokens

    def logp_of(scorer: PreTrainedModel, rankings: Sequence[Ranking]) -> list[Tensor]:
        """Log-probabilities of the responses, K per ranking; without a gradient under no_grad."""
        found: dict[int, Tensor] = {}
        for group in group_rankings(rankings, budget=config.optim.tokens_without_grad):
            run.stop.check()
            chosen = [rankings[i] for i in group]
            found |= zip(group, response_logp(scorer, chosen, pad_id, run), strict=True)
        return [found[i] for i in range(len(rankings))]

    # Before the first update, and before a checkpoint is loaded: the policy is its own reference.
    run.events.progress(run.first_step, steps, "reference")
    with torch.no_grad():
        ref_logp, heldout_ref_logp = logp_of(reference, train_set), logp_of(reference, heldout)
    del reference
    give_freed_memory_back()
    model: nn.Module = causal
    if config.lora is not None:
        adapter_seed = random_streams.derive(config.seed, "adapters")
        model = adapters.add_lora(causal, config.lora, seed=adapter_seed)
    model.eval()  # dropout would make policy and reference differ where their weights do not
    optimizer = Optimizer(adapters.trainable(model), config.optim, steps)

    def take_step(step: int) -> dict[str, float]:
        indices = records_of_step(len(train_set), batch_size, step, seed=config.seed)
        rankings, ref = [train_set[i] for i in indices], [ref_logp[i] for i in indices]
        judged: list[RankingScores] = []

        def loss_of(group: list[int]) -> Tensor:
            chosen, ref_K = [rankings[i] for i in group], [ref[i] for i in group]
            logp = response_logp(causal, chosen, pad_id, run)
            scores = implicit_rewards(logp, ref_K, config.beta)
            judged.extend(judge(s, r) for s, r in zip(scores, chosen, strict=True))
            return _loss(logp, ref_K, chosen, config) / len(rankings)

        groups = group_rankings(rankings, budget=budget)
        values = descend(run, optimizer, groups, loss_of, step, responses_of(rankings))
        return values | {f"dpo/{name}": value for name, value in mean_of(judged).items()}

    heldout_loss = HeldoutLoss(
        [one.prompt_id for one in heldout],
        [1.0] * len(heldout),
        measure=(heldout, config.loss, config.beta, config.label_smoothing),
    )

    @torch.no_grad()
    def evaluate(step: int) -> dict[str, float]:
        if not heldout:
            return uncounted_metrics(data)
        logp = logp_of(causal, heldout)
        each = zip(logp, heldout_ref_logp, heldout, strict=True)
        loss_N = [float(_loss([own], [ref], [one], config)) for own, ref, one in each]
        scores = implicit_rewards(logp, heldout_ref_logp, config.beta)
        values = heldout_metrics(scores, heldout)
        return values | heldout_loss.metrics(step, loss_N)

    Loop(run, model, optimizer, steps, parts={HELDOUT_LOSS: heldout_loss}).go(take_step, evaluate)
    write_causal_lm(run, model, config.model, tokenizer)


def response_logp(
    causal: nn.Module, rankings: Sequence[Ranking], pad_id: int, run: Run
) -> list[Tensor]:
    """Log-probability of each whole response in nats, summed over its tokens: K per ranking."""
    flat = responses_of(rankings)
    batch = collate(flat, pad_id=pad_id, device=run.device)
    with precision.autocast(run.device, run.dtype):
        logp_N = action_logp(causal, batch, temperature=1.0).logp_N
    sums = [part.sum() for part in logp_N.split([len(tokens.response) for tokens in flat])]
    return list(torch.stack(sums).split(sizes_of(rankings)))


def implicit_rewards(
    logp: Sequence[Tensor], ref_logp: Sequence[Tensor], beta: float
) -> list[Tensor]:
    """beta (log pi - log ref) of each response, without a gradient.

    Source: DPO (arXiv 2305.18290), section 4, up to a constant per prompt.
    """
    return [beta * (own.detach() - ref) for own, ref in zip(logp, ref_logp, strict=True)]


def _loss(
    logp: Sequence[Tensor],
    ref_logp: Sequence[Tensor],
    rankings: Sequence[Ranking],
    config: DpoConfig,
) -> Tensor:
    """Sum over rankings of the mean over their strict pairs."""
    total = []
    for logp_K, ref_K, ranking in zip(logp, ref_logp, rankings, strict=True):
        winner, loser = ranking.strict_pairs()
        found = losses.dpo_loss(
            logp_K[winner],
            logp_K[loser],
            ref_K[winner],
            ref_K[loser],
            beta=config.beta,
            label_smoothing=config.label_smoothing,
            loss=config.loss,
        )
        total.append(found.loss)
    return torch.stack(total).sum()


def _read(run: Run, config: DpoConfig, tokenizer: PreTrainedTokenizerBase) -> Rankings:
    rankings = read_rankings(
        run,
        config.preferences,
        tokenizer,
        n_ids=number_of_ids(config.model, tokenizer),
        system=config.system,
        max_tokens=config.max_tokens,
    )
    return with_strict_pairs(rankings)


def _load(run: Run, config: DpoConfig) -> PreTrainedModel:
    return loading.load_to_train(run, config, longest=config.max_tokens)


def _load_reference(run: Run, config: DpoConfig) -> PreTrainedModel | None:
    """The reference where it is not the starting model; `preflight` has compared their tokens."""
    if config.reference is None or config.reference == config.model:
        return None
    return _load(run, config.model_copy(update={"model": config.reference}))
