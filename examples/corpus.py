"""The demo's questions and answers, as people wrote them for the package chatterbot-corpus.

`closed_loop` imports them into a project. Here they are cleaned and dealt into sets that share no
question; nothing here speaks to the service.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

SHORTEST_CHARACTERS, LONGEST_CHARACTERS = 12, 120
DEMONSTRATION_WORDS = range(4, 21)
# Questions for each use. Settings are chosen on `tuning` and reported on `reported`.
SIZES = {
    "reported": 80,
    "tuning": 64,
    "first_ranking": 68,
    "ranking": 68,
    "demonstrations": 80,
}
DEAL_SEED = 20


@dataclass(frozen=True)
class Pair:
    """A question and the answer that a person gave."""

    prompt: str
    answer: str


@dataclass(frozen=True)
class Corpus:
    """Sets of questions that have none in common.

    demonstrations  answered by people, for supervised fine-tuning
    first_ranking   answered by the SFT model and ranked, for the first reward model
    ranking         answered by the first policy and ranked: for the last one, with those before
    policy          what the policy is optimized on; a part held out chooses its best checkpoint
    tuning          on which the demo's settings were chosen
    reported        on which the report measures; no setting was chosen on them, but a failure on
                    them was why the settings were tuned once more (docs/demo.md)
    """

    demonstrations: list[Pair]
    first_ranking: list[Pair]
    ranking: list[Pair]
    policy: list[Pair]
    tuning: list[Pair]
    reported: list[Pair]


def load(folder: Path) -> Corpus:
    """Read the English files under `folder` and deal them; the same files give the same sets.

    Raises ValueError if there are too few questions.
    """
    pairs = list(_distinct(_read(folder)))
    random.Random(DEAL_SEED).shuffle(pairs)
    if len(pairs) < sum(SIZES.values()) + 100:
        raise ValueError(
            f"found {len(pairs)} questions under {folder}; expected about 600: "
            "the corpus is incomplete, delete the folder and start again"
        )
    dealt: dict[str, list[Pair]] = {}
    for name in ("reported", "tuning", "first_ranking", "ranking"):
        dealt[name], pairs = pairs[: SIZES[name]], pairs[SIZES[name] :]
    fit = [pair for pair in pairs if len(pair.answer.split()) in DEMONSTRATION_WORDS]
    dealt["demonstrations"] = fit[: SIZES["demonstrations"]]
    shown = {pair.prompt for pair in dealt["demonstrations"]}
    dealt["policy"] = [pair for pair in pairs if pair.prompt not in shown]
    return Corpus(**dealt)


def _read(folder: Path) -> Iterator[Pair]:
    for file in sorted(folder.glob("*.yml")):
        for conversation in yaml.safe_load(file.read_text("utf-8"))["conversations"]:
            turns = [str(turn).strip() for turn in conversation]
            if len(turns) >= 2 and _is_fit(turns[0], turns[1]):
                yield Pair(turns[0], turns[1])


def _is_fit(prompt: str, answer: str) -> bool:
    # An answer of several lines is a program listing, which one sentence cannot stand for.
    return (
        SHORTEST_CHARACTERS <= len(prompt) <= LONGEST_CHARACTERS
        and "\n" not in prompt
        and "\n" not in answer
        and bool(answer)
    )


def _distinct(pairs: Iterator[Pair]) -> Iterator[Pair]:
    seen: set[str] = set()
    for pair in pairs:
        key = re.sub(r"\W+", " ", pair.prompt.lower()).strip()
        if key not in seen:
            seen.add(key)
            yield pair
