"""Which errors of the operating system say that a disk is full, or that it cannot be written.

Used where a failure may have other causes: uploads, artifacts, the worker, the trainer's end. A
write of the trainer into its run directory that fails for any reason counts as the disk's.
"""

import errno
from typing import TypeGuard

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_UNWRITABLE = _FULL | {errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}


def is_full(error: Exception) -> TypeGuard[OSError]:
    """Whether a disk or a quota is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def is_unwritable(error: Exception) -> TypeGuard[OSError]:
    """Whether a disk is full, read-only, not ours to write, or takes no file of this size."""
    return isinstance(error, OSError) and error.errno in _UNWRITABLE
