"""A reward that a trained model gives proves little about a policy that was trained on it; pure.

Gao et al. 2023, arXiv 2210.10760.
"""

import json
from collections.abc import Mapping
from typing import Any

from backend.domain.dotted_path import value_at
from backend.schemas.rewards import LEARNED_TERMS

PROXY = (
    "The reward model that trains the policy also judges it here: rank some of the policy's "
    "responses, or attach an evaluation as gold/reward."
)


def learned(reward: Mapping[str, Any] | None) -> set[str]:
    """The trained models that give a part of a reward, each of which can be wrong."""
    terms = (reward or {}).get("terms") or []
    return {
        json.dumps(value_at(term, path), sort_keys=True)
        for term in terms
        for path in LEARNED_TERMS.get(term.get("kind"), ())
    }
