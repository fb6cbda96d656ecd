"""The ways of aggregation by the names that a snapshot gives them.

Called by `backend.store.data.freezing`. Each way treats annotators alike (anonymity) and responses
alike (neutrality): no id, order of arrival or place on the screen breaks a tie.
"""

from collections.abc import Callable, Mapping

from backend.domain.aggregation.crowd import Judgments, crowd_bradley_terry
from backend.domain.aggregation.ranked_pairs import ranked_pairs
from backend.domain.aggregation.strengths import bradley_terry
from backend.domain.aggregation.votes import Merged
from backend.schemas.vocabulary import Aggregation

# Precision of the normal prior on strengths: it matters only where somebody won every time.
PRIOR = 0.1

_Way = Callable[[Judgments], Mapping[str, Merged]]


def merged(way: Aggregation, judgments: Judgments) -> Mapping[str, Merged]:
    """What the judgments of each comparison become; `way` is not none."""
    return _WAYS[way](judgments)


def _ranked_pairs(judgments: Judgments) -> Mapping[str, Merged]:
    return {key: ranked_pairs(said.values()) for key, said in judgments.items()}


def _bradley_terry(judgments: Judgments) -> Mapping[str, Merged]:
    return {key: bradley_terry(said.values(), prior=PRIOR) for key, said in judgments.items()}


def _crowd(judgments: Judgments) -> Mapping[str, Merged]:
    return crowd_bradley_terry(judgments, prior=PRIOR).merged


_WAYS: Mapping[Aggregation, _Way] = {
    Aggregation.RANKED_PAIRS: _ranked_pairs,
    Aggregation.BRADLEY_TERRY: _bradley_terry,
    Aggregation.CROWD_BRADLEY_TERRY: _crowd,
}
