"""The files that the study leaves: tables in Markdown, one file an experiment, and the curves.

Tables of results come from the service (`GET /experiments/{id}/results`); here is only what those
do not write out: gains with their intervals, tuning, sampled tokens, and the true score at given
distances.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from paper.recipe import ARMS, LEARNING_RATES
from paper.study import Study

CURVES = ("reward/mean", "eval/reward", "kl/response", "length/mean", "tokens/sampled")
NATS = (1, 3, 10, 30)
# A step has 128 responses; so many steps are averaged.
WINDOW_STEPS = 5


def write(study: Study, rates: Mapping[str, float], folder: Path) -> None:
    """One Markdown file for each experiment, and the curves of every policy run."""
    policies = {name: _policies(study, name) for name in study.experiments}
    of_its_own = {
        "Tuning": lambda: _tuning(study, rates),
        "Estimators": lambda: _tokens(study, policies["Estimators"]),
        "Reward model": lambda: _at_distances(study, policies["Reward model"]),
    }
    for name, experiment_id in study.experiments.items():
        parts = [f"# {name}", of_its_own[name]()] if name in of_its_own else [f"# {name}"]
        if name != "Tuning":
            path = f"/experiments/{experiment_id}/results"
            parts.insert(1, study.podium.text(path, format="markdown"))
            parts.append(gains(study.podium.get(path, format="json")))
        target = folder / f"{name.lower().replace(' ', '-')}.md"
        target.write_text("\n\n".join(part.strip() for part in parts if part) + "\n", "utf-8")
    _write_curves(study, [run for some in policies.values() for run in some], folder)


def gains(results: Mapping[str, Any]) -> str:
    """What each group gained in pass@1 over the model that it began with, set by set.

    The intervals are the service's: over the seeds and, as all share the start and the puzzles,
    over puzzles too. Empty where nothing was measured beside the start.
    """
    found = [
        [table["set"], row["name"], _change(change), str(row["cells"][0]["n"])]
        for table in results["tables"]
        if table["kind"] == "score" and table["columns"][0]["name"] == "pass@1"
        for row in table["rows"]
        if row["cells"][0] and (change := row["cells"][0]["change"]) and change["is_paired"]
    ]
    title = "Gain in pass@1 over the start, response by response, with 95 % intervals"
    return _table(title, ["set", "group", "gain", "seeds"], found) if found else ""


def _change(change: Mapping[str, Any]) -> str:
    """A gain with its interval, bold where that excludes 0 on the better side."""
    span = change["interval"]
    ends = "" if span is None else f" [{span['low']:.3f}, {span['high']:.3f}]"
    said = f"{change['value']:.3f}{ends}"
    return f"**{said}**" if change["is_better"] else said


def measured(run: str) -> str:
    """What the evaluation of what a run has left is called."""
    return f"{run}: measured"


def tuning_run(arm: str, lr: float) -> str:
    """What the run of an arm is called that tries a learning rate."""
    return f"tuning {arm} lr {lr:g}"


def tuning(study: Study) -> dict[str, dict[float, float]]:
    """pass@1 of each arm at each learning rate, on the puzzles that choose it."""
    return {arm: {lr: _passed(study, tuning_run(arm, lr)) for lr in LEARNING_RATES} for arm in ARMS}


def _passed(study: Study, run: str) -> float:
    [value] = study.curve(measured(run), "eval/pass@1").values()
    return value


def _policies(study: Study, experiment: str) -> list[str]:
    found = study.podium.pages(
        "/runs", experiment_id=study.experiments[experiment], method="policy_gradient"
    )
    return sorted(run["name"] for run in found if run["id"] == study.runs.get(run["name"]))


def _write_curves(study: Study, runs: Sequence[str], folder: Path) -> None:
    with (folder / "curves.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["run", "metric", "step", "value"])
        for run in runs:
            for metric in CURVES:
                points = study.curve(run, metric).items()
                writer.writerows([run, metric, int(step), value] for step, value in points)


def _tuning(study: Study, rates: Mapping[str, float]) -> str:
    """What each learning rate gives each arm."""
    passed = tuning(study)
    rows = [
        [arm, *(f"{passed[arm][lr]:.3f}" for lr in LEARNING_RATES), f"{chosen:g}"]
        for arm, chosen in rates.items()
    ]
    title = "pass@1 with each learning rate, on puzzles and a seed that are not reported"
    return _table(title, ["estimator", *(f"{lr:g}" for lr in LEARNING_RATES), "chosen"], rows)


def _tokens(study: Study, runs: Iterable[str]) -> str:
    """What each run sampled while it trained, ReMax's greedy responses included."""
    rows = [[run, f"{sum(study.curve(run, 'tokens/sampled').values()):,.0f}"] for run in runs]
    return _table("Sampled tokens of each run", ["run", "tokens"], rows)


def _at_distances(study: Study, runs: Iterable[str]) -> str:
    """The solver's score of training responses where the KL first reaches so many nats.

    Both are means of WINDOW_STEPS steps in a row; the step is the last of these.
    """
    rows = []
    for run in runs:
        kl, gold = study.curve(run, "kl/response"), study.curve(run, "reward/knights")
        rows.append([run, *(_score_at(nats, kl, gold) for nats in NATS)])
    title = (
        "True score (the solver's) of the training responses of a policy trained on the reward "
        f"model, mean of {WINDOW_STEPS} steps, by distance"
    )
    return _table(title, ["run", *(f"{nats} nats" for nats in NATS)], rows)


def _score_at(nats: float, kl: Mapping[float, float], gold: Mapping[float, float]) -> str:
    steps = sorted(kl.keys() & gold.keys())
    for end in range(WINDOW_STEPS, len(steps) + 1):
        window = steps[end - WINDOW_STEPS : end]
        if fmean(kl[step] for step in window) >= nats:
            return f"{fmean(gold[step] for step in window):.3f} (step {window[-1]:.0f})"
    return "not reached"


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join([f"## {title}", "", *(f"| {' | '.join(line)} |" for line in lines)])
