"""A disk that is full or cannot be written is one and the same for trainer, worker and store."""

import errno
import os

import pytest

from backend.artifacts import ArtifactStore
from backend.errors import Unavailable
from worker.run_directory.disk_errors import disk_errors
from worker.run_directory.failures import RunFailed
from worker.trainer.__main__ import as_trainer_error
from worker.trainer.errors import DiskError

FULL = [errno.ENOSPC, errno.EDQUOT]
UNWRITABLE = [*FULL, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG]
OTHERS = [errno.EIO, errno.ENOENT, errno.EMFILE]


def error(number: int) -> OSError:
    return OSError(number, os.strerror(number), "events.jsonl")


@pytest.mark.parametrize("number", UNWRITABLE, ids=errno.errorcode.get)
def test_what_cannot_be_written_is_told_as_the_disk(number: int) -> None:
    assert isinstance(as_trainer_error(error(number)), DiskError)
    with pytest.raises(RunFailed) as caught, disk_errors():
        raise error(number)
    assert caught.value.failure.cause == "disk"


@pytest.mark.parametrize("number", OTHERS, ids=errno.errorcode.get)
def test_other_errors_are_no_disks(number: int) -> None:
    assert not isinstance(as_trainer_error(error(number)), DiskError)
    with pytest.raises(OSError, match=os.strerror(number)), disk_errors():
        raise error(number)


@pytest.mark.parametrize("number", UNWRITABLE, ids=errno.errorcode.get)
def test_a_bucket_that_refuses_is_not_taken_for_a_full_disk_here(number: int) -> None:
    store = ArtifactStore("s3://bucket")

    expected = OSError if number in FULL else Unavailable
    with pytest.raises(expected), store.answering():
        raise error(number)
