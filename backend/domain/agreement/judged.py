"""A judgment as the statistics of agreement see it: what was placed where, shown how, by whom.

Made by `backend.store.data.agreement`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.ranking import Ranking


@dataclass(frozen=True)
class Text:
    """What is known of a response: its length, a hash that equal texts share, its reward.

    `reward` is what the reward model of the run that sampled it gave it, the first of several;
    rewards of two runs cannot be compared.
    """

    characters: int
    sha256: str
    run_id: str | None = None
    reward: float | None = None


@dataclass(frozen=True)
class Judged:
    """One judgment; `texts` holds at least the responses of its comparison.

    `presented_order` is empty where nobody knows in which order the responses were shown.
    """

    comparison_id: str
    prompt_id: str
    user_id: str
    ranking: Ranking
    texts: Mapping[str, Text]
    presented_order: Sequence[str]
    active_s: float | None
    at: datetime
