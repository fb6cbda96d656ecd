"""Whatever happened to a run: sentence, reason and gauges say only what is so, and agree."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.verdict.evidence import Evidence, Point
from backend.domain.verdict.judging import RULES, judge
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.metrics.verdicts import RunVerdict
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind

Curves = dict[str, list[Point]]
LEARNERS = (Method.SFT, Method.REWARD_MODEL, Method.PROCESS_REWARD_MODEL, Method.DPO)
# Steps between two evaluations.
EVERY = 4


@dataclass(frozen=True)
class Story:
    """What happened to a run that trains, from which its metrics follow.

    `found`: what each evaluation found. `n_heldout`: records held out; 0 = none, so that no
    evaluation of them was made. `is_countable`: whether pairs or steps are among them. `first`: the
    step that the run goes on from. `is_finite`: of each evaluation.
    """

    method: Method
    n_steps: int
    n_heldout: int
    is_over: bool
    found: tuple[Literal["finite", "not finite", "unscored"], ...] = ()
    is_countable: bool = True
    first: int = 0
    config: Mapping[str, Any] | None = None
    # Of a policy: which of its steps had a response that counts.
    counting: tuple[bool, ...] = ()
    # Whether the named set ood was evaluated beside held-out prompts.
    has_set: bool = False

    @property
    def n_evaluations(self) -> int:
        return len(self.found) if self.n_heldout or self.has_set else 0

    def curves(self) -> Curves:
        curves: Curves = {}
        for name, step, value in self._points():
            points = curves.setdefault(name, [])
            if value is not None:
                points.append(Point(step, value))
        return curves

    def _points(self) -> Iterator[tuple[str, int, float | None]]:
        """Name, step and value, None where it is not finite."""
        for n in range(1, self.n_steps + 1):
            for name, value in self._of_step(n):
                yield name, self.first + n, value
        for i in range(self.n_evaluations):
            step = self.first + EVERY * i
            for name, number in self._of_evaluation(self.found[i], 0.5 + 0.1 * i):
                yield name, step, number

    def _of_step(self, n: int) -> Iterator[tuple[str, float]]:
        if self.method in LEARNERS:
            yield from (("loss", 1.0), ("grad_norm", 1.0))
            if self.method == Method.REWARD_MODEL:
                yield "accuracy", 0.75
            return
        yield from (("length/mean", 20.0 + n % 2), ("truncated_fraction", 0.0))
        if self.counting[n - 1]:
            yield from (("entropy", 1.0 + 0.01 * (n % 2)), ("reward/mean", 0.5))
            yield "group/zero_std_fraction", 0.25
            if (self.config or {})["kl"]["coef"]:
                yield from (("kl/response", 0.1 * n), ("kl/token", 0.01))

    def _of_evaluation(self, found: str, value: float) -> Iterator[tuple[str, float | None]]:
        if self.method == Method.POLICY_GRADIENT:
            prefixes = [*(["eval/"] if self.n_heldout else []), *(["eval/ood/"] * self.has_set)]
            for prefix in prefixes:
                yield from _of_set(prefix, found, value)
            if self.n_heldout:
                yield "kl/exact", 0.1
            return
        yield from self._of_records(None if found == "not finite" else value)

    def _of_records(self, value: float | None) -> Iterator[tuple[str, float | None]]:
        """What a learner finds; `value`: its loss and its scores."""
        counted = {Method.SFT: "", Method.PROCESS_REWARD_MODEL: "eval/steps"}
        count = counted.get(self.method, "eval/pairs")
        if count:
            yield count, float(self.is_countable)
        if self.method == Method.DPO and not self.is_countable:
            return
        yield "eval/prompts", float(self.n_heldout)
        yield from _with_ends("eval/loss", value, has_ends=self.n_heldout > 1)
        if self.method == Method.REWARD_MODEL:
            yield "eval/calibration_error", 0.01
            # Scores that are not finite have none.
            if value is not None:
                yield "eval/length_correlation", value
        if not count or not self.is_countable:
            return
        # Scores that are not finite are right of nothing.
        yield from _with_ends("eval/accuracy", value or 0.0, has_ends=self.n_heldout > 1)
        if self.method == Method.PROCESS_REWARD_MODEL:
            yield from (("eval/accuracy_right", value or 0.0),)
        else:
            yield from ((f"eval/{name}", value) for name in ("margin", "chosen", "rejected"))


def _of_set(prefix: str, found: str, value: float) -> Iterator[tuple[str, float | None]]:
    yield f"{prefix}coverage", 0.0 if found == "unscored" else 1.0
    yield f"{prefix}length", 20.0
    if found != "unscored":
        yield from _with_ends(f"{prefix}reward", value, has_ends=True)


def _with_ends(
    name: str, value: float | None, *, has_ends: bool
) -> Iterator[tuple[str, float | None]]:
    yield name, value
    if has_ends:
        yield f"{name}_low", None if value is None else value - 0.02
        yield f"{name}_high", None if value is None else value + 0.02


def _evaluations(*found: str) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(found), max_size=4).map(tuple)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Runs that evaluate before their first step, unless they go on from a checkpoint."""
    is_policy = draw(st.booleans())
    found = draw(_evaluations("finite", "unscored" if is_policy else "not finite"))
    first = 0 if found else 40
    least = EVERY * max(0, len(found) - 1)
    n_steps = draw(st.integers(least, least + 6))
    n_heldout, is_over = draw(st.sampled_from([0, 1, 9])), draw(st.booleans())
    if not is_policy:
        method = draw(st.sampled_from(LEARNERS))
        is_countable = method == Method.SFT or draw(st.booleans())
        return Story(method, n_steps, n_heldout, is_over, found, is_countable, first)
    has_set = draw(st.booleans())
    config = {
        "kl": {"coef": draw(st.sampled_from([0.0, 0.1]))},
        "prompts": {"id": "snapshot_1"},
        "evaluation_sets": [{"name": "ood", "prompts": {"id": "snapshot_2"}}] if has_set else [],
    }
    counting = tuple(draw(st.lists(st.booleans(), min_size=n_steps, max_size=n_steps)))
    return Story(
        Method.POLICY_GRADIENT, n_steps, n_heldout, is_over, found,
        first=first, config=config, counting=counting, has_set=has_set,
    )  # fmt: skip


def judged(story: Story) -> RunVerdict:
    evidence = Evidence(
        story.config or {}, story.curves(), story.is_over, n_heldout=story.n_heldout
    )
    return judge(story.method, evidence)


def texts(found: RunVerdict) -> str:
    of_gauges = (text for one in found.gauges for text in (one.missing, one.note))
    return "\n".join([found.sentence, found.reason, *of_gauges])


def _truths(story: Story) -> dict[str, bool]:
    """What a verdict may say, and whether it is so."""
    n = story.n_evaluations
    found = story.found if n else ()
    has_any = bool(story.n_heldout) or story.has_set
    return {
        r"held-out records|No held-out prompt|no held-out prompt|“Held out, %”.* above 0": (
            not has_any
        ),
        r"no held-out ranking places|label other than": n > 0 and not story.is_countable,
        r"labelled wrong": story.method == Method.PROCESS_REWARD_MODEL and n > 0,
        r"values is finite|(is|are) not finite|has a finite": "not finite" in found,
        # Neither lengths nor scores are so in these stories.
        r"all lengths or all scores": False,
        r"could be scored": "unscored" in found,
        r"evaluated only once|one evaluation so far": n == 1,
        r"was not evaluated|no evaluation so far\.": n == 0,
        r"not evaluated yet|Too early|so far|measured yet|has ended yet": not story.is_over,
        r"Nothing was measured|run measured nothing": not story.curves(),
        r"ended before its first step": story.n_steps == 0 and story.is_over,
        r"from five steps on": story.n_steps < 5,
        r"No step has a": not any(story.counting),
        r"shown from five on": story.n_steps >= 5 and 0 < sum(story.counting) < 5,
        r"has no interval|single held-out prompt": story.n_heldout == 1,
        # What a metric lacks has a better name than that.
        r"It was not measured": False,
    }


@given(stories())
def test_nothing_is_said_that_is_not_so(story: Story) -> None:
    told = texts(judged(story))

    for said, is_so in _truths(story).items():
        found = re.search(said, told)
        assert is_so or found is None, f"{story} is told: {told}"


@given(stories())
def test_a_gauge_has_a_value_or_a_reason(story: Story) -> None:
    for one in judged(story).gauges:
        assert (one.value is None) == bool(one.missing), one
        assert one.value is not None or not one.note, one


@given(stories())
def test_a_run_waits_only_for_what_can_come(story: Story) -> None:
    found = judged(story)
    has_any = bool(story.n_heldout) or story.has_set
    is_hopeless = bool(story.curves()) and (
        not has_any or (story.n_evaluations > 0 and not story.is_countable)
    )

    if found.kind == Kind.WAITING:
        assert not story.is_over
        assert not is_hopeless
    if not (story.is_over or is_hopeless or _is_decided(story)):
        assert found.kind == Kind.WAITING


def _is_decided(story: Story) -> bool:
    """Whether evaluations that are not all unusable show anything, or that they cannot."""
    found = story.found[: story.n_evaluations]
    n_finite = found.count("finite")
    if story.method not in (Method.SFT, Method.POLICY_GRADIENT):
        return len(found) > 0
    is_lost = story.method == Method.SFT and n_finite > 0 and found[-1] != "finite"
    return n_finite > 1 or is_lost


@given(stories())
def test_what_decides_has_a_value_and_a_gauge(story: Story) -> None:
    found = judged(story)

    if found.judged_by is not None:
        assert story.curves()[found.judged_by]
        assert found.gauges[0].metric == found.judged_by
        assert found.gauges[0].value is not None
    elif found.kind not in (Kind.WAITING, Kind.COLLAPSED):
        assert found.kind == Kind.UNJUDGED
        assert found.sentence.startswith("Nothing")


@dataclass(frozen=True)
class Sampled:
    """A run that only measures or samples: all of its metrics come at once, at its end.

    `n_scored`: how many of two responses could be scored, and of as many of the baseline.
    """

    method: Method
    is_over: bool
    is_measured: bool
    has_other: bool
    n_scored: int
    pass_reward: float | None

    @property
    def ran(self) -> bool:
        return self.is_measured and self.is_over

    def curves(self) -> Curves:
        return {name: [Point(9, value)] for name, value in self._values()} if self.ran else {}

    def _values(self) -> Iterator[tuple[str, float]]:
        if self.method == Method.GENERATE:
            yield from (("length/mean", 20.0), ("truncated_fraction", 0.0))
            if self.has_other:
                yield "kl/exact", 0.1
            return
        yield from (("eval/length", 20.0), ("eval/truncated_fraction", 0.0))
        if self.pass_reward is not None:
            yield "eval/pass@1", 0.5
        yield "eval/coverage", self.n_scored / 2
        if self.n_scored:
            yield "eval/reward", 1.0
        if self.has_other and self.n_scored == 2:
            yield "eval/win_rate", 0.5


def samplers() -> st.SearchStrategy[Sampled]:
    either = st.booleans()
    method = st.sampled_from([Method.EVALUATE, Method.GENERATE])
    pass_reward = st.sampled_from([None, 1.0])
    return st.builds(Sampled, method, either, either, either, st.integers(0, 2), pass_reward)


@given(samplers())
def test_what_samples_says_only_what_is_so(run: Sampled) -> None:
    other = {Method.EVALUATE: "baseline_model", Method.GENERATE: "reference"}[run.method]
    config: dict[str, Any] = {other: {"id": "model_x"}} if run.has_other else {}
    config |= {"pass_reward": run.pass_reward}
    found = judge(run.method, Evidence(config, run.curves(), run.is_over))

    told = texts(found)
    assert ("could be scored" in told) <= (run.ran and run.n_scored < 2)
    assert re.search("Nothing was measured|run measured nothing", told) is None or not run.ran
    assert ("yet" in told) <= (not run.is_over)
    assert (f"set `{other}`" in told) == (not run.has_other)
    assert ("set `pass_reward`" in told) == (
        run.method == Method.EVALUATE and run.ran and run.pass_reward is None
    )
    assert "It was not measured" not in told
    for one in found.gauges:
        assert (one.value is None) == bool(one.missing), one


@st.composite
def fragments(draw: st.DrawFn) -> tuple[Method, Evidence]:
    """Any curves of the metrics of any method, as of a trainer that leaves some of them out."""
    method = draw(st.sampled_from(list(RULES)))
    names = [one.name for one in metrics_of(method) if "{" not in one.name]
    curves: Curves = {}
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        steps = sorted(draw(st.sets(st.integers(0, 20), max_size=7)))
        curves[name] = [Point(step, draw(st.sampled_from([0.0, 1.0, 3.0]))) for step in steps]
    n_heldout = draw(st.sampled_from([None, 0, 1, 9]))
    shipped_step = draw(st.sampled_from([None, 20]))
    is_over = draw(st.booleans())
    return method, Evidence({}, curves, is_over, shipped_step, n_heldout=n_heldout)


@given(fragments())
def test_whatever_is_missing_every_gauge_has_a_value_or_a_reason(
    of: tuple[Method, Evidence],
) -> None:
    method, evidence = of
    found = judge(method, evidence)

    assert found.sentence.endswith(".")
    has_value = [one for one in found.gauges if one.value is not None]
    assert "Nothing was measured" not in texts(found) or not has_value
    for one in found.gauges:
        assert (one.value is None) == bool(one.missing), one
        assert not (one.missing.startswith("None of its values") and evidence.curve(one.metric))
    if found.kind == Kind.WAITING:
        assert not evidence.is_over
