"""The upload as a file in the data directory: counted and hashed while it comes, gone afterwards.

Used by the import route. Whoever spools holds a lock on the file, so that another process knows
which files nobody needs any more.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from anyio import CancelScope
from anyio.to_thread import run_sync

from backend.errors import NoSpace, TooLarge
from backend.machine import disk_errors, disk_space
from backend.schemas.numbers import gb
from backend.uploads import limits

# Written, hashed and checked against the free disk in one go.
_PART = 1 * limits.MIB
_FRESH_S = 5.0
_AGAIN = "send the file again"


@dataclass(frozen=True)
class Upload:
    """A whole upload on disk."""

    path: Path
    size: int
    sha256: str


def folder_of(data_dir: Path) -> Path:
    """Where uploads and what is made of them lie for as long as they are needed."""
    return data_dir / "uploads"


def require_space(folder: Path, min_free_bytes: int, *, then: str = _AGAIN) -> None:
    """Raise NoSpace if less than `min_free_bytes` are free on the disk of a folder.

    `then`: what may be done again when there is space.
    """
    space = disk_space.look_at(folder, min_free_bytes)
    if space.is_low:
        raise NoSpace(
            f"the disk of the service has {gb(space.free_bytes)} free; it keeps "
            f"{gb(min_free_bytes)} free (PODIUM_MIN_FREE_GB)",
            advice=f"Free some disk space (`podium prune`), then {then}.",
        )


@asynccontextmanager
async def spooled(
    chunks: AsyncIterator[bytes], folder: Path, *, min_free_bytes: int
) -> AsyncIterator[Upload]:
    """Take the whole upload; the file is there as long as the context.

    Raises TooLarge beyond 128 MiB, NoSpace if the disk has less than `min_free_bytes` free.
    """
    path, file = await run_sync(_create, folder)
    try:
        size, sha256 = await _receive(chunks, file, folder, min_free_bytes)
        yield Upload(path, size, sha256)
    finally:
        with CancelScope(shield=True):
            await run_sync(_remove, path, file)


def remove_left_overs(folder: Path) -> None:
    """Remove the uploads of processes that are gone."""
    for path in folder.glob("upload-*"):
        with contextlib.suppress(OSError), path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A file that was made this moment may not be locked yet.
            if time.time() - os.fstat(file.fileno()).st_mtime > _FRESH_S:
                path.unlink(missing_ok=True)


async def _receive(
    chunks: AsyncIterator[bytes], file: IO[bytes], folder: Path, min_free_bytes: int
) -> tuple[int, str]:
    digest, size, held = hashlib.sha256(), 0, bytearray()

    def _keep(part: bytes) -> None:
        with full_disk_is_no_space():
            require_space(folder, min_free_bytes)
            file.write(part)
            file.flush()
        digest.update(part)

    await run_sync(require_space, folder, min_free_bytes)
    async for chunk in chunks:
        size += len(chunk)
        if size > limits.LARGEST_FILE:
            raise TooLarge(
                f"the file is larger than {limits.LARGEST_FILE // limits.MIB} MiB",
                advice="Split it and send the parts one after another.",
            )
        held += chunk
        if len(held) >= _PART:
            await run_sync(_keep, bytes(held))
            held.clear()
    if held:
        await run_sync(_keep, bytes(held))
    return size, digest.hexdigest()


@contextlib.contextmanager
def full_disk_is_no_space(*, then: str = _AGAIN) -> Iterator[None]:
    """Turn the errors of a full disk into NoSpace."""
    try:
        yield
    except OSError as error:
        if not disk_errors.is_full(error):
            raise
        raise NoSpace(
            "the disk of the service is full",
            advice=f"Free some disk space (`podium prune`), then {then}.",
        ) from error


def _create(folder: Path) -> tuple[Path, IO[bytes]]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"upload-{secrets.token_hex(16)}"
    file = os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    return path, file


def _remove(path: Path, file: IO[bytes]) -> None:
    path.unlink(missing_ok=True)
    file.close()
