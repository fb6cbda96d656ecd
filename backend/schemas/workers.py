"""Workers and their devices as the API speaks of them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from backend.schemas.paging import ApiAnswer, Listing
from backend.schemas.vocabulary import WorkerState


class DeviceAnswer(ApiAnswer):
    """The CPU with its slots, or one GPU; as the worker said at its last heartbeat."""

    kind: Literal["cpu", "gpu"]
    id: str | None = Field(description="A GPU's id, as CUDA_VISIBLE_DEVICES takes it.")
    name: str | None
    cores: int | None
    slots: int | None = Field(description="CPU runs that fit at once.")
    memory_bytes: int | None = Field(description="Total memory of a GPU.")
    memory_used_bytes: int | None = Field(
        description="Memory in use by any process; null if the driver does not report it."
    )
    busy: int = Field(description="Runs that hold it.")
    leaving: int = Field(
        description="How many of these runs have ended here and are about to release the device."
    )
    run_ids: list[str] = Field(description="Running runs on it that the caller may see.")
    is_returning: bool = Field(
        description="True while its run has ended but its memory is still in use."
    )
    fault: str | None = Field(description="Why no run gets this GPU; null = nothing is wrong.")


class WorkerAnswer(ApiAnswer):
    """A worker, how it is, and what it runs."""

    id: str
    host: str
    pid: int
    state: WorkerState
    state_sentence: str = Field(description="The state in one sentence, with its numbers.")
    is_alive: bool
    slots: int
    devices: list[DeviceAnswer]
    busy: int = Field(description="Runs that are running on this worker.")
    run_ids: list[str] = Field(description="Those of these runs that the caller may see.")
    memory_used_bytes: int | None = Field(
        description="Memory of the machine that any process uses."
    )
    memory_bytes: int | None
    disk_free_bytes: int | None = Field(
        description="Free bytes on the disk of its run directories."
    )
    disk_bytes: int | None
    disk_needed_bytes: int | None = Field(
        description="The worker takes no new run while fewer bytes are free."
    )
    beat_at: datetime = Field(description="Last heartbeat, by the clock of the worker.")


class WorkersAnswer(Listing[WorkerAnswer]):
    """The workers, and the queue they take from."""

    queued_runs: int = Field(description="Runs of all projects that wait for a worker.")


class VersionAnswer(ApiAnswer):
    """The versions of Podium and of its run configs, and the kinds of database and broker."""

    version: str
    schema_version: int
    database: str
    broker: str
