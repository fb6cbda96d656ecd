"""Which rule judges the runs of a method, what it reads, and what is said where there is none."""

from collections.abc import Sequence
from typing import Any

import pytest

from backend.domain.verdict import judging
from backend.domain.verdict.evidence import Evidence, Point, Resume
from backend.domain.verdict.rule import PREFIXES, Rule
from backend.schemas.methods import METHODS
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind

WON = {
    f"gold/win_rate{end}": [Point(40, value)]
    for end, value in {"": 0.64, "_low": 0.55, "_high": 0.72}.items()
}


@pytest.fixture
def without_a_rule(monkeypatch: pytest.MonkeyPatch) -> Method:
    """A method that the schema and a loop know, as one that was just added."""
    monkeypatch.delitem(judging.RULES, Method.SFT)
    return Method.SFT


@pytest.mark.parametrize("is_over", [False, True])
def test_a_method_without_a_rule_is_not_judged(without_a_rule: Method, is_over: bool) -> None:
    curves = {"eval/loss": [Point(0, 2.0), Point(40, 1.0)]}

    found = judging.judge(without_a_rule, Evidence({}, curves, is_over, shipped_step=40))

    assert (found.kind, found.level, found.judged_by) == (Kind.UNJUDGED, "none", None)
    assert found.sentence == "No rule says how to judge a run of this method."
    assert found.reason == "The output is the model of step 40."
    assert (found.gauges, found.best_step, found.shipped_step) == ([], None, 40)


def test_its_attempts_and_a_win_rate_from_outside_are_told_all_the_same(
    without_a_rule: Method,
) -> None:
    resumes = [Resume(2, 10)]

    found = judging.judge(without_a_rule, Evidence({}, WON, True, resumes=resumes))

    assert [one.sentence for one in found.happened] == ["Attempt 2 resumed after step 10."]
    assert found.reason.startswith("Outside the run, the win rate of the weights of step 40 was ")


def test_every_method_that_trains_has_a_rule() -> None:
    """One that only samples may have none: what it makes may be neither good nor bad."""
    trains = {method for method, spec in METHODS.items() if not spec.is_sampler}

    assert trains <= set(judging.RULES)


COURSES = {
    "falls": [0.9, 0.7, 0.5, 0.3, 0.2, 0.1],
    "rises": [0.1, 0.2, 0.4, 0.6, 0.7, 0.9],
    "peaks": [0.5, 9.0, 0.5, 0.5, 0.5, 0.5],
    "stays": [0.5] * 6,
    "is one value": [0.5],
    "is not known": [],
}


class Asked(dict[str, Sequence[Point]]):
    """Curves that remember which of them were asked for."""

    def __init__(self, curves: dict[str, Sequence[Point]]) -> None:
        super().__init__(curves)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def curves_of(method: Method, values: list[float]) -> dict[str, Sequence[Point]]:
    """Every metric that a run of the method may have, all of the same course."""
    names = [metric.name for metric in metrics_of(method) if "{" not in metric.name]
    ends = [f"{name}{end}" for name in names for end in ("_low", "_high")]
    points = [Point(10 * i, value) for i, value in enumerate(values)]
    n_prompts = {"eval/prompts": [Point(step, 40.0) for step, _ in points]}
    return {name: points for name in (*names, *ends) if points} | n_prompts


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("method", judging.RULES)
def test_a_rule_asks_for_no_metric_that_it_does_not_declare(method: Method, course: str) -> None:
    """In the service it would find none: the store reads what is declared."""
    asked, begun = Asked(curves_of(method, COURSES[course])), Asked({})
    config = {"estimator": "grpo", "reward": {"terms": [{"kind": "math"}]}}

    judging.RULES[method].judge(Evidence(config, asked, beginnings=begun, is_over=True))

    assert not [one for one in asked.names | begun.names if not judging.is_looked_at(one, method)]


@pytest.mark.parametrize("method", judging.RULES)
def test_a_rule_declares_metrics_of_its_method_alone(method: Method) -> None:
    names = [metric.name for metric in metrics_of(method)]

    for one in judging.RULES[method].reads:
        assert not one.startswith(PREFIXES), f"{one} is an evaluation, which every rule may read"
        assert one in names or (one.endswith("/") and any(name.startswith(one) for name in names))


def test_a_rule_is_given_what_it_declares_and_evaluations_alone() -> None:
    point = [Point(0, 1.0)]
    given: list[Evidence] = []

    def judge(evidence: Evidence) -> Any:
        given.append(evidence)

    curves = dict.fromkeys(
        ["loss", "loss_low", "margin", "term/a", "eval/x", "eval/x/people.3"], point
    )
    rule = Rule(judge, reads=("loss", "term/"))
    rule.verdict(Evidence({}, curves, beginnings={"loss": point, "margin": point}))

    (evidence,) = given
    assert list(evidence.curves) == ["loss", "loss_low", "term/a", "eval/x"]
    assert list(evidence.beginnings) == ["loss"]


def test_the_length_of_generated_responses_is_read_with_its_interval() -> None:
    ends = ("length/mean_low", "length/mean_high")

    assert all(judging.is_looked_at(name, Method.GENERATE) for name in ends)
