"""Records that nobody may see: those of an import that has not ended, or has failed.

An import commits in short batches. Its records carry its id, and here, in one place, every SELECT,
UPDATE and DELETE of every session leaves them out until the import is complete: joins, subqueries,
counts and aliases too. `backend.store.db` loads this module, so that no session is without it.

The few statements that every annotator waits for go to the connection itself, which costs a third,
and say `is_visible` of each table that they read.
"""

from sqlalchemy import ColumnElement, event, literal_column, or_, select
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria

from backend.store import dialect
from backend.store.tables.columns import FromImport
from backend.store.tables.data import Import

WRITING, COMPLETE, FAILED = "writing", "complete", "failed"
# Complete for everybody; judgments of earlier comparisons are still being counted.
SETTLING = "settling"
UNFINISHED = (WRITING, FAILED)

_SEES_ALL = "podium_sees_unfinished_imports"
_CHECKED = "podium_has_unfinished_imports"
_SEES_ANEW = "podium_each_statement_sees_anew"
# Written out: a list of parameters would be spelled out again each time.
_UNFINISHED_IDS = select(Import.id).where(
    or_(*(Import.state == literal_column(f"'{state}'") for state in UNFINISHED))
)
# Sent as text: the check precedes the first query of every transaction on SQLite.
_ANY_UNFINISHED = "SELECT EXISTS (SELECT 1 FROM imports WHERE state IN ('writing', 'failed'))"


def see_unfinished(session: Session) -> None:
    """Let a session see the records of unfinished imports; for the import itself alone."""
    session.info[_SEES_ALL] = True


def see_anew(session: Session) -> None:
    """Note that each statement of a session sees a state of the database of its own."""
    session.info[_SEES_ANEW] = True


def is_visible(table: type[FromImport]) -> ColumnElement[bool]:
    """Whether a record of the enclosing query's table may be seen by everybody."""
    return or_(table.import_id.is_(None), table.import_id.not_in(_UNFINISHED_IDS))


_ONLY_VISIBLE = with_loader_criteria(
    FromImport, is_visible, include_aliases=True, track_closure_variables=False
)


@event.listens_for(Session, "do_orm_execute")
def _hide(execution: ORMExecuteState) -> None:
    is_query = execution.is_select or execution.is_update or execution.is_delete
    if not is_query or execution.is_column_load or not execution.is_orm_statement:
        return
    session = execution.session
    if session.info.get(_SEES_ALL):
        execution.update_execution_options(**{_SEES_ALL: True})
    elif _has_unfinished(session):
        execution.statement = execution.statement.options(_ONLY_VISIBLE)


def _has_unfinished(session: Session) -> bool:
    """Whether there may be records to hide from this transaction.

    A transaction of SQLite sees one state of the database from its first query to its end, or
    writes alone; so it is asked once. On PostgreSQL, and in a session that only looks, each
    statement sees a state of its own, and so each has to look for itself.
    """
    if session.info.get(_SEES_ANEW) or not dialect.is_sqlite(session):
        return True
    connection = session.connection()
    transaction, found = session.info.get(_CHECKED, (None, False))
    if transaction is not session.get_transaction():
        found = bool(connection.exec_driver_sql(_ANY_UNFINISHED).scalar())
        session.info[_CHECKED] = (session.get_transaction(), found)
    return bool(found)
