"""The cells of a column: what each row's seeds say together, and which is better than the start."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.results.estimates import gain_of, mean_of, minus, together
from backend.domain.results.measurements import (
    Chosen,
    MeasuredRun,
    Measurement,
    PromptSet,
    Reading,
    in_order,
)
from backend.domain.results.rows import Row
from backend.domain.seeds.best import best_of
from backend.domain.seeds.draws import Draw
from backend.domain.seeds.ends import Steps, listed, why_open
from backend.domain.seeds.shares import is_share, possible
from backend.schemas.metrics.metric import Direction
from backend.schemas.metrics.results import ResultsCell, ResultsChange, ResultsPoint
from backend.schemas.metrics.verdicts import Span

Part = tuple[PromptSet, str]

# Measured response by response against the baseline of the same draw, or text by text.
_PAIRED = {"pass@1": "pass_gain", "reward": "gain", "text_logp": "text_change"}


@dataclass(frozen=True)
class Measured:
    """All that cells are made of: the measurements that count, by subject and set, and the runs."""

    chosen: Chosen
    runs: Mapping[str, MeasuredRun]

    def seeds(self, subject: str, parts: Sequence[Part]) -> list[str]:
        """The seeds with which runs measured this start; none if it was measured otherwise."""
        found = (self.chosen.get((subject, prompts)) for prompts, _ in parts)
        seeds = {each.seed for one in found if one is not None for each in one.each}
        return sorted(seeds, key=in_order)

    def reading(self, subject: str, parts: Sequence[Part], seed: str = "") -> Reading | None:
        """The mean of some measures of a subject; None unless all were measured.

        Of a start that runs measured it is what its seeds say together, or that of one `seed`.
        """
        if not seed and (seeds := self.seeds(subject, parts)):
            each = [self.reading(subject, parts, one) for one in seeds]
            own = [one for one in each if one is not None]
            return together(own).reading if own else None
        found = [self._one(subject, part, seed) for part in parts]
        known = [one for one in found if one is not None]
        if not known or len(known) < len(found):
            return None
        return known[0] if len(known) == 1 else mean_of(known)

    def _one(self, subject: str, part: Part, seed: str) -> Reading | None:
        measurement = self.measurement(subject, part[0], seed)
        return None if measurement is None else measurement.readings.get(part[1])

    def measurement(self, subject: str, prompts: PromptSet, seed: str) -> Measurement | None:
        """What counts of a subject on a set; of a start that runs measured, what `seed` found."""
        found = self.chosen.get((subject, prompts))
        if found is None or not found.each:
            return found
        return next((one for one in found.each if one.seed == seed), None)

    def since_start(self, subject: str, parts: Sequence[Part], start: str) -> Reading | None:
        """How much more than its start a run has, if it measured both with the same seed.

        The errors of both count as independent, although they are of the same prompts.
        """
        run = self.runs.get(subject)
        if run is None or not self.seeds(start, parts):
            return None
        ours = self.reading(subject, parts)
        theirs = self.reading(start, parts, json.dumps(run.drawn.seed))
        return None if ours is None or theirs is None else minus(ours, theirs)

    def steps(self, part: Part) -> Steps:
        """The step of each subject that has this measure; None if an evaluation measured it."""
        prompts, measure = part
        return {
            subject: one.readings[measure].step
            for (subject, at), one in self.chosen.items()
            if at == prompts and measure in one.readings
        }

    def gain(self, subject: str, parts: Sequence[Part], start: str) -> Reading | None:
        """How much more than the start it has, if its evaluation had the start as baseline."""
        if len(parts) > 1 or parts[0][1] not in _PAIRED:
            return None
        measurement = self.chosen.get((subject, parts[0][0]))
        if measurement is None or not start or measurement.baseline != start:
            return None
        return measurement.readings.get(_PAIRED[parts[0][1]])


def column_of_cells(
    rows: Sequence[Row],
    parts: Sequence[Part],
    measured: Measured,
    direction: Direction,
    *,
    has_best: bool = True,
) -> list[ResultsCell | None]:
    """The cells of one column, row by row. `has_best`: whether it can tell which row is best."""
    cells = [
        _standing_at(_cell(row, parts, measured, direction), where)
        for row, where in zip(rows, _standings(rows, parts, measured), strict=True)
    ]
    is_judged = has_best and direction != "none"
    best = _best(cells, rows, parts, measured, direction) if is_judged else None
    return [
        cell.model_copy(update={"is_best": True}) if cell is not None and place == best else cell
        for place, cell in enumerate(cells)
    ]


def _cell(
    row: Row, parts: Sequence[Part], measured: Measured, direction: Direction
) -> ResultsCell | None:
    found = {
        (one, seed): got
        for one, seed in _seeds_of(row, parts, measured)
        if (got := measured.reading(one, parts, seed)) is not None
    }
    if not found:
        return None
    all_seeds = together(list(found.values()))
    subjects = list(dict.fromkeys(one for one, _ in found))
    return ResultsCell(
        n=all_seeds.n,
        value=all_seeds.reading.value,
        interval=_possible(_span(all_seeds.reading), parts),
        interval_of=all_seeds.interval_of,
        is_iqm=all_seeds.is_iqm,
        points=[_point(*one, got, parts, measured) for one, got in found.items()],
        change=_change(row, subjects, all_seeds.reading, parts, measured, direction),
    )


def _standing_at(cell: ResultsCell | None, where: str) -> ResultsCell | None:
    """The cell of a row whose seeds stand there; nobody is better than the start before the end."""
    if cell is None or not where:
        return cell
    change = cell.change and cell.change.model_copy(update={"is_better": False})
    return cell.model_copy(update={"standing": where, "change": change})


def _standings(rows: Sequence[Row], parts: Sequence[Part], measured: Measured) -> list[str]:
    """Where the seeds of each row stand, if they have not come to the end that others have.

    Of what runs measured themselves: an evaluation is of what a run has left.
    """
    steps = [measured.steps(part) for part in parts]
    groups = [_own_draws(row, parts, measured, steps) for row in rows]
    by_part = [why_open(groups, one) for one in steps]
    return [
        _where(group, steps) if any(whys) else ""
        for group, *whys in zip(groups, *by_part, strict=True)
    ]


def _own_draws(
    row: Row, parts: Sequence[Part], measured: Measured, steps: Sequence[Steps]
) -> list[Draw]:
    """The seeds of a group that have measured this themselves, at steps that are known."""
    if not _is_rival(row):
        return []
    own = [one for one in row.subjects if any(by_run.get(one) is not None for by_run in steps)]
    known = [one for one in own if measured.reading(one, parts) is not None]
    return [measured.runs[one].drawn for one in known]


def _where(group: Sequence[Draw], steps: Sequence[Steps]) -> str:
    states = Counter(str(one.state) for one in group if not one.has_succeeded)
    found = (by_run.get(one.run) for by_run in steps for one in group)
    at = sorted({step for step in found if step is not None})
    said = f"step{'s' if len(at) > 1 else ''} {listed(at) if len(at) > 1 else f'{at[0]:,}'}"
    return ", ".join([*(f"{n} {state}" for state, n in sorted(states.items())), said])


def _seeds_of(row: Row, parts: Sequence[Part], measured: Measured) -> Iterator[tuple[str, str]]:
    """The subjects of a row; one model that runs sampled with several seeds, once for each."""
    for one in row.subjects:
        seeds = measured.seeds(one, parts) if len(row.subjects) == 1 else []
        yield from ((one, seed) for seed in seeds or [""])


def _possible(interval: Span | None, parts: Sequence[Part]) -> Span | None:
    """The part of an interval in which the measure can lie."""
    measures = [measure for _, measure in parts]
    return possible(interval, measures[0]) if all(map(is_share, measures)) else interval


def _point(
    subject: str, seed: str, reading: Reading, parts: Sequence[Part], measured: Measured
) -> ResultsPoint:
    run = measured.runs.get(subject)
    found = [measured.measurement(subject, prompts, seed) for prompts, _ in parts]
    by = [one.by for one in found if one is not None]
    return ResultsPoint(
        run=None if run is None else run.id,
        # Of a start each seed that measured it; the model itself has the seed of its maker.
        seed=json.loads(seed) if seed else None if run is None else run.config.get("seed"),
        measured_by=list(dict.fromkeys(by)),
        value=reading.value,
        interval=_span(reading),
    )


def _change(
    row: Row,
    subjects: Sequence[str],
    ours: Reading,
    parts: Sequence[Part],
    measured: Measured,
    direction: Direction,
) -> ResultsChange | None:
    """Compute the change from the start: paired if all seeds were measured so, else independent.

    Of a start that the runs measured, each seed has its own.
    """
    if row.is_start:
        return None
    gains = [measured.gain(one, parts, row.start) for one in subjects]
    is_paired = None not in gains
    if not is_paired:
        gains = [measured.since_start(one, parts, row.start) for one in subjects]
    known = [one for one in gains if one is not None]
    # Evaluations with the start as baseline measured it, too: none of its own is needed then.
    start = None if len(known) == len(gains) else measured.reading(row.start, parts)
    if start is None and len(known) < len(gains):
        return None
    found = gain_of(known) if start is None else minus(ours, start)
    return ResultsChange(
        value=found.value,
        interval=_span(found),
        is_better=_is_better(found, direction),
        is_paired=is_paired,
    )


def _is_better(change: Reading, direction: Direction) -> bool:
    if change.low is None or change.high is None or direction == "none":
        return False
    return change.low > 0 if direction == "higher" else change.high < 0


def _best(
    cells: Sequence[ResultsCell | None],
    rows: Sequence[Row],
    parts: Sequence[Part],
    measured: Measured,
    direction: Direction,
) -> int | None:
    """The place of the group that is better than every other row, and its start where measured.

    None while a seed of a group with a value is missing or has not succeeded, or groups measured
    themselves at different steps.
    """
    known = {place: cell for place, cell in enumerate(cells) if cell is not None}
    groups = {place: cell for place, cell in known.items() if _is_rival(rows[place])}
    if len(known) < 2 or not groups:
        return None
    if not _have_come_to_one_end([rows[place] for place in groups], parts, measured):
        return None
    seeds = {place: [one.value for one in cell.points] for place, cell in groups.items()}
    best = best_of(seeds, is_lower_better=direction == "lower")
    is_decided = all(one.is_decided for one in best.differences.values()) and all(
        _beats(known[best.place], rows[best.place], cell, rows[place], direction)
        for place, cell in known.items()
        if place not in groups
    )
    change = known[best.place].change
    is_above_start = change is None or change.is_better
    return best.place if is_decided and is_above_start else None


def _is_rival(row: Row) -> bool:
    return row.is_group and not row.is_start


def _have_come_to_one_end(groups: Sequence[Row], parts: Sequence[Part], measured: Measured) -> bool:
    """Whether the values of groups can be compared, by what *Compare* asks of them, too."""
    draws = [[measured.runs[one].drawn for one in row.subjects] for row in groups]
    return not any(any(why_open(draws, measured.steps(part))) for part in parts)


def _beats(
    ours: ResultsCell, our_row: Row, theirs: ResultsCell, their_row: Row, direction: Direction
) -> bool:
    """Whether a group is better than a start, or than a model that no run made."""
    if our_row.start in their_row.subjects:
        return ours.change is not None and ours.change.is_better
    return _is_better(minus(_reading(ours), _reading(theirs)), direction)


def _reading(cell: ResultsCell) -> Reading:
    span = cell.interval
    return Reading(cell.value) if span is None else Reading(cell.value, span.low, span.high)


def _span(one: Reading) -> Span | None:
    return Span.of(one.low, one.high)
