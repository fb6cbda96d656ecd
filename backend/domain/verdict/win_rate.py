"""A win rate that was attached to a run: what it adds to a verdict that something else decides.

Podium does not know what the responses were compared with, only what whoever attached the win rate
said. So it turns no verdict to good; a model that loses is shown as well as it deserves at most.
"""

from backend.domain.verdict.evidence import Estimate, Evidence
from backend.domain.verdict.words import with_span
from backend.schemas.metrics.verdicts import RunVerdict

METRIC = "gold/win_rate"
_EVEN = 0.5


def named(found: RunVerdict, evidence: Evidence) -> RunVerdict:
    """The verdict with the newest win rate among its reasons, unless that decided it.

    A good verdict becomes one to look at if the win rate of the weights that the run left is below
    one half by its 95 % interval.
    """
    estimates = evidence.estimates(METRIC)
    if not estimates or found.judged_by == METRIC:
        return found
    newest = estimates[-1]
    told = {"reason": " ".join(filter(None, (found.reason, _sentence(newest, evidence))))}
    if found.level == "good" and _loses(newest) and newest.step == found.shipped_step:
        lost = "but outside the run it lost more pairs than it won"
        told |= {"level": "warn", "sentence": f"{found.sentence.removesuffix('.')}, {lost}."}
    return found.model_copy(update=told)


def _loses(found: Estimate) -> bool:
    return found.interval is not None and found.interval.high < _EVEN


def _sentence(found: Estimate, evidence: Evidence) -> str:
    by = evidence.judge_of(METRIC, found.step)
    judged = f" (judged by {by})" if by else ""
    return (
        f"Outside the run, the win rate of the weights of step {found.step:,} was "
        f"{with_span(found)}, a tie counting half{judged}."
    )
