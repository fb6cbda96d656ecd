"""The names of the models and snapshots that configs name by their ids."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.domain.seeds.records import ids_in
from backend.store.tables.data import Snapshot
from backend.store.tables.models import Model


def of_configs(session: Session, configs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By id; several can have one name."""
    ids = set[str]().union(*map(ids_in, configs))
    models = select(Model.id, Model.name).where(Model.id.in_(ids))
    data = select(Snapshot.id, Snapshot.name).where(Snapshot.id.in_(ids))
    return dict(session.execute(models).all()) | dict(session.execute(data).all())
