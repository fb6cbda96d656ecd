"""The reward term `knights`, from a response to its grade."""

import json
import math
from pathlib import Path
from typing import Any, cast

import pytest

from backend.schemas.rewards import Reward
from backend.schemas.vocabulary import FinishReason
from problems.knights.making import make
from tests.trainer.conftest import Workshop, lines, policy_gradient_config, series
from worker.trainer.data.tokens import Tokens
from worker.trainer.rewards.knights import knights_grade
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.rewards.scorer import build_terms

# Ada: "We are both knaves." Ben: "Cleo is a knave." Cleo: "Ada is a knight."
# Ada lies, for a knight would not say so; so Cleo lies and Ben, who says it, does not.
METADATA = {
    "people": ["Ada", "Ben", "Cleo"],
    "claims": ["and knave Ada knave Ben", "knave Cleo", "knight Ada"],
}
RIGHT = "Ada is a knave, Ben is a knight, Cleo is a knave"


def response(text: str, metadata: dict[str, Any] = METADATA) -> SampledResponse:
    return SampledResponse(Tokens([1], [2]), text, FinishReason.STOP, metadata=metadata)


@pytest.mark.parametrize(
    ("text", "exact", "partial", "why"),
    [
        (f"Ada cannot be a knight.\nAnswer: {RIGHT}.", 1.0, 1.0, ""),
        ("knave, knight, knave", 1.0, 1.0, ""),
        (
            RIGHT.replace("Cleo is a knave", "Cleo is a knight"),
            0.0,
            2 / 3,
            f"the correct roles: {RIGHT}",
        ),
        (
            "Ada is a knight, Ben is a knave, Cleo is a knight",
            0.0,
            0.0,
            f"the correct roles: {RIGHT}",
        ),
        ("Ada is a knave, Ben is a knight", 0.0, 0.0, "Cleo"),
        (f"{RIGHT}, Ada is a knight", 0.0, 0.0, "both"),
        ("", 0.0, 0.0, "0 roles"),
    ],
)
def test_an_answer_is_right_in_part_or_not_at_all(
    text: str, exact: float, partial: float, why: str
) -> None:
    whole, shared = (knights_grade(response(text), is_partial=one) for one in (False, True))
    assert (whole.score, whole.passed) == (exact, exact == 1)
    assert shared.score == pytest.approx(partial)
    assert shared.passed is (exact == 1)
    assert why in whole.why


def test_any_of_several_solutions_is_right() -> None:
    """ "Ben lies", "Ada lies": one of them does."""
    both = {"people": ["Ada", "Ben"], "claims": ["knave Ben", "knave Ada"]}
    assert knights_grade(response("knight, knave", both)).passed
    assert knights_grade(response("knave, knight", both)).passed
    wrong = knights_grade(response("knight, knight", both), is_partial=True)
    assert (wrong.score, wrong.passed) == (0.5, False)


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({}, "no `people`"),
        ({"people": ["Ada"], "claims": ["knight Ben"]}, "names nobody"),
        ({"people": ["Ada"], "claims": ["knave Ada"]}, "no solution"),
    ],
)
def test_a_prompt_without_a_puzzle_gives_no_score(metadata: dict[str, Any], why: str) -> None:
    grade = knights_grade(response(RIGHT, metadata))
    assert math.isnan(grade.score)
    assert not grade.passed
    assert why in grade.why


def test_the_reference_of_every_made_puzzle_passes_by_the_config() -> None:
    terms = Reward.model_validate({"terms": [{"kind": "knights"}]}).terms
    nothing = cast("Any", None)
    [term] = build_terms(terms, nothing, nothing, system="")
    problems = [problem for n in range(2, 9) for problem in make(n, 5, seed=9)]
    answers = [response(p.reference, dict(p.metadata)) for p in problems]
    assert all(grade.passed and grade.score == 1 for grade in term.score(answers))
    turned = [response(p.prompt + "\nAnswer: knight", dict(p.metadata)) for p in problems]
    assert not any(grade.passed for grade in term.score(turned))


def test_a_run_reads_its_puzzles_from_the_snapshot(workshop: Workshop, tiny_model: Path) -> None:
    """The tiny model knows nothing: nobody passes, and every response has a score."""
    config = policy_gradient_config(tiny_model, steps=1, eval_every=0)
    config |= {"reward": {"terms": [{"kind": "knights", "score": "partial"}]}}
    config["rollout"] |= {"max_prompt_tokens": 400}
    run_dir = workshop.lay_out("run", config)
    records = [
        {
            "prompt_id": f"p{n}",
            "messages": [{"role": "user", "content": "Who is what?"}],
            "reference": problem.reference,
            "metadata": dict(problem.metadata),
            "split": "heldout" if n % 4 == 0 else "train",
        }
        for n, problem in enumerate(make(2, 8, seed=0))
    ]
    inputs = run_dir / "inputs" / "prompts.jsonl"
    inputs.write_text("".join(json.dumps(record) + "\n" for record in records))

    assert workshop.run_here(run_dir)["code"] == 0

    assert series(run_dir, "reward/knights")[1] == 0
    assert series(run_dir, "pass_rate")[1] == 0
    [why] = lines(run_dir, "sample")[0]["why"].values()
    assert why.startswith("the answer")
