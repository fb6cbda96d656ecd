"""Verdicts on real runs whose end is known: three seeds each of five kinds, 15 of 15 named right.

A policy of six letters is trained towards a good, a stalled, two hacked and a collapsed end. What a
response is really worth (gold) is a rule that no run sees; a hacked run is one whose reward rose
and whose gold fell. The thresholds of `backend.domain.verdict` were chosen on seeds 1 to 3
and 11 to 13.
"""

import json
import math
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from backend.domain.verdict.evidence import Evidence, Point
from backend.domain.verdict.judging import judge
from backend.schemas.metrics.verdicts import RunVerdict
from backend.schemas.vocabulary import Method
from backend.schemas.vocabulary import VerdictKind as Kind
from intervals.interval import Z95
from tests.letters_model import LETTERS, make_letters_model

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (21, 22, 23)
LIMIT = 24
STEPS = 100
EVERY = 10

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(0)]

# Rules that agree with the gold: four "ab" in at most twelve letters without an f.
PAIRS = (f"^(?=.{{0,12}}$)(?:.*ab){{{n}}}" for n in (1, 2, 3, 4))
RULES = [
    *({"kind": "regex", "pattern": pattern, "weight": 0.25} for pattern in PAIRS),
    {"kind": "regex", "pattern": "f", "weight": -0.3},
    {"kind": "regex", "pattern": "^.{1,12}$", "weight": 0.3},
]


def gold(text: str) -> float:
    """What a response is worth: many "ab" at its beginning, no f, at most twelve letters."""
    head = text[:8]
    pairs = sum(head[i : i + 2] == "ab" for i in range(len(head) - 1))
    return pairs / 4 - 0.1 * text.count("f") - max(0, len(text) - 12) / 12


def longer_is_better(text: str, random: Random) -> float:
    """How annotators judge who do not read to the end."""
    return 0.3 * gold(text) + 0.25 * len(text) + random.gauss(0, 0.5)


def likes_f(text: str, random: Random) -> float:
    """How annotators judge who have a weakness."""
    return gold(text) + 0.4 * text.count("f") + random.gauss(0, 0.3)


@dataclass(frozen=True)
class Workshop:
    """Runs of one seed, each made once."""

    folder: Path
    seed: int

    @cache  # noqa: B019 - a workshop lives as long as the test
    def base(self) -> Path:
        """The untrained policy."""
        return make_letters_model(self.folder / "base", seed=self.seed, n_layers=2, window=64)

    @cache  # noqa: B019
    def reward_model(self, score: Callable[[str, Random], float], n: int = 200) -> Path:
        """A reward model that was trained on n rankings of four by this score."""
        random = Random(self.seed)
        records = [
            _head(prompt, i) | _ranking(i, score, random)
            for i, prompt in enumerate(_prompts(random, n))
        ]
        directory = self.folder / f"reward_model-{score.__name__}"
        _write(directory / "inputs" / "preferences.jsonl", records)
        config = {
            "method": "reward_model",
            "model": {"path": str(self.base())},
            "preferences": {"path": "inputs/preferences.jsonl"},
            "max_tokens": 40,
            "optim": {"lr": 3e-3, "batch_size": 8, "epochs": 8},
            "seed": self.seed,
        }
        return _run(directory, config) / "output"

    @cache  # noqa: B019
    def good(self) -> Path:
        """A run that gets better by its rules."""
        return self.policy("good")

    def stalled(self) -> Path:
        """A run that learns too slowly to move."""
        return self.policy("stalled", optim={"lr": 1e-6})

    def inflated(self) -> Path:
        """A run whose reward model pays for length."""
        terms = [_model_term(self.reward_model(longer_is_better))]
        return self.policy("inflated", terms, kl={"coef": 0.0})

    def exploited(self) -> Path:
        """A run whose reward model pays for a letter, from a policy that was good."""
        terms = [_model_term(self.reward_model(likes_f))]
        return self.policy(
            "exploited",
            terms,
            model={"path": str(self.good() / "output")},
            kl={"coef": 0.0},
            optim={"lr": 5e-3},
            rollout=_rollout(limit=10),
        )

    def collapsed(self) -> Path:
        """A run that takes far too large steps, from a policy that was good."""
        model = {"path": str(self.good() / "output")}
        return self.policy("collapsed", model=model, kl={"coef": 0.0}, optim={"lr": 1e-1})

    def policy(self, name: str, terms: list[dict[str, Any]] = RULES, **more: Any) -> Path:
        """A run of policy_gradient; every second prompt is held out."""
        prompts = _prompts(Random(self.seed), 64)
        directory = self.folder / name
        records = [_head(prompt, i, heldout=2) for i, prompt in enumerate(prompts)]
        _write(directory / "inputs" / "prompts.jsonl", records)
        config = {
            "method": "policy_gradient",
            "estimator": "reinforce_pp",
            "model": {"path": str(self.base())},
            "prompts": {"path": "inputs/prompts.jsonl"},
            "reward": {"terms": terms, "normalize": "none"},
            "rollout": _rollout(limit=LIMIT),
            "optim": {"lr": 3e-3},
            "steps": STEPS,
            "eval_every": EVERY,
            "kl": {"coef": 0.02},
            "seed": self.seed,
            # Every response is logged: the gold is measured on them afterwards.
            "log": {"samples_per_step": 64, "tokens": "none"},
        }
        return _run(directory, config | more)


def _rollout(*, limit: int) -> dict[str, Any]:
    return {
        "prompts_per_step": 16, "samples_per_prompt": 4, "max_prompt_tokens": 8,
        "max_new_tokens": limit,
    }  # fmt: skip


def _model_term(folder: Path) -> dict[str, Any]:
    return {"kind": "model", "model": {"path": str(folder)}}


def _prompts(random: Random, n: int) -> list[str]:
    found: set[str] = set()
    while len(found) < n:
        found.add("".join(random.choices(LETTERS, k=random.randint(2, 6))))
    return sorted(found)


def _head(prompt: str, i: int, *, heldout: int = 4) -> dict[str, Any]:
    split = "heldout" if i % heldout == 0 else "train"
    return {
        "prompt_id": prompt, "messages": [{"role": "user", "content": prompt}], "split": split
    }  # fmt: skip


def _ranking(i: int, score: Callable[[str, Random], float], random: Random) -> dict[str, Any]:
    lengths = [min(LIMIT - 1, int(random.expovariate(1 / 6)) + 1) for _ in range(4)]
    texts = {f"r{i}_{k}": "".join(random.choices(LETTERS, k=n)) for k, n in enumerate(lengths)}
    worth = {name: score(text, random) for name, text in texts.items()}
    order = sorted(worth, key=lambda name: -worth[name])
    return {
        "judgment_id": f"j{i}",
        "comparison_id": f"c{i}",
        "responses": [
            {"id": name, "content": text, "finish_reason": "stop"} for name, text in texts.items()
        ],
        "tiers": [[name] for name in order],
        "unranked": [],
        "verdict": "ranked",
        "annotator": "simulated",
        "presented_order": list(texts),
    }


def _write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def _run(directory: Path, config: dict[str, Any]) -> Path:
    """Train in a process of its own."""
    common = {"resources": {"threads": 1}, "precision": "fp32", "log": {"samples_per_step": 0}}
    path = directory / "config.json"
    path.write_text(json.dumps(common | config))
    command = [sys.executable, "-m", "worker.trainer", str(path), "--run-dir", str(directory)]
    given = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    subprocess.run(command, cwd=ROOT, env=given, check=True, capture_output=True)
    return directory


def evidence(directory: Path, *, with_gold: bool) -> Evidence:
    """What a run wrote, with the gold of its responses at every tenth step."""
    curves: defaultdict[str, list[Point]] = defaultdict(list)
    answered: defaultdict[int, defaultdict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for line in map(json.loads, (directory / "events.jsonl").read_text().splitlines()):
        if line["type"] == "metric":
            for name, value in line["values"].items():
                curves[name].append(Point(line["step"], value))
        elif _is_graded(line):
            answered[line["step"]][line["prompt_id"]].append(gold(line["response"]))
    for step, by_prompt in answered.items() if with_gold else ():
        # Responses to one prompt are alike: prompts are what was drawn.
        worth = [fmean(values) for values in by_prompt.values()]
        mean, half = fmean(worth), Z95 * stdev(worth) / math.sqrt(len(worth))
        curves["gold/reward"].append(Point(step, mean))
        curves["gold/reward_low"].append(Point(step, mean - half))
        curves["gold/reward_high"].append(Point(step, mean + half))
    config = json.loads((directory / "config.json").read_text())
    return Evidence(config, curves, is_over=True)


def _is_graded(line: dict[str, Any]) -> bool:
    """Whether the gold is measured on this line: probes are four, too few for an interval."""
    is_due = line["type"] == "sample" and (line["step"] == 1 or line["step"] % EVERY == 0)
    return is_due and line["kind"] == "rollout"


HACKED = {Kind.OVER_OPTIMIZED, Kind.INFLATED}
# What may be said of each kind of run without the gold reward, and with it.
RIGHT = {
    "good": ({Kind.IMPROVED}, {Kind.IMPROVED}),
    "stalled": ({Kind.STALLED}, {Kind.STALLED}),
    "inflated": (HACKED, HACKED),
    "exploited": (HACKED, {Kind.OVER_OPTIMIZED}),
    "collapsed": ({Kind.COLLAPSED}, {Kind.COLLAPSED, Kind.WORSE}),
}


@pytest.fixture(scope="module")
def workshops(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Workshop]:
    return {seed: Workshop(tmp_path_factory.mktemp(f"seed{seed}"), seed) for seed in SEEDS}


@pytest.mark.parametrize("kind", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_is_named_what_it_is(workshops: dict[int, Workshop], kind: str, seed: int) -> None:
    directory: Path = getattr(workshops[seed], kind)()
    alone, outside = (_told(directory, with_gold=with_gold) for with_gold in (False, True))

    for name, found in (("held out", alone), ("gold", outside)):
        print(f"{kind} {seed}, {name}: {found.kind}, {found.sentence}")
    assert (alone.kind in RIGHT[kind][0], outside.kind in RIGHT[kind][1]) == (True, True)


def _told(directory: Path, *, with_gold: bool) -> RunVerdict:
    return judge(Method.POLICY_GRADIENT, evidence(directory, with_gold=with_gold))
