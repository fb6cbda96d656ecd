"""Models are what was registered and what was trained, each time that a run loads one."""

from pathlib import Path

import pytest
from sqlalchemy import select, update

from backend.model_files import content_sha256
from backend.store.tables.models import Model
from backend.store.tables.runs import Run
from tests.worker.floor import Floor


def run_on(floor: Floor, model_id: str) -> Run:
    """A run of this model, at its end."""
    run_id = floor.new_run(model={"id": model_id})
    return floor.wait_for(run_id, "succeeded", "failed")


@pytest.mark.slow
def test_a_model_too_large_to_be_hashed_by_the_api_is_hashed_by_its_first_run_and_held_to_it(
    floor: Floor,
) -> None:
    folder = floor.data_dir / "models" / "base"
    weights = folder / "model.safetensors"
    with floor.database.write() as session:
        session.execute(update(Model).values(sha256=None))

    with floor.worker("--steps", "1"):
        assert run_on(floor, "model_base").state == "succeeded"
        (sha256,) = floor.rows(select(Model.sha256).where(Model.id == "model_base"))
        assert sha256 == content_sha256(folder, [weights])
        assert run_on(floor, "model_base").state == "succeeded"
        weights.write_bytes(weights.read_bytes()[:-1] + b"x")
        failed = run_on(floor, "model_base")

    assert failed.state == "failed"
    assert failed.error["cause"] == "missing_model"
    assert "have changed" in failed.error["message"]
    assert failed.attempt == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_trained_model_is_verified_file_by_file(sqlite_floor: Floor, name: str) -> None:
    floor = sqlite_floor
    with floor.worker("--steps", "1"):
        assert run_on(floor, "model_base").state == "succeeded"
        (model,) = floor.rows(select(Model).where(Model.run_id.is_not(None)))
        folder = Path(floor.settings.resolved_artifact_url) / model.source["artifact"]
        assert model.sha256 == content_sha256(folder, [folder / "model.safetensors"])
        assert run_on(floor, model.id).state == "succeeded"
        changed = folder / name
        changed.write_bytes(changed.read_bytes() + b" ")
        failed = run_on(floor, model.id)

    assert failed.state == "failed"
    assert f"{name} of model {model.id}" in failed.error["message"]
