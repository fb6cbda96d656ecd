"""Which ids are read of a record: those that were sampled, or those of its text."""

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerBase

from backend.schemas.records import ResponseRecord
from backend.schemas.references import Reference
from tests.tiny_bpe import SPARE_IDS, make_tiny_bpe, make_tiny_bpe_model
from tests.tiny_model import make_tiny_tokenizer
from tests.trainer.conftest import Workshop, lines, reward_model_config, sft_config
from worker.trainer.data.token_ids import ResponseReader, kept_ids, tokenizer_hash
from worker.trainer.data.tokens import Tokens
from worker.trainer.errors import DataError
from worker.trainer.events import Events
from worker.trainer.models.tokenizer import load_tokenizer, number_of_ids

END = 2
PROMPT = [5, 6]


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerBase:
    return make_tiny_bpe()


def in_letters(text: str, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """A text as one token per letter, as no tokenizer with merges would have it."""
    ids: list[int] = tokenizer.convert_tokens_to_ids(list(text))
    return ids


def record(tokenizer: PreTrainedTokenizerBase, text: str, ids: list[int], **more: Any) -> Any:
    """A response that was sampled after PROMPT."""
    kept = kept_ids(Tokens(PROMPT, ids), tokenizer).model_dump() | more.pop("token_ids", {})
    return ResponseRecord(id="r", content=text, finish_reason="stop", token_ids=kept, **more)


def read(
    tokenizer: PreTrainedTokenizerBase, one: ResponseRecord, tmp_path: Path, prompt: Any = None
) -> tuple[list[int], dict[str, str]]:
    """The ids that are read, and what the run is told."""
    reader = ResponseReader(tokenizer, n_ids=len(tokenizer) + SPARE_IDS)
    ids = reader.read(one, prompt or PROMPT).response
    with closing(Events(tmp_path / "events.jsonl")) as events:
        reader.tell(events)
    return ids, {line["rule"]: line["message"] for line in lines(tmp_path, "alert")}


def test_ids_are_read_as_they_were_sampled(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    ids = [*in_letters("prompt", tokenizer), END]
    assert tokenizer("prompt", add_special_tokens=False)["input_ids"] != ids[:-1]

    found, told = read(tokenizer, record(tokenizer, "prompt", ids), tmp_path)

    assert found == ids
    assert told == {
        "token_ids": "Read 1 of 1 responses as the token ids that were sampled, the others from "
        "their text."
    }


def test_no_end_token_is_added_to_ids_that_have_none(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    """A stop string ended it: the reward is read at the last id that was sampled."""
    ids = in_letters("prompt", tokenizer)
    assert read(tokenizer, record(tokenizer, "prompt", ids), tmp_path)[0] == ids


def test_an_id_beyond_the_tokenizer_that_the_model_has_is_one(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    """A model often has more ids than its tokenizer, and samples them; they have no text."""
    ids = [*in_letters("a", tokenizer), len(tokenizer) + 1, END]
    assert read(tokenizer, record(tokenizer, "a", ids), tmp_path)[0] == ids


def test_people_write_text(tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> None:
    one = ResponseRecord(id="r", content="prompt")
    ids, told = read(tokenizer, one, tmp_path)
    assert ids == [*tokenizer("prompt", add_special_tokens=False)["input_ids"], END]
    assert told == {}


def test_another_tokenizer_reads_the_text(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    one = record(tokenizer, "prompt", [*in_letters("prompt", tokenizer), END])
    letters = make_tiny_tokenizer()

    ids, told = read(letters, one, tmp_path)

    assert ids == [*letters("prompt", add_special_tokens=False)["input_ids"], END]
    assert "1 of 1 responses: sampled with another tokenizer" in told["other_tokenizer"]


def test_where_ids_say_another_text_than_people_judged_the_text_is_read(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    one = record(tokenizer, "prompt", [*in_letters("promise", tokenizer), END])
    ids, told = read(tokenizer, one, tmp_path)
    assert ids == [*tokenizer("prompt", add_special_tokens=False)["input_ids"], END]
    assert "do not decode to the text" in told["other_text"]


def test_another_prompt_is_told(tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> None:
    ids = [*in_letters("prompt", tokenizer), END]
    found, told = read(tokenizer, record(tokenizer, "prompt", ids), tmp_path, [5, 7])
    assert found == ids
    assert "`template` or `system`" in told["other_prompt"]


def test_ids_that_the_model_does_not_have_are_refused(
    tokenizer: PreTrainedTokenizerBase, tmp_path: Path
) -> None:
    n_ids = len(tokenizer) + SPARE_IDS
    one = record(tokenizer, "a", [*in_letters("a", tokenizer), n_ids])
    with pytest.raises(DataError, match=f"has the token id {n_ids}, but the model has {n_ids}"):
        read(tokenizer, one, tmp_path)


def test_the_hash_is_that_of_the_vocabulary_and_the_special_tokens() -> None:
    """By hand, so that others can compute it; template and padding change nothing."""
    tokenizer = make_tiny_bpe()
    tokens = [[token, i] for i, token in enumerate(tokenizer.convert_ids_to_tokens(range(600)))]
    expected = hashlib.sha256(json.dumps([tokens, [0, 1, 2]]).encode()).hexdigest()

    assert len(tokenizer) == 600
    assert tokenizer_hash(tokenizer) == expected
    assert tokenizer_hash(make_tiny_bpe(chat_template=None, adds_bos=True)) == expected
    assert tokenizer_hash(make_tiny_tokenizer()) != expected
    special = make_tiny_bpe()
    special.add_special_tokens({"additional_special_tokens": ["the"]})
    assert tokenizer_hash(special) != expected


def test_what_was_trained_has_the_hash_of_what_it_began_with(
    workshop: Workshop, tmp_path: Path
) -> None:
    """Else the ids of a base model would be lost on what was trained from it, and back."""
    base = make_tiny_bpe_model(tmp_path / "base")
    hashes = []
    for name, config in (("sft", sft_config(base)), ("rm", reward_model_config(base))):
        run_dir = workshop.lay_out(name, config | {"max_tokens": 128, "optim": {"epochs": 0.1}})
        assert workshop.run_here(run_dir)["code"] == 0
        hashes.append(tokenizer_hash(load_tokenizer(Reference(path=str(run_dir / "output")))))
    tokenizer = load_tokenizer(Reference(path=str(base)))
    assert set(hashes) == {tokenizer_hash(tokenizer)}
    assert number_of_ids(Reference(path=str(base)), tokenizer) == 600 + SPARE_IDS
