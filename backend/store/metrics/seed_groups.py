"""Runs side by side, grouped by what they are seeds of: last values and differences.

Called by `backend.api.seed_groups`; the statistics are `backend.domain.seeds`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.domain.results.deciding import evaluated
from backend.domain.results.measurements import key_of
from backend.domain.seeds import groups as seeds
from backend.domain.seeds.compared import Measure, compared, deciding_metric, measured
from backend.domain.seeds.draws import Draw, counted
from backend.domain.seeds.named_ids import called
from backend.domain.verdict.gold import gold_metrics
from backend.schemas.metrics.seeds import SeedGroups, SeedValue
from backend.schemas.vocabulary import Method, RunState
from backend.store import record_names
from backend.store.metrics import draws, results
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.models import Model
from backend.store.tables.runs import Run


def of_runs(
    session: Session,
    run_ids: Sequence[str],
    metric: str | None,
    evaluated_on: str | None,
    caller: Caller,
) -> SeedGroups:
    """Compare these runs in groups: by `metric`, else evaluations on a set, else what decides."""
    configs = configs_of(session, run_ids)
    names = metrics_of(session, configs)
    drawn = draws.of_runs(session, configs)
    counting = [run for runs in counted(seeds.seed_groups(configs), drawn) for run in runs]
    by = (
        _deciding(session, _Asked(counting, configs, names, drawn), evaluated_on, caller)
        if metric is None
        else _newest(session, counting, metric)
    )
    metrics = sorted(set().union(*names.values()))
    records = called(record_names.of_configs(session, configs.values(), caller))
    found = compared(configs, drawn, by, metrics, records)
    return found.model_copy(update={"n_evaluations": len(set(run_ids)) - len(configs)})


def configs_of(session: Session, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read the configs of runs, oldest first, so that a group always has the same letter.

    Evaluations of what others of these runs left or started from measure them, and are left out.
    """
    rows = select(Run.id, Run.config).where(Run.id.in_(run_ids)).order_by(Run.number)
    configs: dict[str, dict[str, Any]] = dict(session.execute(rows).all())
    models = {run_id: key_of(config.get("model")) for run_id, config in configs.items()}
    evaluations = {one for one, config in configs.items() if config["method"] == Method.EVALUATE}
    others = configs.keys() - evaluations
    left = set(session.scalars(select(Model.id).where(Model.run_id.in_(others))))
    measured = left | {models[one] for one in others}
    return {
        run_id: config
        for run_id, config in configs.items()
        if run_id not in evaluations or models[run_id] not in measured
    }


def metrics_of(session: Session, run_ids: Iterable[str]) -> dict[str, set[str]]:
    """The metrics that each run has."""
    rows = session.execute(select(Run.id, Run.summary).where(Run.id.in_(list(run_ids))))
    return {run_id: set(summary) for run_id, summary in rows}


class _Asked(NamedTuple):
    """The runs that count, and what is known of these and others."""

    run_ids: Sequence[str]
    configs: Mapping[str, dict[str, Any]]
    names: Mapping[str, set[str]]
    draws: Mapping[str, Draw]

    @property
    def measured(self) -> list[str]:
        return measured({run: self.names[run] for run in self.run_ids}, self.draws)


def _deciding(session: Session, asked: _Asked, evaluated_on: str | None, caller: Caller) -> Measure:
    """The set that was asked for, else what somebody attached, else evaluations, else the runs."""
    run_ids = asked.run_ids
    metric, why_none = deciding_metric(
        [asked.configs[run] for run in run_ids], [asked.names[run] for run in asked.measured]
    )
    attached = metric if metric is not None and gold_metrics([metric]) else None
    given = results.given(session, run_ids, caller)
    found = evaluated(given, [asked.draws[run] for run in run_ids])
    labels = [one.label for one in found]
    if found and (attached is None or evaluated_on in labels):
        one = next((one for one in found if one.label == evaluated_on), found[0])
        states = _states(session, one.values)
        values = [
            SeedValue(run=run, value=value, step=None, state=states[run])
            for run, value in one.values.items()
        ]
        by = Measure(
            one.metric,
            one.title,
            values,
            evaluated_on=one.label,
            has_chosen=one.has_chosen,
            is_unchecked=one.is_unchecked,
            reward=one.reward or {},
        )
    elif metric is None:
        by = Measure(None, why_none=why_none)
    else:
        by = _newest(session, run_ids, metric)
    return replace(by, sets=labels, attached=attached)


def _newest(session: Session, run_ids: Sequence[str], name: str) -> Measure:
    """Measure runs by their newest finite point of this metric; those without one are left out."""
    points = (
        MetricPoint.run_id == Run.id,
        MetricPoint.name == name,
        MetricPoint.value.is_not(None),
    )
    newest = select(MetricPoint.step).where(*points).order_by(MetricPoint.step.desc()).limit(1)
    last = newest.correlate(Run).scalar_subquery()
    found = (
        select(Run.id, MetricPoint.step, MetricPoint.value, Run.state)
        .join(MetricPoint, and_(*points, MetricPoint.step == last))
        .where(Run.id.in_(run_ids))
    )
    rows = session.execute(found.order_by(Run.number))
    values = [
        SeedValue(run=run, value=value, step=step, state=RunState(state))
        for run, step, value, state in rows
        if value is not None
    ]
    return Measure(name, values=values)


def _states(session: Session, run_ids: Iterable[str]) -> dict[str, RunState]:
    rows = session.execute(select(Run.id, Run.state).where(Run.id.in_(list(run_ids))))
    return {run_id: RunState(state) for run_id, state in rows}
