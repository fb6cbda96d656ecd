"""Inputs: the exact bytes, verified, written once; a clear end where that cannot be."""

import json
import os
from pathlib import Path

import pytest
from sqlalchemy import update

from backend.artifacts import ArtifactStore
from backend.errors import InvalidInput
from backend.model_files import content_sha256
from backend.store.tables.data import SnapshotLine
from backend.store.tables.models import Model
from tests.worker.floor import Floor
from worker.digests import Digests
from worker.run_directory.arrival import read_responses
from worker.run_directory.export import Export, write_whole
from worker.run_directory.failures import RunFailed
from worker.run_directory.intake import check_model_files, read_results
from worker.run_directory.layout import RunDirectory


def export(floor: Floor, run_id: str, digests: Digests | None = None) -> RunDirectory:
    directory = RunDirectory(floor.settings.runs_dir, run_id)
    directory.path.mkdir(parents=True, exist_ok=True)
    artifacts = ArtifactStore(floor.settings.resolved_artifact_url)
    export = Export(floor.settings, artifacts, digests or Digests(), directory, floor.cancellation)
    export.write(floor.database, floor.run(run_id))
    return directory


def failure(floor: Floor, run_id: str) -> str:
    with pytest.raises(RunFailed) as caught:
        export(floor, run_id)
    assert caught.value.failure.advice
    return f"{caught.value.failure.cause}: {caught.value.failure.message}"


def test_a_second_export_rewrites_no_input(floor: Floor) -> None:
    run_id = floor.new_run()
    data = export(floor, run_id).inputs / "demonstrations.jsonl"
    before = data.stat()

    export(floor, run_id)

    assert (data.stat().st_ino, data.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert sorted(os.listdir(data.parent)) == ["demonstrations.jsonl"]


def test_an_input_that_was_changed_on_disk_is_written_again(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run()
    data = export(sqlite_floor, run_id).inputs / "demonstrations.jsonl"
    whole = data.read_bytes()
    data.write_bytes(whole[:-5])

    export(sqlite_floor, run_id)

    assert data.read_bytes() == whole


def test_a_snapshot_whose_lines_were_changed_is_refused_and_nothing_is_left(floor: Floor) -> None:
    run_id = floor.new_run()
    with floor.database.write() as session:
        session.execute(update(SnapshotLine).values(line="{}"))

    assert "do not match its sha256" in failure(floor, run_id)

    assert list((floor.settings.runs_dir / run_id / "inputs").iterdir()) == []


def test_a_run_made_with_another_snapshot_or_model_is_refused(sqlite_floor: Floor) -> None:
    other = "0" * 64
    by_data = sqlite_floor.new_run(
        demonstrations={"id": "snapshot_demonstrations", "sha256": other}
    )
    by_model = sqlite_floor.new_run(model={"id": "model_base", "sha256": other})

    assert "has changed since this run was created" in failure(sqlite_floor, by_data)
    assert "has changed since this run was created" in failure(sqlite_floor, by_model)


def test_a_model_that_is_gone_or_changed_is_refused(sqlite_floor: Floor) -> None:
    weights = sqlite_floor.data_dir / "models" / "base" / "model.safetensors"
    run_id = sqlite_floor.new_run()

    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    assert "have changed" in failure(sqlite_floor, run_id)
    weights.unlink()
    assert "found no weights" in failure(sqlite_floor, run_id)
    (weights.parent / "config.json").unlink()
    weights.parent.rmdir()
    assert "nothing exists at" in failure(sqlite_floor, run_id)


def test_an_index_that_was_changed_or_added_is_told(sqlite_floor: Floor) -> None:
    floor = sqlite_floor
    folder = floor.data_dir / "models" / "base"
    index = folder / "model.safetensors.index.json"
    weights = folder / "model-00001-of-00001.safetensors"
    (folder / "model.safetensors").rename(weights)
    said = {"metadata": {}, "weight_map": {"w": weights.name}}
    index.write_text(json.dumps(said))
    run_id = floor.new_run()
    # What an earlier version recorded, which did not hash the index: the files are the same.
    assert str(weights.parent) in export(floor, run_id).config.read_text()

    sha256 = content_sha256(folder, [weights])
    with floor.database.write() as session:
        session.execute(update(Model).values(sha256=sha256))
    assert sha256 in export(floor, run_id).config.read_text()
    index.write_text(json.dumps(said | {"metadata": {"total_size": 7}}))
    assert "have changed" in failure(floor, run_id)
    index.write_text(json.dumps(said | {"weight_map": {"w": "../other/evil.safetensors"}}))
    assert "names ../other/evil.safetensors; expected" in failure(floor, run_id)
    index.unlink()
    assert f"found {weights.name} without {index.name}" in failure(floor, run_id)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_copy_in_the_cache_that_is_damaged_is_fetched_again(
    sqlite_floor: Floor, tmp_path: Path, name: str
) -> None:
    floor = sqlite_floor
    in_memory = {"artifact_url": f"memory://{tmp_path.name}"}
    floor.settings = floor.settings.model_copy(update=in_memory)
    key = "runs/run_before/model-1"
    ArtifactStore(floor.settings.resolved_artifact_url).put_folder(
        floor.data_dir / "models" / "base", key
    )
    with floor.database.write() as session:
        session.execute(update(Model).values(source={"artifact": key}))
    run_id = floor.new_run()
    export(floor, run_id)
    cached = floor.data_dir / "cache" / key / name
    whole = cached.read_bytes()
    # What a power cut leaves of a file that had arrived a moment ago.
    cached.write_bytes(b"")

    export(floor, run_id)

    assert cached.read_bytes() == whole
    with floor.database.write() as session:
        session.execute(update(Model).values(sha256="0" * 64))
    assert "have changed" in failure(floor, run_id), "what the bucket has is not what it should be"


def test_a_model_outside_of_the_roots_is_refused(sqlite_floor: Floor, tmp_path: Path) -> None:
    run_id = sqlite_floor.new_run()
    with sqlite_floor.database.write() as session:
        session.execute(update(Model).values(source={"path": str(tmp_path)}))

    assert "outside" in failure(sqlite_floor, run_id)


def test_a_hub_id_stays_a_hub_id(sqlite_floor: Floor) -> None:
    run_id = sqlite_floor.new_run(model={"hub_id": "owner/name"})

    assert '"hub_id": "owner/name"' in export(sqlite_floor, run_id).config.read_text()


def test_a_full_disk_fails_the_run_with_advice_and_leaves_no_half_file(
    sqlite_floor: Floor,
) -> None:
    run_id = sqlite_floor.new_run()
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full, which this system does not have")
    inputs = sqlite_floor.settings.runs_dir / run_id / "inputs"
    inputs.mkdir(parents=True)
    # The kernel's own full disk in the place of the unfinished file.
    (inputs / ".demonstrations.jsonl.part").symlink_to(full)

    said = failure(sqlite_floor, run_id)

    assert said.startswith("disk: ")
    assert "No space left" in said
    assert list(inputs.iterdir()) == []


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, [b"old"])

    def broken() -> object:
        yield b"new"
        raise InvalidInput("no more")

    with pytest.raises(InvalidInput):
        write_whole(path, broken())  # type: ignore[arg-type]

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["model.bin", "weights.pt", "x.pkl", "run.py", "lib.so"])
def test_an_output_with_anything_but_weights_and_text_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    check_model_files(tmp_path)

    (tmp_path / name).write_bytes(b"")

    with pytest.raises(RunFailed, match=name):
        check_model_files(tmp_path)


def test_an_output_with_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to("/etc/passwd")

    with pytest.raises(RunFailed, match="not a regular file"):
        check_model_files(tmp_path)


def test_a_broken_line_of_responses_is_named(tmp_path: Path) -> None:
    path = tmp_path / "responses.jsonl"
    good = '{"prompt_id":"p","index":0,"content":"c","finish_reason":"stop","n_tokens":1}\n'
    path.write_text(good + good.replace('"stop"', '"tired"'))

    with pytest.raises(RunFailed, match=r"line 2.*finish_reason"):
        list(read_responses(path))


def test_results_are_numbers_by_name(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"eval/reward": 0.5, "pass": {"at_1": 1, "note": "x"}, "none": null}')

    assert read_results(path) == {"eval/reward": 0.5, "pass/at_1": 1.0, "none": None}
    path.write_text("[]")
    with pytest.raises(RunFailed, match=r"results\.json"):
        read_results(path)


@pytest.mark.parametrize("run_id", ["../etc", "run_", "run_x/../y", "run_X", "", "run_a\0"])
def test_only_a_run_id_names_a_run_directory(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(ValueError, match="not a run id"):
        RunDirectory(tmp_path, run_id)


def test_a_run_directory_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path, "run_a")

    first = directory.try_lock()
    assert first is not None
    assert directory.try_lock() is None
    os.close(first)
    again = directory.try_lock()

    assert again is not None
    os.close(again)
