"""What a run that learns from records has held out, and what its verdict says is missing."""

import pytest

from backend.domain.verdict.evidence import Evidence, Point
from backend.domain.verdict.judging import judge
from backend.schemas.metrics.verdicts import RunVerdict
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind
from tests.backend.verdict.test_learner_verdicts import verdict

LEARNERS = [Method.SFT, Method.REWARD_MODEL, Method.PROCESS_REWARD_MODEL, Method.DPO]


@pytest.mark.parametrize("method", LEARNERS)
def test_a_gauge_says_that_nothing_was_held_out_only_where_that_is_known(method: Method) -> None:
    def told(steps: tuple[int, ...] = (), n: int | None = None, *, is_over: bool = False) -> str:
        curves = {"loss": [Point(step, 1.0) for step in steps]} if steps else {}
        found = judge(method, Evidence({}, curves, is_over, n_heldout=n))
        (text,) = {one.missing for one in found.gauges if one.metric.startswith("eval/")}
        return text

    assert told() == "Nothing was measured yet."
    assert told(is_over=True) == "Nothing was measured."
    # A run whose records are held out in part is evaluated before its first step.
    no_heldout = "No held-out records. Set “Held out, %” (API: `heldout_fraction`) above 0"
    assert told((1, 2)).startswith(no_heldout)
    # One that started from the checkpoint of step 40 may be evaluated later.
    assert told((41, 42)) == "It was not evaluated yet."
    assert told((41, 42), is_over=True) == "It was not evaluated."
    # Unless the snapshot is known to hold nothing out.
    assert told((41, 42), 0).startswith(no_heldout)
    assert told((1, 2), 9) == "It was not evaluated yet."


@pytest.mark.parametrize("method", LEARNERS)
@pytest.mark.parametrize("n", [None, 0])
def test_a_run_that_holds_nothing_out_says_so_from_its_first_step(
    method: Method, n: int | None
) -> None:
    curves = {"loss": [Point(1, 2.0)]}
    found = judge(method, Evidence({}, curves, n_heldout=n))

    assert (found.kind, found.level) == (Kind.UNJUDGED, "warn")
    assert found.sentence == (
        "Nothing shows what the model learned: there are no held-out records."
    )
    assert judge(method, Evidence({}, curves, n_heldout=9)).kind == Kind.WAITING


@pytest.mark.parametrize(
    ("method", "curves", "told"),
    [
        (
            Method.DPO,
            {"eval/pairs": [0.0]},
            "no held-out ranking places one response above another",
        ),
        (
            Method.REWARD_MODEL,
            {"eval/pairs": [0.0], "eval/loss": [0.6]},
            "no held-out ranking places one response above another",
        ),
        (
            Method.PROCESS_REWARD_MODEL,
            {"eval/steps": [0.0], "eval/loss": [0.6]},
            "no held-out step has a label other than .5",
        ),
        (
            Method.DPO,
            {"eval/pairs": [4.0], "eval/prompts": [1.0], "eval/accuracy": [0.5]},
            "its held-out accuracy has no interval",
        ),
    ],
)
@pytest.mark.parametrize("is_over", [False, True])
def test_what_no_later_evaluation_can_change_is_told_from_the_start(
    method: Method, curves: dict[str, list[float]], told: str, is_over: bool
) -> None:
    points = {name: [Point(0, value) for value in values] for name, values in curves.items()}
    found = judge(method, Evidence({}, points | {"loss": [Point(1, 0.6)]}, is_over))

    assert found.kind == Kind.UNJUDGED
    assert found.sentence == f"Nothing shows what the model learned: {told}."
    assert "held-out records" not in found.reason


def test_held_out_ties_are_named_by_every_gauge_that_they_leave_without_a_value() -> None:
    curves = {"eval/pairs": [Point(0, 0.0), Point(9, 0.0)], "loss": [Point(1, 0.6)]}
    ties = "No held-out ranking places one response above another."
    for method in (Method.DPO, Method.REWARD_MODEL):
        gauges = judge(method, Evidence({}, curves, is_over=True, n_heldout=3)).gauges
        assert {one.missing for one in gauges if one.metric.startswith("eval/")} == {ties}


@pytest.mark.parametrize("method", [Method.DPO, Method.REWARD_MODEL])
def test_an_older_run_that_was_silent_on_its_held_out_ties_has_held_out_records(
    method: Method,
) -> None:
    """Such a run was evaluated after its last step; its trainer told nothing."""
    curves = {"loss": [Point(1, 0.6)]}
    found = judge(method, Evidence({}, curves, is_over=True, shipped_step=1, n_heldout=3))

    assert found.sentence.endswith("no held-out ranking places one response above another.")


@pytest.mark.parametrize("method", LEARNERS)
def test_a_continued_run_that_left_its_weights_unevaluated_held_nothing_out(method: Method) -> None:
    curves = {"loss": [Point(41, 1.0), Point(42, 1.0)]}

    def found(shipped_step: int | None) -> RunVerdict:
        return judge(method, Evidence({}, curves, is_over=True, shipped_step=shipped_step))

    assert found(42).sentence.endswith("there were no held-out records.")
    # One that was ended before its next evaluation.
    assert found(None).sentence.endswith("it was not evaluated.")


def test_a_held_out_loss_that_is_not_finite_is_told_as_such() -> None:
    found = verdict(Method.SFT, loss=[2.0, 1.0], eval__prompts=[9.0])

    assert found.sentence.endswith("learned: the held-out loss is not finite.")
    assert found.gauges[0].missing == "The held-out loss is not finite."


def test_dpo_whose_loss_is_not_finite_is_not_told_as_ties() -> None:
    """Scores that are not finite are right of nothing, and have no mean."""
    curves = {
        **{f"eval/{name}": [] for name in ("loss", "margin", "chosen", "rejected")},
        "eval/pairs": [Point(0, 4.0)],
        "eval/prompts": [Point(0, 2.0)],
        **{
            f"eval/accuracy{end}": [Point(0, value)]
            for end, value in (("", 0.0), ("_low", 0.0), ("_high", 0.4))
        },
    }
    found = judge(Method.DPO, Evidence({}, curves, is_over=True, n_heldout=2))

    assert {one.missing for one in found.gauges if one.value is None} == {
        "None of its values is finite."
    }


def test_a_held_out_loss_that_is_no_longer_finite_has_not_improved() -> None:
    curves = {
        "eval/loss": [Point(0, 2.0), Point(10, 1.5)],
        "eval/prompts": [Point(step, 9.0) for step in (0, 10, 20)],
    }
    found = judge(Method.SFT, Evidence({}, curves, is_over=True))

    assert (found.kind, found.level) == (Kind.WORSE, "bad")
    assert found.sentence == (
        "The held-out loss was 1.50 nats per token at step 10 and is not finite at step 20."
    )
    assert found.gauges[0].note == "of step 10: the evaluation at step 20 has none"
    # A single one that is finite is no course, but not the only evaluation.
    late = curves | {"eval/loss": [Point(20, 1.5)]}
    assert judge(Method.SFT, Evidence({}, late, is_over=True)).sentence.endswith(
        "only one of its 3 evaluations has a finite held-out loss."
    )


@pytest.mark.parametrize("method", LEARNERS)
def test_a_run_that_was_evaluated_and_made_no_step_says_why_it_has_no_training_loss(
    method: Method,
) -> None:
    def told(*, is_over: bool) -> set[str]:
        curves = {"eval/loss": [Point(0, 1.0)], "eval/prompts": [Point(0, 9.0)]}
        gauges = judge(method, Evidence({}, curves, is_over)).gauges
        return {one.missing for one in gauges if not one.metric.startswith("eval/")}

    # The gauges of other methods are all of what was held out.
    has_steps = method in (Method.SFT, Method.REWARD_MODEL)
    assert told(is_over=False) == ({"No step has ended yet."} if has_steps else set())
    assert told(is_over=True) == ({"The run ended before its first step."} if has_steps else set())


def test_scores_that_are_not_finite_are_not_told_to_be_all_the_same() -> None:
    def told(*loss: float) -> str:
        curves = {"eval/prompts": [9.0, 9.0], "eval/pairs": [9.0, 9.0], "eval/loss": loss}
        points = {name: [Point(*one) for one in enumerate(of)] for name, of in curves.items()}
        gauges = judge(Method.REWARD_MODEL, Evidence({}, points, True, n_heldout=9)).gauges
        return next(one.missing for one in gauges if one.metric == "eval/length_correlation")

    alike = "Within each held-out ranking all lengths or all scores are the same."
    assert told(0.7, 0.6) == alike
    assert told(0.7) == told() == "The held-out scores are not finite."


def test_dpo_that_was_evaluated_on_ties_alone_says_why_it_has_no_loss() -> None:
    found = verdict(Method.DPO, loss=[0.6], eval__prompts=[9.0])

    assert found.gauges[-1].missing == ("No held-out ranking places one response above another.")
