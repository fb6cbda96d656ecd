"""Every set that `podium problems` makes has a reward that passes its reference, and no other."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from backend.schemas.rewards import Reward
from backend.schemas.vocabulary import FinishReason
from problems import arithmetic, lists, stories
from problems.knights import making as knights
from problems.problem import Problem
from worker.trainer.data.tokens import Tokens
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.rewards.scorer import build_terms


def plain(problem: Problem) -> str:
    """The reference as an answer says it."""
    return problem.reference.strip("[]").replace('"', "")


@pytest.mark.parametrize(
    ("make", "term"),
    [
        (knights.make, {"kind": "knights"}),
        (arithmetic.make, {"kind": "math"}),
        (stories.make, {"kind": "math"}),
        (lists.make, {"kind": "set_match"}),
        (lists.make_sorting, {"kind": "set_match", "is_ordered": True}),
    ],
    ids=["knights", "arithmetic", "stories", "lists", "sorting"],
)
def test_a_set_s_own_reward_passes_its_references(
    make: Callable[..., list[Problem]], term: dict[str, Any]
) -> None:
    nothing = cast("Any", None)
    terms = Reward.model_validate({"terms": [term]}).terms
    [built] = build_terms(terms, nothing, nothing, system="")
    problems = make(3, 20, seed=4)
    other = [*problems[1:], problems[0]]

    def responses(answered: list[Problem]) -> list[SampledResponse]:
        return [
            SampledResponse(
                Tokens([1], [2]),
                f"Let me think of 12.\nAnswer: {plain(said)}",
                FinishReason.STOP,
                prompt=asked.prompt,
                reference=asked.reference,
                metadata=asked.metadata,
            )
            for asked, said in zip(problems, answered, strict=True)
        ]

    assert [grade for grade in built.score(responses(problems)) if not grade.passed] == []
    passed = sum(grade.passed is True for grade in built.score(responses(other)))
    equal = sum(one.reference == two.reference for one, two in zip(problems, other, strict=True))
    assert passed == equal
