"""How far a job says that it is."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from backend import digest
from backend.jobs.agreement import agreement
from backend.jobs.inspect_model import inspect_model
from backend.jobs.work import JSON, Cancelled
from backend.settings import Settings
from backend.store.data import agreement as reading
from backend.store.db import Database
from tests.backend.jobs import planted
from tests.backend.test_models import write_safetensors


class Watched:
    """A job as its work function sees it: keeps what it says, and is unwanted after so many."""

    job_id = "job_x"

    def __init__(self, database: Database, settings: Settings, **arguments: JSON) -> None:
        self.database = database
        self.settings = settings
        self.arguments = arguments
        self.said: list[tuple[int, int | None]] = []
        self.wanted = 1_000_000

    def progress(self, done: int, total: int | None) -> None:
        self.said.append((done, total))

    def check(self) -> None:
        self.wanted -= 1
        if self.wanted < 0:
            raise Cancelled


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Those of a service with an empty data directory."""
    (tmp_path / "data" / "models").mkdir(parents=True)
    return Settings(data_dir=tmp_path / "data")


def model(settings: Settings, size: int) -> dict[str, Any]:
    """The source of a model whose weights have this size."""
    folder = settings.data_dir / "models" / "m"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    write_safetensors(folder / "model.safetensors", {"w": ("F32", [1])})
    os.truncate(folder / "model.safetensors", size)
    return {"path": str(folder), "hub_id": None}


def test_hashing_knows_from_its_beginning_how_much_it_reads(
    database: Database, settings: Settings
) -> None:
    size = 3 * digest.CHUNK_BYTES + 100
    work = Watched(database, settings, source=model(settings, size))

    inspect_model(work)

    whole = size + len("{}")
    done = [one for one, _ in work.said]
    assert {total for _, total in work.said} == {whole}
    assert done == sorted(done)
    assert (done[0], done[-1]) == (len("{}"), whole)


def test_hashing_ends_when_nobody_wants_it_any_more(database: Database, settings: Settings) -> None:
    work = Watched(database, settings, source=model(settings, 9 * digest.CHUNK_BYTES))
    work.wanted = 3
    with pytest.raises(Cancelled):
        inspect_model(work)
    assert len(work.said) == 3


def test_what_is_too_large_to_hash_has_nothing_to_do(
    database: Database, settings: Settings
) -> None:
    work = Watched(database, settings, source=model(settings, 3 * 2**30))

    assert inspect_model(work)["sha256"] is None

    assert work.said == [(0, 0)]


@pytest.fixture
def judged(database: Database) -> str:
    """A project with 40 judgments that count, and some that were revised."""
    with database.write() as session:
        project, user = planted.project(session)
        ids = planted.prompts(session, project, 20)
        other = planted.project(session, "other")[1]
        planted.judged(session, project, [user, other], ids, random.Random(1))
    return project


def test_agreement_says_how_many_judgments_it_has_read(
    database: Database, settings: Settings, judged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_AT_ONCE", 15)
    work = Watched(database, settings, project_id=judged, sees_names=False)

    agreement(work)

    assert {total for _, total in work.said} == {40}
    assert sorted({done for done, _ in work.said}) == [0, 15, 30, 40]
    assert work.said == sorted(work.said)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_agreement_ends_when_nobody_wants_it_any_more(
    database: Database, settings: Settings, judged: str, share: float
) -> None:
    whole = Watched(database, settings, project_id=judged, sees_names=False)
    agreement(whole)
    work = Watched(database, settings, project_id=judged, sees_names=False)
    work.wanted = allowed = int(share * (len(whole.said) - 1))
    with pytest.raises(Cancelled):
        agreement(work)
    assert len(work.said) == allowed
