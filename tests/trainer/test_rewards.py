"""Reward terms, and the pipeline from score to reward."""

import hashlib
import math
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import worker.trainer.rewards
from backend.schemas.rewards import REWARD_TERMS, Reward
from backend.schemas.vocabulary import FinishReason
from worker.trainer.data.tokens import Tokens
from worker.trainer.errors import ConfigError
from worker.trainer.rewards.finished import finished_reward
from worker.trainer.rewards.length import length_reward
from worker.trainer.rewards.regex import RegexScorer, compile_pattern, regex_grade
from worker.trainer.rewards.sampled_response import Grade, SampledResponse, measured
from worker.trainer.rewards.scorer import Running, Scorer, Scores, Term, build_terms

VALUES = {"good": 50.0, "fair": 1.0, "bad": -2.0}
ANSWERS = [SampledResponse(Tokens([1], [2]), text, FinishReason.STOP) for text in VALUES]


def scorer(
    penalty: Callable[[SampledResponse], float] | None = None,
    *,
    measure: str = "",
    on_new_sum: Callable[[], None] = lambda: None,
    **more: object,
) -> Scorer:
    """Twice the value of the text, plus 1."""
    reward = Reward.model_validate({"terms": [{"kind": "finished"}] * 2, **more})
    terms = [
        Term("value", 2.0, lambda answers: measured(VALUES[a.text] for a in answers)),
        Term("one", 1.0, lambda answers: measured([1.0] * len(answers))),
    ]
    return Scorer(reward, terms, penalty, measure=measure, on_new_sum=on_new_sum)


def test_every_kind_of_the_schema_has_its_file_and_every_file_its_kind() -> None:
    folder = Path(next(iter(worker.trainer.rewards.__path__)))
    files = {path.stem for path in folder.glob("*.py")}
    assert files == {*REWARD_TERMS, "__init__", "sampled_response", "scorer", "trained"}


def test_a_term_of_a_kind_that_comes_again_gets_a_number() -> None:
    """Nothing of the run is asked for: these terms load nothing."""
    terms = Reward.model_validate(
        {"terms": [{"kind": "finished"}, {"kind": "length"}, {"kind": "finished"}]}
    ).terms
    nothing = cast("Any", None)
    built = build_terms(terms, nothing, nothing, system="")

    assert [term.name for term in built] == ["finished", "length", "finished_2"]
    assert [term.score(ANSWERS)[0].score for term in built] == [1.0, 1.0, 1.0]


def test_terms_of_one_kind_are_told_apart_by_their_names() -> None:
    given = [
        {"kind": "length", "low": 1, "high": 9, "name": "short"},
        {"kind": "length", "low": 1},
        {"kind": "length", "low": 90, "name": "long"},
        {"kind": "length", "low": 5},
    ]
    terms = Reward.model_validate({"terms": given}).terms
    nothing = cast("Any", None)

    built = build_terms(terms, nothing, nothing, system="")

    assert [term.name for term in built] == ["short", "length", "long", "length_2"]
    # A config that names no term is written as before there were names.
    assert [("name" in term.model_dump()) for term in terms] == [True, False, True, False]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["a", "a"], "2 terms are called a; give each another `name`"),
        (["regex_2", None, None], "2 terms are called regex_2"),
        (["mean"], "a term is called mean, as another metric of rewards is"),
        (["reward"], "a term is called reward, as another metric of rewards is"),
        (["n_tokens"], "a term is called n_tokens"),
        (["a_coverage"], "a term is called a_coverage"),
        (["a_low"], "a term is called a_low"),
        (["Über"], "String should match pattern"),
        (["a/b"], "String should match pattern"),
    ],
)
def test_names_that_scores_could_not_tell_apart_are_refused(
    names: list[str | None], says: str
) -> None:
    terms = [{"kind": "regex", "pattern": "a", "name": name} for name in names]
    with pytest.raises(ValueError, match=re.escape(says)):
        Reward.model_validate({"terms": terms})


@pytest.mark.parametrize(
    ("n_words", "expected"), [(0, 0.0), (1, 0.5), (2, 1.0), (4, 1.0), (6, 0.5), (8, 0.0), (99, 0.0)]
)
def test_length_is_one_in_the_band_and_falls_linearly(n_words: int, expected: float) -> None:
    assert length_reward("word " * n_words, low=2, high=4) == pytest.approx(expected)


def test_finished_tells_an_end_from_a_cut() -> None:
    cut = SampledResponse(Tokens([1], [2]), "", FinishReason.LENGTH)
    assert (finished_reward(ANSWERS[0]), finished_reward(cut)) == (1.0, 0.0)


def test_regex_finds_its_pattern_anywhere() -> None:
    pattern = compile_pattern(r"\bParis\b")
    assert regex_grade("It is Paris.", pattern).score == 1.0
    assert regex_grade("Parisian", pattern).score == 0.0


def test_a_response_that_a_pattern_backtracks_on_for_ever_has_no_score() -> None:
    """And those before and after it do; nothing is left of the time limit."""
    alerts: list[str] = []
    handler, alarm = signal.getsignal(signal.SIGVTALRM), signal.getitimer(signal.ITIMER_REAL)
    score = RegexScorer(r"(a+)+b", lambda _rule, message: alerts.append(message))

    found = score(
        [SampledResponse(Tokens([1], [2]), t, FinishReason.STOP) for t in ("ab", "a" * 40, "c")]
    )

    assert [None if math.isnan(one.score) else one.score for one in found] == [1.0, None, 0.0]
    assert len(alerts) == 1
    assert "'(a+)+b' took longer than 0.5 s of processor time on 1 of 3 responses" in alerts[0]
    assert signal.getsignal(signal.SIGVTALRM) == handler
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert (alarm[0] > 0) == (signal.getitimer(signal.ITIMER_REAL)[0] > 0)


def test_a_search_is_not_charged_for_what_the_process_does_beside_it() -> None:
    """Half a second of waiting, and another thread that computes as long as it is let."""
    ended = threading.Event()

    def compute() -> None:
        while not ended.is_set():
            hashlib.sha256(bytes(1 << 22))  # lets go of the interpreter's lock

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        found = regex_grade("x", cast(re.Pattern[str], Unhurried()))
    finally:
        ended.set()
        thread.join()
    assert found.score == 1.0


class Unhurried:
    """A pattern whose search takes its time but little of the processor's."""

    def search(self, _text: str) -> bool:
        """Found, when a second has passed and the process has computed for one."""
        started_at, computed_s = time.monotonic(), time.process_time()
        while min(time.monotonic() - started_at, time.process_time() - computed_s) < 1:
            time.sleep(0.05)
        return True


def test_terms_are_weighted_and_summed_then_clipped() -> None:
    """50, 1, -2 become 101, 3, -3; the clip at 10 is the last step."""
    scores = scorer(normalize="none")(ANSWERS, learn=True)
    assert scores.terms["value"] == [50.0, 1.0, -2.0]
    assert scores.raw == [101.0, 3.0, -3.0]
    assert scores.reward == [10.0, 3.0, -3.0]
    assert scorer(normalize="none", clip=None)(ANSWERS, learn=True).reward == scores.raw


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("normalize", ["none", "running"])
def test_a_score_that_is_not_finite_is_no_reward_at_all(broken: float, normalize: str) -> None:
    """Not the clip of 10, which would make the best response of one that nobody could score."""
    reward = Reward.model_validate({"terms": [{"kind": "finished"}], "normalize": normalize})
    values = dict(zip(VALUES, [broken, 1.0, -1.0], strict=True))
    score = Scorer(
        reward, [Term("one", 1.0, lambda found: measured(values[a.text] for a in found))]
    )

    scores = score(ANSWERS, learn=True)

    assert [math.isfinite(value) for value in scores.reward] == [False, True, True]
    assert scores.reward[1:] == [1.0, -1.0]
    assert score.normalized(scores).reward[1:] == [1.0, -1.0]


def test_a_term_of_weight_0_is_scored_and_no_part_of_the_sum() -> None:
    """0 times no score is no number; the response keeps the reward of the other terms."""
    reward = Reward.model_validate({"terms": [{"kind": "finished"}], "normalize": "none"})
    terms = [
        Term("one", 2.0, lambda found: measured(1.0 for _ in found)),
        Term("watched", 0.0, lambda found: measured(math.nan for _ in found)),
    ]

    scores = Scorer(reward, terms)(ANSWERS, learn=True)

    assert scores.reward == [2.0, 2.0, 2.0]
    assert all(math.isnan(value) for value in scores.terms["watched"])
    assert Scorer(reward, terms[1:])(ANSWERS, learn=True).reward == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("normalize", ["none", "running"])
def test_scored_again_only_the_grades_that_a_grader_failed_on_are_new(normalize: str) -> None:
    """A model in bf16 scores a response a little differently beside others."""
    failure = Grade(math.nan, passed=False, why="it died", may_change=True)
    hopeless = Grade(math.nan, passed=False, why="there is no ground truth")
    said = [failure, hopeless, Grade(1.0, passed=True)]
    reward = Reward.model_validate({"terms": [{"kind": "finished"}], "normalize": normalize})
    score = Scorer(
        reward,
        [
            Term("beside", 2.0, lambda found: measured([float(len(found))] * len(found))),
            Term("grader", 1.0, lambda found: said[: len(found)]),
        ],
    )
    before = score(ANSWERS, learn=False)
    assert before.failed == [0]
    said[0] = Grade(0.5, passed=True)

    again = score([ANSWERS[0]], learn=False)
    scores = score.normalized(before.with_rows([0], again))

    assert again.terms["beside"] == [1.0]
    assert scores.failed == []
    assert scores.terms["beside"] == [3.0, 3.0, 3.0]
    assert scores.grades["grader"] == said
    assert (scores.raw[0], scores.raw[2]) == (6.5, before.raw[2])
    assert (scores.reward[0], scores.reward[2]) == (6.5, before.reward[2])
    assert math.isnan(scores.reward[1])
    assert scores.passed == [True, False, True]


def test_a_response_has_passed_if_all_terms_that_judge_it_say_so() -> None:
    """`shape` judges nothing; the crash of a grader has no score and has not passed."""
    scores = Scores(
        {
            "answer": [Grade(1, True), Grade(0.9, True), Grade(0, False), Grade(math.nan, False)],
            "shape": measured([0.0, 1.0, 1.0, 1.0]),
            "proof": [Grade(1, True), Grade(0, False, "no proof"), Grade(1, True), Grade(1, True)],
        },
        [1.0] * 4,
        [],
        [1.0] * 4,
    )
    assert scores.passed == [True, False, False, False]
    assert scores.rows(0, 2).passed == [True, False]
    assert scores.coverage == {"answer": 0.75, "proof": 1.0}
    assert [scores.why(row) for row in range(2)] == [{}, {"proof": "no proof"}]


def test_where_no_term_judges_nothing_has_passed_or_failed() -> None:
    assert scorer()(ANSWERS, learn=False).passed == [None] * 3
    assert Scores({}, [1.0], [], [1.0]).passed == [None]


def test_the_running_normalizer_sees_training_alone_and_survives_a_checkpoint() -> None:
    first = scorer(normalize="running")
    first(ANSWERS[1:], learn=True)
    evaluated = first(ANSWERS, learn=False)
    assert evaluated.reward == [10.0, 1.0, -1.0]

    second = scorer(normalize="running")
    second.restore(first.state())

    assert second(ANSWERS, learn=False).reward == evaluated.reward


def test_statistics_of_another_sum_are_dropped_and_that_is_told() -> None:
    told: list[str] = []
    first = scorer(normalize="running")
    first(ANSWERS, learn=True)
    for normalize in ("running", "none"):
        other = scorer(
            normalize=normalize,
            measure="another sum",
            on_new_sum=lambda: told.append("anew"),
        )
        other.restore(first.state())
        assert other.state()["n"] == 0
    assert told == ["anew"]


def test_rewards_of_two_evaluations_compare_whatever_was_learned_between_them() -> None:
    """3 and -3 are 3 and -3 before and after; what counts as 1 in training goes from 1 to 3."""
    running = scorer(normalize="running")
    before = running.comparable(running(ANSWERS[1:], learn=False)), running.unit
    running(ANSWERS[1:], learn=True)
    after = running.comparable(running(ANSWERS[1:], learn=False)), running.unit

    assert before == ([3.0, -3.0], 1.0)
    assert after == ([3.0, -3.0], 3.0)
    fixed = scorer(normalize="none")
    assert fixed.comparable(fixed(ANSWERS, learn=False)) == [10.0, 3.0, -3.0]
    assert fixed.unit == 1.0


def test_normalizing_by_a_reward_model_needs_one() -> None:
    with pytest.raises(
        ValueError, match=r"normalize is model, but the terms are finished \(weight"
    ):
        scorer(normalize="model")
    judge = {"kind": "model", "model": {"id": "model_a"}}
    reward = Reward.model_validate({"terms": [judge], "normalize": "model"})
    without_statistics = Term("model", 1.0, lambda answers: measured([1.0] * len(answers)))
    with pytest.raises(ConfigError, match="has no mean and standard deviation of held-out scores"):
        Scorer(reward, [without_statistics])


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=50))
def test_the_running_statistics_are_those_of_all_values(values: list[float]) -> None:
    running = Running()
    running.add(values)
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    assert running.statistics() == pytest.approx((mean, max(deviation, 1e-4)), abs=1e-6)


def test_the_penalty_comes_before_normalizing_and_clipping() -> None:
    """Sums 101, 3, -3 lose 5 each; the running statistics are those of 96, -2, -8."""
    penalized = scorer(lambda _answer: -5.0, normalize="running")

    scores = penalized(ANSWERS, learn=True)

    total = [scores.raw[i] - 5 for i in range(3)]
    mean = sum(total) / 3
    std = (sum((value - mean) ** 2 for value in total) / 3) ** 0.5
    assert scores.penalty == [-5.0] * 3
    assert scores.reward == pytest.approx([(value - mean) / std for value in total])
    assert penalized.normalized(scores) == scores


def test_the_clip_after_the_baseline_is_not_the_scorers() -> None:
    assert scorer(normalize="none", clip_after_baseline=True)(ANSWERS, learn=True).reward[0] == 101


def _found(*terms: dict[str, object], **more: object) -> Scores:
    reward = Reward.model_validate({"terms": list(terms), **more})
    nothing = cast("Any", SimpleNamespace(events=SimpleNamespace(alert=None)))
    built = build_terms(reward.terms, nothing, nothing, system="")
    return Scorer(reward, built)(ANSWERS, learn=True)


def test_a_reward_has_bounds_if_it_is_a_plain_sum_of_shares() -> None:
    """Only then says a reward that is the same everywhere how far another can be from it."""
    finished: dict[str, object] = {"kind": "finished"}
    pattern: dict[str, object] = {"kind": "regex", "pattern": "o", "weight": 0.5}
    assert _found(finished).most == 1
    assert _found(finished, pattern).most == 1.5
    assert _found(finished, pattern).shares == {"finished", "regex"}
    assert _found(finished, pattern | {"weight": 0.0}).most == 1
    assert _found(finished, pattern | {"weight": -0.5}).most is None
    assert _found(finished, normalize="running").most is None
    assert _found(finished | {"weight": 20.0}).most is None, "the clip changed it"
    assert _found(finished, {"kind": "sentiment"}).most is None
    assert scorer()(ANSWERS, learn=False).most is None


def test_a_judge_of_unknown_range_is_a_share_if_it_scored_between_0_and_1() -> None:
    grades = {"f": [Grade(1.0, passed=True), Grade(0.5, passed=False)]}
    assert Scores(grades, [1.0, 0.5], [], [1.0, 0.5], weights={"f": 1.0}).most == 1
    wider = {"f": [Grade(3.0, passed=True), Grade(0.5, passed=False)]}
    assert Scores(wider, [3.0, 0.5], [], [3.0, 0.5], weights={"f": 1.0}).most is None
    unjudged = {"f": [Grade(1.0), Grade(1.0)]}
    assert Scores(unjudged, [1.0, 1.0], [], [1.0, 1.0], weights={"f": 1.0}).most is None
