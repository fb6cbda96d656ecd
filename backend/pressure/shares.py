"""How long a person's next turn waits after one that took long, while others ask too.

Python computes in one thread at a time, and whoever computes without pause makes each step of
everybody else's request wait. Called by `backend.pressure.turns`, with a clock of the caller.
"""

from dataclasses import dataclass, field

# Of the time, what the turns of one person may take while others ask; beyond what is saved up.
SHARE = 0.25
# What may be used at once: a page with its curves.
SAVED_S = 0.3
# Others ask if one of them had a turn so lately. Whoever is alone never waits.
OTHERS_WITHIN_S = 0.25
# Kept at most; then whoever has nothing to wait for is forgotten.
MOST_PERSONS = 1000


@dataclass
class Shares:
    """What the persons of one process used; used in one event loop. Times are monotonic seconds."""

    # When all that a person used has been earned again.
    _even_at: dict[str, float] = field(default_factory=dict)
    _last: tuple[str, float] | None = None
    _last_of_another: float | None = None

    def rest_s(self, person: str, took_s: float, *, at: float) -> float:
        """How long this person rests after a turn that took so long and ended now."""
        if not self.note(person, at=at):
            return 0.0
        even_at = max(self._even_at.get(person, at), at) + took_s / SHARE
        self._remember(person, even_at, at)
        return max(0.0, even_at - at - SAVED_S / SHARE)

    def note(self, person: str, *, at: float) -> bool:
        """Remember that this person had a turn until now; whether another one had one lately."""
        if self._last is not None and self._last[0] != person:
            self._last_of_another = self._last[1]
        self._last = (person, at)
        return not self.is_alone(person, at=at)

    def is_alone(self, person: str, *, at: float) -> bool:
        """Whether nobody else had a turn lately."""
        last = self._last
        other = self._last_of_another if last is None or last[0] == person else last[1]
        return other is None or at - other > OTHERS_WITHIN_S

    def _remember(self, person: str, even_at: float, at: float) -> None:
        if even_at > at:
            self._even_at[person] = even_at
        if len(self._even_at) > MOST_PERSONS:
            self._even_at = {one: then for one, then in self._even_at.items() if then > at}
