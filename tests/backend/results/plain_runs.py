"""Runs and evaluations as tables read them, for the tests beside."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.differences.prompts import InCommon
from backend.domain.results.gathered import KnownModel, Read, gathered
from backend.domain.results.given import Given
from backend.domain.results.measurements import MeasuredRun, PromptSet
from backend.domain.results.tables import results
from backend.schemas.metrics.results import ResultsAnswer, ResultsTable

# Student's t at .975 with two degrees of freedom: of three seeds.
T_OF_2 = 4.302653
TERMS = {"terms": [{"kind": "math"}]}
ROLLOUT = {"temperature": 1.0, "top_p": 1.0, "max_new_tokens": 64, "stop": [], "system": "",
           "template": "model"}  # fmt: skip
SFT = "model_sft"


def policy(name: str, number: int, **changes: Any) -> MeasuredRun:
    """A policy run that began with the SFT model and trained on `snapshot_train`."""
    values = changes.pop("values", {})
    first = changes.pop("first", {})
    has_ended = changes.pop("has_ended", True)
    config = {
        "method": "policy_gradient", "model": {"id": SFT}, "estimator": "grpo", "seed": 0,
        "prompts": {"id": "snapshot_train"}, "reward": TERMS, "rollout": ROLLOUT,
        "optim": {"lr": 1e-4}, "critic": None, "evaluation_sets": [],
    }  # fmt: skip
    return MeasuredRun(
        name, number, "policy_gradient", config | changes, values, first, has_ended, "c0ffee" * 6
    )


def evaluation(number: int, model: str, values: Mapping[str, float], **changes: Any) -> MeasuredRun:
    """An evaluate run on `snapshot_test`, with 16 responses to each prompt."""
    reference = {"hub_id" if "/" in model else "id": model}
    config = {
        "method": "evaluate", "model": reference, "prompts": {"id": "snapshot_test"},
        "split": "all", "samples_per_prompt": 16, "rollout": ROLLOUT, "reward": TERMS,
        "pass_reward": 1.0, "evaluation_sets": [], "breakdown": [], "seed": 0,
    }  # fmt: skip
    return MeasuredRun(f"eval_{number}", number, "evaluate", config | changes, values)


def named(name: str, **changes: Any) -> dict[str, Any]:
    """An evaluation set."""
    return {"name": name, "prompts": {"id": f"snapshot_{name}"}, "split": "all",
            "samples_per_prompt": 16} | changes  # fmt: skip


def spread(name: str, value: float, half: float = 0.1) -> dict[str, float]:
    """A metric with an interval to both sides."""
    return {name: value, f"{name}_low": value - half, f"{name}_high": value + half}


def given_of(
    asked: Sequence[MeasuredRun],
    evaluations: Sequence[MeasuredRun],
    makers: Sequence[MeasuredRun] = (),
    divided: Sequence[str] = (),
    common: Mapping[PromptSet, InCommon | None] | None = None,
    **models: KnownModel,
) -> Given:
    """What was measured; the run `x` made `model_x`, and nobody known made the SFT model.

    `divided`: the snapshots that have held-out prompts, too; `common`: the prompts of sets that are
    in the snapshot that was trained on, None where nobody has counted them.
    """
    known = {f"model_{run.id}": KnownModel(f"of {run.id}", run.id) for run in (*asked, *makers)}
    data = {"snapshot_test": "test", "snapshot_train": "train"}
    called = {SFT: KnownModel("sft")} | known | models
    names = data | {key: model.name for key, model in called.items()}
    read = Read(asked, makers, evaluations, called, names, frozenset(divided), common or {})
    return gathered(read)


def answer_of(
    asked: Sequence[MeasuredRun],
    evaluations: Sequence[MeasuredRun],
    makers: Sequence[MeasuredRun] = (),
    **models: KnownModel,
) -> ResultsAnswer:
    """The tables of what `given_of` gives."""
    return results(given_of(asked, evaluations, makers, **models))


def table_of(answer: ResultsAnswer, table_id: str) -> ResultsTable:
    """The table with this id."""
    return next(table for table in answer.tables if table.id == table_id)
