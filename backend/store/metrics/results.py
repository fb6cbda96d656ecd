"""What tables of results are made of: runs, the evaluations of what they made, and their starts.

Called by `backend.api.results`; the tables are `backend.domain.results`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import String, select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.domain.differences.prompts import InCommon, most_of
from backend.domain.results.gathered import KnownModel, Read, gathered
from backend.domain.results.given import Given
from backend.domain.results.measurements import (
    MeasuredRun,
    PromptSet,
    Seen,
    key_of,
    sets_of,
    trained_data,
)
from backend.domain.results.newest import is_read, of_one_evaluation
from backend.domain.results.one_run import sets_measured
from backend.domain.results.tables import results
from backend.errors import NotFound
from backend.schemas.metrics.results import ResultsAnswer
from backend.schemas.metrics.sets import RunSets
from backend.schemas.vocabulary import Method, RunState, Split
from backend.store import given as given_rows
from backend.store import record_names
from backend.store.data import snapshots
from backend.store.metrics import draws, levels
from backend.store.overlaps.counts import CommonPrompts, Most
from backend.store.runs import experiments
from backend.store.tables.metrics import MetricPoint
from backend.store.tables.models import Model
from backend.store.tables.runs import Run, RunFact

# The newest ones of these models.
MOST_EVALUATIONS = 500
# What is read of snapshots to count common prompts, where these are not counted yet.
MOST_READ = Most(records=100_000, characters=256 * 2**20)
_MODEL_FACTS = ("config.model.id", "config.model.hub_id")
_AT_WORK = (RunState.QUEUED, RunState.RUNNING, RunState.STOPPING, RunState.PAUSED)


def of_runs(session: Session, run_ids: Sequence[str], caller: Caller) -> ResultsAnswer:
    """The tables of these runs, measured by any evaluation of what they made in their projects."""
    return results(given(session, run_ids, caller))


def given(session: Session, run_ids: Sequence[str], caller: Caller) -> Given:
    """Rows and measurements of these runs, with the names that the caller sees."""
    rows = _runs(session, run_ids)
    projects = {row.project_id for row in rows}
    asked = [row for row in rows if row.method != Method.EVALUATE]
    evaluations = {row.id: row for row in rows if row.method == Method.EVALUATE and _counts(row)}
    named = {key_of(row.config.get("model")) for row in (*asked, *evaluations.values())}
    made = _made_by(session, [row.id for row in asked])
    others = _evaluations(session, projects, {*made, *_starts(asked)})
    for row in others[:MOST_EVALUATIONS]:
        evaluations.setdefault(row.id, row)
    models = _models(session, named | {*made, *map(_baseline, evaluations.values())}, caller)
    made_by = {known.run for known in models.values() if known.run} - {row.id for row in asked}
    makers = [row for row in _runs(session, sorted(made_by)) if row.project_id in projects]
    first = _first_values(session, (*asked, *makers))
    configs = [row.config for row in (*asked, *makers, *evaluations.values())]
    drawn = draws.of_runs(session, [row.id for row in (*asked, *makers)])
    steps = _newest_steps(session, (*asked, *makers))
    read = Read(
        asked=[replace(_measured(row, first, steps), draw=drawn[row.id]) for row in asked],
        makers=[replace(_measured(row, first, steps), draw=drawn[row.id]) for row in makers],
        # An evaluation measures all at one step.
        evaluations=[_measured(row, {}, {}) for row in evaluations.values()],
        models=models,
        names=record_names.of_configs(session, configs, caller),
        divided=_divided(session, configs),
        common=_common(session, configs, trained_data(row.config for row in (*asked, *makers))),
    )
    found = gathered(read)
    if len(others) <= MOST_EVALUATIONS:
        return found
    cut = f"Only the newest {MOST_EVALUATIONS} evaluations of these models are in the tables."
    return replace(found, missing=f"{found.missing} {cut}".strip())


def _divided(session: Session, configs: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The snapshots of these configs' sets that have prompts on both sides."""
    asked = {prompts.data for config in configs for prompts, _ in sets_of(config) if prompts.data}
    found = snapshots.n_records(session, {(one, split) for one in asked for split in Split})
    return frozenset(one for one in asked if all(found.get((one, split), 0) > 0 for split in Split))


def _common(
    session: Session, measuring: Sequence[Mapping[str, Any]], trained: Collection[str]
) -> dict[PromptSet, InCommon | None]:
    """The prompts that the sets of these configs have in common with other snapshots.

    `trained`: the snapshots that policies were trained on; of several the counts that are largest.
    None where they were not counted. Of a set of one of these snapshots its split says what was
    seen.
    """
    if not trained:
        return {}
    counts = CommonPrompts(session, MOST_READ)
    sets = {prompts for config in measuring for prompts, _ in sets_of(config)}
    others = (one for one in sets if one.data and one.data not in trained)
    return {
        one: most_of([counts.of(data, one.data, one.split) for data in sorted(trained)])
        for one in sorted(others, key=lambda one: (one.name, one.data, one.split))
    }


def of_experiment(session: Session, experiment_id: str, caller: Caller) -> ResultsAnswer:
    """The tables of the newest runs of an experiment, and how many are left out."""
    experiment = experiments.get(session, experiment_id)
    answer = of_runs(session, experiment.run_ids, caller)
    shown, n = len(experiment.run_ids), experiment.run_count
    if shown == n:
        return answer
    left_out = f"These are the newest {shown} of {n} runs."
    return answer.model_copy(update={"missing": f"{answer.missing} {left_out}".strip()})


def of_run(session: Session, run_id: str, caller: Caller) -> RunSets:
    """What one run has measured on each of its sets. Raises NotFound."""
    row = next(iter(_runs(session, [run_id])), None)
    if row is None:
        raise NotFound(f"there is no run {run_id}")
    sets = [prompts for prompts, _ in sets_of(row.config)]
    found = snapshots.n_records(session, {(one.data, one.split) for one in sets})
    n_prompts = {one: found[one.data, one.split] for one in sets if (one.data, one.split) in found}
    names = record_names.of_ids(session, {data for data, _ in found}, caller)
    trained = _of_policy(session, row)
    common = _common(session, [row.config], trained_data(trained))
    seen = Seen.of(trained, _divided(session, [row.config]), common)
    return sets_measured(_measured(row, {}, _newest_steps(session, [row])), names, n_prompts, seen)


def _of_policy(session: Session, row: Run) -> list[dict[str, Any]]:
    """The config of the run that trained what this one measures: itself, or its model's maker."""
    if row.method != Method.EVALUATE:
        return [row.config]
    made_it = select(Run.config).join(Model, Model.run_id == Run.id)
    return list(session.scalars(made_it.where(Model.id == key_of(row.config.get("model")))))


def _runs(session: Session, run_ids: Sequence[str]) -> list[Run]:
    """Read runs in the order in which they are asked for."""
    found = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(run_ids)))}
    return [found[run_id] for run_id in run_ids if run_id in found]


def _counts(run: Run) -> bool:
    return run.state == RunState.SUCCEEDED and run.archived_at is None


def _starts(runs: Iterable[Run]) -> set[str]:
    return {key for run in runs if (key := key_of(run.config.get("model")))}


def _baseline(run: Run) -> str:
    return key_of(run.config.get("baseline_model"))


def _made_by(session: Session, run_ids: Sequence[str]) -> list[str]:
    return list(session.scalars(select(Model.id).where(Model.run_id.in_(run_ids))))


def _evaluations(session: Session, projects: Collection[str], models: set[str]) -> list[Run]:
    """Evaluate runs of these models that have succeeded and are in use, newest first.

    If there are more than the tables take, one more than that.
    """
    by_model = select(RunFact.run).where(
        RunFact.key.in_(_MODEL_FACTS), RunFact.text.in_({key.lower() for key in models})
    )
    wanted = (
        select(Run)
        .where(
            Run.project_id.in_(projects),
            Run.method == Method.EVALUATE,
            Run.state == RunState.SUCCEEDED,
            Run.archived_at.is_(None),
            Run.number.in_(by_model),
        )
        .order_by(Run.number.desc())
        .limit(MOST_EVALUATIONS + 1)
    )
    # Facts are in lower case; names on a hub are not.
    return [run for run in session.scalars(wanted) if key_of(run.config.get("model")) in models]


def _models(session: Session, keys: set[str], caller: Caller) -> dict[str, KnownModel]:
    models = session.scalars(select(Model).where(Model.id.in_(keys)))
    return {
        one.id: KnownModel(one.name, one.run_id, one.step)
        for one in models
        if caller.sees(one.project_id)
    }


def _first_values(session: Session, runs: Iterable[Run]) -> dict[str, dict[str, float]]:
    """What policy runs have measured before their first step.

    Each point is looked up by the names that the summaries have: a search by step alone would read
    whole curves.
    """
    named = [(run.id, name) for run in runs for name in run.summary if name.startswith("eval/")]
    if not named:
        return {}
    asked = given_rows.rows(session, {"run": String(), "name": String()}, named)
    is_first = (
        MetricPoint.run_id == asked.c.run,
        MetricPoint.name == asked.c.name,
        MetricPoint.step == 0,
        MetricPoint.value.is_not(None),
    )
    points = given_rows.search(
        session, asked, (asked.c.run, asked.c.name), (MetricPoint.value,), is_first
    )
    found: dict[str, dict[str, float]] = {}
    for run_id, name, value in points:
        found.setdefault(run_id, {})[name] = value
    return found


def _newest_steps(session: Session, runs: Iterable[Run]) -> dict[str, dict[str, int]]:
    """The step that each value is of, of the metrics that tables read."""
    names = {run.id: [name for name in run.summary if is_read(name)] for run in runs}
    return levels.newest_steps(session, names)


def _measured(
    run: Run, first: Mapping[str, Mapping[str, float]], steps: Mapping[str, Mapping[str, int]]
) -> MeasuredRun:
    code = run.environment.get("code") or {}
    own = steps.get(run.id, {})
    sets = {one["name"] for one in run.config.get("evaluation_sets") or ()}
    older = own.keys() - of_one_evaluation(own, sets)
    return MeasuredRun(
        id=run.id,
        number=run.number,
        method=run.method,
        config=run.config,
        values={
            name: value
            for name, value in run.summary.items()
            if value is not None and name not in older
        },
        first=first.get(run.id, {}),
        has_ended=run.state not in _AT_WORK,
        commit=code.get("commit"),
        name=run.name,
        steps=own,
    )
