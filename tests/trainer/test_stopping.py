"""Stop strings end a response at the id that completes them, and never inside one."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from backend.schemas.records import GeneratedRecord
from backend.schemas.references import Reference
from tests.tiny_bpe import make_tiny_bpe, make_tiny_bpe_model
from tests.tiny_model import make_tiny_tokenizer
from tests.trainer.conftest import Workshop, lines, policy_gradient_config
from worker.trainer.data.tokens import text_of
from worker.trainer.models import loading
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.sampling.decoding import Request, Response, Sampling, sample
from worker.trainer.sampling.stopping import StopStrings

END = 2


def make_llama_like() -> PreTrainedTokenizerFast:
    """As Llama 2's: spaces as marks, the first of a text dropped, other characters as bytes."""
    pieces = ["\N{LOWER ONE EIGHTH BLOCK}", *"ab<>/.e", "\N{LOWER ONE EIGHTH BLOCK}ab", "e.", "</"]
    tokens = ["<s>", "<unk>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces]
    tokenizer = Tokenizer(
        models.BPE({token: i for i, token in enumerate(tokens)}, [], byte_fallback=True)
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("\N{LOWER ONE EIGHTH BLOCK}", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


BPE, BYTES, LLAMA = make_tiny_bpe(), make_tiny_tokenizer(), make_llama_like()


def ids_of(tokens: list[str], tokenizer: PreTrainedTokenizerBase = BPE) -> list[int]:
    ids: list[int] = tokenizer.convert_tokens_to_ids(tokens)
    assert None not in ids
    return ids


def slow_length(ids: list[int], strings: list[str], tokenizer: PreTrainedTokenizerBase) -> int:
    """The first beginning whose whole text holds a stop string, or all; looks at every one."""
    for length in range(1, len(ids) + 1):
        text = text_of(ids[:length], tokenizer)
        if any(string in text for string in strings):
            return length
    return len(ids)


def length(ids: list[int], strings: list[str], tokenizer: PreTrainedTokenizerBase = BPE) -> int:
    return StopStrings(strings, tokenizer).length(ids) or len(ids)


@pytest.mark.parametrize(
    ("tokens", "strings", "expected"),
    [
        (["a", "</", "b"], ["<"], 2),  # complete within an id: the whole id stays
        (["a", "<", "/", ">", "b"], ["</>"], 4),
        (["a", "<", "|im_end|>"[:1], "/", ">", "b"], ["</>"], 6),
        (["a", "b", "c"], ["bc", "ab"], 2),  # the first that is complete, not the first named
        (["a", "b"], ["x"], 2),
        (["a", "<", "<|im_start|>", "/", "b"], ["</"], 4),  # people never see a special token
        (["a", "Ċ", "Ċ", "b"], ["\n\n"], 3),
    ],
)
def test_where_a_response_ends_worked_by_hand(
    tokens: list[str], strings: list[str], expected: int
) -> None:
    known = set(BPE.get_vocab())
    ids = ids_of([part for token in tokens for part in ([token] if token in known else token)])
    assert length(ids, strings) == expected == slow_length(ids, strings, BPE)


def test_a_character_of_several_bytes_is_complete_with_its_last_one() -> None:
    ids = BYTES("aé€😀b", add_special_tokens=False)["input_ids"]
    assert len(ids) == 1 + 2 + 3 + 4 + 1
    assert [length(ids, [one], BYTES) for one in "aé€😀b"] == [1, 3, 6, 10, 11]
    assert length(ids, ["😀b"], BYTES) == 11
    assert length(ids[2:], ["€"], BYTES) == 4, "also after half a character"


def test_bytes_that_begin_within_a_character_do_not_hide_a_line_break() -> None:
    """Of a run of such bytes all or none is text, so a window must not begin within one."""
    ids = [3 + byte for byte in ("😀" * 9 + "\n").encode()]
    assert LLAMA.decode(ids) == "😀" * 9 + "\n"
    assert length([*ids, 262], ["\n"], LLAMA) == len(ids)


def test_ids_that_the_tokenizer_does_not_have_are_no_text() -> None:
    """A model may have more of them, and a stop string stands on both sides of one."""
    ids = [*ids_of(["a", "b"]), *[len(BPE) + 5] * 90, *ids_of(["c", "d"])]
    assert length(ids, ["bc"]) == 93


@pytest.mark.parametrize("tokenizer", [BPE, BYTES, LLAMA], ids=["bpe", "bytes", "llama"])
@given(data=st.data())
def test_the_window_finds_what_the_whole_text_has(
    tokenizer: PreTrainedTokenizerBase, data: st.DataObject
) -> None:
    """Ids at random, and ids of texts in which the stop strings are likely."""
    alphabet = "ab <>/\ne.é😀"
    texts = st.text(alphabet, min_size=1, max_size=40).map(
        lambda text: tokenizer(text, add_special_tokens=False)["input_ids"] or [END]
    )
    numbers = st.lists(st.integers(0, len(tokenizer) + 7), min_size=1, max_size=30)
    ids = [one for part in data.draw(st.lists(texts | numbers, min_size=1)) for one in part]
    strings = data.draw(st.lists(st.text(alphabet, min_size=1, max_size=6), min_size=1, max_size=3))
    assert length(ids, strings, tokenizer) == slow_length(ids, strings, tokenizer)


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bpe_model(tmp_path_factory.mktemp("stop") / "model")


def test_a_stop_string_changes_nothing_of_a_response_but_its_end(model_path: Path) -> None:
    """Sampled without one and cut by hand; other rows go on, whichever stop earlier."""
    reference = Reference(path=str(model_path))
    tokenizer = load_tokenizer(reference)
    model = loading.load_causal_lm(reference, dtype=torch.float32, device=torch.device("cpu"))
    requests = [Request(f"p{i}", [1, 40 + i, 60], 8) for i in range(4)]
    strings = ["e", "th", " t"]

    def found(stops: StopStrings | None) -> list[Response]:
        sampling = Sampling(24, temperature=1.0, top_p=1.0, end_ids=[END], pad_id=END, stops=stops)
        groups = sample(model, requests, sampling, seed=1, stream=("s",))
        return [response for group in groups for response in group]

    n_stopped = 0
    for whole, stopped in zip(found(None), found(StopStrings(strings, tokenizer)), strict=True):
        n_kept = slow_length(whole.ids, strings, tokenizer)
        assert stopped.ids == whole.ids[:n_kept]
        assert stopped.logp == pytest.approx(whole.logp[:n_kept], abs=1e-5)
        is_stopped = any(one in text_of(stopped.ids, tokenizer) for one in strings)
        assert stopped.finish_reason == ("stop" if is_stopped else whole.finish_reason)
        n_stopped += is_stopped and len(stopped.ids) < len(whole.ids)
    assert n_stopped > 10


def test_records_of_generate_end_with_the_id_of_the_stop_string(
    workshop: Workshop, model_path: Path
) -> None:
    config = {
        "method": "generate",
        "model": {"path": str(model_path)},
        "prompts": {"path": "inputs/prompts.jsonl"},
        "samples_per_prompt": 2,
        "rollout": {"max_new_tokens": 16, "stop": ["e", "\n"]},
        "reward": [{"kind": "finished"}],
    }
    run_dir = workshop.lay_out("run", config)

    assert workshop.run_here(run_dir)["code"] == 0

    written = (run_dir / "output" / "responses.jsonl").read_bytes().splitlines()
    records = [GeneratedRecord.model_validate_json(line) for line in written]
    stopped = [one for one in records if "e" in one.content or "\n" in one.content]
    assert 5 < len(stopped) < len(records) == 32
    for one in stopped:
        assert one.token_ids is not None
        assert (one.finish_reason, one.scores["finished"]) == ("stop", 1.0)
        assert one.n_tokens == len(one.token_ids.ids)
        before = text_of(one.token_ids.ids[:-1], BPE)
        assert "e" not in before
        assert "\n" not in before
        assert one.content == text_of(one.token_ids.ids, BPE)


def test_a_policy_is_trained_on_the_whole_ids_that_it_sampled(
    workshop: Workshop, model_path: Path
) -> None:
    config = policy_gradient_config(model_path, steps=1, log={"samples_per_step": 32})
    config["rollout"] |= {"stop": ["e"], "max_new_tokens": 12}
    run_dir = workshop.lay_out("run", config)

    assert workshop.run_here(run_dir)["code"] == 0

    samples = [one for one in lines(run_dir, "sample") if one["kind"] == "rollout"]
    stopped = [one for one in samples if "e" in one["response"]]
    assert stopped
    for one in stopped:
        assert one["finish_reason"] == "stop"
        assert one["scores"]["n_tokens"] == len(one["token_ids"]["ids"])
        assert "e" in text_of(one["token_ids"]["ids"][-1:], BPE)
