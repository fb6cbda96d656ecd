"""Simulated annotators: they rank comparisons through the REST API, like any client.

`closed_loop` starts several at once, each with a name that says "(simulated)", a user and a key of
its own. They see what a person would see (question and answers), judge by the gold score with
Bradley-Terry noise, and know nothing of models, runs or rewards.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Any

from podium import Podium

NAMES = ("Ada", "Bela", "Chidi", "Devi", "Emre", "Fumi")
# P(noisy i > noisy j) = 1 / (1 + exp(-(gold_i - gold_j) / NOISE)); gold runs from 0 to 1.
NOISE = 0.04
# Answers whose noisy scores lie this close share a tier.
TIE_WITHIN = 0.02

Scorer = Callable[[str, str], float]


def hire(admin: Podium, project_id: str) -> list[Podium]:
    """Create the annotators of a project and return a client for each."""
    clients = []
    for name in NAMES:
        body = {"name": f"{name} (simulated)", "role": "annotator", "project_ids": [project_id]}
        user = admin.post("/users", body)
        key = admin.post(f"/users/{user['id']}/keys", {"name": "demo", "expires_in_s": 86_400})
        clients.append(Podium(admin.url, key["key"]))
        _acknowledge(clients[-1], project_id)
    return clients


def _acknowledge(annotator: Podium, project_id: str) -> None:
    """Confirm the guidelines: nobody gets a comparison before."""
    path = f"/projects/{project_id}/guidelines"
    guidelines = annotator.get(path)
    if not guidelines["is_acknowledged"]:
        annotator.post(f"{path}/acknowledgement", {"version": guidelines["version"]})


def work(
    clients: Sequence[Podium],
    project_id: str,
    score: Scorer,
    seed: int,
    on_judgment: Callable[[], None],
) -> None:
    """Let all annotators work side by side until nothing is left for any of them."""

    def one(client: Podium) -> None:
        while _rank_next(client, project_id, score, seed):
            on_judgment()

    with ThreadPoolExecutor(len(clients)) as pool:
        list(pool.map(one, clients))


def take_turns(
    clients: Sequence[Podium], project_id: str, score: Scorer, seed: int, judgments: int
) -> None:
    """Let the annotators rank one comparison each in turn.

    Whatever has the fewest judgments comes first: so many judgments, so many comparisons.
    """
    for client in islice(cycle(clients), judgments):
        _rank_next(client, project_id, score, seed)


def _rank_next(client: Podium, project_id: str, score: Scorer, seed: int) -> bool:
    """Rank the next comparison; False if nothing is left for this annotator."""
    assignment = client.post(f"/projects/{project_id}/assignments")
    if not assignment:
        return False
    tiers = judge(assignment["comparison"], score, seed)
    client.post(f"/assignments/{assignment['id']}/judgment", {"tiers": tiers, "verdict": "ranked"})
    return True


def judge(comparison: dict[str, Any], score: Scorer, seed: int) -> list[list[str]]:
    """Rank the responses of a comparison: tiers of response ids, best first.

    Gumbel noise of scale NOISE on every score orders each pair with the Bradley-Terry probability;
    neighbours that lie closer than TIE_WITHIN then share a tier. The noise comes from the texts and
    the seed, not from who is first, so a demo can be repeated.
    """
    question = comparison["prompt"]["messages"][-1]["content"]
    noisy = {}
    for response in comparison["responses"]:
        source = random.Random(f"{seed}|{question}|{response['content']}")
        noisy[response["id"]] = score(question, response["content"]) + NOISE * _gumbel(source)
    tiers: list[list[str]] = []
    for response_id in sorted(noisy, key=lambda name: -noisy[name]):
        if tiers and noisy[tiers[-1][0]] - noisy[response_id] < TIE_WITHIN:
            tiers[-1].append(response_id)
        else:
            tiers.append([response_id])
    return tiers


def agreement(differences: Iterable[float]) -> float:
    """Expected agreement of a fresh annotator with recorded judgments, over strict pairs.

    `differences` holds gold(preferred) - gold(other) of every recorded pair. A fresh annotator who
    ties a pair neither agrees nor disagrees. It is no bound: a fresh annotator has noise, too, so
    a pair that is ranked by gold with probability p is ranked alike twice with p^2 + (1 - p)^2.
    The most that a reward model can be expected to reach is `measures.gold_accuracy`.
    """
    shares = []
    for difference in differences:
        same = _logistic((difference - TIE_WITHIN) / NOISE)
        opposite = _logistic((-difference - TIE_WITHIN) / NOISE)
        shares.append(same / (same + opposite))
    return sum(shares) / len(shares)


def _gumbel(source: random.Random) -> float:
    return -math.log(-math.log(min(max(source.random(), 1e-12), 1 - 1e-12)))


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))
