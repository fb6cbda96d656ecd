"""Which project an object belongs to, asked by every request before anything else is read.

Called by `backend.phases` alone. What is missing gives None, so that one sentence answers for it
and for what the caller may not see.
"""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from backend.domain.operations import Of
from backend.store.tables.data import Assignment, Project, Snapshot
from backend.store.tables.models import Model
from backend.store.tables.runs import Experiment, Run
from backend.store.visibility import is_visible


class Owner(NamedTuple):
    """The project of an object; None for a model that belongs to all of them."""

    project_id: str | None


_COLUMNS: dict[Of, tuple[InstrumentedAttribute[str], InstrumentedAttribute[Any]]] = {
    Of.PROJECT: (Project.id, Project.id),
    Of.RUN: (Run.id, Run.project_id),
    Of.SNAPSHOT: (Snapshot.id, Snapshot.project_id),
    Of.MODEL: (Model.id, Model.project_id),
    Of.EXPERIMENT: (Experiment.id, Experiment.project_id),
    Of.ASSIGNMENT: (Assignment.id, Assignment.project_id),
}


def owner_of(session: Session, kind: Of, object_id: str, *, user_id: str) -> Owner | None:
    """The project that decides who may use this object; None if there is no such object.

    An assignment of another annotator is none of the caller's.
    """
    named = {"object_id": object_id}
    if kind is Of.ASSIGNMENT:
        named["user_id"] = user_id
    row = session.connection().execute(_statement(kind), named).one_or_none()
    return None if row is None else Owner(row[0])


@cache
def _statement(kind: Of) -> Select[Any]:
    id_column, project_column = _COLUMNS[kind]
    statement = select(project_column).where(id_column == bindparam("object_id"))
    if kind is Of.ASSIGNMENT:
        own = Assignment.user_id == bindparam("user_id")
        return statement.where(own, is_visible(Assignment))
    return statement
