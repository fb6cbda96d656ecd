"""What the paper in miniature finds again when it is started once more, and its own tables."""

from pathlib import Path
from typing import Any

import pytest
from paper import outcome, puzzles, small_model
from paper.study import Study, seldom_solved
from podium import Podium, Refused

from tests.backend.results.plain_runs import SFT, answer_of, evaluation, policy, spread
from tests.examples.test_closed_loop import service  # noqa: F401


@pytest.fixture
def data_dir(tmp_path: Any) -> Any:
    return tmp_path / "data"


SAMPLE = {"rollout": {"template": "text"}, "samples_per_prompt": 2}


@pytest.mark.slow
def test_what_was_made_is_found_again_by_its_name_and_a_run_that_failed_is_made_anew(
    service: Podium,  # noqa: F811
) -> None:
    drawn = puzzles.draw(3, 20, seed="of a test", split="train")

    def go() -> tuple[Study, str, str, str]:
        study = Study.open(service, "A study")
        experiment = study.experiment("Lessons", "Does it learn?")
        prompts = study.puzzles("train", lambda _: drawn, heldout=0.2)
        config = {"method": "generate", "model": {"id": "model_none"}, "prompts": {"id": prompts}}
        with pytest.raises(Refused, match="model_none"):
            study.start(experiment, {"no model": config | SAMPLE})
        return study, study.project_id, experiment, prompts

    first, second = go(), go()

    assert second[1:] == first[1:]
    snapshot = service.get(f"/snapshots/{first[3]}")
    assert sum(side["prompts"] for side in snapshot["counts"].values()) == 20
    [record, *_] = service.records(f"/snapshots/{first[3]}/export")
    assert record["metadata"]["n_people"] == 3


@pytest.mark.slow
def test_a_run_is_taken_for_what_was_asked_only_with_the_same_config(
    service: Podium,  # noqa: F811
    data_dir: Path,
) -> None:
    folder = data_dir / "models" / "untrained"
    folder.parent.mkdir(parents=True, exist_ok=True)
    small_model.make(folder)
    drawn = puzzles.draw(3, 4, seed="of a test", split="train")

    def go(temperature: float) -> tuple[str, str]:
        study = Study.open(service, "A study")
        experiment = study.experiment("Lessons", "Does it learn?")
        rollout = {"template": "text", "temperature": temperature, "max_new_tokens": 4}
        config = {
            "method": "generate",
            "model": {"id": study.model("untrained", str(folder))},
            "prompts": {"id": study.puzzles("few", lambda _: drawn)},
            "rollout": rollout,
        }
        [run] = study.finish(study.start(experiment, {"answers": config}))
        return run["id"], experiment

    first, experiment = go(1.0)
    [own] = service.get(f"/runs/{first}")["tags"]
    # Tags that people give say nothing of a config.
    tags = {"tags": ["a-good-one", own, "to-show"]}
    service._http.patch(f"/runs/{first}", json=tags).raise_for_status()
    assert go(1.0)[0] == first
    second, _ = go(0.5)

    assert second != first
    assert [run["id"] for run in service.pages("/runs", experiment_id=experiment)] == [second]


def test_seldom_solved_are_prompts_whose_share_lies_between_both_ends_included() -> None:
    shares = {"p_never": 0, "p_a": 1, "p_b": 5, "p_often": 6}
    answers = [
        {"prompt_id": name, "passed": at < n} for name, n in shares.items() for at in range(20)
    ]

    assert seldom_solved(iter(answers), 30, (0.05, 0.25)) == ["p_a", "p_b"]
    assert seldom_solved(iter(answers), 1, (0.05, 0.25)) == ["p_a"]


def test_the_true_score_is_that_of_the_first_five_steps_whose_mean_is_so_far_away() -> None:
    kl = {float(step): step * 0.5 for step in range(1, 11)}
    gold = {float(step): step / 10 for step in range(1, 11)}

    # Steps 1 to 5 have a mean of 1.5 nats; 4 to 8 are the first that reach 3.
    assert outcome._score_at(1, kl, gold) == "0.300 (step 5)"
    assert outcome._score_at(3, kl, gold) == "0.600 (step 8)"
    assert outcome._score_at(10, kl, gold) == "not reached"


def beside_the_start(run: str, number: int, gain: float, half: float) -> Any:
    """The evaluation of what a run left, with the start as its baseline."""
    values = spread("eval/pass@1", 0.4 + gain, 0.2) | spread("eval/pass_gain", gain, half)
    more = {"baseline_model": {"id": SFT}, "samples_per_prompt": 4}
    return evaluation(number, f"model_{run}", values | {"eval/length": 9.0}, **more)


def test_gains_have_the_interval_over_seeds_and_puzzles_and_are_bold_beyond_both() -> None:
    """.10, .11 and .12: half a t interval of .025, and .03 or .2 by puzzle beside it."""
    runs = [policy(f"g{n}", n, seed=n) for n in range(3)]
    runs += [policy(f"r{n}", 3 + n, seed=n, estimator="rloo") for n in range(3)]
    found = [
        beside_the_start(run.id, 10 + run.number, 0.1 + 0.01 * (run.number % 3), half)
        for run, half in zip(runs, [0.03] * 3 + [0.2] * 3, strict=True)
    ]
    answer = answer_of(runs, found).model_dump(mode="json")

    written = outcome.gains(answer).splitlines()

    over_seeds = 4.302653 * 0.01 / 3**0.5
    narrow, wide = ((over_seeds**2 + half**2) ** 0.5 for half in (0.03, 0.2))
    assert written[0].startswith("## Gain in pass@1 over the start")
    assert set(written[4:]) == {
        f"| test | grpo | **0.110 [{0.11 - narrow:.3f}, {0.11 + narrow:.3f}]** | 3 |",
        f"| test | rloo | 0.110 [{0.11 - wide:.3f}, {0.11 + wide:.3f}] | 3 |",
    }
    assert outcome.gains(answer_of(runs, []).model_dump(mode="json")) == ""
