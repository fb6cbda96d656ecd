"""Which project an object belongs to, asked by every request before anything else is read.

`backend.phases` asks it together with who sends the request: see `people.callers`. What is missing
gives None, so that one sentence answers for it and for what the caller may not see.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, literal_column, null, select
from sqlalchemy.orm import InstrumentedAttribute

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


class Asked(NamedTuple):
    """An object that the address of a request names."""

    kind: Of
    id: str


def asked_of(kind: Of, named: Mapping[str, str]) -> Asked | None:
    """What an operation of this kind is about, by the names in its address; None: nothing."""
    return Asked(kind, named[f"{kind}_id"]) if kind in _COLUMNS else None


def columns(kind: Of | None) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """The project of the object `:object_id`, "" for one of all projects, and whose alone it is.

    The first is null if there is no such object, the second for all but assignments. Neither says
    anything of the user beside it, so that it is looked up once, not for each row of a membership.
    """
    if kind is None:
        return null(), null()
    id_column, project_column = _COLUMNS[kind]
    found = select(func.coalesce(project_column, literal_column("''")))
    found = found.where(id_column == bindparam("object_id"))
    if kind is not Of.ASSIGNMENT:
        return found.scalar_subquery(), null()
    found = found.where(is_visible(Assignment))
    annotator = found.with_only_columns(Assignment.user_id)
    return found.scalar_subquery(), annotator.scalar_subquery()


def read(project_id: str | None, only_of: str | None, *, sender_id: str) -> Owner | None:
    """What the columns say to a sender; None if there is no such object for this one."""
    if project_id is None or only_of not in (None, sender_id):
        return None
    return Owner(project_id or None)
