"""Responses of two runs to the same prompts, pair by pair, and what people said of them.

A pair is a response of each run to one prompt with the same index: where both runs have one seed
and one way of sampling, these were drawn with the same random numbers. Called by
`backend.api.versus`.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session, aliased

from backend.domain import versus
from backend.domain.versus import Pair, Vote
from backend.errors import InvalidInput, NotFound
from backend.schemas.compared.versus import PairsPutUp, RunStep, VersusAnswer, VersusBody
from backend.schemas.metrics.verdicts import Span
from backend.schemas.vocabulary import Method, RunState
from backend.store.data import comparisons, judgments, projects
from backend.store.ids import in_parts
from backend.store.runs import runs
from backend.store.tables.data import Comparison, Judgment, Response
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from intervals.interval import Interval

_Ours, _Theirs = aliased(Response), aliased(Response)
_SAME_TEXT = _Ours.content_sha256 == _Theirs.content_sha256
# Ids in one statement.
_MOST_IDS = 5000


class PairsTaken(Exception):
    """Somebody else has put up some of these pairs since they were chosen."""


class Chosen(NamedTuple):
    """Pairs to put up, and how many more there are."""

    pairs: Sequence[Pair]
    left: int


def choose(session: Session, run_id: str, body: VersusBody) -> Chosen:
    """Pairs that differ and are not up yet: first one of each prompt.

    It reads all responses of both runs, so nobody waits for it: `put_up` writes in a transaction of
    its own. Raises NotFound for a run that is not in the project, InvalidInput for runs that did
    not answer the same prompts.
    """
    run, other = _both(session, run_id, body.other_run_id)
    n_pairs, n_identical = _counted(session, run, other)
    if n_pairs == 0:
        raise InvalidInput(
            "the two runs have no prompt in common",
            advice="Name two generate runs on one snapshot of prompts.",
        )
    known = set(_put_up(session, run, other).values())
    # By hash: which prompts come first says nothing of them.
    found = session.execute(
        select(_Ours.prompt_id, _Ours.id, _Theirs.id)
        .where(*_match(run, other), ~_SAME_TEXT)
        .order_by(_Ours.index, _Ours.content_sha256, _Ours.number)
        .limit(body.pairs + len(known))
    )
    chosen = [pair for row in found if (pair := Pair(*row)) not in known][: body.pairs]
    return Chosen(chosen, left=n_pairs - n_identical - len(known) - len(chosen))


def put_up(
    session: Session, run_id: str, body: VersusBody, chosen: Chosen, *, at: datetime
) -> PairsPutUp:
    """Make comparisons of the chosen pairs. Raises PairsTaken, and what `choose` raises."""
    run, other = _both(session, run_id, body.other_run_id)
    projects.lock(session, run.project_id)
    # By prompt alone: the index of the project would have all of its comparisons read.
    of_prompts = Comparison.prompt_id.in_({pair.prompt_id for pair in chosen.pairs})
    up = _pairs(session, run, other, of_prompts, _of_either(run, other))
    if not set(chosen.pairs).isdisjoint(up.values()):
        raise PairsTaken
    choices = [(pair.prompt_id, [pair.ours, pair.theirs]) for pair in chosen.pairs]
    comparisons.create_chosen(session, run, choices, at=at)
    return PairsPutUp(created=len(choices), left=chosen.left)


def answer(session: Session, run_id: str, other_run_id: str) -> VersusAnswer:
    """What people have said so far. Raises as `put_up`."""
    run, other = _both(session, run_id, other_run_id)
    n_pairs, n_identical = _counted(session, run, other)
    up = _put_up(session, run, other)
    votes = list(_votes(session, run, other, up))
    of_judged = {one for vote in votes for one in (vote.pair.ours, vote.pair.theirs)}
    found = versus.win_rate(votes, _tokens(session, sorted(of_judged)))
    rate_at_equal_length, interval_at_equal_length = found.at_equal_length or (None, None)
    return VersusAnswer(
        pairs=n_pairs,
        identical=n_identical,
        put_up=len(up),
        judged=found.judged,
        won=found.won,
        tied=found.tied,
        lost=found.lost,
        left_out=found.left_out,
        win_rate=found.rate,
        interval=_span(found.interval),
        win_rate_at_equal_length=rate_at_equal_length,
        interval_at_equal_length=_span(interval_at_equal_length),
        not_alike=versus.not_alike(run.config, other.config),
        trained_by=_trained_by(session, run),
    )


def _span(interval: Interval | None) -> Span | None:
    return Span.of(*(interval or (None, None)))


def _trained_by(session: Session, run: Run) -> RunStep | None:
    """Who trained the model that the run sampled from: whoever sees the run sees its project."""
    model_id = (run.config.get("model") or {}).get("id")
    if model_id is None:
        return None
    found = session.execute(
        select(Model.run_id, Model.step)
        .join(Run, Run.id == Model.run_id)
        .where(Model.id == model_id, Model.step.is_not(None), Run.project_id == run.project_id)
    ).one_or_none()
    return None if found is None else RunStep(run=found.run_id, step=found.step)


def _both(session: Session, run_id: str, other_run_id: str) -> tuple[Run, Run]:
    run, other = runs.get(session, run_id), runs.get(session, other_run_id)
    if other.project_id != run.project_id:
        raise NotFound(f"there is no run {other_run_id}")
    if run.id == other.id:
        raise InvalidInput("a run cannot be judged against itself", advice="Name another run.")
    for one in (run, other):
        if one.method != Method.GENERATE or one.state != RunState.SUCCEEDED:
            raise InvalidInput(
                f"the run {one.name!r} has the method {one.method} and is {one.state}; expected a "
                "generate run that succeeded",
                advice="Sample responses with a generate run of each model first.",
            )
    return run, other


def _match(run: Run, other: Run) -> tuple[ColumnElement[bool], ...]:
    """Responses of both runs to one prompt, with one index."""
    return (
        _Ours.run_id == run.id,
        _Theirs.run_id == other.id,
        _Ours.prompt_id == _Theirs.prompt_id,
        _Ours.index == _Theirs.index,
    )


def _counted(session: Session, run: Run, other: Run) -> tuple[int, int]:
    """All pairs, and those that are one text twice."""
    n_identical = func.count().filter(_SAME_TEXT)
    row = session.execute(select(func.count(), n_identical).where(*_match(run, other))).one()
    return row[0], row[1]


def _put_up(session: Session, run: Run, other: Run) -> dict[str, Pair]:
    """The pairs of both runs that are comparisons already, whichever of them was asked first."""
    return _pairs(session, run, other, _of_either(run, other))


def _pairs(session: Session, run: Run, other: Run, *which: ColumnElement[bool]) -> dict[str, Pair]:
    """Find the comparisons of one response of each run, by their id."""
    found = session.execute(
        select(Comparison.id, Comparison.prompt_id, Comparison.response_ids).where(*which)
    ).all()
    of_two = [row for row in found if len(row.response_ids) == 2]
    makers = _makers(session, [one for row in of_two for one in row.response_ids])
    pairs = {}
    for comparison_id, prompt_id, both in of_two:
        by = {makers[one]: one for one in both}
        if by.keys() == {run.id, other.id}:
            pairs[comparison_id] = Pair(prompt_id, by[run.id], by[other.id])
    return pairs


def _of_either(run: Run, other: Run) -> ColumnElement[bool]:
    """Whether either run has a comparison."""
    return Comparison.run_id.in_((run.id, other.id))


def _makers(session: Session, response_ids: Sequence[str]) -> dict[str, str | None]:
    """The run that each of these responses is of."""
    found: dict[str, str | None] = {}
    for some in in_parts(response_ids, _MOST_IDS):
        rows = session.execute(select(Response.id, Response.run_id).where(Response.id.in_(some)))
        found |= {row[0]: row[1] for row in rows}
    return found


def _tokens(session: Session, response_ids: Sequence[str]) -> dict[str, int]:
    """How many tokens each of these responses has, as far as it is known."""
    found: dict[str, int] = {}
    for some in in_parts(response_ids, _MOST_IDS):
        rows = session.execute(select(Response.id, Response.n_tokens).where(Response.id.in_(some)))
        found |= {row[0]: row[1] for row in rows if row[1] is not None}
    return found


def _votes(session: Session, run: Run, other: Run, up: Mapping[str, Pair]) -> Iterator[Vote]:
    """The judgments that count, of these comparisons."""
    judged = (
        judgments.latest_of(_of_either(run, other))
        .join(Comparison, Comparison.id == Judgment.comparison_id)
        .order_by(Judgment.number)
    )
    for one in session.scalars(judged):
        # Other comparisons of these runs are of one run's responses, or with a third run.
        if one.comparison_id in up:
            yield Vote(up[one.comparison_id], judgments.first_ranking(one))
