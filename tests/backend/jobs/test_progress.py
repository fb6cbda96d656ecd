"""How far a job says that it is."""

import os
from pathlib import Path
from typing import Any

import pytest

from backend import digest
from backend.jobs.inspect_model import inspect_model
from backend.jobs.work import JSON, Cancelled
from backend.settings import Settings
from backend.store.db import Database
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
