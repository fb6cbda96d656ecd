"""A reward that a trained model gives proves little about a policy that was trained on it; pure.

Gao et al. 2023, arXiv 2210.10760.
"""

import json
from collections.abc import Mapping
from typing import Any

from backend.domain.dotted_path import value_at
from backend.schemas.rewards import LEARNED_TERMS, REWARD_TERMS, RegexReward

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


def is_all_learned(reward: Mapping[str, Any] | None) -> bool:
    """Whether trained models give every term of the reward that has a weight."""
    summed = [term for term in (reward or {}).get("terms") or [] if term.get("weight", 1.0)]
    return bool(summed) and all(term.get("kind") in LEARNED_TERMS for term in summed)


def passes_by_learned_score(reward: Mapping[str, Any] | None) -> bool:
    """Whether a response passes by nothing but what trained models give it.

    Then a threshold decides (`pass_reward`), which is no correctness. A term of weight 0 may judge
    beside the models.
    """
    terms = (reward or {}).get("terms") or []
    return is_all_learned(reward) and not any(map(_may_judge, terms))


def _may_judge(term: Mapping[str, Any]) -> bool:
    found = REWARD_TERMS.get(term.get("kind", ""))
    if found is RegexReward:
        return bool(term.get("is_answer"))
    return found is not None and found.may_judge
