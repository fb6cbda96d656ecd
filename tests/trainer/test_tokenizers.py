"""The tokenizer of a model: what is said where it has none, and tokens that the model lacks."""

from pathlib import Path

import pytest
from transformers import AutoTokenizer, GemmaConfig, LlamaConfig, PreTrainedConfig, Qwen2Config

from backend.schemas.records import ResponseRecord
from backend.schemas.references import Reference
from backend.schemas.vocabulary import FinishReason
from tests.letters_model import make_letters_model
from tests.tiny_model import make_tiny_model
from tests.trainer.conftest import SMALL_CONFIGS, Workshop
from worker.trainer.data.token_ids import ResponseReader
from worker.trainer.errors import DataError, MissingModel
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


def beyond_the_model(folder: Path, **special: str) -> Path:
    """A tiny model whose tokenizer was given tokens that its embeddings have no row for."""
    make_tiny_model(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["<extra>"], special_tokens=True)
    tokenizer.add_special_tokens(dict(special))
    tokenizer.save_pretrained(folder)
    return folder


def test_a_padding_token_without_an_embedding_is_not_used(tmp_path: Path) -> None:
    folder = beyond_the_model(tmp_path, pad_token="[PAD]")
    tokenizer = load_tokenizer(Reference(path=str(folder)))
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id) == (2, 2)


@pytest.mark.parametrize("method", ["sft", "policy_gradient"])
def test_a_model_with_such_a_padding_token_is_trained(
    workshop: Workshop, tmp_path: Path, method: str
) -> None:
    """Prompts and responses of several lengths are padded where they are computed together."""
    model = beyond_the_model(tmp_path / "model", pad_token="[PAD]")
    steps = {"steps": 1} if method == "policy_gradient" else {"packing": False}
    run_dir = workshop.lay_out("run", SMALL_CONFIGS[method](model) | steps)
    assert workshop.run_here(run_dir)["code"] == 0


@pytest.mark.parametrize(
    ("method", "record"),
    [
        ("sft", "response d0"),
        ("dpo", "response r0_0"),
        ("reward_model", "response r0_0"),
        ("process_reward_model", "solution s0_0"),
        ("policy_gradient", "prompt p0"),
        ("generate", "prompt p0"),
        ("evaluate", "prompt p0"),
    ],
)
def test_a_token_without_an_embedding_is_named_before_weights_are_loaded(
    workshop: Workshop, tmp_path: Path, method: str, record: str
) -> None:
    """On a GPU it would be an assertion of the device, which says nothing."""
    model = beyond_the_model(tmp_path / "model")
    (model / "model.safetensors").unlink()
    config = SMALL_CONFIGS[method](model)
    section = config if "system" in config else config.setdefault("rollout", {})
    section["system"] = "Be <extra>."

    report = workshop.run_here(workshop.lay_out("run", config))

    assert (report["code"], report["cause"]) == (2, "data")
    assert f"{record} is written with '<extra>', the token 259" in report["message"]
    assert "the model has 259 tokens, 0 to 258" in report["message"]
    assert "resize_token_embeddings" in report["advice"]


def test_no_token_of_a_text_that_people_wrote_may_lack_its_embedding(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(Reference(path=str(beyond_the_model(tmp_path))))
    reader = ResponseReader(tokenizer, n_ids=259)
    record = ResponseRecord(id="r", content="a<extra>", finish_reason=FinishReason.STOP)
    with pytest.raises(DataError, match="response r is written with '<extra>'"):
        reader.read(record, [5])
