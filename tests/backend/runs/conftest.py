"""Fixtures for the tests of runs: a store, once per kind of database, with something to run."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from backend.store.db import Database
from backend.store.tables.data import Project, Snapshot
from backend.store.tables.models import Model
from backend.store.tables.people import User
from tests.served import Server

AT = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
COUNTS = {
    "demonstrations": {"train": {"records": 6}, "heldout": {"records": 2}},
    "preferences": {"train": {"records": 4, "pairs": 12, "ties": 1}},
    "prompts": {"train": {"records": 8}, "heldout": {"records": 2}},
    "solutions": {"train": {"records": 5}},
}


@dataclass(frozen=True)
class Seed:
    """Ids of what a fresh store holds: a project, snapshots of each kind, models of each kind."""

    user: str = "user_seed"
    project: str = "project_seed"
    demonstrations: str = "snapshot_demonstrations"
    preferences: str = "snapshot_preferences"
    prompts: str = "snapshot_prompts"
    policy: str = "model_policy"
    reward_model: str = "model_reward"

    def sft(self, **changes: Any) -> dict[str, Any]:
        """A config that can be run."""
        config = {
            "method": "sft",
            "model": {"id": self.policy},
            "demonstrations": {"id": self.demonstrations},
        }
        return config | changes

    def policy_gradient(self, **changes: Any) -> dict[str, Any]:
        """A config with a reward model in it."""
        term = {"kind": "model", "model": {"id": self.reward_model}}
        config = {
            "method": "policy_gradient",
            "model": {"id": self.policy},
            "prompts": {"id": self.prompts},
            "reward": {"terms": [term]},
        }
        return config | changes

    def body(self, config: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """The body of POST /runs."""
        return {"project_id": self.project, "name": "a run", "config": config} | changes


def plant(database: Database) -> Seed:
    """Put the seed into an empty migrated store."""
    seed = Seed()
    with database.write() as session:
        session.add(User(id=seed.user, created_at=AT, name="seed", role="researcher"))
        session.add(Project(id=seed.project, created_at=AT, name="seed"))
        session.flush()
        for kind, counts in COUNTS.items():
            session.add(
                Snapshot(
                    id=f"snapshot_{kind}",
                    created_at=AT,
                    project_id=seed.project,
                    name=kind,
                    kind=kind,
                    sha256=f"{len(kind):x}" * 64,
                    heldout_fraction=0.2,
                    seed=0,
                    filter={},
                    counts=counts,
                )
            )
        for model_id, kind in ((seed.policy, "causal_lm"), (seed.reward_model, "reward_model")):
            session.add(
                Model(
                    id=model_id,
                    created_at=AT,
                    name=kind,
                    kind=kind,
                    source={"hub_id": "owner/name"},
                    facts={"vocab_size": 512, "chat_template_sha256": "t"},
                    sha256=None,
                )
            )
    return seed


@pytest.fixture
def seed(database: Database) -> Seed:
    """A store with something to run, once per kind of database."""
    return plant(database)


@pytest.fixture
def server(store_url: str, seed: Seed, tmp_path: Path) -> Iterator[Server]:
    """A running server over a seeded store."""
    server = Server(store_url, tmp_path / "served")
    yield server
    server.close()
