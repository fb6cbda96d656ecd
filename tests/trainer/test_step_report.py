"""What a step of policy_gradient reports of its rewards, worked by hand."""

import math
from collections.abc import Sequence

import pytest
import torch

from backend.schemas.rewards import MathReward, Reward
from backend.schemas.vocabulary import FinishReason
from worker.trainer.advantages import Advantages
from worker.trainer.data.tokens import Tokens
from worker.trainer.methods.policy_gradient.report import metrics
from worker.trainer.methods.policy_gradient.rollout import Rollout, action_mask
from worker.trainer.rewards.math import MathScorer
from worker.trainer.rewards.regex import RegexScorer
from worker.trainer.rewards.sampled_response import Grade, SampledResponse
from worker.trainer.rewards.scorer import Scorer, Term
from worker.trainer.sampling.decoding import Response
from worker.trainer.sampling.prompts import Prompt

PROMPT = Prompt(id="p", text="2 + 2", ids=[1], is_heldout=False, reference="4")


def reported(texts: Sequence[str], *terms: Term) -> dict[str, float]:
    """The metrics of a step whose responses to one prompt are these texts, a token each."""
    responses = [Response([2], [-1.0], FinishReason.STOP) for _ in texts]
    answers = [
        SampledResponse(Tokens([1], [2]), text, FinishReason.STOP, reference="4") for text in texts
    ]
    reward = Reward.model_construct(terms=[], normalize="none", clip=None)
    scores = Scorer(reward, terms)(answers, learn=True)
    zeros_B_1 = torch.zeros(len(texts), 1)
    rollout = Rollout(
        prompts=[PROMPT] * len(texts),
        responses=responses,
        answers=answers,
        scores=scores,
        group_B=torch.zeros(len(texts), dtype=torch.long),
        mask_B_T=action_mask(responses, scores.reward, masks_overlong=False),
        sampler_logp_B_T=zeros_B_1,
        seconds={},
        n_sampled=len(texts),
        logp_B_T=zeros_B_1,
        entropy_B_T=zeros_B_1,
    )
    return metrics(rollout, Advantages(zeros_B_1, zeros_B_1))


def test_a_term_of_weight_0_is_told_of_the_responses_that_it_could_score() -> None:
    """The pattern is slow on the second of four, which math alone scores: it counts in the sum."""
    texts = ["The answer is 4. ab", f"The answer is 4. {'a' * 40}", "The answer is 5.", "ab"]
    math_term = Term("math", 1.0, MathScorer(MathReward()))
    watched = Term("regex", 0.0, RegexScorer(r"(a+)+b", lambda _rule, _message: None))

    values = reported(texts, math_term, watched)

    assert values["reward/regex"] == pytest.approx(2 / 3)
    assert values["reward/regex_coverage"] == 0.75
    assert values["reward/math"] == values["reward/raw_mean"] == values["pass_rate"] == 0.5
    assert all(map(math.isfinite, values.values()))


def test_a_term_that_could_score_nothing_is_not_told() -> None:
    nothing = Term("nothing", 0.0, lambda answers: [Grade(math.nan) for _ in answers])

    values = reported(
        ["The answer is 4.", "5"], Term("math", 1.0, MathScorer(MathReward())), nothing
    )

    assert "reward/nothing" not in values
    assert values["reward/nothing_coverage"] == 0
    assert values["reward/math"] == 0.5
