"""What the metrics of runs say of them: the curves that the rules look at, read and judged.

Called by `backend.api.verdicts`, `outside` beside it, `worker.supervisor` and `worker.sweeper`; the
rules are `backend.domain.verdict`. Of a run that has ended the verdict is kept with the run, for
lists: the worker that ends a run and whoever adds to its metrics call `keep`, and the worker's
sweeper does so for runs that nobody has judged.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from backend.domain.dotted_path import value_at
from backend.domain.run_state import ENDED
from backend.domain.verdict import gold, win_rate
from backend.domain.verdict.evidence import Evidence, Point, Resume, Sides
from backend.domain.verdict.judging import is_looked_at, judge
from backend.domain.verdict.rule import PREFIXES
from backend.schemas.methods import SAMPLERS
from backend.schemas.metrics.curves import Series
from backend.schemas.metrics.verdicts import RunVerdictAnswer
from backend.schemas.references import DATA, known_by
from backend.schemas.vocabulary import Method, RunState, Split
from backend.store.data import snapshots
from backend.store.ids import in_parts
from backend.store.metrics import curves, judges
from backend.store.metrics.curves import MOST_BUCKETS, Window
from backend.store.runs import events, runs
from backend.store.tables.models import Model
from backend.store.tables.runs import IS_START, Run

# What steps measure comes as so many means of neighbouring steps; whole, if its points are at most
# twice as many.
_BUCKETS = 250
# Steps from the first on that are read one by one, for what is compared with the first alone.
_BEGINNING = 100
# Curves of one run that the rules look at, see `_place`.
_MOST_CURVES = 500
# So many models and checkpoints may lie behind one whose training data are looked for.
_MOST_ANCESTORS = 8
_OF_MAKER = (Run.config, Run.parent_id, Run.parent_step)


def of_runs(session: Session, run_ids: Sequence[str]) -> list[RunVerdictAnswer]:
    """The verdicts on these runs, in the same order."""
    columns = (Run.id, Run.method, Run.state, Run.summary, Run.attempt, *_OF_MAKER)
    found = {run.id: run for run in session.execute(select(*columns).where(Run.id.in_(run_ids)))}
    rows = [found[run_id] for run_id in run_ids]
    shipped = _shipped_steps(session, run_ids)
    drawn = _drawn(session, rows)
    resumes = _resumes(session, [run.id for run in rows if run.attempt > 1])
    n_heldout = _held_out(session, rows)
    sides = _sides(session, rows)
    learned = _learned(session, rows)
    said = judges.of_runs(session, [run.id for run in rows if win_rate.METRIC in run.summary])

    def evidence(run: Row[Any]) -> Evidence:
        return Evidence(
            run.config,
            drawn[run.id].curves,
            beginnings=drawn[run.id].beginnings,
            is_over=RunState(run.state) in ENDED,
            shipped_step=shipped.get(run.id),
            resumes=resumes[run.id],
            n_heldout=n_heldout.get(run.id),
            judges=said[run.id],
            sides=sides.get(run.id),
            learned=learned.get(run.id, frozenset()),
        )

    return [
        RunVerdictAnswer(run=run.id, **dict(judge(Method(run.method), evidence(run))))
        for run in rows
    ]


def keep(session: Session, run_id: str) -> None:
    """Judge a run and keep the verdict, if the run has ended."""
    keep_of(session, runs.locked(session, run_id))


def keep_of(session: Session, run: Run) -> None:
    """The same for a run that the caller holds."""
    if RunState(run.state) not in ENDED:
        return
    session.flush()
    (found,) = of_runs(session, [run.id])
    run.verdict, run.verdict_level = found.kind, found.level
    run.verdict_sentence = found.sentence


def unjudged(session: Session, beyond: int, *, limit: int) -> list[tuple[int, str]]:
    """Number and id of runs beyond a number that have ended and that nobody has judged since."""
    wanted = select(Run.number, Run.id).where(
        Run.verdict.is_(None), Run.state.in_(ENDED), Run.number > beyond
    )
    rows = session.execute(wanted.order_by(Run.number).limit(limit))
    return [(row.number, row.id) for row in rows]


def _held_out(session: Session, rows: Sequence[Row[Any]]) -> dict[str, int]:
    """Count the records that the data of each run that trains hold out, by run."""
    asked = {
        run.id: (data, Split.HELDOUT)
        for run in rows
        if run.method not in SAMPLERS
        for data in _data(run.config)
    }
    found = snapshots.n_records(session, set(asked.values()))
    return {run_id: found[split] for run_id, split in asked.items() if split in found}


def _data(config: Mapping[str, Any]) -> Iterator[str]:
    """The snapshots that a run of this config learns from; one, for a method has one kind."""
    found = (value_at(config, f"{name}.id") for name in DATA)
    return (data for data in found if data is not None)


def _sides(session: Session, rows: Sequence[Row[Any]]) -> dict[str, Sides]:
    """The sides of the snapshot that each evaluation is about, by run."""
    asked = {
        run.id: value_at(run.config, "prompts.id") for run in rows if run.method == Method.EVALUATE
    }
    wanted = {(snapshot, split) for snapshot in asked.values() if snapshot for split in Split}
    found = snapshots.n_records(session, wanted)
    return {
        run_id: Sides(found[snapshot, Split.TRAIN], found[snapshot, Split.HELDOUT])
        for run_id, snapshot in asked.items()
        if (snapshot, Split.TRAIN) in found
    }


def _learned(session: Session, rows: Sequence[Row[Any]]) -> Mapping[str, set[str]]:
    """What the data are known by that the models of runs began with were trained on, by run.

    Of runs whose verdict asks for it: evaluations, and policies with a set that may be unseen.
    """
    began = {run.id: _began_with(run) for run in rows if _asks_what_was_learned(run)}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for _ in range(_MOST_ANCESTORS):
        made = _makers(session, {one for one in began.values() if one})
        if not made:
            break
        for run_id, one in began.items():
            maker = made.get(one or "")
            if maker is not None:
                found[run_id] |= _known_data(maker.config)
            began[run_id] = None if maker is None else _began_with(maker)
    return found


def _asks_what_was_learned(run: Row[Any]) -> bool:
    sets = run.config.get("evaluation_sets") or []
    return run.method == Method.EVALUATE or any(one.get("split") != Split.HELDOUT for one in sets)


def _began_with(run: Row[Any]) -> str | None:
    """The run whose checkpoint a run went on from, or the model that it began with."""
    if run.parent_step is not None:
        return str(run.parent_id)
    found: str | None = value_at(run.config, "model.id")
    return found


def _makers(session: Session, began_with: Set[str]) -> dict[str, Row[Any]]:
    """The run that made each of these models or checkpoints, by model or run."""
    if not began_with:
        return {}
    of_model = select(Model.id, *_OF_MAKER).join(Run, Run.id == Model.run_id)
    of_run = select(Run.id, *_OF_MAKER)
    models = session.execute(of_model.where(Model.id.in_(began_with)))
    parents = session.execute(of_run.where(Run.id.in_(began_with)))
    return {one.id: one for one in (*models, *parents)}


def _known_data(config: Mapping[str, Any]) -> set[str]:
    return set[str]().union(*(known_by(config.get(name)) for name in DATA))


def _resumes(session: Session, run_ids: Sequence[str]) -> Mapping[str, Sequence[Resume]]:
    """Where each attempt after the first went on, by run."""
    found: defaultdict[str, list[Resume]] = defaultdict(list)
    for run_id, data in events.told(session, run_ids, IS_START):
        if data["attempt"] > 1:
            found[run_id].append(Resume(data["attempt"], data["step"]))
    return found


def _shipped_steps(session: Session, run_ids: Sequence[str]) -> dict[str, int]:
    made = select(Model.run_id, Model.step).where(Model.run_id.in_(run_ids))
    return {run_id: step for run_id, step in session.execute(made) if run_id and step is not None}


class _Drawn(NamedTuple):
    """The curves of one run by name; the beginning of each that came as means."""

    curves: dict[str, Sequence[Point]]
    beginnings: dict[str, Sequence[Point]]


def _drawn(session: Session, rows: Sequence[Row[Any]]) -> Mapping[str, _Drawn]:
    """The curves that the rules look at, by run: evaluations whole, long curves as means."""
    looked_at = {run.id: set(_looked_at(run)) for run in rows}
    names = sorted(set[str]().union(*looked_at.values()))
    found: defaultdict[str, _Drawn] = defaultdict(lambda: _Drawn({}, {}))
    means: defaultdict[str, list[str]] = defaultdict(list)
    for series in _series(session, [run.id for run in rows], names, Window(points=_BUCKETS)):
        # What another run has may be beyond what is read of this one.
        if series.name not in looked_at[series.run]:
            continue
        found[series.run].curves[series.name] = _points(series)
        if series.n > len(series.x):
            means[series.run].append(series.name)
    for run_id, long in means.items():
        _read_closer(session, run_id, long, found[run_id])
    return found


def _looked_at(run: Row[Any]) -> Sequence[str]:
    names = [name for name in run.summary if is_looked_at(name, run.method)]
    return sorted(names, key=_place)[:_MOST_CURVES]


def _place(name: str) -> tuple[bool, int, str]:
    """Sort what rules know by its name before other results from outside and those of sets."""
    is_other = name.startswith("gold/") and not name.startswith(gold.FIRST)
    return is_other, name.count("/"), name


def _read_closer(session: Session, run_id: str, long: Sequence[str], drawn: _Drawn) -> None:
    """Read closer what came as means: evaluations whole, of other curves the beginnings."""
    evaluations = [name for name in long if name.startswith(PREFIXES)]
    steps = [name for name in long if not name.startswith(PREFIXES)]
    # So many points of each at most, or twice as many if all of them fit into an answer.
    whole = Window(points=MOST_BUCKETS // max(1, len(evaluations)))
    for series in _series(session, [run_id], evaluations, whole):
        drawn.curves[series.name] = _points(series)
    for series in _series(session, [run_id], steps, Window(beginning=_BEGINNING)):
        drawn.beginnings[series.name] = _points(series)


def _series(
    session: Session, run_ids: Sequence[str], names: Sequence[str], window: Window
) -> Iterator[Series]:
    """The curves of these runs, of as many runs and names at a time as one answer may hold."""
    most_names = max(1, MOST_BUCKETS // window.points)
    for some_names in in_parts(names, most_names):
        for some_runs in in_parts(run_ids, max(1, most_names // len(some_names))):
            yield from curves.read(session, some_runs, some_names, window, exact=True).series


def _points(series: Series) -> list[Point]:
    """The means of a curve's buckets, of few points the points themselves."""
    pairs = zip(series.x, series.y.mean, strict=True)
    return [Point(int(x), series.y.low + series.y.unit * y) for x, y in pairs if y is not None]
