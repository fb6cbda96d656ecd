"""What a model folder may hold, and what of it is followed or run when the trainer loads it."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from backend.schemas.references import Reference
from tests.tiny_model import make_tiny_model
from worker.trainer.errors import MissingModel
from worker.trainer.models import files, loading
from worker.trainer.models.tokenizer import load_tokenizer

INDEX = "model.safetensors.index.json"
PART = "model-00001-of-00001.safetensors"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny model."""
    return make_tiny_model(tmp_path / "models" / "tiny")


@pytest.fixture
def parts(folder: Path) -> Path:
    """The same in parts, of which there is one."""
    (folder / "model.safetensors").rename(folder / PART)
    point(folder, PART)
    return folder


def point(folder: Path, target: str) -> None:
    """Let the index name this file for every weight."""
    names = load_file(folder / PART)
    (folder / INDEX).write_text(
        json.dumps({"metadata": {"total_size": 1}, "weight_map": dict.fromkeys(names, target)})
    )


def first_weight(folder: Path) -> float:
    """Load everything as a run does, and look at one number."""
    reference = Reference(path=str(folder))
    files.vocabulary_size(reference)
    load_tokenizer(reference)
    return float(next(loading.load_whole(reference).parameters()).detach().flatten()[0])


def change(file: Path, **entries: Any) -> None:
    """Set entries of a JSON object."""
    said = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(said | entries))


class Bomb:
    """Leaves a file where it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Path.touch, (str(self.canary),)


def code(canary: Path) -> str:
    """A module that leaves a file where it is imported."""
    return f"import pathlib\npathlib.Path({str(canary)!r}).touch()\n"


def test_a_model_in_parts_is_loaded(parts: Path) -> None:
    assert first_weight(parts) == float(load_file(parts / PART)["model.embed_tokens.weight"][0, 0])


@pytest.mark.parametrize("is_absolute", [False, True])
def test_an_index_leads_nowhere_else(parts: Path, *, is_absolute: bool) -> None:
    outside = parts.parents[1] / "evil.safetensors"
    weights = {name: torch.full_like(w, 7.0) for name, w in load_file(parts / PART).items()}
    save_file(weights, outside, metadata={"format": "pt"})
    point(parts, str(outside) if is_absolute else "../../evil.safetensors")
    with pytest.raises(MissingModel, match=r"expected the name of a \*\.safetensors file in its"):
        first_weight(parts)


@pytest.mark.parametrize("is_part", [False, True])
def test_a_pickled_file_is_never_loaded(parts: Path, *, is_part: bool) -> None:
    canary = parts / "canary"
    for name in ("pytorch_model.bin", "adapter_model.bin", "training_args.bin"):
        (parts / name).write_bytes(pickle.dumps(Bomb(canary)))
    if is_part:
        point(parts, "pytorch_model.bin")
        with pytest.raises(MissingModel, match=r"names pytorch_model\.bin"):
            first_weight(parts)
    else:
        first_weight(parts)
    assert not canary.exists()


def test_a_config_that_names_other_configs_is_refused(folder: Path) -> None:
    shutil.copy(folder / "config.json", folder / "config.5.0.0.json")
    change(folder / "config.json", configuration_files=["config.5.0.0.json"])
    with pytest.raises(MissingModel, match="names other configs in configuration_files"):
        first_weight(folder)


@pytest.mark.parametrize("where", ["transformers_weights", "text_config"])
def test_a_config_that_names_other_weights_is_refused(folder: Path, where: str) -> None:
    named = "adapter_model.bin"
    entry = named if where == "transformers_weights" else {"transformers_weights": named}
    change(folder / "config.json", **{where: entry})
    with pytest.raises(MissingModel, match="names a file of weights in transformers_weights"):
        first_weight(folder)


@pytest.mark.parametrize(
    "entry",
    [
        {"_attn_implementation": "owner/kernel"},
        {"attn_implementation": {"text_config": "owner/kernel"}},
        {"text_config": {"_attn_implementation": "owner/kernel:name"}},
    ],
)
def test_a_config_that_asks_for_code_of_a_repository_is_refused(
    folder: Path, entry: dict[str, Any]
) -> None:
    change(folder / "config.json", **entry)
    with pytest.raises(MissingModel, match=r"names a kernel of a repository in _?attn_impl"):
        loading.load_whole(Reference(path=str(folder)))


def test_adapters_are_refused_beside_safetensors_and_gguf(folder: Path) -> None:
    change(folder / "adapter_config.json", base_model_name_or_path=str(folder), peft_type="LORA")
    with pytest.raises(MissingModel, match=r"has an adapter_config\.json; expected a whole model"):
        first_weight(folder)
    alone = folder.parent / "gguf"
    alone.mkdir()
    (alone / "m.gguf").write_bytes(b"GGUF")
    (folder / "adapter_config.json").rename(alone / "adapter_config.json")
    with pytest.raises(MissingModel, match=r"has an adapter_config\.json; expected a whole model"):
        loading.load_whole(Reference(path=str(alone / "m.gguf")))


def test_code_and_names_of_other_files_do_nothing(folder: Path, tmp_path: Path) -> None:
    expected, canary = first_weight(folder), tmp_path / "canary"
    other = make_tiny_model(tmp_path / "other", seed=1)
    for name in ("modeling_x", "configuration_x", "tokenization_x", "custom_generate/generate"):
        file = folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(code(canary))
    change(
        folder / "config.json",
        auto_map={
            "AutoConfig": "configuration_x.C",
            "AutoModelForCausalLM": "modeling_x.M",
            "AutoModel": "modeling_x.M",
        },
        _name_or_path=str(other),
        _commit_hash="0" * 40,
        custom_pipelines={"x": {"impl": "modeling_x.M"}},
    )
    change(
        folder / "generation_config.json",
        _from_model_config=True, custom_generate="custom_generate",
    )  # fmt: skip
    change(
        folder / "tokenizer_config.json",
        auto_map={"AutoTokenizer": ["tokenization_x.T", "tokenization_x.T"]},
        name_or_path=str(other),
    )

    assert first_weight(folder) == expected
    assert not canary.exists()


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_a_model_that_needs_its_own_code_is_refused(
    folder: Path, tmp_path: Path, file: str
) -> None:
    canary = tmp_path / "canary"
    (folder / "x.py").write_text(code(canary))
    change(folder / "config.json", model_type="unheard_of", auto_map={"AutoConfig": "x.C"})
    with pytest.raises(MissingModel):
        first_weight(folder)
    assert not canary.exists()


def test_a_tokenizer_reads_files_of_its_folder_alone(folder: Path, tmp_path: Path) -> None:
    other = make_tiny_model(tmp_path / "other")
    vocabulary = json.loads((other / "tokenizer.json").read_text())
    vocabulary["model"]["vocab"]["secret"] = 999
    (other / "tokenizer.json").write_text(json.dumps(vocabulary))
    entries = {
        name: str(other / "tokenizer.json")
        for name in ("tokenizer_file", "vocab_file", "merges_file", "chat_template_file")
    }
    change(
        folder / "tokenizer_config.json",
        **entries,
        fast_tokenizer_files=[
            "tokenizer.0.0.1/../../other/tokenizer.json",
            "../other/tokenizer.json",
        ],
    )
    try:
        tokenizer = load_tokenizer(Reference(path=str(folder)))
    except MissingModel:
        return
    assert "secret" not in tokenizer.get_vocab()


@pytest.mark.parametrize(
    "method",
    ["bitsandbytes", "gptq", "awq", "hqq", "torchao", "compressed-tensors", "fp8", "unknown"],
)
@pytest.mark.parametrize("is_of_text", [False, True])
def test_quantized_weights_are_refused_before_any_are_loaded(
    folder: Path, method: str, is_of_text: bool
) -> None:
    """A library that knows them, or a GPU that computes with them, would keep them as they are."""
    said = {"quantization_config": {"quant_method": method, "bits": 4}}
    change(folder / "config.json", **({"text_config": said} if is_of_text else said))
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(MissingModel) as raised:
        loading.load_whole(Reference(path=str(folder)))
    assert f"is quantized ({method}), and its weights cannot be trained or saved" in str(
        raised.value
    )
    assert "or a GGUF file" in str(raised.value.advice)


def test_a_config_that_names_no_quantization_is_no_quantized_model(folder: Path) -> None:
    change(folder / "config.json", quantization_config=None)
    first_weight(folder)


def test_a_template_cannot_reach_python(folder: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (folder / "chat_template.jinja").write_text(
        "{{ cycler.__init__.__globals__.os.system('touch " + str(canary) + "') }}"
    )
    tokenizer = load_tokenizer(Reference(path=str(folder)))
    with pytest.raises(Exception, match=r"unsafe|undefined"):
        tokenizer.apply_chat_template([{"role": "user", "content": "x"}], tokenize=False)
    assert not canary.exists()
