"""The soft penalty on responses that come near the token limit."""

from pathlib import Path

import pytest

from backend.schemas.policy_gradient import PolicyGradientConfig
from backend.schemas.vocabulary import FinishReason
from tests.trainer.conftest import policy_gradient_config
from worker.trainer.data.tokens import Tokens
from worker.trainer.methods.policy_gradient.overlong import overlong_penalty, penalty_of
from worker.trainer.rewards.sampled_response import SampledResponse


@pytest.mark.parametrize(
    ("n_tokens", "penalty"), [(1, 0.0), (16, 0.0), (17, -0.5), (19, -1.5), (20, -2.0)]
)
def test_the_overlong_penalty_grows_over_the_buffer(n_tokens: int, penalty: float) -> None:
    """A buffer of 4 tokens before a limit of 20, factor 2."""
    found = overlong_penalty(n_tokens, limit=20, buffer=4, factor=2.0)
    assert found == pytest.approx(penalty)


def penalty_config(**more: object) -> PolicyGradientConfig:
    """A config with a limit of 20 tokens."""
    config = policy_gradient_config(Path("model"), **more)
    config["rollout"]["max_new_tokens"] = 20
    return PolicyGradientConfig.model_validate(config)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [(None, -0.5), ({"buffer_tokens": 8, "factor": 3.0}, -2.25)],
)
def test_the_penalty_of_a_config_counts_response_tokens(
    settings: dict[str, float] | None, expected: float
) -> None:
    """18 of 20 tokens: half of the default buffer of 4, three quarters of one of 8."""
    penalty = penalty_of(penalty_config(overlong="penalize", overlong_penalty=settings))
    assert penalty is not None
    answer = SampledResponse(Tokens([1] * 9, [2] * 18), "", FinishReason.STOP)
    assert penalty(answer) == pytest.approx(expected)


@pytest.mark.parametrize("overlong", ["keep", "mask"])
def test_no_penalty_where_none_is_asked_for(overlong: str) -> None:
    assert penalty_of(penalty_config(overlong=overlong)) is None
