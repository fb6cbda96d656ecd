"""Results of evaluations that were made elsewhere, as points of a run.

Called by `backend.api.metrics`. They belong to no attempt, so no rewind takes them back.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from backend.domain.run_state import ENDED
from backend.errors import InvalidInput
from backend.plural import plural
from backend.schemas.metrics.curves import OutsidePoint
from backend.schemas.run_directory.events import MetricLine
from backend.schemas.vocabulary import Method, RunState
from backend.store.metrics import judges, points, times, tokens, verdicts
from backend.store.runs import events as run_events
from backend.store.runs import runs
from backend.store.tables.runs import Run


def lines_of(
    session: Session, run_id: str, measured: Sequence[OutsidePoint], *, at: datetime
) -> list[MetricLine]:
    """Results of evaluations made elsewhere as `append` stores them, found before the write turn.

    Each has the tokens and the time that the trainer had at its step, so that it finds its place on
    every axis; the time is `at` if the trainer has said nothing yet.
    """
    steps = [point.step for point in measured]
    moments = times.at_steps(session, run_id, steps)
    processed = tokens.at_steps(session, run_id, steps)
    return [
        MetricLine(
            step=point.step,
            time=moments.get(point.step, at.timestamp()),
            tokens=processed[point.step],
            values=point.values,
        )
        for point in measured
    ]


def append(
    session: Session, run_id: str, lines: Sequence[MetricLine], *, judge: str = "", at: datetime
) -> int:
    """Store results of evaluations made elsewhere; returns how many values.

    Who judged is told by events of the run; see `judges`.

    Raises InvalidInput for a name that does not start with gold/ or outside/, and for a step that
    the run does not have, and for more names than a run may have.
    """
    names = sorted({name for line in lines for name in line.values})
    wrong = [
        name
        for name in names
        if not (points.is_name(name) and name.startswith(points.OUTSIDE_PREFIXES))
    ]
    if wrong:
        raise InvalidInput(
            f"the metric name {wrong[0][:100]!r} is not allowed here",
            advice="Use at most 100 characters: 2 to 5 words of letters, digits and _ @ . + - "
            "joined by /, the first of them gold or outside.",
        )
    run = runs.locked(session, run_id)
    _must_be_reached(run, lines)
    _must_have_room(run, names)
    stored = points.store(session, run, points.OUTSIDE_ATTEMPT, lines)
    events = [*stored.events, *judges.said(session, run_id, judge, lines)]
    run_events.append(session, run_id, events, at=at)
    verdicts.keep_of(session, run)
    return stored.values


def _must_be_reached(run: Run, lines: Sequence[MetricLine]) -> None:
    """Refuse what was measured at no step of the run: it would be the newest value for ever."""
    if Method(run.method) in (Method.EVALUATE, Method.GENERATE):
        # Its steps are parts of the prompts, and the weights are of another run.
        return
    has_ended = RunState(run.state) in ENDED
    most = run.step if has_ended else max(run.step, run.steps)
    # A trainer that has not said how far it goes, or that never began, says nothing about steps.
    beyond = [line.step for line in lines if line.step > most > 0]
    if beyond:
        what = "ended at" if has_ended else "goes up to"
        raise InvalidInput(
            f"a point is at step {beyond[0]:,}, but the run {what} step {most:,}",
            advice="Name the step of the weights that were measured. Nothing was stored.",
        )


def _must_have_room(run: Run, names: Sequence[str]) -> None:
    if surplus := points.without_room(run, names):
        n_new = sum(name not in run.summary for name in names)
        raise InvalidInput(
            f"the run has {plural(len(run.summary), 'metric')} and the request names {n_new:,} new "
            f"ones, {len(surplus):,} more than fit; a run may have {points.MOST_NAMES:,}",
            advice="Send fewer names, such as a mean instead of a number for each item. Nothing "
            "was stored.",
        )
