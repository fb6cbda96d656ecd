"""The whole loop against a running Podium: sample, rank, reward model, REINFORCE++, sample again.

`make demo` runs it; with `podium up` running it can be started by hand, read and copied:

    python examples/closed_loop.py [--data-dir data] [--url URL --key KEY] [--seed 0]
        [--questions tuning]

It speaks to the service through the REST API alone. Annotators are simulated and say so. It writes
DATA_DIR/demo/report.json and exits 0 only if the loop went all the way.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import annotators
import corpus
import demo_model
import gold
import httpx
import recipe
import report
import yours
from corpus import Corpus, Pair
from measures import AnsweredQuestion, strict_differences
from podium import Podium, Refused, RunEndedBadly
from progress import Course
from service import NoService, arguments_of, connect

GUIDELINES = (
    "Put the answer first that a reader would want: one short, finished sentence in plain words "
    "that takes up what was asked. The annotators of this project are simulated: see docs/demo.md."
)
RUN_NAMES = {
    "sft": "SFT on human answers",
    "first_to_rank": "Responses of the SFT model to rank",
    "first_reward_model": "Reward model, round 1",
    "first_policy": "REINFORCE++, round 1",
    "to_rank": "Responses of the first policy to rank",
    "reward_model": "Reward model",
    "policy": "REINFORCE++",
    "base_answers": "Answers of the base model",
    "sft_answers": "Answers of the SFT model",
    "final_answers": "Answers of the final policy",
    "final_drift": "Final policy against the SFT model",
    "yours": "Responses for you to rank",
}
SMALLEST_HELDOUT = {"prompts": 30, "pairs": 180}


class DemoFailed(RuntimeError):
    """The loop cannot go on; the message says why and what to do."""


@dataclass
class Demo:
    """A project of the service and what the loop has made in it.

    `runs` holds the ended runs by their part, `frozen` the ids of snapshots by their name.
    """

    podium: Podium
    course: Course
    seed: int
    known_words: frozenset[str]
    project_id: str
    experiment_id: str
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    frozen: dict[str, str] = field(default_factory=dict)
    annotators: list[Podium] = field(default_factory=list)

    def run(self, part: str, config: recipe.Config, done: int = 0, of: int = 1) -> str:
        """Start a run, follow it to its good end and return its id; it is `done` of `of` runs."""
        body = {
            "project_id": self.project_id,
            "experiment_id": self.experiment_id,
            "name": RUN_NAMES[part],
            "config": config,
            "tags": ["demo"],
        }
        run_id = str(self.podium.post("/runs", body)["id"])
        self.runs[part] = self.podium.wait(run_id, lambda run: self.course.follow(run, done, of))
        return run_id

    def train(self, part: str, config: recipe.Config) -> str:
        """Run a method that makes a model and return the model's id."""
        self.run(part, config)
        return str(self.runs[part]["output_model_ids"][0])

    def curve(self, part: str, metric: str) -> dict[float, float]:
        """A metric of an ended run: its value by step."""
        asked = {"runs": self.runs[part]["id"], "names": metric, "exact": True}
        found = self.podium.get("/metrics", **asked)["series"]
        if not found:
            raise DemoFailed(
                f"run '{RUN_NAMES[part]}' has no metric {metric}; look at the alerts of the run"
            )
        return dict(zip(found[0]["x"], found[0]["y"]["last"], strict=True))

    def freeze(self, name: str, kind: str, **chosen: list[str]) -> dict[str, Any]:
        """Freeze the chosen records into a snapshot."""
        body = {
            "name": name,
            "kind": kind,
            "heldout_fraction": recipe.HELDOUT[name],
            "seed": recipe.SPLIT_SEED,
            "filter": chosen,
        }
        answer: dict[str, Any] = self.podium.post(f"/projects/{self.project_id}/snapshots", body)
        self.frozen[name] = str(answer["id"])
        return answer

    def import_pairs(self, kind: str, name: str, pairs: Sequence[Pair]) -> None:
        """Import questions (the person's answer as reference) or demonstrations, tagged `name`."""
        answer = "response" if kind == "demonstrations" else "reference"
        lines = [{"prompt": pair.prompt, answer: pair.answer, "tags": [name]} for pair in pairs]
        content = "".join(json.dumps(line) + "\n" for line in lines)
        path = f"/projects/{self.project_id}/imports"
        self.podium.upload(path, content, kind=kind, strict="true")


_ENDINGS = (
    *(NoService, Refused, RunEndedBadly),
    *(DemoFailed, demo_model.FetchFailed, httpx.HTTPError),
)


def main() -> int:
    """Run the demo; 0 only if it really finished."""
    arguments = _arguments()
    try:
        podium = connect(arguments)
        with Course() as course:
            finished = close_the_loop(
                podium, course, arguments.data_dir, arguments.seed, arguments.questions
            )
    except _ENDINGS as error:
        sys.stderr.write(f"The demo stopped: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("The demo was interrupted; what it has made stays in the service.\n")
        return 130
    target = arguments.data_dir / "demo" / "report.json"
    report.write(finished, target)
    report.show(finished, target)
    return 0


def close_the_loop(
    podium: Podium, course: Course, data_dir: Path, seed: int, asked: str
) -> report.Report:
    """From a base model to a better policy, stage by stage; measured on the `asked` questions."""
    with course.stage("fetch"):
        model_folder, corpus_folder = demo_model.fetch(data_dir / "demo")
        questions = corpus.load(corpus_folder)
        known_words = gold.known_words(model_folder / "tokenizer.json")

    with course.stage("import"):
        demo = _new_project(podium, course, seed, known_words)
        base = _register(demo, model_folder)
        _import_and_freeze(demo, questions, asked)

    with course.stage("sft"):
        sft = demo.train("sft", recipe.sft(base, demo.frozen["demonstrations"], seed=seed))

    final = sft
    for which in recipe.ROUNDS:
        reward, final = _go_round(demo, which, sft=sft, sampled=final)

    with course.stage("evaluate"):
        answers = _answer(demo, demo.frozen[asked], base=base, sft=sft, final=final)

    with course.stage("yours"):
        # They are tuning questions, too: a try that measures on those leaves none.
        is_a_try = asked == "tuning"
        left = 0 if is_a_try else _leave_some(demo, questions, reward, final)

    with course.stage("report"):
        finished = report.make(
            runs=demo.runs,
            loss=demo.curve("sft", "eval/loss"),
            reward=demo.curve("policy", "eval/reward"),
            answers=answers,
            known_words=known_words,
            differences=_recorded_differences(demo),
            counts=podium.get(f"/projects/{demo.project_id}")["counts"],
        )
    finished |= {"questions": asked, "seconds": course.seconds, "url": podium.url}
    finished |= {"project_id": demo.project_id, "left_for_you": left}
    report.send(podium, finished)
    return finished


def _go_round(demo: Demo, which: str, *, sft: str, sampled: str) -> tuple[str, str]:
    """Sample from a model, rank, train reward model and policy: the ids of these two models.

    Both start from the SFT model each time; the reward model learns from all rankings so far.
    """
    stage, frozen, seed = demo.course.stage, demo.frozen, demo.seed
    with stage(f"{which}generate"):
        config = recipe.to_rank(sampled, frozen[f"{which}ranking"], seed=seed)
        demo.run(f"{which}to_rank", config)

    with stage(f"{which}judge"):
        _judge(demo)
        _freeze_preferences(demo, which)

    with stage(f"{which}reward_model"):
        config = recipe.reward_model(sft, frozen[f"{which}preferences"], seed=seed)
        reward = demo.train(f"{which}reward_model", config)

    with stage(f"{which}policy"):
        make = recipe.first_policy if which else recipe.policy
        policy = demo.train(f"{which}policy", make(sft, reward, frozen["policy"], seed=seed))
    return reward, policy


def _new_project(podium: Podium, course: Course, seed: int, known_words: frozenset[str]) -> Demo:
    taken = {project["name"] for project in podium.pages("/projects")}
    names = (f"Demo {number}" if number > 1 else "Demo" for number in range(1, len(taken) + 2))
    name = next(name for name in names if name not in taken)
    project = podium.post("/projects", {"name": name, "guidelines": GUIDELINES})["id"]
    body = {
        "project_id": project,
        "name": "Closed loop",
        "question": "Do rankings of its own responses make a small model answer better?",
        "notes": recipe.__doc__,
    }
    course.say(f"project: {name}")
    experiment = podium.post("/experiments", body)["id"]
    return Demo(podium, course, seed, known_words, project, experiment)


def _register(demo: Demo, folder: Path) -> str:
    body = {
        "name": "SmolLM2-135M-Instruct",
        "source": {"path": str(folder)},
        "project_id": demo.project_id,
    }
    return str(demo.podium.post("/models", body)["id"])


def _import_and_freeze(demo: Demo, questions: Corpus, asked: str) -> None:
    """Import each set of questions and freeze it."""
    for name in ("demonstrations", "first_ranking", "ranking", "policy", asked):
        kind = "demonstrations" if name == "demonstrations" else "prompts"
        demo.import_pairs(kind, name, getattr(questions, name))
        demo.freeze(name, kind, tags=[name])


def _judge(demo: Demo) -> None:
    """Let the simulated annotators rank every comparison."""
    wanted = demo.podium.get(f"/projects/{demo.project_id}")["counts"]["open_comparisons"]
    done = count()

    def on_judgment() -> None:
        demo.course.at(next(done) / wanted, "simulated annotators rank")

    demo.annotators = demo.annotators or annotators.hire(demo.podium, demo.project_id)
    annotators.work(demo.annotators, demo.project_id, _gold_score(demo), demo.seed, on_judgment)


def _gold_score(demo: Demo) -> annotators.Scorer:
    return lambda question, answer: gold.score(question, answer, demo.known_words).total


def _freeze_preferences(demo: Demo, which: str) -> None:
    """Freeze all judgments so far; there must be enough to test the last reward model on."""
    heldout = demo.freeze(f"{which}preferences", "preferences")["counts"]["heldout"]
    for what, least in SMALLEST_HELDOUT.items():
        if not which and heldout[what] < least:
            raise DemoFailed(
                f"found {heldout[what]} held-out {what}, expected at least {least}: the responses "
                "were too much alike to rank. Rank more questions (corpus.SIZES)."
            )


def _answer(
    demo: Demo, prompts: str, *, base: str, sft: str, final: str
) -> dict[str, list[AnsweredQuestion]]:
    """The questions answered by base, SFT and final model, with the same random numbers.

    The base model is the reference: how likely does it find the answers. The last run samples the
    final policy's answers again with the SFT model as the reference: how far has the policy gone.
    """
    asked = {
        "base_answers": (base, None),
        "sft_answers": (sft, base),
        "final_answers": (final, base),
        "final_drift": (final, sft),
    }
    project = f"/projects/{demo.project_id}"
    questions = {prompt["id"]: prompt for prompt in demo.podium.pages(f"{project}/prompts")}
    answers = {}
    for done, (part, (model, reference)) in enumerate(asked.items()):
        config = recipe.to_report(model, prompts, reference=reference)
        run_id = demo.run(part, config, done, len(asked))
        answers[part] = [
            _measured(response, questions[response["prompt_id"]])
            for response in demo.podium.pages(f"{project}/responses", run_id=run_id)
        ]
    return answers


def _leave_some(demo: Demo, questions: Corpus, reward: str, policy: str) -> int:
    """Put answers of the final policy up for a person to rank; how many comparisons."""
    demo.import_pairs("prompts", "yours", questions.tuning[: yours.QUESTIONS])
    demo.freeze("yours", "prompts", tags=["yours"])
    config = recipe.yours(policy, reward, demo.frozen["yours"], seed=demo.seed)
    run_id = demo.run("yours", config)
    project = f"/projects/{demo.project_id}"
    bodies = yours.comparisons(demo.podium.pages(f"{project}/responses", run_id=run_id))
    for body in bodies:
        demo.podium.post(f"{project}/comparisons", body)
    score = _gold_score(demo)
    annotators.take_turns(demo.annotators, demo.project_id, score, demo.seed, len(bodies))
    return len(bodies)


def _measured(response: dict[str, Any], prompt: dict[str, Any]) -> AnsweredQuestion:
    # The base model's own answers have no reference: they are its own.
    base_logp = response["scores"].get("ref_logp_sum", response["logp_sum"])
    return AnsweredQuestion(
        prompt_id=prompt["id"],
        prompt=prompt["messages"][-1]["content"],
        human=prompt["reference"],
        content=response["content"],
        is_finished=response["finish_reason"] == "stop",
        base_logp_per_token=base_logp / response["n_tokens"],
    )


def _recorded_differences(demo: Demo) -> list[float]:
    """gold(preferred) - gold(other) of every strict pair that the reward model was tested on."""
    differences: list[float] = []
    exported = f"/snapshots/{demo.frozen['preferences']}/export"
    for record in demo.podium.records(exported, split="heldout"):
        question = record["messages"][-1]["content"]
        gold_of = {
            response["id"]: gold.score(question, response["content"], demo.known_words).total
            for response in record["responses"]
        }
        differences += strict_differences(record["tiers"], gold_of)
    return differences


def _arguments() -> argparse.Namespace:
    parser = arguments_of(__doc__ or "")
    seed_help = "seed of data order, sampling and training; default: %(default)s"
    parser.add_argument("--seed", type=int, default=0, help=seed_help)
    questions_help = "which questions measure: tuning to try other settings; default: %(default)s"
    parser.add_argument(
        "--questions", choices=("reported", "tuning"), default="reported", help=questions_help
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
