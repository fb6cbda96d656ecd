"""Digests of large files: read once, and every change noticed."""

import hashlib
import os
import sys
from pathlib import Path

import numpy
import psutil

from worker.digests import Digests


def bytes_read() -> int:
    """What this process has read so far, files in memory too."""
    return int(psutil.Process().io_counters().read_chars)


def test_a_file_that_nobody_touches_is_read_once() -> None:
    # Installed long ago, and large enough to tell.
    (file,) = Path(numpy.__file__).parent.glob("_core/_multiarray_umath*.so")
    size = file.stat().st_size
    assert size > 1_000_000
    digests = Digests()
    before = bytes_read()

    first = digests.of(file)
    once = bytes_read() - before
    second = digests.of(file)
    twice = bytes_read() - before

    assert first == second == hashlib.sha256(file.read_bytes()).digest()
    assert once >= size
    assert twice - once < size / 10


def test_a_file_that_changes_under_the_same_size_and_date_is_noticed(tmp_path: Path) -> None:
    digests = Digests()
    file = tmp_path / "weights"
    file.write_bytes(b"before")
    long_ago = (file.stat().st_atime_ns, file.stat().st_mtime_ns - 3600 * 10**9)
    os.utime(file, ns=long_ago)
    digests.of(file)

    file.write_bytes(b"after!")
    os.utime(file, ns=long_ago)

    assert digests.of(file) == hashlib.sha256(b"after!").digest()


def test_a_file_in_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    digests = Digests()
    old, link = Path(sys.executable).resolve(), tmp_path / "weights"
    link.symlink_to(old)
    digests.of(link)

    other = tmp_path / "other"
    other.write_bytes(b"another")
    link.unlink()
    link.symlink_to(other)

    assert digests.of(link) == hashlib.sha256(b"another").digest()
