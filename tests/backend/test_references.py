"""What the references of a config may point to is said by its fields, and by nothing else."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from backend.schemas.methods import METHODS
from backend.schemas.references import (
    DATA,
    LanguageModel,
    PointsTo,
    Prompts,
    Reference,
    pointers,
    wanted,
)
from backend.schemas.training import parse_run_config
from backend.schemas.vocabulary import ModelKind, SnapshotKind

HUB = {"hub_id": "owner/name"}


class Judge(BaseModel):
    """A part with a reference of its own."""

    model: Annotated[Reference, PointsTo(ModelKind.REWARD_MODEL)]


class Nested(BaseModel):
    """References in every place where one may stand."""

    prompts: Prompts
    baseline: LanguageModel | None = None
    judge: Judge
    judges: list[Judge]
    models: list[LanguageModel]


def test_every_reference_is_found_with_its_place_and_what_it_wants() -> None:
    config = Nested.model_validate(
        {"prompts": {"id": "snapshot_a"}, "judge": {"model": HUB}, "judges": [{"model": HUB}] * 2}
        | {"models": [HUB]}
    )

    assert {pointer.path: str(pointer.wants.kind) for pointer in pointers(config)} == {
        "prompts": "prompts",
        "judge.model": "reward_model",
        "judges.0.model": "reward_model",
        "judges.1.model": "reward_model",
        "models.0": "causal_lm",
    }
    assert {path: str(wants.kind) for path, wants in wanted(Nested).items()} == {
        "prompts": "prompts",
        "baseline": "causal_lm",
        "judge.model": "reward_model",
        "judges.*.model": "reward_model",
        "models.*": "causal_lm",
    }


def test_a_field_that_does_not_say_what_it_points_to_is_refused() -> None:
    class Silent(BaseModel):
        model: Reference

    with pytest.raises(TypeError, match="the field model is a Reference"):
        wanted(Silent)
    with pytest.raises(TypeError, match="the field model is a Reference"):
        pointers(Silent.model_validate({"model": HUB}))


def test_a_reward_model_may_go_on_from_an_earlier_one() -> None:
    wants = wanted(METHODS["reward_model"].config)["model"]

    assert wants.fits(ModelKind.CAUSAL_LM)
    assert wants.fits(ModelKind.REWARD_MODEL)
    assert not wants.fits(ModelKind.PROCESS_MODEL)
    assert not wanted(METHODS["dpo"].config)["model"].fits(ModelKind.REWARD_MODEL)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_names_the_model_that_it_begins_with(method: str) -> None:
    assert wanted(METHODS[method].config)["model"].kind == ModelKind.CAUSAL_LM


def test_data_is_told_from_models() -> None:
    config: dict[str, Any] = {"method": "dpo", "model": HUB, "preferences": {"id": "snapshot_a"}}
    found = {p.path: p.wants.snapshot for p in pointers(parse_run_config(config))}

    assert found == {"model": None, "preferences": SnapshotKind.PREFERENCES}


@pytest.mark.parametrize("method", METHODS)
def test_the_field_of_a_methods_data_is_called_as_its_kind(method: str) -> None:
    fields = wanted(METHODS[method].config)
    assert {path: wants.snapshot for path, wants in fields.items() if path in DATA} == {
        one: one for one in DATA if one in fields
    }
    # `texts` are only read, to see what was forgotten; all that is sampled or learned from is here.
    others = {path for path, wants in fields.items() if wants.snapshot and path not in DATA}
    assert others <= {"texts", "evaluation_sets.*.prompts"}
    assert len(others) < len([one for one in fields.values() if one.snapshot])
