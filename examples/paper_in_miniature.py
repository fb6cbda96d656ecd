"""The paper in miniature: which estimator learns best, measured on puzzles that nobody trained on.

`make paper` starts a service and runs it; with a service running it can be started by hand:

    python examples/paper_in_miniature.py [--data-dir data] [--url URL --key KEY] [--fast]

Interrupted, it goes on where it was. It writes DATA_DIR/paper/*.md and curves.csv; docs/paper.md
says what came out.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import annotators
import httpx
from paper import outcome, puzzles, recipe
from paper.recipe import Config, Size
from paper.study import Study, seldom_solved
from podium import Podium, Refused, RunEndedBadly
from service import NoService, arguments_of, connect

from problems.drawing import Split
from problems.knights.puzzle import Puzzle

NAME = "The paper in miniature"
QUESTIONS = {
    "Lessons": "How well does the model solve puzzles before it learns from rewards?",
    "Tuning": "Which learning rate suits each estimator?",
    "Estimators": "Which estimator learns best, each with its tuned learning rate?",
    "Own KL": "Does it matter that each paper has its KL in another place?",
    "Thirty puzzles": "Is what is learnt from thirty puzzles of any use for others?",
    "Reward model": "What is the true score worth at 1, 3, 10 and 30 nats from the taught model?",
}
_RM_SEED = 7


@dataclass
class Paper:
    """The study and what all its experiments share: the taught model and the puzzles."""

    study: Study
    size: Size
    taught: str
    sets: dict[str, str]

    def experiment(self, name: str) -> str:
        """The id of one of QUESTIONS."""
        return self.study.experiment(name, QUESTIONS[name])

    def policies(self, experiment: str, configs: dict[str, Config], on: str | None = None) -> None:
        """Train policies and measure what each has left, on unseen puzzles or another set."""
        experiment_id = self.experiment(experiment)
        models = self.study.train(experiment_id, configs)
        measured = {
            outcome.measured(name): recipe.evaluate(
                model, on or self.sets["unseen"], baseline=self.taught, samples=self.size.samples
            )
            for name, model in models.items()
        }
        self.study.finish(self.study.start(experiment_id, measured))

    def arm(self, arm: Config, *, lr: float, seed: int, **said: Any) -> Config:
        """The config of a policy on the puzzles to train on."""
        asked: dict[str, Any] = {"prompts": self.sets["train"], "steps": self.size.steps} | said
        return recipe.policy(self.taught, arm=arm, lr=lr, seed=seed, **asked)


def main() -> int:
    """Run the study; 0 only if all of it is done."""
    parser = arguments_of(__doc__ or "")
    fast_help = "one seed, 30 steps, no tuning: shows that all of it runs, and proves nothing"
    parser.add_argument("--fast", action="store_true", help=fast_help)
    arguments = parser.parse_args()
    try:
        carry_out(connect(arguments), arguments)
    except (NoService, Refused, RunEndedBadly, httpx.HTTPError) as error:
        sys.stderr.write(f"The study stopped: {error}\nThe same command goes on from here.\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("The study was interrupted; the same command goes on from here.\n")
        return 130
    return 0


def carry_out(podium: Podium, arguments: argparse.Namespace) -> None:
    """Everything, stage by stage."""
    size = recipe.FAST if arguments.fast else recipe.FULL
    folder = arguments.data_dir / ("paper-fast" if arguments.fast else "paper")
    name = f"{NAME}{' (fast)' if arguments.fast else ''} {recipe.data_hash(size)}"
    study = Study.open(podium, name)
    paper = _stage("lessons", lambda: taught(study, size, arguments.data_dir / "models"))
    rates = _stage("tuning", lambda: tuned(paper))
    _stage("estimators", lambda: estimators(paper, rates))
    _stage("own KL", lambda: own_kl(paper, rates))
    _stage("thirty puzzles", lambda: thirty(paper))
    _stage("reward model", lambda: reward_model(paper))
    folder.mkdir(parents=True, exist_ok=True)
    outcome.write(study, rates, folder)
    print(f"Tables and curves: {folder}", flush=True)


def _stage(name: str, work: Callable[[], Any]) -> Any:
    began = time.monotonic()
    print(f"{name} ...", flush=True)
    made = work()
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return made


def taught(study: Study, size: Size, models: Path) -> Paper:
    """Puzzles and the taught model, which has seen the search of all sizes."""
    base = study.model("untrained", str(_untrained(models / "paper-untrained")))
    sets = {
        "lessons": study.puzzles("lessons", _dealt, kind="demonstrations"),
        "train": study.puzzles("train", _dealt, heldout=recipe.HELDOUT_FRACTION),
        "unseen": study.puzzles("unseen", _dealt),
    }
    experiment = study.experiment("Lessons", QUESTIONS["Lessons"])
    config = recipe.sft(base, sets["lessons"], size=size)
    [model] = study.train(experiment, {"taught": config}).values()
    config = recipe.evaluate(model, sets["unseen"], baseline=None, samples=size.samples)
    study.finish(study.start(experiment, {outcome.measured("taught"): config}))
    return Paper(study, size, model, sets)


def _dealt(name: str) -> list[Puzzle]:
    """The puzzles of a set."""
    return (_test_pool() if name in recipe.TEST_SPLIT else _train_pool())[name]


@cache
def _train_pool() -> dict[str, list[Puzzle]]:
    return _pool("train", recipe.TRAIN_SPLIT)


@cache
def _test_pool() -> dict[str, list[Puzzle]]:
    return _pool("test", recipe.TEST_SPLIT)


def _pool(split: Split, wanted: dict[str, dict[int, int]]) -> dict[str, list[Puzzle]]:
    """The puzzles of a split by set: drawn once, and dealt in the order of the sets."""
    counts = Counter[int]()
    for some in wanted.values():
        counts.update(some)
    drawn = {n: iter(puzzles.draw(n, k, seed="paper", split=split)) for n, k in counts.items()}
    return {
        name: [one for n, k in some.items() for one in islice(drawn[n], k)]
        for name, some in wanted.items()
    }


def _untrained(target: Path) -> Path:
    if not target.is_dir():
        script = Path(__file__).parent / "paper" / "small_model.py"
        subprocess.run([sys.executable, str(script), str(target)], check=True)
    return target


def tuned(paper: Paper) -> dict[str, float]:
    """The learning rate of each arm: the best of three, on puzzles and a seed of their own."""
    if not paper.size.is_tuned:
        return dict.fromkeys(recipe.ARMS, recipe.UNTUNED)
    steps, seed = paper.size.tuning_steps, recipe.TUNING_SEED
    configs = {
        outcome.tuning_run(name, lr): paper.arm(arm, lr=lr, seed=seed, steps=steps)
        for name, arm in recipe.ARMS.items()
        for lr in recipe.LEARNING_RATES
    }
    paper.policies("Tuning", configs, on=paper.study.puzzles("tuning", _dealt))
    passed = outcome.tuning(paper.study)
    return {name: max(rates, key=lambda lr: rates[lr]) for name, rates in passed.items()}


def estimators(paper: Paper, rates: dict[str, float]) -> None:
    """The first table: each estimator with its tuned learning rate; the last arms get a random
    reward, one at each learning rate that was tried."""
    configs = {
        f"{name} seed {seed}": paper.arm(arm, lr=rates[name], seed=seed)
        for name, arm in recipe.ARMS.items()
        for seed in paper.size.seeds
    }
    coin = {"estimator": "reinforce_pp", "reward": {"terms": [recipe.COIN]}}
    configs |= {
        f"random reward lr {lr} seed {seed}": paper.arm(coin, lr=lr, seed=seed)
        for lr in recipe.random_rates(paper.size, rates)
        for seed in paper.size.seeds
    }
    paper.policies("Estimators", configs)


def own_kl(paper: Paper, rates: dict[str, float]) -> None:
    """The arms whose papers have the KL elsewhere, there."""
    configs = {
        f"{name} {kl['estimator']} in the loss, seed {seed}": paper.arm(
            {**recipe.ARMS[name], "kl": {"coef": recipe.KL_COEF, **kl}}, lr=rates[name], seed=seed
        )
        for name, kl in recipe.OWN_KL.items()
        for seed in paper.size.seeds
    }
    paper.policies("Own KL", configs)


def thirty(paper: Paper) -> None:
    """Thirty puzzles that are seldom solved, trained on over and over (table 3)."""
    study, experiment = paper.study, paper.experiment("Thirty puzzles")
    found, others = (study.puzzles(name, _dealt) for name in ("candidates", "others"))
    config = recipe.evaluate(
        paper.taught, found, baseline=None, samples=recipe.MANY, seed=recipe.CHOOSING_SEED
    )
    [run] = study.finish(study.start(experiment, {"taught: candidates": config}))
    answers = study.podium.records(f"/runs/{run['id']}/answers")
    chosen = seldom_solved(answers, recipe.THIRTY, recipe.SELDOM)
    prompts = study.freeze("thirty", "prompts", prompt_ids=chosen)
    configs = {
        f"{name} on thirty, seed {seed}": paper.arm(
            recipe.ARMS[name], lr=recipe.BY_HEART, seed=seed, prompts=prompts
        )
        for name in recipe.TWO
        for seed in paper.size.seeds
    }
    models = study.train(experiment, configs) | {"taught": paper.taught}
    configs = {
        f"{name}: {what}": recipe.evaluate(
            model, asked, baseline=paper.taught if name != "taught" else None, samples=recipe.MANY
        )
        for name, model in models.items()
        for what, asked in (("others", others), ("the thirty", prompts))
    }
    study.finish(study.start(experiment, configs))


def reward_model(paper: Paper) -> None:
    """A reward model from 300 noisy rankings, trained on; the solver measures beside it."""
    study, experiment = paper.study, paper.experiment("Reward model")
    found = study.puzzles("ranked", _dealt)
    config = recipe.to_rank(paper.taught, found)
    study.finish(study.start(experiment, {"responses to rank": config}))
    if "preferences" not in study.snapshots:
        _rank(study, found)
    heldout = recipe.RANKINGS_HELDOUT
    preferences = study.freeze("preferences", "preferences", heldout=heldout, is_review=False)
    config = recipe.reward_model(paper.taught, preferences)
    [reward] = study.train(experiment, {"reward model": config}).values()
    configs = {
        f"{name} with the reward model, seed {seed}": paper.arm(
            {**recipe.ARMS[name], **recipe.rewarded_by(reward)}, lr=recipe.FAR, seed=seed
        )
        for name in recipe.TWO
        for seed in paper.size.seeds
    }
    paper.policies("Reward model", configs)


def _rank(study: Study, prompts: str) -> None:
    """Let simulated annotators rank: a right answer above a wrong one in 85 of 100 cases."""
    right = {
        record["messages"][-1]["content"]: f"{puzzles.ANSWER} {record['reference']}"
        for record in study.podium.records(f"/snapshots/{prompts}/export")
    }

    def score(question: str, response: str) -> float:
        return recipe.RIGHT_IS_WORTH if response.endswith(right.get(question, "?")) else 0.0

    people = annotators.hire(study.podium, study.project_id)
    annotators.work(people, study.project_id, score, _RM_SEED, lambda: None)


if __name__ == "__main__":
    sys.exit(main())
