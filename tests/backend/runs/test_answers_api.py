"""The answers of a run as a file: to the byte, for whoever may see its samples."""

from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.artifacts import ArtifactStore
from backend.settings import Settings
from backend.store.runs import outputs
from backend.store.runs.outputs import OutputFile
from tests.backend.conftest import Service
from tests.backend.runs.conftest import Seed, plant

NewUser = Callable[..., tuple[TestClient, dict[str, Any]]]
# More than one part of the stream.
CONTENT = b"".join(
    b'{"prompt_id": "prompt_%d", "content": "\xc3\xbc"}\n' % n for n in range(60_000)
)


@pytest.fixture(params=["folder", "bucket"])
def artifacts(request: pytest.FixtureRequest, service: Service, tmp_path: Path) -> ArtifactStore:
    """The artifact store of the service: a folder, or a bucket."""
    settings: Settings = service.app.state.settings
    if request.param == "bucket":
        url = f"memory://{tmp_path.parent.name}-{tmp_path.name}"
        service.app.state.settings = settings.model_copy(update={"artifact_url": url})
    return ArtifactStore(service.app.state.settings.resolved_artifact_url)


def answered(service: Service, artifacts: ArtifactStore, folder: Path) -> str:
    """A run whose answers have come home."""
    seed = plant(service.app.state.database)
    run_id: str = service.client().post("/runs", json=seed.body(seed.sft())).json()["id"]
    folder.mkdir()
    (folder / outputs.ANSWERS).write_bytes(CONTENT)
    (kept,) = artifacts.put_folder(folder, f"runs/{run_id}/answers-1")
    with service.app.state.database.write() as session:
        outputs.keep_files(session, run_id, [OutputFile(*astuple(kept))])
    return run_id


def test_they_arrive_to_the_byte_with_their_hash(
    service: Service, artifacts: ArtifactStore, tmp_path: Path
) -> None:
    run_id = answered(service, artifacts, tmp_path / "output")

    answer = service.client().get(f"/runs/{run_id}/answers")

    assert answer.status_code == 200, answer.text
    assert answer.content == CONTENT
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["content-length"] == str(len(CONTENT))
    assert answer.headers["content-disposition"] == (
        f'attachment; filename="{run_id}-responses.jsonl"'
    )
    (listed,) = service.client().get(f"/runs/{run_id}/artifacts").json()["items"]
    assert answer.headers["x-podium-sha256"] == listed["sha256"]


def test_a_file_that_is_gone_is_told_before_the_answer_begins(
    service: Service, artifacts: ArtifactStore, tmp_path: Path
) -> None:
    run_id = answered(service, artifacts, tmp_path / "output")
    artifacts.remove(f"runs/{run_id}/answers-1")

    answer = service.client().get(f"/runs/{run_id}/answers")

    assert answer.status_code >= 400
    assert "Restore the artifact store from its backup" in answer.json()["advice"]


def test_a_run_without_any_says_when_there_are_some(api: TestClient, seed: Seed) -> None:
    run_id = api.post("/runs", json=seed.body(seed.sft())).json()["id"]

    answer = api.get(f"/runs/{run_id}/answers")

    assert answer.status_code == 404
    assert "kept when a generate or evaluate run succeeds" in answer.json()["advice"]


def test_annotators_and_people_of_other_projects_do_not_get_them(
    service: Service, artifacts: ArtifactStore, tmp_path: Path, new_user: NewUser
) -> None:
    run_id = answered(service, artifacts, tmp_path / "output")
    elsewhere = service.client().post("/projects", json={"name": "elsewhere"}).json()["id"]
    asked = {
        "viewer": new_user("viewer", "project_seed"),
        "annotator": new_user("annotator", "project_seed"),
        "foreign": new_user("researcher", elsewhere),
    }

    got = {who: client.get(f"/runs/{run_id}/answers") for who, (client, _) in asked.items()}

    assert {who: one.status_code for who, one in got.items()} == {
        "viewer": 200,
        "annotator": 403,
        "foreign": 404,
    }
    assert all(b"prompt_1" not in got[who].content for who in ("annotator", "foreign"))
