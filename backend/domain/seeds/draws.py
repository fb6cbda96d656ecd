"""Which runs of a group are one seed: a rerun and a continuation draw nothing anew; pure."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.schemas.metrics.seeds import LeftOut
from backend.schemas.vocabulary import RunState


@dataclass(frozen=True)
class Draw:
    """A run with its seed; a run that continues another has the seed with which that began.

    `steps`: how many it was planned to have.
    """

    run: str
    seed: Any
    state: RunState = RunState.SUCCEEDED
    steps: int = 0
    is_continued: bool = False

    @property
    def has_succeeded(self) -> bool:
        """Whether it has come to its end."""
        return self.state == RunState.SUCCEEDED


def counting(draws: Sequence[Draw], first: Collection[str] = ()) -> dict[str, str]:
    """Map each run of a group, oldest first, to the run that counts for its seed.

    That is the newest that succeeded, a run that began at step 0 before one that continues it; if
    none succeeded, the newest. Runs in `first` come before all others.
    """
    by_seed: defaultdict[str, list[tuple[bool, bool, bool, int, str]]] = defaultdict(list)
    for age, one in enumerate(draws):
        worth = (one.run in first, one.has_succeeded, not one.is_continued, age)
        by_seed[json.dumps(one.seed)].append((*worth, one.run))
    return {one.run: max(by_seed[json.dumps(one.seed)])[-1] for one in draws}


def counted(groups: Iterable[Sequence[str]], draws: Mapping[str, Draw]) -> list[list[str]]:
    """Keep of each group the runs that count, one of each seed."""
    found = []
    for runs in groups:
        standing = counting([draws[run] for run in runs])
        found.append([run for run in runs if standing[run] == run])
    return found


def left_out(draws: Sequence[Draw]) -> list[LeftOut]:
    """The runs of a group that do not count, and why."""
    standing = counting(draws)
    return [
        LeftOut(run=one.run, counts=standing[one.run], why=_why(one))
        for one in draws
        if standing[one.run] != one.run
    ]


def _why(one: Draw) -> str:
    how = "it continues a run of" if one.is_continued else "it repeats"
    return f"{how} seed {one.seed}, which counts once"
