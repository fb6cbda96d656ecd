"""Which rule judges the runs of a method, and what is said where there is none."""

import pytest

from backend.domain.verdict import judging
from backend.domain.verdict.evidence import Evidence, Point, Resume
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind

WON = {
    f"gold/win_rate{end}": [Point(40, value)]
    for end, value in {"": 0.64, "_low": 0.55, "_high": 0.72}.items()
}


@pytest.fixture
def without_a_rule(monkeypatch: pytest.MonkeyPatch) -> Method:
    """A method that the schema and a loop know, as one that was just added."""
    monkeypatch.delitem(judging._RULES, Method.SFT)
    return Method.SFT


@pytest.mark.parametrize("is_over", [False, True])
def test_a_method_without_a_rule_is_not_judged(without_a_rule: Method, is_over: bool) -> None:
    curves = {"eval/loss": [Point(0, 2.0), Point(40, 1.0)]}

    found = judging.judge(without_a_rule, Evidence({}, curves, is_over, shipped_step=40))

    assert (found.kind, found.level, found.judged_by) == (Kind.UNJUDGED, "none", None)
    assert found.sentence == "No rule says how to judge a run of this method."
    assert found.reason == "The output is step 40."
    assert (found.gauges, found.best_step, found.shipped_step) == ([], None, 40)


def test_its_attempts_and_a_win_rate_from_outside_are_told_all_the_same(
    without_a_rule: Method,
) -> None:
    resumes = [Resume(2, 10)]

    found = judging.judge(without_a_rule, Evidence({}, WON, True, resumes=resumes))

    assert [one.sentence for one in found.happened] == ["Attempt 2 resumed after step 10."]
    assert found.reason.startswith("Outside the run, the win rate of the weights of step 40 was ")
