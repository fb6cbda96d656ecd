"""Named sets and texts of a policy, beside its reference: asked once, the same as by evaluate."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from backend.schemas.training import parse_run_config
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import Finished, Workshop, lines, policy_gradient_config, series
from tests.trainer.test_evaluate import evaluate_config, results
from tests.trainer.test_resume import EVERY_SAMPLE, exact_metrics, sampled, weights
from worker.trainer.methods.policy_gradient.baseline import Baseline
from worker.trainer.methods.policy_gradient.policy import Policy
from worker.trainer.rewards.grading import begun
from worker.trainer.rewards.grading.pool import Pool

PROMPTS = {"path": "inputs/prompts.jsonl"}
SEEN = {"name": "seen", "prompts": PROMPTS, "split": "train", "samples_per_prompt": 2}
TEXTS = {"path": "inputs/demonstrations.jsonl"}
LETTER = {"terms": [{"kind": "regex", "pattern": "[a-m]", "is_answer": True}]}
ASKED = {"compare_with_reference": True, "texts": TEXTS, "evaluation_sets": [SEEN]}


def config_of(model: Path, **more: Any) -> dict[str, Any]:
    """Two steps with a rate that moves the policy, evaluated after each."""
    base = policy_gradient_config(model, steps=2, eval_every=1, checkpoint_every=1)
    return base | {"reward": LETTER, "breakdown": ["place"]} | ASKED | more


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None], ids=["lora", "full"])
def test_before_the_first_step_nothing_differs_from_the_reference(
    tiny_model: Path, finished: Finished, lora: dict[str, int] | None, precision: str
) -> None:
    """Neither a token nor a bit of a log-probability, in whichever precision it is computed."""
    run_dir = finished(config_of(tiny_model, lora=lora, precision=precision))

    assert series(run_dir, "eval/seen/win_rate")[0] == 0.5
    assert series(run_dir, "eval/seen/gain")[0] == series(run_dir, "eval/seen/pass_gain")[0] == 0
    assert series(run_dir, "eval/text_change")[0] == 0.0
    assert series(run_dir, "eval/seen/win_rate")[2] != 0.5
    assert series(run_dir, "eval/text_change")[2] != 0.0
    for end in ("", "_low", "_high"):
        told = series(run_dir, f"baseline/seen/reward{end}")
        assert list(told) == [0, 1, 2]
        assert set(told.values()) == {series(run_dir, f"eval/seen/reward{end}")[0]}


@pytest.mark.parametrize("normalize", ["none", "running"])
@pytest.mark.parametrize("kl", [0.0, 0.05])
def test_an_evaluate_run_of_the_output_finds_the_same_numbers(
    workshop: Workshop, tiny_model: Path, tmp_path: Path, kl: float, normalize: str
) -> None:
    """Beside a reference of its own, by every name, with the ends of intervals and the parts."""
    other = make_tiny_model(tmp_path / "other", seed=7)
    config = config_of(tiny_model, lora=None, kl={"coef": kl}, reference={"path": str(other)})
    config["reward"] = LETTER | {"normalize": normalize}
    trained = workshop.lay_out("policy", config)
    prompts = trained / "inputs" / "prompts.jsonl"
    prompts.write_text(prompts.read_text().replace("heldout", "train"))
    assert workshop.run_here(trained)["code"] == 0
    again = evaluate_config(trained / "output", baseline_model={"path": str(other)})
    again |= {"reward": LETTER, "rollout": config["rollout"], "samples_per_prompt": 2}
    run_dir = workshop.lay_out("again", again | {"texts": TEXTS, "breakdown": ["place"]})
    assert workshop.run_here(run_dir)["code"] == 0

    found = results(run_dir)

    told = lines(trained, "metric")[-1]["values"]
    names = [name for name in told if name.startswith(("eval/seen/", "baseline/seen/"))]
    assert len([name for name in names if "/place." in name and "win_rate" in name]) == 12
    for name in [*names, *(name for name in told if name.startswith("eval/text_"))]:
        assert told[name] == pytest.approx(found[name.replace("/seen/", "/")], abs=1e-5), name
    assert {"eval/seen/gain", "eval/seen/pass_gain", "baseline/seen/length"} <= set(names)
    assert not told["eval/text_change"] == told["eval/seen/gain"] == 0


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets an item with each time that a reference samples."""
    asked: list[int] = []
    engine = Policy.reference_engine

    def counting(policy: Policy) -> Any:
        asked.append(1)
        return engine(policy)

    monkeypatch.setattr(Policy, "reference_engine", counting)
    return asked


@pytest.mark.parametrize("lora", [{"r": 4, "alpha": 8}, None], ids=["lora", "full"])
def test_two_steps_are_one_and_one_and_the_reference_answers_once(
    workshop: Workshop,
    tiny_model: Path,
    finished: Finished,
    monkeypatch: pytest.MonkeyPatch,
    lora: dict[str, int] | None,
) -> None:
    config = config_of(tiny_model, lora=lora, log=EVERY_SAMPLE)
    whole = finished(config)
    halves = workshop.lay_out("halves", config | {"steps": 1})
    asked = counted(monkeypatch)

    assert workshop.run_here(halves)["code"] == 0
    (halves / "attempts" / "2").mkdir(parents=True)
    (halves / "config.json").write_bytes((whole / "config.json").read_bytes())
    assert workshop.run_here(halves)["code"] == 0

    assert len(asked) == 1
    assert lines(halves, "start")[-1]["step"] == 1
    assert weights(halves) == weights(whole)
    assert exact_metrics(halves) == exact_metrics(whole)
    assert sampled(halves) == sampled(whole)


def test_what_is_asked_of_the_reference_changes_nothing_of_the_training(
    workshop: Workshop, tiny_model: Path, finished: Finished
) -> None:
    """Weights, samples and every other metric, and the state that a checkpoint has of them."""
    config = config_of(tiny_model, log=EVERY_SAMPLE)
    asking = finished(config)
    plain = workshop.lay_out("plain", config | {"compare_with_reference": False, "texts": None})
    assert workshop.run_here(plain)["code"] == 0

    assert weights(plain) == weights(asking)
    assert sampled(plain) == sampled(asking)
    told, more = exact_metrics(plain), exact_metrics(asking)
    assert {name: more[name] for name in told} == told
    added = {name.split("/")[-1] for _, name in more.keys() - told.keys() if "place" not in name}
    plain_names = {"win_rate", "win_rate_lc", "gain", "pass_gain", "reward", "length"}
    plain_names |= {"text_logp", "text_change"}
    assert {name.removesuffix("_low").removesuffix("_high") for name in added} == plain_names
    states = [
        json.loads((run / "checkpoints" / "step-2" / "state.json").read_text())
        for run in (plain, asking)
    ]
    known = states[1]["parts"].pop("baseline")["known"]
    assert states[0]["parts"] == states[1]["parts"]
    responses = next(one for one in known.values() if "raw" in one)
    assert {len(column) for name, column in responses.items() if name != "most"} == {24}


FLAKY = """
from pathlib import Path

CALLS = Path({calls!r})

def letter(response, prompt, reference, tags, metadata):
    with CALLS.open("a") as calls:
        calls.write("x")
    if {first} <= CALLS.stat().st_size <= {last}:
        raise RuntimeError("the grader is out of order")
    score = float(any(one in "abcdefghijklm" for one in response))
    return {{"score": score, "passed": score == 1}}
"""


@pytest.mark.parametrize("stops", [False, True])
def test_what_a_grader_failed_on_does_not_stay_in_what_is_known_of_the_reference(
    workshop: Workshop,
    tiny_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stops: bool,
) -> None:
    """Nor is it lost for the rest of a run that was stopped in between."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.setenv("PODIUM_REWARD_FUNCTIONS", "flaky:letter")
    term = {"kind": "function", "function": "flaky:letter"}
    config = config_of(tiny_model, reward={"terms": [term]}, texts=None)

    def told(name: str, first: int, last: int, steps: Sequence[int]) -> Path:
        calls = tmp_path / f"{name}.calls"
        (tmp_path / "flaky.py").write_text(FLAKY.format(calls=str(calls), first=first, last=last))
        run_dir = workshop.lay_out(name, config)
        for attempt, n in enumerate(steps, 1):
            (run_dir / "attempts" / str(attempt)).mkdir(parents=True, exist_ok=True)
            (run_dir / "config.json").write_text(json.dumps(config | {"steps": n}))
            pool = Pool(1)
            monkeypatch.setattr(begun, "shared", lambda: pool)  # noqa: B023
            try:
                assert workshop.run_here(run_dir)["code"] == 0
            finally:
                pool.close()
        return run_dir

    steps = [1, 2] if stops else [2]
    sound = told("sound", 0, -1, steps)
    # The reference is graded first of all.
    flaky = told("flaky", 1, 12, steps)

    for name in ("baseline/seen/reward", "eval/seen/win_rate", "eval/seen/pass_gain"):
        for end in ("", "_low", "_high"):
            found, wanted = (series(run, f"{name}{end}") for run in (flaky, sound))
            assert end or found[0] != wanted[0] or name.endswith("win_rate"), name
            assert found[2] == wanted[2], name
    alerts = [line["message"] for line in lines(flaky, "alert") if line["rule"] == "unscored"]
    assert "12 of 24 responses of the reference to the set seen got no finite reward" in alerts[0]


HOPELESS = """
def letter(response, prompt, reference, tags, metadata):
    if len(response) % 2:
        {fails}
    return 1.0
"""


@pytest.mark.parametrize(("fails", "is_kept"), [("return None", True), ("raise OSError", False)])
def test_a_checkpoint_keeps_what_cannot_be_scored_but_not_what_a_grader_failed_on(
    workshop: Workshop,
    tiny_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fails: str,
    is_kept: bool,
) -> None:
    """Else each resume samples the reference again, for grades that will never come."""
    (tmp_path / "hopeless.py").write_text(HOPELESS.format(fails=fails))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.setenv("PODIUM_REWARD_FUNCTIONS", "hopeless:letter")
    term = {"kind": "function", "function": "hopeless:letter"}
    config = config_of(tiny_model, reward={"terms": [term]}, texts=None)
    run_dir = workshop.lay_out("run", config | {"steps": 1})
    pool = Pool(1)
    monkeypatch.setattr(begun, "shared", lambda: pool)
    try:
        assert workshop.run_here(run_dir)["code"] == 0
    finally:
        pool.close()

    assert "unscored" in {line["rule"] for line in lines(run_dir, "alert")}
    state = json.loads((run_dir / "checkpoints" / "step-1" / "state.json").read_text())
    assert bool(state["parts"]["baseline"]["known"]) == is_kept


def test_what_is_not_final_is_known_but_in_no_checkpoint() -> None:
    known = Baseline(["set"])

    known.keep("set", {"raw": [0.0]}, is_final=False)

    assert known["set"] == {"raw": [0.0]}
    assert known.state() == {"known": {}}
    known.keep("set", {"raw": [1.0]})
    assert known.state() == {"known": {"set": {"raw": [1.0]}}}


def without_what_was_asked(config: dict[str, Any]) -> dict[str, Any]:
    """The config of a parent that did not ask for it."""
    return config | {"compare_with_reference": False, "texts": None}


def with_another_letter(config: dict[str, Any]) -> dict[str, Any]:
    """The config of a parent with another reward."""
    term = LETTER["terms"][0] | {"pattern": "[n-z]"}
    return config | {"reward": {"terms": [term]}}


@pytest.mark.parametrize("earlier", [without_what_was_asked, with_another_letter])
def test_a_clone_that_asks_for_something_else_asks_the_reference_anew(
    workshop: Workshop,
    tiny_model: Path,
    finished: Finished,
    monkeypatch: pytest.MonkeyPatch,
    earlier: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    """It finds of the reference what a run finds that asked it from the beginning."""
    config = config_of(tiny_model, log=EVERY_SAMPLE)
    whole = finished(config)
    run_dir = workshop.lay_out("run", earlier(config) | {"steps": 1})
    assert workshop.run_here(run_dir)["code"] == 0
    (run_dir / "config.json").write_bytes((whole / "config.json").read_bytes())
    asked = counted(monkeypatch)

    assert workshop.run_here(run_dir)["code"] == 0

    assert len(asked) == 1
    for name in ("baseline/seen/reward", "baseline/seen/length"):
        assert series(run_dir, name)[2] == series(whole, name)[2]
    logp, change = (series(run_dir, f"eval/text_{name}")[2] for name in ("logp", "change"))
    assert logp - change == pytest.approx(series(whole, "eval/text_logp")[0])


def test_texts_alone_are_evaluated_without_held_out_prompts(
    workshop: Workshop, tiny_model: Path
) -> None:
    config = config_of(tiny_model) | {"compare_with_reference": False, "evaluation_sets": []}
    run_dir = workshop.lay_out("run", config)
    prompts = run_dir / "inputs" / "prompts.jsonl"
    prompts.write_text(prompts.read_text().replace("heldout", "train"))

    assert workshop.run_here(run_dir)["code"] == 0

    assert sorted(series(run_dir, "eval/text_change")) == [0, 1, 2]
    assert series(run_dir, "eval/reward") == {}


def test_a_comparison_without_a_set_is_refused() -> None:
    config = config_of(Path("model")) | {"evaluation_sets": []}

    with pytest.raises(ValueError, match="there are no evaluation_sets to compare on"):
        parse_run_config(config)


def test_a_config_that_asks_for_nothing_is_what_it_was() -> None:
    """Runs from before there were such settings stay seeds of one group with later ones."""
    config = policy_gradient_config(Path("model"))

    completed = parse_run_config(config).model_dump(mode="json")

    assert not {"compare_with_reference", "texts"} & completed.keys()
    asked = parse_run_config(config | ASKED).model_dump(mode="json")
    assert asked["compare_with_reference"] is True
    assert asked["texts"]["path"] == TEXTS["path"]
