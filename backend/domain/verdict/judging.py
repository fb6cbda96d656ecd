"""Which rule judges the runs of which method."""

from collections.abc import Iterator, Mapping, Sequence

from backend.domain.verdict import learners, samplers, win_rate
from backend.domain.verdict.evidence import Evidence, Resume
from backend.domain.verdict.policy import rules
from backend.domain.verdict.rule import Rule
from backend.domain.verdict.words import output_sentence
from backend.schemas.metrics.registry import metric_of
from backend.schemas.metrics.verdicts import Gauge, Happening, RunVerdict
from backend.schemas.vocabulary import Method, VerdictKind

RULES: Mapping[Method, Rule] = {
    **learners.RULES,
    Method.POLICY_GRADIENT: rules.RULE,
    **samplers.RULES,
}

# Attempts that are told one by one.
MOST_RESUMES = 5


def is_looked_at(name: str, method: Method) -> bool:
    """Whether a verdict on a run of this method looks at a metric."""
    return RULES.get(method, _NO_RULE).looks_at(name)


def judge(method: Method, evidence: Evidence) -> RunVerdict:
    """The verdict on a run, its gauges called what the registry of metrics calls them."""
    found = win_rate.named(RULES.get(method, _NO_RULE).verdict(evidence), evidence)
    happened = [*found.happened, *_resumed(evidence.resumes)]
    told = {
        "gauges": [_named(method, one) for one in found.gauges],
        "happened": sorted(happened, key=lambda one: one.step),
    }
    return found.model_copy(update=told)


def _unjudged(evidence: Evidence) -> RunVerdict:
    """Say that nothing judges the runs of a method, as of one that was just added."""
    return RunVerdict(
        kind=VerdictKind.UNJUDGED,
        level="none",
        sentence="No rule says how to judge a run of this method.",
        reason=output_sentence(evidence.shipped_step),
        judged_by=None,
        gauges=[],
        best_step=None,
        shipped_step=evidence.shipped_step,
        happened=[],
    )


_NO_RULE = Rule(_unjudged)


def _resumed(resumes: Sequence[Resume]) -> Iterator[Happening]:
    """The newest attempts, each by itself, and how many there were before them."""
    earlier, newest = resumes[:-MOST_RESUMES], resumes[-MOST_RESUMES:]
    if earlier:
        first, last = earlier[0].attempt, earlier[-1].attempt
        which = f"Attempt {first}" if first == last else f"Attempts {first} to {last}"
        sentence = f"{which} ended early."
        yield Happening(step=earlier[-1].step, sentence=sentence)
    for attempt, step in newest:
        how = f"resumed after step {step:,}" if step else "began again at step 0"
        yield Happening(step=step, sentence=f"Attempt {attempt} {how}.")


def _named(method: Method, gauge: Gauge) -> Gauge:
    # The sentence of an evaluation says of which set its gauges are.
    measure = gauge.metric.rpartition("/")[2]
    name = f"eval/{measure}" if method == Method.EVALUATE else gauge.metric
    metric = None if gauge.title else metric_of(method, name)
    if metric is None:
        return gauge
    return gauge.model_copy(update={"title": metric.title, "unit": metric.unit})
