"""A reward that knows nothing: a coin for each response, tossed by a hash of prompt and response.

The arm `random` must not get better with it. The worker calls it by the name that
PODIUM_REWARD_FUNCTIONS has: `paper.random_reward:coin`.
"""

import hashlib
from typing import Any


def coin(
    text: str, prompt: Any, reference: str | None, tags: list[str], metadata: dict[str, Any]
) -> float:
    """0 or 1; the same response to the same prompt always has the same."""
    return float(hashlib.sha256(f"{prompt} | {text}".encode()).digest()[0] & 1)
