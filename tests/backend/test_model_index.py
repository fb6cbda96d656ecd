"""The weights of a model lie in its folder, all of them: what an index names is checked, too."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from backend.model_files import content_sha256
from tests.backend.conftest import Service
from tests.backend.test_gguf_header import write_gguf
from tests.backend.test_models import register, write_safetensors

INDEX = "model.safetensors.index.json"
PARTS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]


def index_of(*names: str) -> str:
    """An index by which these files hold a weight each."""
    return json.dumps(
        {"metadata": {"total_size": 1}, "weight_map": {f"w{i}": n for i, n in enumerate(names)}}
    )


@pytest.fixture
def folder(light_service: Service) -> Path:
    """A model in two parts, of 8 and 4 weights."""
    made = light_service.data_dir / "models" / "parts"
    made.mkdir(parents=True)
    (made / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"]}))
    for place, name in enumerate(PARTS):
        write_safetensors(made / name, {f"w{place}": ("F32", [8 // (place + 1)])})
    (made / INDEX).write_text(index_of(*PARTS))
    return made


def refusal(service: Service, folder: Path) -> str:
    """Why a folder is not taken."""
    answer = register(service, path=str(folder))
    assert answer.status_code == 422, answer.text
    assert answer.json()["advice"]
    detail: str = answer.json()["detail"]
    return detail


def test_a_model_in_parts_is_hashed_with_its_index(light_service: Service, folder: Path) -> None:
    answer = register(light_service, path=str(folder))

    assert answer.status_code == 201, answer.text
    assert answer.json()["facts"]["parameters"] == 12
    files = [folder / name for name in ("config.json", INDEX, *PARTS)]
    hashes = [hashlib.sha256(file.read_bytes()).digest() for file in files]
    assert answer.json()["sha256"] == hashlib.sha256(b"".join(hashes)).hexdigest()
    weights = [folder / name for name in PARTS]
    without = content_sha256(folder, weights, with_index=False)
    assert without == hashlib.sha256(b"".join([hashes[0], *hashes[2:]])).hexdigest()

    (folder / INDEX).write_text(index_of(*reversed(PARTS)))
    again = register(light_service, path=str(folder)).json()
    assert again["sha256"] != answer.json()["sha256"]


@pytest.mark.parametrize(
    "target",
    [
        "../outside.safetensors", "/etc/outside.safetensors", "sub/model.safetensors",
        "sub\\model.safetensors", "pytorch_model.bin", "config.json", "", "..", "a\n.safetensors",
        "../" * 100 + "x.safetensors",
    ],
)  # fmt: skip
def test_an_index_names_files_of_its_folder_alone(
    light_service: Service, folder: Path, target: str
) -> None:
    (folder / "sub").mkdir()
    for place in (folder.parent / "outside.safetensors", folder / "sub" / "model.safetensors"):
        write_safetensors(place, {"w1": ("F32", [4])})
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    (folder / INDEX).write_text(index_of(*PARTS, target))

    detail = refusal(light_service, folder)

    assert "expected the name of a *.safetensors file in its folder" in detail
    assert len(detail) < 300
    assert "\n" not in detail


@pytest.mark.parametrize(
    "content",
    [
        "", "{", "[]", "7", "{}", '{"metadata": {}}', '{"metadata": {}, "weight_map": {}}',
        '{"metadata": {}, "weight_map": {"a": 1}}', '{"metadata": {}, "weight_map": ["a"]}',
        '{"metadata": 1, "weight_map": {"a": "model-00001-of-00002.safetensors"}}',
        '{"weight_map": {"a": "model-00001-of-00002.safetensors"}}',
        "[" * 100_000, "\ufeff{}", '{"metadata": {}, "weight_map": {"a": "\\ud800"}}',
    ],
)  # fmt: skip
def test_a_broken_index_is_a_clear_error(
    light_service: Service, folder: Path, content: str
) -> None:
    (folder / INDEX).write_text(content)
    assert INDEX in refusal(light_service, folder)
    (folder / INDEX).write_bytes(index_of(*PARTS).encode("utf-16"))
    assert "cannot be read" in refusal(light_service, folder)


def test_an_index_has_a_largest_size(light_service: Service, folder: Path) -> None:
    with (folder / INDEX).open("r+b") as file:
        file.truncate(33 * 2**20)
    assert "larger than 32 MiB" in refusal(light_service, folder)


def test_parts_and_index_are_the_same_files(
    light_service: Service, folder: Path, tmp_path: Path
) -> None:
    (folder / INDEX).write_text(index_of(PARTS[0]))
    assert PARTS[1] in refusal(light_service, folder)
    (folder / INDEX).write_text(index_of(*PARTS, "more.safetensors"))
    assert "more.safetensors, which is not in the folder" in refusal(light_service, folder)
    (folder / "more.safetensors").mkdir()
    assert "more.safetensors, which is not in the folder" in refusal(light_service, folder)
    (folder / INDEX).unlink()
    assert f"without {INDEX}" in refusal(light_service, folder)
    write_safetensors(folder / "model.safetensors", {"w": ("F32", [1])})
    assert PARTS[0] in refusal(light_service, folder)
    (folder / INDEX).write_text(index_of(*PARTS))
    assert "expected one of the two" in refusal(light_service, folder)
    for name in PARTS:
        (folder / name).unlink()
    (folder / INDEX).write_text(index_of("model.safetensors"))
    assert register(light_service, path=str(folder)).status_code == 201
    (folder / INDEX).unlink()
    (tmp_path / INDEX).write_text(index_of("model.safetensors"))
    (folder / INDEX).symlink_to(tmp_path / INDEX)
    assert "links to a file outside the folders" in refusal(light_service, folder)


def test_a_lone_part_is_no_model(light_service: Service, folder: Path) -> None:
    (folder / PARTS[1]).unlink()
    (folder / INDEX).unlink()
    assert refusal(light_service, folder).startswith(f"found {PARTS[0]} without {INDEX}")


def test_the_same_weights_in_another_format_are_hashed_and_not_counted(
    light_service: Service, folder: Path
) -> None:
    before = register(light_service, path=str(folder)).json()
    write_safetensors(folder / "consolidated.safetensors", {"w": ("F32", [12])})
    after = register(light_service, path=str(folder)).json()
    assert after["facts"]["parameters"] == 12
    assert after["sha256"] != before["sha256"]
    write_safetensors(folder / "reward_head.safetensors", {"weight": ("F32", [1, 5])})
    assert register(light_service, path=str(folder)).json()["facts"]["parameters"] == 17


@pytest.mark.parametrize(
    "config",
    [
        {"transformers_weights": "adapter_model.bin"},
        {"transformers_weights": "sub/model.safetensors"},
        {"text_config": {"layers": [{"transformers_weights": "other.safetensors"}]}},
    ],
)
def test_a_config_names_no_file_of_weights(
    light_service: Service, folder: Path, config: dict[str, Any]
) -> None:
    (folder / "config.json").write_text(json.dumps(config))
    assert "names a file of weights in transformers_weights" in refusal(light_service, folder)


def test_a_config_names_no_other_config(light_service: Service, folder: Path) -> None:
    """Of which transformers would read the weights, and nobody look at it."""
    config = {"configuration_files": ["config.5.0.0.json"]}
    (folder / "config.json").write_text(json.dumps(config))
    assert "names other configs in configuration_files" in refusal(light_service, folder)


def test_parts_of_another_format_are_nobodys(light_service: Service, folder: Path) -> None:
    name = "consolidated-00001-of-00002.safetensors"
    write_safetensors(folder / name, {"weight": ("F32", [1, 5])})
    assert register(light_service, path=str(folder)).status_code == 201


def test_a_config_names_no_code_of_a_repository(light_service: Service, folder: Path) -> None:
    config = {"text_config": {"_attn_implementation": "owner/kernel"}}
    (folder / "config.json").write_text(json.dumps(config))
    assert "names a kernel of a repository in _attn_impl" in refusal(light_service, folder)
    (folder / "config.json").write_text(json.dumps({"_attn_implementation": "eager"}))
    assert register(light_service, path=str(folder)).status_code == 201


def test_a_folder_with_adapters_is_refused(light_service: Service, folder: Path) -> None:
    gguf = folder.parent / "gguf" / "m.gguf"
    gguf.parent.mkdir()
    write_gguf(gguf)
    for path, adapter in ((folder, folder), (gguf, gguf.parent)):
        (adapter / "adapter_config.json").write_text('{"base_model_name_or_path": "/etc"}')
        assert "adapter_config.json; expected a whole model" in refusal(light_service, path)
