"""What the demo leaves for you: different answers to a question, the fullest comparisons first."""

from typing import Any

import yours


def answers(prompt_id: str, *contents: str) -> list[dict[str, Any]]:
    return [
        {"id": f"{prompt_id}_{at}", "prompt_id": prompt_id, "content": content}
        for at, content in enumerate(contents)
    ]


def test_equal_answers_are_one_and_the_fullest_comparison_comes_first() -> None:
    responses = [*answers("p1", "Yes.", "Yes. ", "No."), *answers("p2", "One.", "Two.", "Three.")]

    bodies = yours.comparisons(responses)

    assert [body["prompt_id"] for body in bodies] == ["p2", "p1"]
    assert bodies[1]["response_ids"] == ["p1_0", "p1_2"]
    assert {body["judgments_required"] for body in bodies} == {2}


def test_a_question_with_one_answer_cannot_be_ranked() -> None:
    assert yours.comparisons(answers("p1", "Yes.", "Yes.", "Yes.")) == []


def test_there_are_never_more_than_promised() -> None:
    responses = [one for n in range(30) for one in answers(f"p{n}", "Yes.", "No.")]

    assert len(yours.comparisons(responses)) == yours.COMPARISONS
