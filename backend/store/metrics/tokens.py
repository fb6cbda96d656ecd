"""How many tokens a run had processed by a step: one row for each step at which the number grew.

`backend.store.metrics.points` notes what the trainer says, and asks where on the axis of tokens a
result from outside belongs. A million points are never read for that.
"""

from collections.abc import Collection, Iterable

from sqlalchemy import BigInteger, BindParameter, bindparam, delete, func, literal, select, true
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from backend.schemas.run_directory.events import LAST_STEP
from backend.store import dialect, given
from backend.store.tables.metrics import MetricPoint, TokenMark


def at_steps(session: Session, run_id: str, steps: Iterable[int]) -> dict[int, int]:
    """The most tokens that a point of the run had at each of these steps or before; 0 = none."""
    wanted = given.rows(session, {"step": BigInteger()}, [[step] for step in sorted({*steps})])
    newest = (
        select(TokenMark.tokens)
        .where(TokenMark.run_id == run_id, TokenMark.step <= wanted.c.step)
        .order_by(TokenMark.step.desc())
        .limit(1)
        .correlate(wanted)
        .scalar_subquery()
    )
    found = session.execute(select(wanted.c.step, func.coalesce(newest, 0)))
    return dict(found.all())


def note(session: Session, run_id: str, said: Iterable[tuple[int, int]]) -> None:
    """Take in (step, tokens) of points that are stored; in any order, and again without harm."""
    rising: list[tuple[int, int]] = []
    for step, tokens in sorted(said):
        if tokens > (rising[-1][1] if rising else 0):
            rising.append((step, tokens))
    if not rising:
        return
    last, most = _newest(session, run_id)
    # What lies behind all that is known is compared with the newest mark alone.
    known = {} if last <= rising[0][0] else at_steps(session, run_id, [step for step, _ in rising])
    # Of several at one step the last in order has most.
    new = {step: tokens for step, tokens in rising if tokens > known.get(step, most)}
    if not new:
        return
    types: given.Types = {"step": BigInteger(), "tokens": BigInteger()}
    passed = given.rows(session, types, new.items())
    # Without a condition, SQLite takes ON CONFLICT for the ON of a join.
    marks = select(literal(run_id), passed.c.step, passed.c.tokens).where(true())
    is_sqlite = dialect.is_sqlite(session)
    statement = (sqlite if is_sqlite else postgresql).insert(TokenMark)
    statement = statement.from_select(["run_id", "step", "tokens"], marks)
    more = {"tokens": statement.excluded.tokens}
    session.execute(statement.on_conflict_do_update(index_elements=["run_id", "step"], set_=more))
    if last > min(new):
        _drop_what_says_nothing(session, run_id, new)


def _newest(session: Session, run_id: str) -> tuple[int, int]:
    """The last mark, step and tokens; (-1, 0) if there is none."""
    marks = select(TokenMark.step, TokenMark.tokens).where(TokenMark.run_id == run_id)
    row = session.execute(marks.order_by(TokenMark.step.desc()).limit(1)).one_or_none()
    return (-1, 0) if row is None else (row[0], row[1])


def rewind(session: Session, run_id: str, after_step: int, kept: Collection[str]) -> None:
    """Forget what lies beyond a step, but for what points with the names `kept` say there."""
    beyond = TokenMark.step > after_step
    session.execute(delete(TokenMark).where(TokenMark.run_id == run_id, beyond))
    left = session.execute(
        select(MetricPoint.step, func.max(MetricPoint.tokens))
        .where(
            MetricPoint.run_id == run_id,
            MetricPoint.name.in_(kept),
            MetricPoint.step > after_step,
        )
        .group_by(MetricPoint.step)
    )
    note(session, run_id, [(step, tokens) for step, tokens in left])


def _drop_what_says_nothing(session: Session, run_id: str, new: dict[int, int]) -> None:
    """Delete marks with no more tokens than a new one before them; they follow it at once."""
    more = aliased(TokenMark)
    step: BindParameter[int] = bindparam("from_step")
    tokens: BindParameter[int] = bindparam("with_tokens")
    end = (
        select(more.step)
        .where(more.run_id == run_id, more.step > step, more.tokens > tokens)
        .order_by(more.step)
        .limit(1)
        .scalar_subquery()
    )
    dropped = delete(TokenMark).where(
        TokenMark.run_id == run_id,
        TokenMark.step > step,
        TokenMark.step < func.coalesce(end, LAST_STEP + 1),
    )
    session.connection().execute(
        dropped, [{"from_step": step, "with_tokens": count} for step, count in new.items()]
    )
