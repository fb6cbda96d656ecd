"""Who judged the evaluations that were attached to runs, told by events of the run.

An event is about some metrics at some steps and holds for exactly these. Called by `outside`, which
attaches them, and by `verdicts`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from backend.domain.verdict import win_rate
from backend.domain.verdict.evidence import Judge
from backend.schemas.run_directory.events import MetricLine
from backend.store.runs import events
from backend.store.runs.events import NewEvent
from backend.store.tables.runs import IS_JUDGED

# Of one event; more are known by the points themselves.
_MOST_NAMES = 10


class _Part(NamedTuple):
    """Metrics that have values at the same steps."""

    names: list[str]
    steps: list[int]


def of_runs(session: Session, run_ids: Sequence[str]) -> Mapping[str, Sequence[Judge]]:
    """Who judged what was attached to each run, in the order in which it was."""
    found: defaultdict[str, list[Judge]] = defaultdict(list)
    for run_id, data in events.told(session, run_ids, IS_JUDGED):
        found[run_id].append(_judge(data))
    return found


def said(
    session: Session, run_id: str, judge: str, measured: Sequence[MetricLine]
) -> list[NewEvent]:
    """The events that tell who judged these values.

    Values without a judge are told of where they replace values of a judge, who is not theirs.
    """
    parts = _parts(measured)
    if not judge:
        before = of_runs(session, [run_id])[run_id]
        parts = [part for part in parts if _has_judge(part, before)]
    return [NewEvent("judged", _told(judge, part)) for part in parts]


def _told(judge: str, part: _Part) -> dict[str, Any]:
    names, steps = part
    return {"judge": judge, "names": names, "steps": [steps[0], steps[-1]], "at": steps}


def _judge(data: Mapping[str, Any]) -> Judge:
    first, last = data["steps"]
    # Events of before tell the first and the last step alone.
    steps = frozenset(data["at"]) if "at" in data else range(first, last + 1)
    return Judge(data["judge"], data["names"], steps)


def _has_judge(part: _Part, before: Sequence[Judge]) -> bool:
    """Whether the last word on one of these values names a judge."""
    unknown = {(name, step) for name in part.names for step in part.steps}
    for one in reversed(before):
        about = {(name, step) for name, step in unknown if name in one.names and step in one.steps}
        if about and one.who:
            return True
        unknown -= about
    return False


def _parts(measured: Iterable[MetricLine]) -> list[_Part]:
    """The metrics that have values, those at the same steps together."""
    by_name: defaultdict[str, set[int]] = defaultdict(set)
    for line in measured:
        for name, value in line.values.items():
            if value is not None:
                by_name[name].add(line.step)
    together: defaultdict[tuple[int, ...], list[str]] = defaultdict(list)
    # The win rate is first: a verdict asks who judged it.
    for name in sorted(by_name, key=lambda name: (name != win_rate.METRIC, name)):
        together[tuple(sorted(by_name[name]))].append(name)
    return [_Part(names[:_MOST_NAMES], list(steps)) for steps, names in together.items()]
