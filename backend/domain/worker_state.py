"""How a worker is, from what it has said and how long ago, and the sentence for the screen.

Called by `backend.store.workers.shown`. Pure: the caller brings times and readings.
"""

from collections.abc import Mapping
from typing import Any

from backend.schemas.numbers import gb
from backend.schemas.vocabulary import WorkerState

# A worker beats every `beat_s`; one that has missed this many has something to hide.
SILENT_AFTER_BEATS = 3

S = WorkerState


class Heartbeats:
    """The time at which each worker's beat was last seen to change, by the watcher's own clock."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, float]] = {}

    def silence_s(self, worker_id: str, beat: int, now_s: float) -> float | None:
        """Seconds for which the beat stands still; None when it is seen for the first time."""
        before = self._seen.get(worker_id)
        if before is None or before[0] != beat:
            self._seen[worker_id] = (beat, now_s)
        return None if before is None else now_s - self._seen[worker_id][1]


def state_of(report: Mapping[str, Any], *, is_lost: bool, is_silent: bool) -> WorkerState:
    """The worst that is true of a worker."""
    if is_lost:
        return S.LOST
    if is_silent:
        return S.SILENT
    if report.get("is_draining"):
        return S.DRAINING
    if report.get("disk_free_bytes", 0) < report.get("disk_needed_bytes", 0):
        return S.DISK_LOW
    return S.READY


def sentence(state: WorkerState, report: Mapping[str, Any]) -> str:
    """The state for the screen: what it means, and what to do where something is wrong."""
    if state == S.DISK_LOW:
        free, needed = (gb(report.get(f"disk_{name}_bytes", 0)) for name in ("free", "needed"))
        return (
            f"Takes no new runs: {free} are free on its disk, and new runs need "
            f"{needed}. Its current runs continue. Free space (`podium prune` helps), or "
            "lower PODIUM_MIN_FREE_GB."
        )
    return _SENTENCES[state]


_SENTENCES = {
    S.READY: "Takes queued runs that fit its free devices.",
    S.DRAINING: (
        "Shutting down: it takes no new runs. Its current runs return to the queue; runs that "
        "train write a checkpoint first."
    ),
    S.SILENT: (
        "At least three heartbeats in a row are missing (PODIUM_BEAT_S is the time between two). "
        "If it stays silent, other workers take over its runs."
    ),
    S.LOST: (
        "Its heartbeats stopped without a shutdown, so its runs were taken from it. Check its log "
        "and its machine."
    ),
}
