"""What the history of a run must look like, whatever happened around it.

A model of a run in a few lines, folded over `run_events` in their order. Used by the tests that
interleave workers and by those that kill them.
"""

from dataclasses import dataclass, field
from typing import Any

from backend.domain import run_state
from backend.schemas.vocabulary import RunState, StopReason
from backend.store.tables.runs import RunEvent


def steps_of(event: RunEvent) -> list[int]:
    """The steps that a `metric` event tells of."""
    return [
        step
        for first, last, stride in event.data["steps"]
        for step in range(first, last + 1, stride)
    ]


@dataclass
class History:
    """One run as its events tell it; `take` refuses what may not happen."""

    state: RunState | None = None
    attempt: int = 0
    reason: str | None = None
    seq: int = 0
    curve: list[int] = field(default_factory=list)

    def take(self, event: RunEvent) -> None:
        """The next event."""
        assert event.seq == self.seq + 1, "the numbers have a gap"
        self.seq = event.seq
        if event.type == "state":
            self._move(event.data)
        elif event.type == "rewind":
            self.curve = [step for step in self.curve if step <= event.data["step"]]
        elif event.type == "start":
            self._must_be_owned(event, event.data["attempt"] <= self.attempt)
            newest = max(self.curve, default=0)
            assert event.data["step"] == newest, f"it goes on from another step than {newest}"
        elif event.type == "metric":
            self._must_be_owned(event, event.data["attempt"] == self.attempt)
            for step in steps_of(event):
                assert step == max(self.curve, default=step - 1) + 1
                self.curve.append(step)

    def _move(self, data: dict[str, Any]) -> None:
        to, attempt = RunState(data["state"]), int(data["attempt"])
        is_wish = self.state == to == RunState.STOPPING and data["reason"] == StopReason.CANCEL
        if self.state is not None and not is_wish:
            assert run_state.may_move(self.state, to, data["reason"]), f"{self.state} to {to}"
        if self.state == RunState.STOPPING and not is_wish:
            asked = run_state.state_asked_for(StopReason(str(self.reason)))
            assert to in (asked, RunState.SUCCEEDED, RunState.FAILED), f"{asked} was asked for"
        assert attempt == self.attempt + (to == RunState.RUNNING)
        self.state, self.attempt, self.reason = to, attempt, data["reason"]

    def _must_be_owned(self, event: RunEvent, is_of_owner: bool) -> None:
        said = f"{event.type} {event.data} while {self.state}, attempt {self.attempt}"
        assert self.state in run_state.LIVE, said
        assert is_of_owner, said
