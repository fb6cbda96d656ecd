"""Facts: what a run is found by beyond its own columns, one row for each key.

    config.PATH    a leaf of the config: `text` in lower case, `number` where it is one
    tags           all tags in lower case, each between line ends
    metric.NAME    the newest value in `number`, the least and the greatest beside it

`backend.store.runs` writes config and tags as they are set, `backend.store.metrics.extremes` the
metrics; runs that are older than the table get theirs from the worker's sweeper.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Insert,
    ScalarSelect,
    String,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from backend.domain.filters.fields import LONGEST_KEY
from backend.schemas.numbers import finite
from backend.store import dialect, given
from backend.store.tables.runs import Run, RunFact

# Of a text of the config so much is compared.
LONGEST_TEXT = 200
# Leaves of one config; the largest that a schema allows have a tenth.
_MOST_LEAVES = 1000
TAGS = "tags"
_TAGS: given.Types = {"run": BigInteger(), "text": String()}
_KEY: given.Types = {"key": String()}
# So many of a project's newest runs are looked through, and so many tags are told.
_LOOKED_THROUGH = 300
_MOST_TAGS = 1000
# No run is without it.
_EVERY_RUN_HAS = "config.method"


def write(session: Session, run: Run) -> None:
    """Store what a run is found by, except its metrics; of a run that has no facts yet."""
    rows = [
        {"key": key, "run": run.number, "text": text, "number": number}
        for key, (text, number) in of_config(run.config).items()
    ]
    if rows:
        given.insert_all(session, RunFact, rows)
    write_tags(session, [(run.number, run.tags)])


def write_tags(session: Session, tags_of: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Store the tags of these runs, by number, instead of those that they had."""
    if not tags_of:
        return
    connection = session.connection()
    if untagged := [number for number, tags in tags_of if not tags]:
        is_one = given.is_among(session, RunFact.run, untagged)
        connection.execute(delete(RunFact).where(RunFact.key == TAGS, is_one))
    rows = [(number, joined(tags)) for number, tags in tags_of if tags]
    if rows:
        passed = {"given": given.json_of(_TAGS, rows)}
        connection.execute(_tagging(is_sqlite=dialect.is_sqlite(session)), passed)


@cache
def _tagging(*, is_sqlite: bool) -> Insert:
    """Give runs their tags in one statement: PostgreSQL takes many rows one by one otherwise."""
    now = given.table(_TAGS, sqlite=is_sqlite)
    # Without a condition, SQLite takes ON CONFLICT for the ON of a join.
    found = select(literal(TAGS), now.c.run, now.c.text).where(true())
    new = (sqlite if is_sqlite else postgresql).insert(RunFact)
    new = new.from_select(["key", "run", "text"], found)
    tagging: Insert = new.on_conflict_do_update(
        index_elements=["key", "run"], set_={"text": new.excluded.text}
    )
    return tagging


def joined(tags: Sequence[str]) -> str:
    """Tags in one text, in which `tag_in` finds each whole."""
    # All at once: a change of many runs joins ten thousand.
    return "\0".join(["", *tags, ""]).replace("\n", " ").replace("\0", "\n").lower()


def tag_in(tag: str) -> str:
    """Write a tag as `joined` does, to search for it there."""
    return joined([tag])


def of_config(config: Mapping[str, Any]) -> dict[str, tuple[str, float | None]]:
    """Text and number of each leaf of a config by its key; null is no leaf."""
    found: dict[str, tuple[str, float | None]] = {}
    for path, value in _leaves(config, "config"):
        if value is not None and len(path) <= LONGEST_KEY and len(found) < _MOST_LEAVES:
            found[path] = (str(value).lower()[:LONGEST_TEXT], _number(value))
    return found


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _leaves(inner, f"{path}.{place}")
    else:
        yield path, value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return finite(number)


def missing(session: Session, after: int, *, limit: int) -> list[tuple[int, str]]:
    """Number and id of the next runs, by number, that have no facts."""
    has = exists().where(RunFact.key == _EVERY_RUN_HAS, RunFact.run == Run.number)
    wanted = select(Run.number, Run.id).where(Run.number > after, ~has)
    found = session.execute(wanted.order_by(Run.number).limit(limit))
    return [(number, run_id) for number, run_id in found]


def keys(session: Session, project_id: str) -> list[str]:
    """The keys that the runs of a project have, sorted.

    The newest have nearly all of them; each other key of the table is looked for by itself.
    """
    newest = select(Run.number).where(Run.project_id == project_id)
    numbers = session.scalars(newest.order_by(Run.number.desc()).limit(_LOOKED_THROUGH)).all()
    is_newest = given.is_among(session, RunFact.run, numbers)
    found = set(session.scalars(select(RunFact.key).where(is_newest).distinct()))
    if len(numbers) == _LOOKED_THROUGH:
        every = session.scalars(select(_every_key()))
        others = {key for key in every if key is not None} - found
        found |= _of_older(session, project_id, numbers[-1], others)
    return sorted(found - {TAGS})


@cache
def _every_key() -> ColumnElement[str | None]:
    """All keys and a null, each by one look into the index: there are few beside so many rows."""
    least = func.min(RunFact.key)
    every = select(least.label("key")).cte("every", recursive=True)
    after = select(least).where(RunFact.key > every.c.key).scalar_subquery()
    return every.union_all(select(after).where(every.c.key.is_not(None))).c.key


def _of_older(session: Session, project_id: str, before: int, wanted: Collection[str]) -> set[str]:
    """Which of these keys the project's runs before this number have."""
    asked = given.rows(session, _KEY, [[key] for key in wanted])
    # Nothing that only runs of others before the project have is read.
    oldest = session.scalar(select(func.min(Run.number)).where(Run.project_id == project_id))
    is_older = RunFact.run.between(oldest, before - 1)

    def run_at(end: Callable[..., ColumnElement[int]]) -> ScalarSelect[int]:
        """The first or the last run with the key."""
        of_key = select(end(RunFact.run)).where(RunFact.key == asked.c.key, is_older)
        return of_key.correlate(asked).scalar_subquery()

    def is_own(run: ScalarSelect[int]) -> ColumnElement[bool]:
        own = select(Run.number).where(Run.number == run, Run.project_id == project_id)
        return own.correlate(asked).exists()

    first, last = run_at(func.min), run_at(func.max)
    ends = select(asked.c.key, or_(is_own(first), is_own(last))).where(first.is_not(None))
    own_at_end: dict[str, bool] = dict(session.execute(ends).all())
    found = {key for key, is_own in own_at_end.items() if is_own}
    # What other projects have, too, or alone.
    if others := own_at_end.keys() - found:
        # All at once: one by one, PostgreSQL takes seconds until the facts have been vacuumed.
        is_other = given.is_among(session, RunFact.key, others)
        own = select(Run.number).where(Run.project_id == project_id)
        rest = select(RunFact.key).where(is_other, is_older, RunFact.run.in_(own))
        found.update(session.scalars(rest.distinct()))
    return found


def tags(session: Session, project_id: str) -> list[str]:
    """The tags that the newest runs of a project have, the most frequent first."""
    newest = select(Run.tags).where(Run.project_id == project_id)
    rows = session.scalars(newest.order_by(Run.number.desc()).limit(_LOOKED_THROUGH))
    often = Counter(tag for of_run in rows for tag in of_run)
    return [tag for tag, _ in often.most_common(_MOST_TAGS)]
