"""The comparisons that the demo leaves for you: its last policy answers questions of its own.

`closed_loop` makes them at the end. The reward model scores every answer and a simulated annotator
ranks every comparison once. When you have ranked them, too, the tab Agreement of the project says
how often you agree with both.
"""

from collections.abc import Iterable, Mapping
from typing import Any

# Questions that are asked, so that enough of them get several different answers.
QUESTIONS = 30
COMPARISONS = 20
FEWEST_ANSWERS = 2


def comparisons(responses: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What to put up for ranking: for each question its different answers, most answers first.

    `responses` as `GET /projects/{id}/responses` lists them. At most COMPARISONS bodies for `POST
    /projects/{id}/comparisons`; each needs two judgments: a simulated one and yours.
    """
    by_prompt: dict[str, dict[str, str]] = {}
    for response in responses:
        answers = by_prompt.setdefault(response["prompt_id"], {})
        answers.setdefault(response["content"].strip(), response["id"])
    chosen = sorted(by_prompt.items(), key=lambda one: -len(one[1]))[:COMPARISONS]
    return [
        {"prompt_id": prompt_id, "response_ids": list(ids.values()), "judgments_required": 2}
        for prompt_id, ids in chosen
        if len(ids) >= FEWEST_ANSWERS
    ]
