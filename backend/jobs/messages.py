"""What the API and its children say to each other: JSON objects, each behind its length.

Down: `{"begin": {job_id, kind, arguments, settings}}`, `{"cancel": job_id}`. Up:
`{"begun": job_id}`, `{"progress": [done, total]}` and, once for each job, `{"result": {...}}`,
`{"error": {...}}` or `{"cancelled": true}`. An end of file says that the other side is gone.
"""

import json
import struct
from collections.abc import Iterator
from typing import Any

from backend.errors import ServiceError

_LENGTH = struct.Struct(">I")
LARGEST = 256 * 2**20
# With one of these a child has said the last about a job.
LAST = frozenset({"result", "error", "cancelled"})

Message = dict[str, Any]


def packed(message: Message) -> bytes:
    """A message as it goes over the wire."""
    text = json.dumps(message).encode("ascii")
    return _LENGTH.pack(len(text)) + text


class Unpacker:
    """Messages out of bytes that come in pieces."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def take(self, piece: bytes) -> Iterator[Message]:
        """The messages that are complete with this piece."""
        self._bytes += piece
        while len(self._bytes) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._bytes)
            if length > LARGEST:
                raise ValueError(f"a message of {length} bytes; expected at most {LARGEST}")
            end = _LENGTH.size + length
            if len(self._bytes) < end:
                return
            message: Message = json.loads(self._bytes[_LENGTH.size : end])
            del self._bytes[:end]
            yield message


def problem_of(error: ServiceError) -> Message:
    """An error as `application/problem+json` says it, without what belongs to a request."""
    return {
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "advice": error.advice,
        **error.extra,
    }


def unexpected(job_id: str) -> ServiceError:
    """What is told of a job that ended with an error that nobody thought of."""
    return ServiceError(
        "the job had an unexpected error",
        advice=f"Look for {job_id} in the service's log (api.log); report the lines found there if "
        "it happens again.",
    )
