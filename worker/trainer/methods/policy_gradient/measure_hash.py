"""What a number measures, as a hash: numbers of equal hashes can be compared.

Asked by policy_gradient and kept in its checkpoints, for a clone may go on under another reward or
with other prompts. What the config says of training (learning rate, KL, estimator) is no part of
it.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.references import Reference
from backend.schemas.sections import EvaluationSet, Rollout
from worker.trainer.data.tokens import Tokens
from worker.trainer.sampling.prompts import Prompt


def of_sums(config: PolicyGradientConfig) -> str:
    """Hash what the running statistics measure: the weighted sum of a response with its penalty."""
    return _digest(config.reward.terms, _penalty(config))


def of_evaluations(
    config: PolicyGradientConfig, heldout: Sequence[Prompt], more_ends: Sequence[int] = ()
) -> str:
    """Hash what reward and KL on these held-out prompts are: questions, sampling and judging.

    `more_ends`: the end tokens that neither the tokenizer nor the model declares.
    The coefficient of the KL is no part: it is applied to both when two evaluations are compared.
    """
    return _digest(
        config.reward,
        _penalty(config),
        config.reference or config.model,
        *_answers(config, config.rollout, heldout, more_ends),
    )


def of_reference_answers(
    config: PolicyGradientConfig,
    one: EvaluationSet,
    prompts: Sequence[Prompt],
    more_ends: Sequence[int],
    precision: str,
) -> str:
    """Hash what the reference's answers to a set are, and what they score.

    In another `precision` the same random numbers may give other tokens.
    """
    return _digest(
        "answers",
        config.reward,
        config.reference or config.model,
        one.samples_per_prompt,
        precision,
        *_answers(config, one.rollout_of(config.rollout), prompts, more_ends),
    )


def of_reference_texts(
    config: PolicyGradientConfig, texts: Sequence[Tokens], precision: str
) -> str:
    """Hash how likely the reference finds these texts."""
    read = [[text.prompt, text.response] for text in texts]
    return _digest("texts", config.reference or config.model, precision, read)


def _answers(
    config: PolicyGradientConfig,
    rollout: Rollout,
    prompts: Sequence[Prompt],
    more_ends: Sequence[int],
) -> list[object]:
    """Which responses a model samples."""
    return [
        [[prompt.id, prompt.ids] for prompt in prompts],
        [rollout.engine, rollout.max_new_tokens, rollout.temperature, rollout.top_p, config.seed],
        *([rollout.stop] if rollout.stop else []),
        *([sorted(more_ends)] if more_ends else []),
    ]


def _penalty(config: PolicyGradientConfig) -> list[object]:
    if config.overlong != "penalize":
        return []
    return [config.overlong_penalty, config.rollout.max_new_tokens]


def _digest(*parts: object) -> str:
    text = json.dumps([_plain(part) for part in parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Turn a value into JSON, each reference into what stays the same on another machine."""
    if isinstance(value, Reference):
        return value.sha256 or value.hub_id or value.path
    if isinstance(value, BaseModel):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
