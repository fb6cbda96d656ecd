r"""GSM8K, MATH, AIME and AMC in the form in which they are published."""

import pytest

from problems.published.answers import NoAnswer, after_hashes, boxed, whole_number
from problems.published.sets import WrongRecord, read


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        (r"so $\boxed{42}$.", "42"),
        (r"\boxed{1}, no: \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"$\boxed{\left\{x \mid x > 0 \right.}$", r"\left\{x \mid x > 0 \right."),
        (r"\boxed{\text{(A) } x^{2^{3}}} and more {text}", r"\text{(A) } x^{2^{3}}"),
        (r"which is $\boxed 5$ in all", "5"),
        (r"\fbox{7}", "7"),
        ("\\boxed{a\\\\b}", "a\\\\b"),
    ],
)
def test_the_last_box_with_balanced_braces(solution: str, answer: str) -> None:
    assert boxed(solution) == answer


@pytest.mark.parametrize("solution", ["42", r"\boxed{4", r"\boxed{}", r"\boxed{\}"])
def test_a_solution_without_a_whole_box_is_refused(solution: str) -> None:
    with pytest.raises(NoAnswer):
        boxed(solution)


def test_an_answer_behind_hashes() -> None:
    assert after_hashes("4 * 270 = <<4*270=1080>>1080\n#### 1,080") == "1080"
    assert after_hashes("#### 3\n#### -12.5 ") == "-12.5"
    with pytest.raises(NoAnswer, match="after ####"):
        after_hashes("1080")


def test_whole_numbers() -> None:
    written = ["142.0", 142.0, 142, "025", "-3", "1/2", "3.25", "070.00"]
    assert [whole_number(one) for one in written] == [
        *("142", "142", "142", "25", "-3", "1/2", "3.25", "70"),
    ]


GSM8K = {"question": "How many?", "answer": "2+2=<<2+2=4>>4\n#### 4"}
MATH = {
    "problem": "What is $x$?",
    "level": "Level 5",
    "type": "Algebra",
    "solution": r"Thus $x=\boxed{\frac{3}{4}}$.",
}
MATH_500 = {
    "problem": "What is $x$?",
    "solution": "...",
    "answer": r"\frac{3}{4}",
    "subject": "Algebra",
    "level": 5,
    "unique_id": "test/algebra/1.json",
}


@pytest.mark.parametrize(
    ("name", "record", "reference", "known"),
    [
        ("gsm8k", GSM8K, "4", {}),
        ("math", MATH, r"\frac{3}{4}", {"level": 5, "type": "Algebra"}),
        (
            "math",
            MATH_500,
            r"\frac{3}{4}",
            {"level": 5, "subject": "Algebra", "unique_id": "test/algebra/1.json"},
        ),
        (
            "aime",
            {"ID": "2024-I-4", "Problem": "What?", "Solution": "...", "Answer": 33},
            "33",
            {"id": "2024-I-4"},
        ),
        (
            "aime",
            {"id": 1, "problem": "What?", "answer": "025", "url": "u"},
            "25",
            {"id": 1, "url": "u"},
        ),
        ("amc", {"id": 0, "problem": "What?", "answer": 142.0}, "142", {"id": 0}),
        (
            "amc",
            {"question": "What?", "solution": r"\boxed{27}", "year": 2023},
            "27",
            {"year": 2023},
        ),
    ],
)
def test_records_as_published(
    name: str, record: dict[str, object], reference: str, known: dict[str, object]
) -> None:
    [problem] = read(name, [record], split="test")
    question = next(record[key] for key in ("question", "problem", "Problem") if key in record)
    assert (problem.prompt, problem.reference) == (question, reference)
    assert problem.tags == (name, "test")
    assert problem.metadata == {"set": name, "split": "test"} | known


def test_an_instruction_stands_behind_the_question_and_wrong_records_are_named() -> None:
    [problem] = read("gsm8k", [GSM8K], split="train", instruction="Think.")
    assert problem.prompt == "How many?\nThink."
    with pytest.raises(WrongRecord, match=r"record 2 of gsm8k: the solution has no answer"):
        list(read("gsm8k", [GSM8K, {"question": "?", "answer": "4"}], split="train"))
    with pytest.raises(WrongRecord, match=r"no text in `problem`; found the fields"):
        list(read("math", [GSM8K], split="train"))
