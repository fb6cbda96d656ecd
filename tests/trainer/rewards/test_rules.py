"""The terms that follow rules: format, lists, language, repetition, sentiment, functions."""

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from backend.schemas.rewards import (
    FormatReward,
    FunctionReward,
    LanguageReward,
    MathReward,
    Reward,
    SetMatchReward,
)
from tests.trainer.rewards.graded import response
from worker.trainer.errors import ConfigError
from worker.trainer.evaluation.graded import pass_rate
from worker.trainer.methods.policy_gradient.prompt_scores import prompt_scores_line
from worker.trainer.methods.policy_gradient.rollout import AskedPrompt
from worker.trainer.rewards import function, language
from worker.trainer.rewards.format import FormatScorer
from worker.trainer.rewards.grading.pool import Found, Pool
from worker.trainer.rewards.language import language_reward
from worker.trainer.rewards.math import MathScorer
from worker.trainer.rewards.repetition import repetition_reward
from worker.trainer.rewards.scorer import Scorer, Term
from worker.trainer.rewards.sentiment import MOST_CHARACTERS, sentiment_grade
from worker.trainer.rewards.set_match import SetScorer, in_order, items
from worker.trainer.source import ALLOWED

NOTHING = cast("Any", None)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("<think>a</think><answer>b</answer>", 1),
        (" <think>\na\n</think>\n\n<answer> b </answer>\n", 1),
        ("<think></think><answer></answer>", 1),
        ("<think>a < b > c</think><answer><b>d</b></answer>", 1),
        ("So: <think>a</think><answer>b</answer>", 0),
        ("<think>a</think> so <answer>b</answer>", 0),
        ("<think>a</think><answer>b</answer>!", 0),
        ("<answer>b</answer><think>a</think>", 0),
        ("<think>a</think><answer>b", 0),
        ("<think>a<answer>b</answer></think>", 0),
        ("<think>a</think><think>a</think><answer>b</answer>", 0),
        ("<answer>b</answer>", 0),
        ("a</think><answer>b</answer>", 0),
        ("", 0),
    ],
)
def test_the_format_is_the_tags_in_order_and_nothing_beside_them(text: str, score: int) -> None:
    [grade] = FormatScorer(FormatReward())([response(text)])
    assert (grade.score, grade.passed) == (score, None)
    assert (grade.why == "") == (score == 1)


def test_the_prompt_may_have_opened_the_first_tag() -> None:
    score = FormatScorer(FormatReward(first_is_open=True))
    texts = [
        "a</think> <answer>b</answer>",
        "<think>a</think><answer>b</answer>",
        "a</think>x<answer>b</answer>",
    ]
    assert [grade.score for grade in score(list(map(response, texts)))] == [1, 0, 0]


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (r"so \boxed{1}", 1),
        (r"It is boxed: $\boxed{\frac{1}{2}}$.", 1),
        (r"so \[\boxed{1}\]" + "\n", 1),
        (r"so **\boxed{1}**.", 1),
        (r"\fbox{1}", 1),
        ("so 1", 0),
        (r"\boxed{1} \boxed{2}", 0),
        (r"\boxed{1} \fbox{2}", 0),
        (r"\boxed{1", 0),
        (r"\boxed{}", 0),
        (r"\boxed{ }", 0),
        (r"text \boxed{2} more", 0),
        (r"\boxed{2}, or not", 0),
        ("", 0),
    ],
)
def test_a_box_may_be_wanted_at_the_end(text: str, score: int) -> None:
    plain = FormatScorer(FormatReward(tags="", is_boxed=True))
    assert plain([response(text)])[0].score == score
    tagged = FormatScorer(FormatReward(is_boxed=True))
    whole = f"<think></think><answer>{text}</answer>"
    assert tagged([response(whole)])[0].score == score


def test_a_box_in_an_earlier_tag_is_not_the_one_wanted() -> None:
    score = FormatScorer(FormatReward(is_boxed=True))
    text = r"<think>\boxed{1}</think><answer>%s</answer>"
    answers = [response(text % answer) for answer in (r"\boxed{1}", "1")]
    assert [grade.score for grade in score(answers)] == [1, 0]


def test_a_format_that_asks_for_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="no tags and no box"):
        FormatReward(tags="")
    with pytest.raises(ValidationError, match="named twice"):
        FormatReward(tags="a a")


REFERENCE = "red, green, blue"


@pytest.mark.parametrize(
    ("said", "f1", "recall", "exact"),
    [
        ("blue, red, green", 1, 1, 1),
        ("Red; Green and BLUE", 1, 1, 1),
        ("red, green", 4 / 5, 2 / 3, 0),
        ("red, green, blue, pink", 6 / 7, 1, 0),
        ("red, red, red", 1 / 3, 1 / 3, 0),
        ("pink", 0, 0, 0),
        ('["red", "green", "blue"]', 1, 1, 1),
        ("\n- red\n- green\n- blue\n", 1, 1, 1),
        ("\n1. red\n2) green\n3. **blue**\n", 1, 1, 1),
    ],
)
def test_items_count_in_part(said: str, f1: float, recall: float, exact: float) -> None:
    answer = response(f"<answer>{said}</answer>", REFERENCE)
    for name, score in (("f1", f1), ("recall", recall), ("exact", exact)):
        [grade] = SetScorer(SetMatchReward.model_validate({"score": name}))([answer])
        assert grade.score == pytest.approx(score)
        assert grade.passed == (score == 1)


@pytest.mark.parametrize(
    "text",
    [
        "Answer: a; b; c",
        "Answer:\n- a\n- b\n- c",
        "The answer is:\n1. a\n2. b\n3. c\nThat was easy.",
        "Answer: {a, b, c}",
        "Answer: (a, b, c)",
        "Answer: $a, b, c$",
        "The answer is a, b, and c.",
        'Answer: ["a", "b", "c"]',
        r"\boxed{\{a, b, c\}}",
        r"\boxed{\left\{a, b, c\right\}}",
        r"\boxed{\text{a, b, c}}",
        r"\boxed{\{\text{a}, \text{b}, \text{c}\}}",
        "<answer>{'a', 'b', 'c'}</answer>",
        "<answer>- a\n- b\n- c</answer>",
    ],
)
def test_a_list_is_read_as_it_is_written(text: str) -> None:
    [grade] = SetScorer(SetMatchReward())([response(text, '["a", "b", "c"]')])
    assert (grade.score, grade.passed) == (1, True), grade.why


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,000", ["1000"]),
        ("1,000, 2,000", ["1000", "2000"]),
        ("1,000; 12", ["1000", "12"]),
        ("1,2,345", ["1", "2", "345"]),
        ("1,2,3", ["1", "2", "3"]),
        ("100, 200", ["100", "200"]),
        ("(a), (b)", ["(a)", "(b)"]),
        ("f(x), g(x)", ["f(x)", "g(x)"]),
    ],
)
def test_items_are_separated(text: str, wanted: list[str]) -> None:
    assert items(text) == wanted


@pytest.mark.parametrize(
    ("said", "f1"),
    [
        ("red, green, blue", 1),
        ("blue, green, red", 1 / 3),
        ("red, blue, green", 2 / 3),
        ("green, blue", 4 / 5),
    ],
)
def test_in_order_the_longest_common_subsequence_counts(said: str, f1: float) -> None:
    score = SetScorer(SetMatchReward(is_ordered=True, answer="whole"))
    assert score([response(said, REFERENCE)])[0].score == pytest.approx(f1)


@pytest.mark.parametrize(
    ("said", "reference", "is_ordered", "why"),
    [
        ("a, b, x, y", "a, b, c", False, "2 of 3 items; the response lists 4"),
        # Each item is there, but in another order.
        ("c, b, a", "a, b, c", True, "1 of 3 items in the right order; the response lists 3"),
        ("a, x", '["a"]', False, "1 of 1 item; the response lists 2"),
    ],
)
def test_a_list_that_misses_something_says_how_much(
    said: str, reference: str, is_ordered: bool, why: str
) -> None:
    score = SetScorer(SetMatchReward(is_ordered=is_ordered, answer="whole"))
    assert score([response(said, reference)])[0].why == why


def longest(found: list[int], wanted: list[int]) -> int:
    """The longest common subsequence as it is defined."""
    if not found or not wanted:
        return 0
    if found[0] == wanted[0]:
        return 1 + longest(found[1:], wanted[1:])
    return max(longest(found[1:], wanted), longest(found, wanted[1:]))


@given(st.lists(st.integers(0, 3), max_size=5), st.lists(st.integers(0, 3), max_size=5))
def test_the_longest_common_subsequence_is_that_of_its_definition(
    found: list[int], wanted: list[int]
) -> None:
    texts = list(map(str, found)), list(map(str, wanted))
    assert in_order(*texts) == longest(found, wanted)


@pytest.mark.parametrize("said", ["100,200,300", "100, 200, 300", "[100,200,300]", "300,200,100"])
def test_numbers_of_three_digits_are_one_number_or_several(said: str) -> None:
    score = SetScorer(SetMatchReward(answer="whole"))
    [grade] = score([response(said, "100,200,300")])
    assert grade.passed
    [grade] = score([response("100,200", "100,200,300")])
    assert grade.score < 1


def test_a_list_beyond_its_limits_has_failed_by_its_own_fault() -> None:
    score = SetScorer(SetMatchReward(answer="whole"))
    many, long = ", ".join(["red"] * 301), "red" * 10_000
    for text, why in ((many, "lists 301 items"), (long, "has 30000 characters"), ("[" * 5000, "")):
        [grade] = score([response(text, REFERENCE)])
        assert (grade.score, grade.passed) == (0, False)
        assert why in grade.why
    assert items("[1, 2]") == ["1", "2"]


def test_a_list_without_a_reference_has_no_score() -> None:
    for reference in (None, "", " , "):
        [grade] = SetScorer(SetMatchReward())([response("<answer>a</answer>", reference)])
        assert math.isnan(grade.score)
        assert grade.passed is False


@pytest.mark.parametrize(
    ("text", "code", "share"),
    [
        ("The cat sat on the mat, and then we counted all of the apples.", "en", 1),
        ("The cat sat on the mat, and then we counted all of the apples.", "de", 0),
        ("Zuerst addieren wir die beiden Zahlen, und dann haben wir das Ergebnis.", "de", 1),
        ("She has 3 cats. Each cat eats 2 cans per day. So 3 * 2 = 6 cans.", "en", 1),
        ("我们先计算一下这个数字的总和", "zh", 1),
        ("これは日本語の文章です", "ja", 1),
        ("Сначала мы складываем числа и получаем ответ", "ru", 1),
        ("Сначала мы складываем числа и получаем ответ", "en", 0),
        ("So we 计算 the total sum of all the apples here.", "en", 10 / 12),
        ("$x + y = 5$", "en", 1),
        ("", "en", 0),
        (" \n", "en", 0),
        (
            "```python\nfür_immer = wahr und falsch oder nicht\n``` That is the answer.",
            "en",
            1,
        ),
    ],
)
def test_words_of_the_language_count(text: str, code: str, share: float) -> None:
    assert language_reward(text, code) == pytest.approx(share)


def test_the_language_may_be_that_of_the_prompt() -> None:
    score = language.build(LanguageReward(), NOTHING, NOTHING)
    text = "Zuerst addieren wir die beiden Zahlen, und dann haben wir das Ergebnis."
    german = "Wie viele Äpfel haben Anna und Ben zusammen in ihrem Korb?"
    english = "How many apples do Anna and Ben have in their basket together?"
    grades = score([response(text, prompt=german), response(text, prompt=english)])
    assert [grade.score for grade in grades] == [1, 0]


@pytest.mark.parametrize(
    ("text", "n", "share"),
    [
        ("a b c d e", 2, 1),
        ("a b a b a b", 2, 2 / 5),
        ("A b a B", 2, 2 / 3),
        ("no " * 100, 4, 1 / 97),
        ("a b", 4, 1),
        ("", 4, 0),
        (" \n", 4, 0),
        ("哈哈哈哈哈", 2, 1 / 4),
    ],
)
def test_repetition_is_the_share_of_new_sequences(text: str, n: int, share: float) -> None:
    assert repetition_reward(text, n=n) == pytest.approx(share)


def test_sentiment_has_a_sign_and_a_limit() -> None:
    analyzer = SentimentIntensityAnalyzer()
    texts = ["What a wonderful, great film!", "A horrible, boring mess.", "The film has two parts."]
    good, bad, plain = (sentiment_grade(text, analyzer).score for text in texts)
    assert good > 0.5 > 0 == plain > -0.5 > bad
    long = sentiment_grade("good " * MOST_CHARACTERS, analyzer)
    assert long.score == 0
    assert "the limit is 20000" in long.why
    loud = sentiment_grade("\N{GRINNING FACE}" * 5000, analyzer)
    assert (loud.score, loud.why) == (0, "the response has 5000 emojis; the limit is 200")
    assert sentiment_grade("\N{GRINNING FACE}" * 3, analyzer).score > 0


FUNCTIONS = """
def words(response, prompt, reference, tags, metadata):
    assert (prompt, tags, metadata) == ("p", ["t"], {"level": 1})
    return {"score": 0.5, "passed": response == reference, "why": "so"}

def plain(response, *known):
    return len(response)

def nonsense(response, *known):
    return "good"

def endless(response, *known):
    while True:
        pass

def judge(response, *known):
    said = response.removeprefix("<answer>").removesuffix("</answer>")
    if said == "raise":
        raise ValueError(said)
    if said == "endless":
        endless(said)
    if said == "nonsense":
        return "good"
    return {"score": 1, "passed": said == "yes"}
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """A pool that finds the operator's module `own`."""
    (tmp_path / "own.py").write_text(FUNCTIONS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    pool = Pool(1, limit_s=0.3)
    yield pool
    pool.close()


def test_a_function_gets_what_is_known_and_says_a_number_or_more(own: Pool) -> None:
    answers = [
        response(text, "yes", prompt="p", tags=("t",), metadata={"level": 1})
        for text in ("yes", "no")
    ]
    words, plain, nonsense, endless = (
        function.FunctionScorer(f"own:{name}", own)(answers)
        for name in ("words", "plain", "nonsense", "endless")
    )
    assert [(one.score, one.passed, one.why) for one in words] == [
        (0.5, True, "so"),
        (0.5, False, "so"),
    ]
    assert [(one.score, one.passed) for one in plain] == [(3, None), (2, None)]
    assert all(math.isnan(one.score) and one.passed is None for one in nonsense)
    assert "expected a number" in nonsense[0].why
    assert [(one.score, one.passed) for one in endless] == [(0, None)] * 2
    assert "the function took longer than" in endless[0].why


@pytest.mark.parametrize(
    "value", [10**400, {"score": -(10**400), "passed": True}], ids=["a number", "an object"]
)
def test_a_number_that_no_float_holds_is_no_score(value: object) -> None:
    """It would end the run: Python raises where it makes a float of it."""
    grade = function.grade_of(Found(value))
    assert math.isnan(grade.score)
    assert grade.passed is None
    assert "expected a number" in grade.why


FAILING = ("raise", "endless", "nonsense")


def test_only_an_error_of_a_function_may_be_another_grade_next_time(own: Pool) -> None:
    """But of a batch without a verdict, whether the others have passed may show, too."""
    judge = function.FunctionScorer("own:judge", own)
    failing = [response(text) for text in FAILING]
    assert [one.may_change for one in judge(failing)] == [True, True, True]
    assert [one.may_change for one in judge([*failing, response("no")])] == [True, *[False] * 3]
    assert [one.may_change for one in judge(failing)] == [True, False, False]


@pytest.mark.parametrize("texts", [("yes", *FAILING, "no"), (*FAILING, "no", "yes")])
def test_a_failure_of_a_function_that_judges_has_not_passed(
    own: Pool, texts: tuple[str, ...]
) -> None:
    """Wherever in the batch it comes, before the first verdict or after it."""
    grades = function.FunctionScorer("own:judge", own)([response(text) for text in texts])
    assert [one.passed for one in grades] == [text == "yes" for text in texts]


def test_a_function_judges_from_the_first_batch_on_that_has_a_verdict(own: Pool) -> None:
    """Before it nobody knows; after it also where a whole batch fails."""
    judge = function.FunctionScorer("own:judge", own)
    failing = [response(text) for text in FAILING]
    assert [one.passed for one in judge(failing)] == [None] * 3
    assert [one.passed for one in judge([response("no")])] == [False]
    assert [one.passed for one in judge(failing)] == [False] * 3


def _beside_math(function_name: str, pool: Pool, weight: float = 0.0) -> Scorer:
    terms = [
        Term("math", 1.0, MathScorer(MathReward(), pool), is_share=True),
        Term("function", weight, function.FunctionScorer(f"own:{function_name}", pool)),
    ]
    return Scorer(Reward.model_construct(terms=[], normalize="none", clip=None), terms)


@pytest.mark.parametrize("name", ["nonsense", "endless"])
def test_a_failing_function_that_judges_nothing_leaves_the_verdict_to_math(
    own: Pool, name: str
) -> None:
    answers = [response(f"<answer>{text}</answer>", "4") for text in ("4", "5")]

    scores = _beside_math(name, own)(answers, learn=False)

    assert scores.passed == [True, False]
    assert scores.judging == {"math"}
    assert pass_rate(scores, ["a", "b"])["eval/pass@1"] == 0.5
    told = prompt_scores_line(1, [AskedPrompt("p", scores)])
    assert told.passed == [1]


def test_a_step_in_which_a_function_fails_and_nothing_judges_has_no_pass_rate(own: Pool) -> None:
    term = Term("function", 1.0, function.FunctionScorer("own:nonsense", own))
    scorer = Scorer(Reward.model_construct(terms=[], normalize="none", clip=None), [term])

    scores = scorer([response("a"), response("b")], learn=True)

    assert (scores.judging, pass_rate(scores, ["p", "p"])) == (set(), {})
    assert prompt_scores_line(1, [AskedPrompt("p", scores)]).passed == [None]


def test_a_resumed_run_knows_that_its_function_judges(own: Pool) -> None:
    first, resumed, new = (_beside_math("judge", own) for _ in range(3))
    yes, failing = (response(f"<answer>{said}</answer>", said) for said in ("yes", "raise"))
    assert first([yes], learn=True).passed == [True]

    resumed.restore(first.state())

    assert resumed([failing], learn=True).passed == [False]
    assert new([failing], learn=True).passed == [True], "math alone decides"
    resumed.restore(new.state())
    assert resumed([failing], learn=True).passed == [True]


def test_only_a_function_that_the_operator_names_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    term = FunctionReward(function="os:system")
    monkeypatch.delenv(ALLOWED, raising=False)
    with pytest.raises(ConfigError, match="os:system is not one that this worker allows"):
        function.build(term, NOTHING, NOTHING)
    monkeypatch.setenv(ALLOWED, "own:words, os:systems")
    with pytest.raises(ConfigError, match="it allows own:words, os:systems"):
        function.build(term, NOTHING, NOTHING)
    monkeypatch.setenv(ALLOWED, "own:words, os:system")
    function.build(term, NOTHING, NOTHING)


@pytest.mark.parametrize(
    "name", ["os", "os:", ":system", "os:system()", "../own:f", "os:__a.b", "a b:c"]
)
def test_a_name_that_is_no_function_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        FunctionReward(function=name)
