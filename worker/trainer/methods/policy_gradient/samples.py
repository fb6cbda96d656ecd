"""Which responses a run logs, and what is told of them token by token.

Of each step some that stand for something: the best, the worst, the longest, ... and of every
evaluation the same held-out prompts. Called by the loop and by the evaluation; trains nothing.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from backend.schemas.run_directory.events import SampleLine, SampleReason
from backend.schemas.sections import Log
from backend.schemas.vocabulary import FinishReason
from worker.trainer.advantages import Advantages, are_equal
from worker.trainer.data.token_ids import kept_ids
from worker.trainer.methods.policy_gradient.rollout import Rollout
from worker.trainer.sampling.prompts import token_texts

_BEST_WORST: tuple[SampleReason, ...] = ("best", "worst")
_REASONS: Mapping[str, tuple[SampleReason, ...]] = {
    "none": (),
    "best_worst": _BEST_WORST,
    "chosen": get_args(SampleReason),
    "all": get_args(SampleReason),
}


class LoggedRows:
    """The rows of a rollout that are logged, in the order in which they are told.

    Those that stand for something come first, then the others in order. `detailed` are the rows
    whose tokens are told, too.
    """

    def __init__(self, rollout: Rollout, log: Log) -> None:
        """Choose; a response that could not be scored counts as the worst."""
        found = examples(rollout)
        of_row: dict[int, list[SampleReason]] = {}
        for reason, row in found.items():
            of_row.setdefault(row, []).append(reason)
        others = (row for row in range(len(rollout.responses)) if row not in of_row)
        self.rows = [*of_row, *others][: log.samples_per_step]
        self.reasons = of_row
        told = {found[reason] for reason in _REASONS[log.tokens] if reason in found}
        self.detailed = [row for row in self.rows if row in told or log.tokens == "all"]


def examples(rollout: Rollout) -> dict[SampleReason, int]:
    """The row that stands for each reason, as far as there is one; of several the first."""
    reward = [value if math.isfinite(value) else -math.inf for value in rollout.scores.reward]
    ranked = sorted(range(len(reward)), key=lambda row: -reward[row])
    lengths = [len(response.ids) for response in rollout.responses]
    kl_B = kl_of_responses(rollout)
    distances = [] if kl_B is None else kl_B.tolist()
    found: dict[SampleReason, int | None] = {
        "best": ranked[0],
        "worst": ranked[-1],
        "median": ranked[(len(ranked) - 1) // 2],
        "longest": max(range(len(lengths)), key=lambda row: lengths[row]),
        "truncated": _first(_is_cut(rollout)),
        "largest_kl": max(range(len(distances)), key=distances.__getitem__, default=None),
        "zero_variance": _first(_has_equal_group(rollout)),
    }
    return {reason: row for reason, row in found.items() if row is not None}


def kl_of_responses(rollout: Rollout) -> Tensor | None:
    """Log-probability less that of the reference, summed over each response, nats; B.

    None where no reference was asked.
    """
    if rollout.ref_logp_B_T is None:
        return None
    width = rollout.logp_B_T.shape[1]
    lengths_B = torch.tensor([len(response.ids) for response in rollout.responses])
    is_token_B_T = torch.arange(width)[None] < lengths_B[:, None]
    return torch.where(is_token_B_T, rollout.logp_B_T - rollout.ref_logp_B_T, 0.0).sum(1)


def _is_cut(rollout: Rollout) -> list[bool]:
    return [response.finish_reason is FinishReason.LENGTH for response in rollout.responses]


def _has_equal_group(rollout: Rollout) -> list[bool]:
    """Say of each row whether its group has several responses, all with one reward."""
    reward_B = torch.tensor(rollout.scores.reward, dtype=torch.float64)
    groups = [reward_B[rollout.group_B == group] for group in rollout.group_B.unique()]
    equal = [len(group) > 1 and bool(are_equal(group)) for group in groups]
    return [equal[group] for group in rollout.group_B.tolist()]


def _first(marks: Sequence[bool]) -> int | None:
    return marks.index(True) if True in marks else None


def sample_lines(
    rollout: Rollout,
    advantages: Advantages,
    logged: LoggedRows,
    new_logp: Mapping[int, Sequence[float]],
    step: int,
    tokenizer: PreTrainedTokenizerBase,
) -> list[SampleLine]:
    """A line for each logged row; `new_logp`: of detailed rows, after the updates of the step."""
    kl_B = kl_of_responses(rollout)
    lines = []
    for row in logged.rows:
        kl = {} if kl_B is None else {"kl": float(kl_B[row])}
        line = _line(rollout, advantages, row, logged.reasons.get(row, []), kl, step)
        line = line.model_copy(
            update={"token_ids": kept_ids(rollout.answers[row].tokens, tokenizer)}
        )
        if row in logged.detailed:
            tokens = _tokens(rollout, advantages, row, new_logp.get(row), tokenizer)
            line = line.model_copy(update=tokens)
        lines.append(line)
    return lines


def _line(
    rollout: Rollout,
    advantages: Advantages,
    row: int,
    reasons: list[SampleReason],
    kl: dict[str, float],
    step: int,
) -> SampleLine:
    scores, n_tokens = rollout.scores, len(rollout.responses[row].ids)
    named = {name: values[row] for name, values in scores.terms.items()}
    return SampleLine(
        step=step,
        chosen_for=reasons,
        prompt=rollout.prompts[row].text,
        response=rollout.answers[row].text,
        prompt_id=rollout.prompts[row].id,
        index=sum(1 for other in range(row) if rollout.group_B[other] == rollout.group_B[row]),
        finish_reason=rollout.responses[row].finish_reason,
        scores={
            **named,
            "reward": scores.reward[row],
            **kl,
            "advantage": float(advantages.advantage_B_T[row, :n_tokens].mean()),
            "n_tokens": float(n_tokens),
        },
        passed=scores.passed[row],
        why=scores.why(row),
        **rollout.prompts[row].known,
    )


def _tokens(
    rollout: Rollout,
    advantages: Advantages,
    row: int,
    new_logp: Sequence[float] | None,
    tokenizer: PreTrainedTokenizerBase,
) -> dict[str, object]:
    ids = rollout.responses[row].ids
    columns = {
        "logp": rollout.logp_B_T[row],
        "sampler_logp": rollout.sampler_logp_B_T[row],
        "entropy": rollout.entropy_B_T[row],
        "advantage": advantages.advantage_B_T[row],
    }
    if rollout.ref_logp_B_T is not None:
        columns["kl"] = rollout.logp_B_T[row] - rollout.ref_logp_B_T[row]
    if rollout.value_B_T is not None:
        columns["value"] = rollout.value_B_T[row]
    told: dict[str, object] = {
        name: rounded(column_T[: len(ids)].tolist()) for name, column_T in columns.items()
    }
    if new_logp is not None:
        old = rollout.logp_B_T[row, : len(ids)].tolist()
        told["change"] = rounded(new - before for new, before in zip(new_logp, old, strict=True))
    return told | {"tokens": token_texts(ids, tokenizer)}


def rounded(values: Iterable[float]) -> list[float]:
    """Round to seven digits, as many as fp32 has, which halves the bytes of a line."""
    return [float(f"{value:.7g}") for value in values]
