"""The measures of parts of the prompts: `eval/NAME/KEY.VALUE`, by keys of their metadata.

Called by evaluate and by the evaluations of policies.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from worker.trainer.evaluation.measures import Row, TooManyValues, broken_down, measures
from worker.trainer.run import Run
from worker.trainer.sampling.prompts import Prompt

# Keys that an alert names.
MOST_NAMED = 20


class Breakdown:
    """The keys of a run; of one that has too many values, an alert says so once."""

    def __init__(self, run: Run, keys: Sequence[str]) -> None:
        self._run, self._keys = run, keys
        self._told: set[str] = set()

    def __call__(self, rows: Sequence[Row], prefix: str) -> dict[str, float]:
        """The measures of these responses by each value of each key."""
        return self.by_places(
            [row.metadata for row in rows],
            lambda places: measures([rows[i] for i in places], prefix),
        )

    def by_places(
        self,
        metadata: Sequence[Mapping[str, Any]],
        measure: Callable[[Sequence[int]], Mapping[str, float]],
    ) -> dict[str, float]:
        """What `measure` says of the responses at some places, by each value of each key."""
        values: dict[str, float] = {}
        for key in self._keys:
            try:
                values |= broken_down(metadata, key, measure)
            except TooManyValues as error:
                if str(error) not in self._told:
                    self._told.add(str(error))
                    self._run.events.alert("breakdown", str(error))
        return values


def tell_unknown_keys(run: Run, keys: Sequence[str], prompts: Iterable[Sequence[Prompt]]) -> None:
    """Warn of keys that no prompt of these sets has: nothing would be reported by them."""
    known = {key for prompt in chain.from_iterable(prompts) for key in prompt.metadata}
    for key in keys:
        if key not in known:
            run.events.alert(
                "breakdown",
                f"No prompt that the run evaluates has the key `{key}` in its metadata, so "
                f"`breakdown` reports nothing by it. {_there_are(sorted(known))}",
            )


def _there_are(known: Sequence[str]) -> str:
    if not known:
        return "The prompts have no metadata: leave `breakdown` empty."
    named = ", ".join(f"`{key}`" for key in known[:MOST_NAMED])
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"Choose among {named}{more}."
