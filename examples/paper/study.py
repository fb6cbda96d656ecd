"""What the paper in miniature has made in a service so far: everything is found again by its name.

A study that was interrupted goes on where it was: records, snapshots and models of the same name
are taken as they are, and so are runs that were asked for with the same config. Others are archived
and made anew, as are those that ended badly. It knows no setting.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from podium import ENDED, Podium, RunEndedBadly

from paper.puzzles import asked, searched, told
from paper.recipe import Config
from problems.knights.puzzle import Puzzle
from problems.knights.solver import solutions

# Such a run is no result.
_BAD = ENDED - {"succeeded"}
# What the tag that tells configs apart begins with.
_RECIPE = "recipe-"


@dataclass
class Study:
    """A project of the service, with its experiments, snapshots and runs by name."""

    podium: Podium
    project_id: str
    experiments: dict[str, str] = field(default_factory=dict)
    snapshots: dict[str, str] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    # What was asked for, by run.
    recipes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, podium: Podium, name: str) -> "Study":
        """The study of this name, made where there is none."""
        known = {one["name"]: one["id"] for one in podium.pages("/projects")}
        project = known.get(name) or podium.post("/projects", {"name": name})["id"]
        study = cls(podium, project)
        study.experiments = _ids(podium.pages("/experiments", project_id=project))
        study.snapshots = _ids(podium.pages(f"/projects/{project}/snapshots"))
        found = [
            run
            for run in podium.pages("/runs", project_id=project)
            if run["state"] not in _BAD or run["is_retried"]
        ]
        study.runs = _ids(found)
        # People may tag these runs, too.
        study.recipes = {
            run["id"]: tag for run in found for tag in run["tags"] if tag.startswith(_RECIPE)
        }
        return study

    def experiment(self, name: str, question: str) -> str:
        """The id of an experiment."""
        if name not in self.experiments:
            body = {"project_id": self.project_id, "name": name, "question": question}
            self.experiments[name] = self.podium.post("/experiments", body)["id"]
        return self.experiments[name]

    def freeze(self, name: str, kind: str, *, heldout: float = 0.0, **chosen: object) -> str:
        """The id of a snapshot of these records; of those tagged with its name if none are said."""
        if name not in self.snapshots:
            body = {
                "name": name,
                "kind": kind,
                "heldout_fraction": heldout,
                "filter": chosen or {"tags": [name]},
            }
            answer = self.podium.post(f"/projects/{self.project_id}/snapshots", body)
            self.snapshots[name] = answer["id"]
        return self.snapshots[name]

    def puzzles(
        self,
        name: str,
        dealt: Callable[[str], Iterable[Puzzle]],
        *,
        kind: str = "prompts",
        heldout: float = 0.0,
    ) -> str:
        """The snapshot of the puzzles of a set, as prompts or as demonstrations of the search."""
        if name not in self.snapshots:
            content = "".join(json.dumps(_record(one, name, kind)) + "\n" for one in dealt(name))
            self.podium.upload(
                f"/projects/{self.project_id}/imports", content, kind=kind, strict="true"
            )
        return self.freeze(name, kind, heldout=heldout)

    def model(self, name: str, path: str) -> str:
        """The id of a model in a folder of the service's machine."""
        found = self.podium.pages("/models", project_id=self.project_id)
        known = next((one["id"] for one in found if one["name"] == name), None)
        body = {"name": name, "source": {"path": path}, "project_id": self.project_id}
        return str(known or self.podium.post("/models", body)["id"])

    def start(self, experiment_id: str, configs: Mapping[str, Config]) -> list[str]:
        """The ids of runs of these names; those that there are not yet are put in the queue."""
        for name, config in configs.items():
            recipe, there = _recipe_of(config), self.runs.get(name)
            if there is not None and self.recipes.get(there) == recipe:
                continue
            if there is not None:
                self._put_away(there)
            body = {
                "project_id": self.project_id,
                "experiment_id": experiment_id,
                "name": name,
                "tags": [recipe],
                "config": config,
            }
            run_id = self.podium.post("/runs", body)["id"]
            self.runs[name], self.recipes[run_id] = run_id, recipe
        return [self.runs[name] for name in configs]

    def finish(self, run_ids: Sequence[str]) -> list[dict[str, Any]]:
        """These runs when all have succeeded. Raises RunEndedBadly if one does not."""
        return [self._finished(run_id, at, len(run_ids)) for at, run_id in enumerate(run_ids, 1)]

    def train(self, experiment_id: str, configs: Mapping[str, Config]) -> dict[str, str]:
        """Runs that make a model, to their end: the model's id by the run's name."""
        found = self.finish(self.start(experiment_id, configs))
        return {name: run["output_model_ids"][0] for name, run in zip(configs, found, strict=True)}

    def curve(self, run_name: str, metric: str) -> dict[float, float]:
        """The values of a metric by step; empty where the run has none."""
        asked_for = {"runs": self.runs[run_name], "names": metric, "exact": True}
        found = self.podium.get("/metrics", **asked_for)["series"]
        return dict(zip(found[0]["x"], found[0]["y"]["last"], strict=True)) if found else {}

    def _put_away(self, run_id: str) -> None:
        """Archive a run of another config: no table has it any more."""
        if self.podium.get(f"/runs/{run_id}")["state"] not in ENDED:
            self.podium.post(f"/runs/{run_id}/cancel")
            with suppress(RunEndedBadly):
                self.podium.wait(run_id, lambda _: None)
        self.podium.post(f"/runs/{run_id}/archive")

    def _finished(self, run_id: str, at: int, of: int) -> dict[str, Any]:
        began = time.monotonic()
        run = self.podium.wait(run_id, lambda _: None)
        if time.monotonic() - began > 1:
            print(f"  {at} of {of}: {run['name']}", flush=True)
        return run


def _ids(found: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Ids by name; of several of one name the newest, which a list has first."""
    listed = [(one["name"], one["id"]) for one in found]
    return dict(reversed(listed))


def _recipe_of(config: Config) -> str:
    """A tag that tells configs apart."""
    spelt = json.dumps(config, sort_keys=True)
    return f"{_RECIPE}{hashlib.sha256(spelt.encode()).hexdigest()[:8]}"


def _record(puzzle: Puzzle, tag: str, kind: str) -> dict[str, Any]:
    if kind == "demonstrations":
        return {"prompt": asked(puzzle), "response": searched(puzzle), "tags": [tag]}
    [solution] = solutions(puzzle)
    return {
        "prompt": asked(puzzle),
        "reference": told(solution, puzzle),
        "tags": [tag],
        "metadata": {"n_people": len(puzzle.names), **puzzle.metadata},
    }


def seldom_solved(
    answers: Iterator[dict[str, Any]], n_wanted: int, between: tuple[float, float]
) -> list[str]:
    """Prompts whose share of responses that passed lies between, in the order of their ids."""
    passed: dict[str, list[bool]] = {}
    for answer in answers:
        passed.setdefault(answer["prompt_id"], []).append(bool(answer["passed"]))
    low, high = between
    found = sorted(name for name, said in passed.items() if low <= sum(said) / len(said) <= high)
    return found[:n_wanted]
