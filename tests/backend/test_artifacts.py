"""The artifact store, on a folder and through fsspec."""

import errno
import os
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from backend.artifacts import ArtifactStore
from backend.errors import Damaged, InvalidInput, NotFound, Unavailable


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    """A local store and one behind a URL."""
    if request.param == "folder":
        return ArtifactStore(str(tmp_path / "store"))
    return ArtifactStore(f"memory://{tmp_path.name}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file and a file in a folder."""
    made = tmp_path / "output"
    (made / "deep").mkdir(parents=True)
    (made / "model.safetensors").write_bytes(b"weights" * 1000)
    (made / "deep" / "config.json").write_text("{}")
    return made


def test_what_was_put_is_fetched_byte_by_byte(
    store: ArtifactStore, folder: Path, tmp_path: Path
) -> None:
    kept = store.put_folder(folder, "models/run_1")
    assert [file.path for file in kept] == ["deep/config.json", "model.safetensors"]
    assert kept[1].key == "models/run_1/model.safetensors"
    assert kept[1].size_bytes == 7000

    store.fetch_folder("models/run_1", tmp_path / "back")
    assert (tmp_path / "back" / "model.safetensors").read_bytes() == b"weights" * 1000
    assert (tmp_path / "back" / "deep" / "config.json").read_text() == "{}"
    assert sorted(p.name for p in (tmp_path / "back").iterdir()) == ["deep", "model.safetensors"]


def test_an_unknown_key_is_not_found_and_leaves_nothing(
    store: ArtifactStore, tmp_path: Path
) -> None:
    with pytest.raises(NotFound):
        store.fetch_folder("models/none", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_fetch_that_is_broken_off_leaves_nothing(
    store: ArtifactStore, folder: Path, tmp_path: Path
) -> None:
    class Enough(Exception):
        pass

    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise Enough

    store.put_folder(folder, "models/run_1")
    with pytest.raises(Enough):
        store.fetch_folder("models/run_1", tmp_path / "new" / "back", check)
    asked = 2
    store.fetch_folder("models/run_1", tmp_path / "new" / "whole", check)

    assert [path.name for path in (tmp_path / "new").iterdir()] == ["whole"]


def test_of_two_fetches_at_once_the_first_stays_and_is_never_away(
    store: ArtifactStore, folder: Path, tmp_path: Path
) -> None:
    """As two runs of one machine fetch one model: a trainer may read what came first."""
    store.put_folder(folder, "models/run_1")
    target = tmp_path / "new" / "back"
    opened: list[int] = []

    def come_first() -> None:
        if not opened:
            opened.append(0)
            store.fetch_folder("models/run_1", target)
            opened[0] = os.stat(target).st_ino

    store.fetch_folder("models/run_1", target, come_first)

    assert os.stat(target).st_ino == opened[0]
    assert (target / "model.safetensors").read_bytes() == b"weights" * 1000
    assert [path.name for path in target.parent.iterdir()] == ["back"]


class AwayFileSystem(MemoryFileSystem):  # type: ignore[misc]  # fsspec ships no types
    """A bucket whose client has errors of its own."""

    protocol = "away"

    def cat_file(self, *_: Any, **__: Any) -> bytes:
        raise RuntimeError("could not connect to the endpoint")

    put_file = get_file = find = exists = cat_file


def test_what_a_client_of_a_bucket_raises_is_told_as_an_unavailable_store(
    folder: Path, tmp_path: Path
) -> None:
    fsspec.register_implementation("away", AwayFileSystem, clobber=True)
    store = ArtifactStore("away://bucket")

    for use in (
        lambda: store.put_folder(folder, "models/run_1"),
        lambda: store.fetch_folder("models/run_1", tmp_path / "back"),
        lambda: store.remove("models/run_1"),
        store.folders,
    ):
        with pytest.raises(Unavailable, match="could not connect to the endpoint"):
            use()


class FullDiskFileSystem(MemoryFileSystem):  # type: ignore[misc]  # fsspec ships no types
    """A bucket whose files do not fit on the disk here."""

    protocol = "fulldisk"

    def get_file(self, _: str, place: str, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)


def test_a_disk_here_that_is_full_is_no_bucket_that_is_away(folder: Path, tmp_path: Path) -> None:
    fsspec.register_implementation("fulldisk", FullDiskFileSystem, clobber=True)
    store = ArtifactStore(f"fulldisk://{tmp_path.name}")
    store.put_folder(folder, "models/run_1")

    with pytest.raises(OSError, match="No space left"):
        store.fetch_folder("models/run_1", tmp_path / "back")


def test_a_file_that_is_gone_from_the_store_is_told_as_damage(
    store: ArtifactStore, folder: Path, tmp_path: Path
) -> None:
    store.put_folder(folder, "models/run_1")
    if (here := store.local_path("models/run_1")) is not None:
        (here / "model.safetensors").unlink()
    else:
        fsspec.filesystem("memory").rm(f"/{tmp_path.name}/models/run_1/model.safetensors")

    with pytest.raises(Damaged, match="its sha256 is not the recorded one"):
        store.fetch_folder("models/run_1", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_removed_key_is_gone(store: ArtifactStore, folder: Path, tmp_path: Path) -> None:
    store.put_folder(folder, "models/run_1")
    store.remove("models/run_1")
    store.remove("models/run_1")
    with pytest.raises(NotFound):
        store.manifest("models/run_1")


@pytest.mark.parametrize(
    "key", ["", "../x", "a/../b", "/etc", "a//b", ".hidden", "a/.b", "a\\b", "a b", "a\0", "a/"]
)
def test_a_bad_key_is_refused(store: ArtifactStore, folder: Path, key: str) -> None:
    for call in (store.manifest, store.local_path, store.remove):
        with pytest.raises(InvalidInput):
            call(key)
    with pytest.raises(InvalidInput):
        store.put_folder(folder, key)


def test_a_local_store_shares_the_bytes_and_replaces_the_folder_whole(
    folder: Path, tmp_path: Path
) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    assert store.local_path("models/run_1") is None
    store.put_folder(folder, "models/run_1")
    place = store.local_path("models/run_1")
    assert place is not None
    assert os.path.samefile(place / "model.safetensors", folder / "model.safetensors")

    (folder / "deep" / "config.json").unlink()
    store.put_folder(folder, "models/run_1")
    assert not (place / "deep" / "config.json").exists()
    assert [one.name for one in place.parent.iterdir()] == ["run_1"]


def test_changed_bytes_are_noticed(folder: Path, tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    store.put_folder(folder, "models/run_1")
    place = store.local_path("models/run_1")
    assert place is not None
    (place / "model.safetensors").write_bytes(b"other" * 1400)

    with pytest.raises(Damaged, match="its sha256 is not the recorded one"):
        store.fetch_folder("models/run_1", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_links_are_not_stored(store: ArtifactStore, folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(InvalidInput, match="link"):
        store.put_folder(folder, "models/run_1")


def test_a_half_upload_counts_as_absent(tmp_path: Path) -> None:
    store = ArtifactStore(f"memory://{tmp_path.name}")
    files = fsspec.filesystem("memory")
    files.pipe_file(f"/{tmp_path.name}/models/run_1/model.safetensors", b"x")
    with pytest.raises(NotFound):
        store.manifest("models/run_1")
