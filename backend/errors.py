"""What can go wrong in the service, as exceptions that say what to do about it.

    ServiceError
      InvalidInput    422  the request is well-formed and still cannot be done
        InvalidRun    422  a run config that names missing or unfit things
      InvalidFilter 422  a filter that cannot be read, and where
      NotSignedIn     401
      Forbidden       403
      NotFound        404
      Conflict        409  the object is in a state that does not allow this
      TooLarge        413
      TooManyTries    429  too many wrong passwords; wait a while
      TooManyJobs     429  a person has as many unfinished jobs as anybody may have
      TooBusy         429  too many requests wait already
      Unavailable     503  the database or the disk is away
      NoSpace         507  the disk of the service has no room left
      Damaged         500  something that is kept is not what was stored

Raised by any layer; turned into `application/problem+json` by `backend.api.problems` alone.
"""

from collections.abc import Mapping
from typing import Any


class ServiceError(Exception):
    """Base of all errors a client may see; `detail` says what was found, `advice` what to do.

    `retry_after_s` is when the same request may succeed; the answer carries it as `Retry-After`.
    `rests`: whoever is told so in a turn waits a while for the next one of that kind.
    """

    status = 500
    title = "Something went wrong"
    retry_after_s: float | None = None
    rests = False

    def __init__(
        self,
        detail: str,
        *,
        advice: str | None = None,
        retry_after_s: float | None = None,
        **extra: Any,
    ) -> None:
        # Where nobody turns it into an answer, as at start-up, the text must say all.
        super().__init__(f"{detail}. {advice}" if advice else detail)
        self.detail = detail
        self.advice = advice
        self.extra = extra
        if retry_after_s is not None:
            self.retry_after_s = retry_after_s


class InvalidInput(ServiceError, ValueError):
    """The request is well-formed and still cannot be done."""

    status = 422
    title = "Invalid input"


class InvalidRun(InvalidInput):
    """A run config names things that are missing or do not fit."""

    title = "Invalid run"


_FILTER_HELP = (
    "“How to filter” on the Runs page explains it. docs/filters.md in Podium's source folder has "
    "the whole language."
)


class InvalidFilter(InvalidInput):
    """A filter that cannot be read: where, what was found there and what was expected."""

    title = "Invalid filter"

    def __init__(
        self, *, found: str, expected: str, at: int, length: int = 1, advice: str | None = None
    ) -> None:
        """Say what was found at which character of the filter.

        `at` counts from 0, as the answer's `position` does; the sentence counts from 1.
        """
        super().__init__(
            f"at character {at + 1} of the filter there is {found}; expected {expected}",
            advice=advice or _FILTER_HELP,
            position=at,
            length=length,
            found=found,
            expected=expected,
        )


class NotSignedIn(ServiceError):
    """The request has no key, or a key or session that is not (or no longer) valid."""

    status = 401
    title = "Not signed in"


class Forbidden(ServiceError):
    """The caller is known and may not do this."""

    status = 403
    title = "Not allowed"


class NotFound(ServiceError, LookupError):
    """The object does not exist, or the caller may not see it."""

    status = 404
    title = "Not found"


class Conflict(ServiceError):
    """The object is in a state that does not allow this."""

    status = 409
    title = "Conflict"


def changed_meanwhile(
    what: str, made_from: int, newest: int, *, advice: str | None = None
) -> Conflict:
    """Somebody else has changed the object since the revision that a change was made from."""
    return Conflict(
        f"{what} was changed meanwhile: this change was made from revision {made_from}, and the "
        f"newest is revision {newest}",
        advice=advice or "Read the newest revision, then send your changes to that one.",
    )


class TooLarge(ServiceError):
    """More bytes or records than one request may carry."""

    status = 413
    title = "Too large"


class TooManyTries(ServiceError):
    """Too many failures in a row; wait a while."""

    status = 429
    title = "Too many attempts"


class TooManyJobs(ServiceError):
    """A person has as many unfinished jobs as anybody may have."""

    status = 429
    title = "Too many jobs"
    retry_after_s = 5.0


class TooBusy(ServiceError):
    """So many requests wait already that this one does not get to wait."""

    status = 429
    title = "Too many requests"
    retry_after_s = 1.0


class NoSpace(ServiceError):
    """The disk of the service has no room left for what was sent."""

    status = 507
    title = "No space"


class Unavailable(ServiceError):
    """Something the service needs is away for the moment."""

    status = 503
    title = "Unavailable"
    retry_after_s = 2.0


class Damaged(ServiceError):
    """Something that is kept is not what was stored; no waiting mends it."""

    title = "Damaged"


def error_message(error: ServiceError) -> dict[str, Any]:
    """An error as JSON says it, so that another process of the service can raise it again."""
    return {
        "type": type(error).__name__,
        "detail": error.detail,
        "advice": error.advice,
        "retry_after_s": error.retry_after_s,
        "extra": error.extra,
    }


def error_of(message: Mapping[str, Any]) -> ServiceError:
    """The error that `error_message` was given."""
    kind = _kind(message["type"])
    error = kind.__new__(kind)
    # Some say their detail themselves, of what they are made with.
    ServiceError.__init__(
        error,
        message["detail"],
        advice=message["advice"],
        retry_after_s=message["retry_after_s"],
        **message["extra"],
    )
    return error


def _kind(name: str) -> type[ServiceError]:
    found = globals().get(name)
    if isinstance(found, type) and issubclass(found, ServiceError):
        return found
    return ServiceError
