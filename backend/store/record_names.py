"""The names of models and snapshots, as far as somebody sees them, and of users, by their ids.

A run may read data of a project that not everybody who sees the run belongs to: whoever does not is
shown the id. Whether somebody is told who a user is, the caller decides.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.domain.seeds.named_ids import ids_in
from backend.store.tables.data import Snapshot
from backend.store.tables.models import Model
from backend.store.tables.people import User


def of_configs(
    session: Session, configs: Iterable[Mapping[str, Any]], caller: Caller
) -> dict[str, str]:
    """Read the names of the records in these configs by id; several can have one name."""
    return of_ids(session, set[str]().union(*map(ids_in, configs)), caller)


def of_ids(session: Session, ids: Collection[str], caller: Caller) -> dict[str, str]:
    """Read names of models and snapshots by id, without those that the caller does not see."""
    found: dict[str, str] = {}
    for table in (Model, Snapshot):
        rows = session.execute(
            select(table.id, table.name, table.project_id).where(table.id.in_(ids))
        )
        found |= {one: name for one, name, project_id in rows if caller.sees(project_id)}
    return found


def of_users(session: Session, user_ids: Iterable[str]) -> dict[str, str]:
    """Read the name of each of these users."""
    rows = session.execute(select(User.id, User.name).where(User.id.in_(user_ids)))
    return {row[0]: row[1] for row in rows}
