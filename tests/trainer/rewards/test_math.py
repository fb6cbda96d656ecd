r"""The reward term `math`: pairs by hand, where an answer stands, and whose fault it is."""

import math
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schemas.rewards import MathReward
from tests.trainer.rewards.graded import response
from tests.trainer.rewards.pairs import DIFFERENT, SAME, pairs
from worker.trainer.rewards.answers.equal import equal
from worker.trainer.rewards.answers.extract import answer_in
from worker.trainer.rewards.grading.pool import Found, Pool
from worker.trainer.rewards.math import MathScorer, references_in

TOWER = "9^{9^{9^{9^{9}}}}"


# How an answer stands in a response. What follows "Answer:" may end in an exclamation.
FORMS = (
    r"So it is $\boxed{%s}$.",
    "<think>hm</think> <answer>%s</answer>",
    "The answer is %s.",
    "The answer is $%s$.",
    "The answer is:\n$$\n%s\n$$",
    "#### %s",
)


@pytest.mark.parametrize("form", FORMS)
def test_no_verdict_on_a_pair_is_wrong(pool: Pool, form: str) -> None:
    """In $$ an answer cannot have $ of its own."""
    left_out = ("$", r"\(", r"\[") if "$$" in form else ()
    same, different = (
        [pair for pair in pairs(table) if not pair[0].startswith(left_out)]
        for table in (SAME, DIFFERENT)
    )
    assert len(same) + len(different) >= 500
    grades = MathScorer(MathReward(), pool)(
        [response(form % one, reference) for one, reference in same + different]
    )
    verdicts = [True] * len(same) + [False] * len(different)
    wrong = [
        (pair, grade)
        for pair, grade, is_same in zip(same + different, grades, verdicts, strict=True)
        if grade.passed != is_same or grade.score != float(is_same)
    ]
    assert wrong == []


def test_an_answer_without_algebra_needs_no_other_process() -> None:
    score = MathScorer(MathReward())
    grades = score([response(rf"\boxed{{{one}}}", "1/2") for one in ("0.5", "50\\%", "0.51")])
    assert [grade.score for grade in grades] == [1, 1, 0]
    assert grades[2].why == "0.51 is not the ground truth"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"It is \boxed{42}.", "42"),
        (r"First \boxed{1}, no, \boxed{2}", "2"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\fbox{7}", "7"),
        (r"The answer is 5. But \boxed{6}", "6"),
        ("<answer>42</answer>", "42"),
        ("<answer>1</answer> <answer> 2 </answer>", "2"),
        (r"\boxed{1} <answer>The answer is \boxed{2}</answer>", "2"),
        ("<answer>The answer is 3.</answer>", "3"),
        ("The answer is 42.", "42"),
        ("The answer is: 42", "42"),
        ("the final answer is $42$.", "42"),
        ("The answer is $5$ because 2 + 3 = 5", "5"),
        ("The answer is $18$ dollars.", "18 dollars"),
        ("The answer is 3.5 cm. Therefore we are done.", "3.5 cm"),
        ("Answer: 42\nThat was easy.", "42"),
        ("**Answer:** 42", "42"),
        ("Final answer = 42", "42"),
        ("The answer to the question is 7", "7"),
        ("She has 3 + 4 = 7\n#### 7", "7"),
        ("The answer is 1. Wait, the answer is 2.", "2"),
        ("<think>The answer is 1</think>The answer is 2", "2"),
        (r"The answer is \(x = 2\)", "x = 2"),
        ("The answer is **12**.", "12"),
        (r"\boxed 5", "5"),
        (r"$\boxed5$", "5"),
        (r"\boxed 12.", "12"),
        (r"\boxed x", "x"),
        ("The answer is 5!", "5"),
        ("The answer is 5! That was easy.", "5"),
        ("The answer is $5!$", "5!"),
        ("The answer is 5. I hope this answer is correct.", "5"),
        ("The final answer is 5.\n\nI hope this answer is correct.", "5"),
        ("The answer is 4. The answer is not 3.", "4"),
        ("The answer is:\n$$\n5\n$$", "5"),
        ("The answer is:\n\\[\n5\n\\]", "5"),
        ("The answer is\n```\n5\n```", "5"),
        ("### Answer\n5", "5"),
        ("**Final Answer**\n\n5", "5"),
        ("The answers are 2 and 3.", "2 and 3"),
        ("The answer is St. Louis.", "St. Louis"),
        ("The answer is St. Louis. It is in Missouri.", "St. Louis"),
        ("The answer is 1; 2.", "1; 2"),
        (r"The answer is $\$18$.", r"\$18"),
    ],
)
def test_the_answer_is_found(text: str, answer: str) -> None:
    assert answer_in(text, "any", "answer").text == answer


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("It is 42", r"there is no answer in a box, in <answer> or after the words `answer is`"),
        (r"\boxed{42", "there is no answer"),
        (r"The answer is 5 \boxed{42", "there is no answer"),
        ("", "there is no answer"),
        (r"\boxed{ }", "the answer is empty"),
        ("<think>the answer is 42", "never closes <think>"),
        ("<think>a</think><think>the answer is 42", "never closes <think>"),
        (r"\boxed{%s}" % ("1" * 301), "the answer has 301 characters; the limit is 300"),
    ],
)
def test_a_response_without_a_readable_answer_has_failed_by_its_own_fault(
    text: str, why: str
) -> None:
    [grade] = MathScorer(MathReward())([response(text, "42")])
    assert (grade.score, grade.passed) == (0.0, False)
    assert why in grade.why


@pytest.mark.parametrize(
    ("where", "text", "answer"),
    [
        ("boxed", r"\boxed{1} <answer>2</answer> the answer is 3", "1"),
        ("tag", r"\boxed{1} <answer>2</answer> the answer is 3", "2"),
        ("phrase", r"\boxed{1} <answer>2</answer> the answer is 3", "3"),
        ("boxed", "the answer is 3", None),
        ("tag", "the answer is 3", None),
        ("phrase", r"\boxed{1}", None),
    ],
)
def test_a_term_that_says_where_looks_nowhere_else(
    where: str, text: str, answer: str | None
) -> None:
    assert answer_in(text, where, "answer").text == answer  # type: ignore[arg-type]


def test_a_long_response_is_read_in_linear_time() -> None:
    """Each of these would take hours if it were looked at again from every place."""
    for text in (
        "\\boxed{" * 100_000,
        "answer " * 100_000,
        "<answer>" * 100_000,
        "\\boxed" * 100_000,
    ):
        assert answer_in(text, "any", "answer").text is None or len(text) < 0


def test_without_a_reference_nobody_can_grade() -> None:
    [grade] = MathScorer(MathReward())([response(r"\boxed{42}")])
    assert math.isnan(grade.score)
    assert (grade.passed, grade.why) == (False, "the prompt has no ground truth")


def test_an_expression_that_takes_for_ever_ends_and_is_the_fault_of_whose_it_is() -> None:
    """Of the response: 0. Of the reference: no score. The others are graded all the same."""
    pool = Pool(2, limit_s=0.5)
    try:
        grades = MathScorer(MathReward(), pool)(
            [
                response(rf"\boxed{{{TOWER}}}", r"\sqrt{2}"),
                response(r"\boxed{\sqrt{2}}", TOWER),
                response(r"\boxed{\sqrt{8}}", r"2\sqrt{2}"),
                response(r"\boxed{(10^8)!}", "x"),
            ]
        )
    finally:
        pool.close()
    assert [grade.passed for grade in grades] == [False, False, True, False]
    assert [math.isnan(grade.score) for grade in grades] == [False, True, False, False]
    assert grades[0].why == "comparing the answer takes too long"
    assert grades[1].why == "the ground truth cannot be compared with anything: it takes too long"


def test_a_grader_that_crashes_gives_no_score() -> None:
    class Broken(Pool):
        def submit(self, name: str, arguments: object) -> Future[Found]:
            found = Future[Found]()
            found.set_result(Found(fault="crash", why="it was killed by SIGSEGV"))
            return found

    [grade] = MathScorer(MathReward(), Broken(1))([response(r"\boxed{\sqrt{2}}", "x")])
    assert math.isnan(grade.score)
    assert (grade.passed, grade.why) == (False, "the grader failed: it was killed by SIGSEGV")


def test_what_a_crash_left_open_is_asked_again(pool: Pool) -> None:
    """A process may die of what has nothing to do with the answer, such as a lack of memory."""

    class Recovering(Pool):
        is_broken = True

        def submit(self, name: str, arguments: Sequence[Any]) -> Future[Found]:
            if not self.is_broken:
                return pool.submit(name, arguments)
            found = Future[Found]()
            found.set_result(Found(fault="crash", why="it was killed by SIGKILL"))
            return found

    graders = Recovering(1)
    scorer = MathScorer(MathReward(), graders)
    answers = [response(r"\boxed{\sqrt{8}}", r"2\sqrt{2}")] * 2
    assert [grade.passed for grade in scorer(answers)] == [False, False]
    graders.is_broken = False
    assert [grade.passed for grade in scorer(answers)] == [True, True]


class Replying(Pool):
    """Answers a question by what it is about: its response, else its reference."""

    def __init__(self, **faults: str) -> None:
        super().__init__(1)
        self.faults = faults

    def submit(self, name: str, arguments: Sequence[Any]) -> Future[Found]:
        said, wanted, _ = arguments
        fault = self.faults.get(said, self.faults.get(wanted, ""))
        found = Future[Found]()
        value = None if fault else {"same": False, "form": said}
        found.set_result(Found(value, fault, fault))  # type: ignore[arg-type]
        return found


def test_a_crash_at_the_reference_alone_is_not_remembered() -> None:
    """It says nothing of the reference, which may be as good as any."""
    graders = Replying(y="limit", x="crash")
    scorer = MathScorer(MathReward(), graders)
    answers = [response(r"\boxed{y}", "x")]

    [grade] = scorer(answers)

    assert math.isnan(grade.score)
    assert (grade.may_change, grade.why) == (True, "the grader failed: crash")
    graders.faults = {"y": "limit"}
    [grade] = scorer(answers)
    assert (grade.score, grade.may_change) == (0.0, False)
    assert grade.why == "comparing the answer takes too long"


@pytest.mark.parametrize("references", ['["x", "z"]', '["z", "x"]'])
def test_a_crash_at_one_of_several_references_leaves_the_grade_open(references: str) -> None:
    """The response may be what that reference says, whatever became of the others."""
    graders = Replying(x="crash", z="limit")
    scorer = MathScorer(MathReward(), graders)

    [grade] = scorer([response(r"\boxed{y}", references)])

    assert math.isnan(grade.score)
    assert grade.may_change


def test_a_reference_that_cannot_be_read_is_not_the_fault_of_the_response(pool: Pool) -> None:
    odd = r"\frac{1}{"
    answers = [response(f"<answer>{said}</answer>", odd) for said in (r"\sqrt{2}", odd)]
    unlike, like = MathScorer(MathReward(), pool)(answers)
    assert math.isnan(unlike.score)
    assert (unlike.passed, unlike.why) == (False, "the ground truth cannot be read as an answer")
    assert like.passed


def test_a_response_that_cannot_be_read_has_failed(pool: Pool) -> None:
    [grade] = MathScorer(MathReward(), pool)([response(r"<answer>\frac{1}{</answer>", r"\sqrt{2}")])
    assert (grade.score, grade.passed) == (0.0, False)


@pytest.mark.parametrize(
    ("reference", "votes"),
    [
        ("7", [["0.5", "1/2", r"\frac{1}{2}", ".50", r"50\%"], ["3", "3.0", "3 dollars", r"\$3"]]),
        ("7 cm", [["1 m", "100 cm", "100"], ["1 kg"], ["1"]]),
        (r"\sqrt{2}", [[r"\sqrt{8}", r"2\sqrt2"], ["x+1", "1+x"], ["(x+1)x", "x^2+x"], ["X+1"]]),
    ],
)
def test_wrong_answers_of_one_value_are_one_vote(
    pool: Pool, reference: str, votes: list[list[str]]
) -> None:
    """Spelling does not split them, as it does not split the right ones."""
    score = MathScorer(MathReward(), pool)
    told = [
        {grade.answer for grade in score([response(rf"\boxed{{{a}}}", reference) for a in group])}
        for group in votes
    ]
    assert [len(group) for group in told] == [1] * len(votes)
    assert len(set.union(*told)) == len(votes)


def test_what_was_begun_is_graded_as_what_was_not_and_asked_once(pool: Pool) -> None:
    class Counting(Pool):
        asked = 0

        def submit(self, name: str, arguments: Sequence[Any]) -> Future[Found]:
            self.asked += 1
            return pool.submit(name, arguments)

    answers = [response(rf"\boxed{{{said}}}", r"2\sqrt{2}") for said in (r"\sqrt{8}", r"\sqrt{7}")]
    counting = Counting(1)
    score = MathScorer(MathReward(), counting)
    for answer in [*answers, *answers, response(r"\boxed{7}", "7")]:
        score.begin(answer)
    assert counting.asked == 2
    assert score([*answers, *answers]) == MathScorer(MathReward(), pool)([*answers, *answers])
    assert counting.asked == 2


@pytest.mark.parametrize(
    ("reference", "answers"),
    [
        ("42", ["42"]),
        ("3 + 4 = <<3+4=7>>7\n#### 7", [" 7"]),
        (r"Thus $x = \boxed{\frac{1}{2}}$.", [r"\frac{1}{2}"]),
        ('["1/2", "0.5"]', ["1/2", "0.5"]),
        ("[1, 2]", ["[1, 2]"]),
    ],
)
def test_a_reference_may_be_a_worked_solution_or_several_answers(
    reference: str, answers: list[str]
) -> None:
    assert references_in(reference) == answers


SIGNS = "1 23 , . / - % $ x = ( ) [ ] { } and or cm ^ 2 e 10 * ½ A 0 degrees"
NAMES = r"\frac \frac12 \frac{1}{2} \sqrt \text \{ \} \boxed \, \\ \infty"
PIECES = (*SIGNS.split(), *NAMES.split(), " ", "\n")
ANYTHING = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(ANYTHING, ANYTHING)
def test_whatever_is_said_is_compared_without_an_error_and_both_ways_alike(
    one: str, other: str
) -> None:
    assert equal(one, one) is not False
    assert equal(one, other) == equal(other, one) or {one.strip("()"), other.strip("()")} & set(
        "ABCDEFGHIJ"
    )
    answer_in(f"the answer is {one} <answer>{other}", "any", "answer")


def test_numbers_may_differ_by_the_tolerance() -> None:
    assert [equal("3.14", "3.1416", tolerance) for tolerance in (0.0, 1e-4, 1e-3)] == [
        False,
        False,
        True,
    ]


def test_algebra_may_differ_by_the_tolerance(pool: Pool) -> None:
    for tolerance, passed in ((0.0, False), (0.01, True)):
        score = MathScorer(MathReward(tolerance=tolerance), pool)
        assert score([response(r"\boxed{1.41}", r"\sqrt{2}")])[0].passed == passed
