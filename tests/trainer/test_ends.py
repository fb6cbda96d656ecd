"""A response from a text ends with the token that the template writes, as a sampled one does."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from backend.schemas.records import DemonstrationRecord, Message, ResponseRecord
from backend.schemas.references import Reference
from backend.schemas.sections import Rollout
from backend.schemas.training import parse_run_config
from backend.schemas.vocabulary import FinishReason, Split
from tests.tiny_bpe import CHAT_TEMPLATE, make_tiny_bpe, make_tiny_bpe_model
from tests.trainer.conftest import SMALL_CONFIGS, Workshop, sft_config
from worker.trainer.data.ends import closing_id
from worker.trainer.data.token_ids import ResponseReader
from worker.trainer.errors import ConfigError
from worker.trainer.methods.sft import encode_turns
from worker.trainer.models import loading
from worker.trainer.models.tokenizer import end_ids, load_tokenizer
from worker.trainer.sampling.prompts import sampling_of
from worker.trainer.sampling.stopping import special_stops

EOS, START, END = 0, 1, 2
CPU = torch.device("cpu")
ANSWERED = "{% for m in messages %}{{ m['content'] }}"


def two_ends(chat_template: str = CHAT_TEMPLATE) -> PreTrainedTokenizerBase:
    """A tokenizer whose template ends a turn with another token than its eos, as Gemma's."""
    return make_tiny_bpe(chat_template=chat_template, eos_token="<s>")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (CHAT_TEMPLATE, END),
        (ANSWERED + " \n<|im_end|>{% endfor %}", END),
        (ANSWERED + "<|im_end|>\n{% endfor %}{{ eos_token }}", END),  # as Phi-3's
        (ANSWERED + "{{ eos_token }}{% endfor %}", EOS),
        (ANSWERED + "\n{% endfor %}", EOS),
        (ANSWERED + "\nUser:<|im_end|>{% endfor %}", EOS),
        (ANSWERED + "{% endfor %}{% if add_generation_prompt %}<|im_end|>{% endif %}", EOS),
        ("{{ messages[0]['content'] }}<|im_end|>", EOS),  # drops what the assistant said
        ("{{ raise_exception('no!') if messages | length > 1 }}<|im_end|>", EOS),
        ("{{ messages[-1]['content'] }}", EOS),
        # The opening of a turn that is written whether or not one is to come.
        ("{% for m in messages %}<|im_end|>{{ m['content'] }}{% endfor %}<|im_end|>", EOS),
    ],
)
def test_the_closing_token_is_the_one_that_the_template_writes(
    template: str, expected: int
) -> None:
    assert closing_id(two_ends(template)) == expected


def test_what_the_tokenizer_does_not_know_ends_nothing() -> None:
    letters = Tokenizer(
        WordLevel({"</s>": 0, "<unk>": 1, "Hello.": 2, "Hi!": 3}, unk_token="<unk>")
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters, eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.chat_template = ANSWERED + "#{% endfor %}"

    assert tokenizer("#")["input_ids"] == [1]
    assert closing_id(tokenizer) == 0


def test_another_template_of_a_tokenizer_closes_otherwise() -> None:
    tokenizer = two_ends()
    assert closing_id(tokenizer) == END
    tokenizer.chat_template = ANSWERED + "{% endfor %}"
    assert closing_id(tokenizer) == EOS
    tokenizer.chat_template = None
    assert closing_id(tokenizer) == EOS


@pytest.mark.parametrize(("reason", "end"), [(FinishReason.STOP, [END]), (FinishReason.LENGTH, [])])
def test_a_persons_text_ends_like_a_sampled_response(reason: FinishReason, end: list[int]) -> None:
    """Else the last token alone tells a reward model which of the two is the person's."""
    tokenizer = two_ends()
    record = ResponseRecord(id="r", content="yes", finish_reason=reason)

    read = ResponseReader(tokenizer, n_ids=608).read(record, [5])

    assert read.response == [*tokenizer("yes")["input_ids"], *end]


def test_each_turn_that_sft_learns_ends_as_the_template_writes_it() -> None:
    tokenizer = two_ends()
    record = DemonstrationRecord(
        prompt_id="p",
        demonstration_id="d",
        messages=[
            Message(role="user", content="a"),
            Message(role="assistant", content="first"),
            Message(role="user", content="b"),
        ],
        response="second",
        split=Split.TRAIN,
    )
    config: Any = parse_run_config(sft_config(Path("m"), assistant_turns="all"))

    turns = encode_turns(record, tokenizer, config, ResponseReader(tokenizer, n_ids=608))

    assert [tokenizer.decode(turn.response) for turn in turns] == [
        "second<|im_end|>",
        "first<|im_end|>",
    ]
    assert tokenizer.decode(turns[0].prompt).count("first<|im_end|>") == 1


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base model whose template ends a turn with a token that nothing declares, as Qwen's."""
    return make_tiny_bpe_model(tmp_path / "base", eos_token="<s>")


def test_a_model_is_sampled_until_its_template_ends_the_turn(base: Path) -> None:
    reference = Reference(path=str(base))
    model = loading.load_causal_lm(reference, dtype=torch.float32, device=CPU)
    tokenizer = load_tokenizer(reference)

    assert end_ids(model, tokenizer) == [END, EOS]
    model.generation_config.eos_token_id = [7, EOS]
    assert end_ids(model, tokenizer) == [END, EOS, 7]
    assert sampling_of(Rollout(), model, tokenizer).end_ids == [END, EOS, 7]
    told = sampling_of(Rollout(stop=["<|im_start|>", "x"]), model, tokenizer).end_ids
    assert told == [END, EOS, 7, START]


@pytest.mark.parametrize(
    ("template", "declared"), [("model", [END, EOS]), ("plain", EOS)], ids=["chatml", "plain"]
)
def test_a_trained_model_declares_the_end_that_it_was_trained_with(
    workshop: Workshop, base: Path, template: str, declared: Any
) -> None:
    """Other programs read it there, and would sample past the end."""
    config = sft_config(base) | {"max_tokens": 128, "optim": {"epochs": 0.1}, "template": template}
    run_dir = workshop.lay_out("run", config)

    assert workshop.run_here(run_dir)["code"] == 0

    said = json.loads((run_dir / "output" / "generation_config.json").read_text())
    assert said["eos_token_id"] == declared


def test_a_stop_string_that_is_a_special_token_is_an_end_token() -> None:
    tokenizer = two_ends()
    assert special_stops(["<|im_start|>", "</a>", "\n", "<|im_end|>\n"], tokenizer) == [START, END]


def test_a_stop_string_that_joins_a_special_token_with_a_text_is_refused(
    workshop: Workshop, base: Path
) -> None:
    """No text holds a special token, so it would never be found."""
    with pytest.raises(ConfigError, match="joins the special token"):
        special_stops(["done<|im_end|>"], two_ends())
    (base / "model.safetensors").unlink()
    for method in ("generate", "evaluate", "policy_gradient"):
        config = SMALL_CONFIGS[method](base)
        config["rollout"] = config.get("rollout", {}) | {"stop": ["done<|im_end|>"]}

        report = workshop.run_here(workshop.lay_out(method, config))

        assert (report["code"], report["cause"]) == (2, "config")
        assert (
            "rollout.stop: 'done<|im_end|>' joins the special token <|im_end|>" in report["message"]
        )
        assert "Give <|im_end|> alone" in report["advice"]
