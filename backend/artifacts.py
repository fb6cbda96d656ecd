"""The artifact store: folders of files under keys of ours, in a local folder or a bucket (fsspec).

Called when checkpoints and models are stored and when a run needs them again. Keys are made by
Podium and checked; a path from outside never becomes one.
"""

import errno
import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from backend import digest
from backend.errors import Damaged, InvalidInput, NotFound, Unavailable
from backend.machine import disk_errors, disk_space

MANIFEST = "podium-manifest.json"
# Begins the name of a folder that is not whole yet; no key begins like this.
ARRIVING = ".arriving-"
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=-]{0,127}(/[A-Za-z0-9_][A-Za-z0-9_.=-]{0,127}){0,7}")


@dataclass(frozen=True)
class StoredFile:
    """One file of a stored folder: `path` is relative to the folder, `key` names it in store."""

    path: str
    key: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class StoredFolder:
    """Something under a key, its size, and when its newest file was written."""

    key: str
    size_bytes: int
    modified_at: datetime


class ArtifactStore:
    """Folders under keys; a key is whole or absent."""

    def __init__(self, url: str) -> None:
        """A local folder, or a URL that fsspec knows (s3://bucket/prefix)."""
        self._root = None if "://" in url else Path(url)
        self._url = url.rstrip("/")

    def put_folder(
        self,
        folder: Path,
        key: str,
        check: Callable[[], None] = digest.go_on,
        *,
        only: Sequence[str] | None = None,
    ) -> list[StoredFile]:
        """Keep every file of a folder, or `only` these, under `key`, replacing what was there.

        A local store links the files hard where it can, so nothing is copied; do not write to them
        afterwards. `check` is called now and then; what it raises breaks off, and the key counts as
        absent. Raises InvalidInput for links and for a bad key.
        """
        _check(key)
        files = [_stored(folder, file, key, check) for file in _files(folder, only)]
        manifest = json.dumps([asdict(file) for file in files]).encode()
        if self._root is None:
            self._upload(folder, key, files, manifest, check)
        else:
            self._link(folder, self._root / key, files, manifest)
        return files

    def fetch_folder(
        self, key: str, target: Path, check: Callable[[], None] = digest.go_on
    ) -> None:
        """Put a stored folder at `target`; every file's hash is compared.

        If somebody puts it there at the same time, what comes first stays: it may be in use.
        `check` is called now and then; what it raises breaks off and leaves nothing. Raises
        NotFound for an unknown key, Damaged if a file is not what was stored, Unavailable if the
        bucket does not answer.
        """
        files = self.manifest(key)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _arriving(target) as temporary:
            for file in files:
                place = temporary / file.path
                place.parent.mkdir(parents=True, exist_ok=True)
                self._fetch(file.key, place, check)
                if digest.of_file(place, check).hex() != file.sha256:
                    raise _damaged(file.key)
            _rename_unless_there(temporary, target)

    def local_path(self, key: str) -> Path | None:
        """Where a stored folder lies on this machine, None if it does not (yet) or elsewhere."""
        _check(key)
        if self._root is None:
            return None
        path = self._root / key
        return path if (path / MANIFEST).is_file() else None

    def manifest(self, key: str) -> list[StoredFile]:
        """The files under a key. Raises NotFound."""
        _check(key)
        try:
            if self._root is not None:
                text = (self._root / key / MANIFEST).read_bytes()
            else:
                with self.answering():
                    text = self._remote().cat_file(f"{self._url}/{key}/{MANIFEST}")
        except FileNotFoundError as error:
            raise NotFound(
                f"the artifact store has no folder {key}",
                advice="Restore the artifact store from its backup.",
            ) from error
        return [StoredFile(**file) for file in json.loads(text)]

    def open(self, key: str) -> IO[bytes]:
        """A stored file by its own key, from its beginning; whoever asks for it closes it.

        Raises Damaged if it is not there, Unavailable if the bucket does not answer.
        """
        _check(key)
        try:
            if self._root is not None:
                return (self._root / key).open("rb")
            with self.answering():
                file: IO[bytes] = self._remote().open(f"{self._url}/{key}", "rb")
                return file
        except FileNotFoundError as error:
            raise _damaged(key) from error

    def folders(self) -> list[StoredFolder]:
        """What lies under `runs/RUN/NAME`, whole or not, by key."""
        if self._root is not None:
            found = [path for path in self._root.glob("runs/*/*") if path.is_dir()]
            folders = [_local_folder(path, self._root) for path in found]
        else:
            folders = self._remote_folders()
        return sorted((one for one in folders if _KEY.fullmatch(one.key)), key=lambda one: one.key)

    def _remote_folders(self) -> list[StoredFolder]:
        with self.answering():
            return self._listed(self._remote())

    def _listed(self, remote: Any) -> list[StoredFolder]:
        root = remote._strip_protocol(self._url)
        try:
            files: dict[str, Any] = remote.find(f"{root}/runs", detail=True)
        except FileNotFoundError:
            return []
        folders: dict[str, StoredFolder] = {}
        for path, about in files.items():
            key = "/".join(path.removeprefix(f"{root}/").split("/")[:3])
            at = _modified_at(remote, path)
            before = folders.get(key, StoredFolder(key, 0, at))
            size_bytes = before.size_bytes + int(about.get("size") or 0)
            folders[key] = StoredFolder(key, size_bytes, max(at, before.modified_at))
        return list(folders.values())

    def size_bytes(self, key: str) -> int:
        """How large a stored folder is; 0 if there is none."""
        if self._root is not None:
            return disk_space.size_bytes(self._root / key)
        try:
            return sum(file.size_bytes for file in self.manifest(key))
        except NotFound:
            return 0

    def check(self) -> None:
        """Write, read and remove a small file. Raises Unavailable if that cannot be done."""
        with self.answering():
            if self._root is not None:
                with tempfile.TemporaryFile(dir=self._root):
                    return
            place = f"{self._url}/podium-doctor-{uuid.uuid4().hex}"
            remote = self._remote()
            remote.pipe_file(place, b"podium")
            remote.cat_file(place)
            remote.rm(place)

    def where(self, key: str) -> str:
        """The folder or address of a key, for a person."""
        return f"{self._url}/{key}"

    def remove(self, key: str) -> None:
        """Forget a stored folder; an unknown key is no error."""
        _check(key)
        if self._root is not None:
            shutil.rmtree(self._root / key, ignore_errors=True)
            return
        with self.answering():
            remote = self._remote()
            if remote.exists(f"{self._url}/{key}"):
                remote.rm(f"{self._url}/{key}", recursive=True)

    def _link(self, folder: Path, place: Path, files: list[StoredFile], manifest: bytes) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _arriving(place) as temporary:
            for file in files:
                target = temporary / file.path
                target.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(folder / file.path, target)
            (temporary / MANIFEST).write_bytes(manifest)
            if place.exists():
                shutil.rmtree(place)
            temporary.rename(place)

    def _upload(
        self,
        folder: Path,
        key: str,
        files: list[StoredFile],
        manifest: bytes,
        check: Callable[[], None],
    ) -> None:
        for file in files:
            check()
            with self.answering():
                self._remote().put_file(str(folder / file.path), f"{self._url}/{file.key}")
        check()
        with self.answering():
            # Written last: without it the key counts as absent.
            self._remote().pipe_file(f"{self._url}/{key}/{MANIFEST}", manifest)

    def _fetch(self, key: str, place: Path, check: Callable[[], None]) -> None:
        try:
            if self._root is None:
                self._download(key, place, check)
            else:
                link_or_copy(self._root / key, place)
        except FileNotFoundError as error:
            raise _damaged(key) from error

    def _download(self, key: str, place: Path, check: Callable[[], None]) -> None:
        from fsspec.callbacks import Callback

        broken_off_by: list[Exception] = []

        def go_on(_: int | None, n_received: int) -> None:
            try:
                if n_received:
                    check()
            except Exception as error:
                broken_off_by.append(error)
                raise

        try:
            with self.answering():
                # Asked with every part of a file that arrives.
                parts = Callback(hooks={"go_on": go_on})
                self._remote().get_file(f"{self._url}/{key}", str(place), callback=parts)
        except Unavailable:
            if broken_off_by:
                raise broken_off_by[0] from None
            raise

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Turn what a bucket's client raises into Unavailable.

        An absent file stays that, and so does a disk here that is full.
        """
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            if disk_errors.is_full(error):
                raise
            raise Unavailable(
                f"the artifact store {self._url} cannot be used ({str(error)[:300]})",
                advice="Check that this machine can reach the artifact store and that the access "
                "key may read and write there.",
            ) from error

    def _remote(self) -> Any:
        # Not loaded without a bucket: it looks for file systems in all packages that it finds.
        import fsspec

        filesystem, _ = fsspec.core.url_to_fs(self._url)
        return filesystem


def _local_folder(path: Path, root: Path) -> StoredFolder:
    # The folder's own time: its files may have been linked from where they were written long ago.
    at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return StoredFolder(path.relative_to(root).as_posix(), disk_space.size_bytes(path), at)


def _modified_at(remote: Any, path: str) -> datetime:
    at: datetime = remote.modified(path)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


@contextmanager
def _arriving(place: Path) -> Iterator[Path]:
    """A folder beside `place`, to be renamed to it once it is whole; otherwise it vanishes."""
    temporary = Path(tempfile.mkdtemp(dir=place.parent, prefix=ARRIVING))
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _rename_unless_there(folder: Path, place: Path) -> None:
    try:
        folder.rename(place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def _damaged(key: str) -> Damaged:
    return Damaged(
        f"the stored file {key} is missing, or its sha256 is not the recorded one",
        advice="Restore the artifact store from its backup.",
    )


def _check(key: str) -> None:
    if not _KEY.fullmatch(key):
        raise InvalidInput(
            f"{key!r} cannot be a key of the artifact store",
            advice="Use up to 8 parts joined by /, each of 1 to 128 letters, digits, _ . = or -, "
            "beginning with a letter, a digit or _.",
        )


def _files(folder: Path, only: Sequence[str] | None) -> list[Path]:
    found = sorted(folder.rglob("*")) if only is None else [folder / name for name in only]
    for path in found:
        if path.is_symlink():
            raise InvalidInput(
                f"{path.name} is a link; expected plain files",
                advice="Replace the link with the file that it points to.",
            )
    return [path for path in found if path.is_file() and path.name != MANIFEST]


def _stored(folder: Path, file: Path, key: str, check: Callable[[], None]) -> StoredFile:
    path = file.relative_to(folder).as_posix()
    _check(f"{key}/{path}")
    sha256 = digest.of_file(file, check).hex()
    return StoredFile(path, f"{key}/{path}", sha256, file.stat().st_size)


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file a second name, or a copy where it must be; neither is to be written to."""
    try:
        os.link(source, target)
    except OSError:
        # Another file system, or one without hard links.
        shutil.copyfile(source, target)
