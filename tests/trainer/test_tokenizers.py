"""The tokenizer of a model: what is said where it has none, and tokens that the model lacks."""

from pathlib import Path

import pytest
from transformers import GemmaConfig, LlamaConfig, PreTrainedConfig, Qwen2Config

from backend.schemas.references import Reference
from tests.letters_model import make_letters_model
from tests.tiny_model import make_tiny_model
from worker.trainer.errors import MissingModel
from worker.trainer.models.tokenizer import load_tokenizer


@pytest.mark.parametrize("kind", [GemmaConfig, Qwen2Config, LlamaConfig])
@pytest.mark.parametrize("file", [None, "tokenizer_config.json"])
def test_a_folder_without_a_tokenizer_says_so(
    tmp_path: Path, kind: type[PreTrainedConfig], file: str | None
) -> None:
    """Transformers makes one up of special tokens: every text would be unknown, or empty."""
    kind().save_pretrained(tmp_path)
    if file is not None:
        (tmp_path / file).write_text("{}")

    with pytest.raises(MissingModel) as caught:
        load_tokenizer(Reference(path=str(tmp_path)))

    assert caught.value.message == f"model: {tmp_path} has no tokenizer"
    assert "tokenizer.json and tokenizer_config.json" in str(caught.value.advice)


@pytest.mark.parametrize("kind", [GemmaConfig, LlamaConfig])
def test_a_tokenizer_of_sentencepiece_alone_is_to_be_converted(
    tmp_path: Path, kind: type[PreTrainedConfig]
) -> None:
    kind().save_pretrained(tmp_path)
    (tmp_path / "tokenizer.model").write_bytes(b"\x0a\x0e\x0a\x05<unk>\x15\0\0\0\0\x18\x02")

    with pytest.raises(MissingModel) as caught:
        load_tokenizer(Reference(path=str(tmp_path)))

    assert caught.value.message.endswith("has tokenizer.model but no tokenizer.json")
    assert "save_pretrained, which writes tokenizer.json" in str(caught.value.advice)


def test_a_broken_tokenizer_is_not_called_a_missing_one(tmp_path: Path) -> None:
    folder = make_tiny_model(tmp_path)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(MissingModel, match="could not be loaded"):
        load_tokenizer(Reference(path=str(folder)))


def test_a_small_vocabulary_is_a_tokenizer(tmp_path: Path) -> None:
    """One that knows no letter of most texts, too."""
    reference = Reference(path=str(make_letters_model(tmp_path)))
    assert load_tokenizer(reference)("fad")["input_ids"] == [5, 0, 3]
