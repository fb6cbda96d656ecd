"""What a work function is given: its arguments, the store, and a way to say how far it is.

Each kind of job has one function that gets a `Work` and returns what JSON can hold. It runs in a
child process (`backend.jobs.child`), commits in short transactions only, and cleans up after itself
on any exception.
"""

from typing import Any, Protocol, TypeAlias

from backend.settings import Settings
from backend.store.db import Database

JSON: TypeAlias = Any  # What `json` reads and writes.


class Cancelled(Exception):
    """Nobody waits for this job any more, or somebody has cancelled it."""


class Work(Protocol):
    """One job as its work function sees it."""

    @property
    def job_id(self) -> str:
        """The row of the job."""

    @property
    def database(self) -> Database:
        """The store, as a child process has it."""

    @property
    def settings(self) -> Settings:
        """The settings of the API process that started the child."""

    @property
    def arguments(self) -> dict[str, JSON]:
        """What the route asked for."""

    def progress(self, done: int, total: int | None) -> None:
        """Say how far it is; as often as it likes."""

    def check(self) -> None:
        """Raise Cancelled if the work is not wanted any more."""
