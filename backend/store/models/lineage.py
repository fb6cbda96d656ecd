"""How models descend from one another, as far as somebody sees them.

Called by `backend.store.models.registry`. Models are read a generation at a time, and never more
than are answered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Row, or_, select
from sqlalchemy.orm import Session

from backend.domain.access import Caller
from backend.schemas.models import LineageNode
from backend.schemas.references import DATA
from backend.schemas.vocabulary import Method, ModelKind
from backend.store import record_names
from backend.store.tables.models import Model
from backend.store.tables.runs import Run

MOST_RELATIVES = 500


def of_model(session: Session, model: Model, caller: Caller) -> tuple[list[LineageNode], bool]:
    """Read the lineage, oldest first, and whether it is whole.

    It has ancestors with the reward models they used, the model itself, and descendants; beyond
    MOST_RELATIVES the oldest of a generation are left out, and the generations after it.
    """
    found = _Lineage(session, caller)
    generation = own = found.add([model], {model.id: "self"})
    while generation:
        above = _above(generation)
        wanted = above.keys() - found.nodes.keys()
        generation = found.add(found.read(Model.id.in_(wanted)) if wanted else [], above)
    generation = own
    while generation:
        children = found.read(Model.parent_id.in_([node.model_id for node in generation]))
        generation = found.add(children, {child.id: "descendant" for child in children})
    return found.in_order(), not found.is_cut


def seen_by(caller: Caller) -> Sequence[ColumnElement[bool]]:
    """What holds for a model that the caller sees: it is of such a project, or of none."""
    if caller.project_ids is None:
        return []
    return [or_(Model.project_id.is_(None), Model.project_id.in_(caller.project_ids))]


def id_of(reference: Mapping[str, Any] | None) -> str | None:
    """The id that a reference of a config names."""
    return reference.get("id") if reference else None


@dataclass
class _Lineage:
    """What was found so far."""

    session: Session
    caller: Caller
    nodes: dict[str, LineageNode] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    is_cut: bool = False

    def read(self, wanted: ColumnElement[bool]) -> Sequence[Model]:
        """The newest of these models, as many as there is room for."""
        room = MOST_RELATIVES - len(self.nodes)
        seen = select(Model).where(wanted, *seen_by(self.caller))
        models = self.session.scalars(seen.order_by(Model.number.desc()).limit(room + 1)).all()
        self.is_cut = self.is_cut or len(models) > room
        return models[:room]

    def add(self, models: Sequence[Model], relations: Mapping[str, str]) -> list[LineageNode]:
        """Add those of these models that are not there yet; returns what was added."""
        new = [model for model in models if model.id not in self.nodes]
        nodes = _nodes(self.session, new, relations, self.caller)
        self.nodes |= {node.model_id: node for node in nodes}
        self.numbers |= {model.id: model.number for model in new}
        return nodes

    def in_order(self) -> list[LineageNode]:
        return sorted(self.nodes.values(), key=lambda node: self.numbers[node.model_id])


def _above(nodes: Iterable[LineageNode]) -> dict[str, str]:
    """What these models were made from and scored by, by id."""
    found: dict[str, str] = {}
    for node in nodes:
        if node.parent_id is not None:
            found.setdefault(node.parent_id, "ancestor")
        for reward_id in node.reward_model_ids:
            found.setdefault(reward_id, "reward_model")
    return found


def _nodes(
    session: Session, models: Sequence[Model], relations: Mapping[str, str], caller: Caller
) -> list[LineageNode]:
    made = select(Run.id, Run.name, Run.method, Run.config)
    run_ids = [model.run_id for model in models if model.run_id]
    rows = session.execute(made.where(Run.id.in_(run_ids))) if run_ids else ()
    runs = {run.id: run for run in rows}
    used = {one for run in runs.values() for one in _snapshots_of(run.config)}
    names = record_names.of_ids(session, used, caller) if used else {}
    return [_node(model, runs.get(model.run_id), relations[model.id], names) for model in models]


def _node(
    model: Model, run: Row[Any] | None, relation: str, names: Mapping[str, str]
) -> LineageNode:
    config: Mapping[str, Any] = run.config if run else {}
    used = _snapshots_of(config)
    return LineageNode(
        model_id=model.id,
        name=model.name,
        kind=ModelKind(model.kind),
        parent_id=model.parent_id,
        run_id=model.run_id,
        run_name=run.name if run else None,
        method=Method(run.method) if run else None,
        snapshot_ids=used,
        snapshot_names=[names.get(one, one) for one in used],
        reward_model_ids=_reward_models_of(config),
        relation=relation,
    )


def _snapshots_of(config: Mapping[str, Any]) -> list[str]:
    return [one for name in DATA if (one := id_of(config.get(name)))]


def _reward_models_of(config: Mapping[str, Any]) -> list[str]:
    reward = config.get("reward") or {}
    terms = reward.get("terms", []) if isinstance(reward, dict) else reward
    scored = [id_of(term.get("model") or term.get("process_model")) for term in terms]
    return [one for one in scored if one]
