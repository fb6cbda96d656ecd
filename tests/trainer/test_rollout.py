"""Sampling: what is drawn, and what it must not depend on."""

import math
from pathlib import Path

import pytest
import torch
from transformers import (
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from backend.schemas.records import Message
from backend.schemas.references import Reference
from backend.schemas.sections import Rollout
from backend.schemas.vocabulary import FinishReason
from worker.trainer.data.tokens import Tokens, collate, render_prompt
from worker.trainer.errors import StopRequested
from worker.trainer.models import loading
from worker.trainer.models.logprobs import action_logp
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.sampling import decoding
from worker.trainer.sampling.decoding import (
    Request,
    Response,
    Sampling,
    closed_up,
    draw,
    sample,
)
from worker.trainer.sampling.prompts import sampling_of

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> PreTrainedModel:
    return loading.load_causal_lm(Reference(path=str(tiny_model)), dtype=torch.float32, device=CPU)


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> PreTrainedTokenizerBase:
    return load_tokenizer(Reference(path=str(tiny_model)))


def sampling(**more: object) -> Sampling:
    """Up to 12 tokens at temperature 0.7; token 2 and a byte end a response."""
    defaults = {
        "max_new_tokens": 12,
        "temperature": 0.7,
        "top_p": 1.0,
        "end_ids": [2, 40],
        "pad_id": 2,
    }
    return Sampling(**{**defaults, **more})  # type: ignore[arg-type]


def requests(tokenizer: PreTrainedTokenizerBase, n_samples: int = 3) -> list[Request]:
    """Prompts of different lengths that share a system prompt."""
    texts = ["hi", "a much longer question than the others", "what?", "say it again"]
    return [
        Request(
            f"p{i}",
            render_prompt(tokenizer, [Message(role="user", content=text)], system="Be brief."),
            n_samples,
        )
        for i, text in enumerate(texts)
    ]


def ids(responses: list[list[Response]]) -> list[list[list[int]]]:
    """Token ids alone."""
    return [[response.ids for response in several] for several in responses]


def test_draw_inverts_the_cumulative_distribution() -> None:
    """Masses .1 .2 .3 .4: a quantile of .05, .1, .29, .3, .6, .999 falls on 0 1 1 2 3 3."""
    logits = torch.tensor([0.1, 0.2, 0.3, 0.4]).log().expand(6, -1)
    quantile = torch.tensor([0.05, 0.1001, 0.29, 0.3001, 0.6001, 0.999], dtype=torch.float64)

    token, logp = draw(logits.clone(), quantile, temperature=1.0, top_p=1.0)

    assert token.tolist() == [0, 1, 1, 2, 3, 3]
    assert logp.exp().tolist() == pytest.approx([0.1, 0.2, 0.2, 0.3, 0.4, 0.4])


def test_draw_gives_each_token_its_share_over_a_large_vocabulary() -> None:
    """10,000 evenly spaced quantiles over 1,000 tokens: counts within one of their share."""
    logits = torch.randn(1, 1000, generator=torch.Generator().manual_seed(0))
    quantile = (torch.arange(10_000, dtype=torch.float64) + 0.5) / 10_000

    token, _ = draw(logits.expand(10_000, -1).clone(), quantile, temperature=0.5, top_p=1.0)

    share = (logits[0].double() / 0.5).softmax(-1)
    counts = torch.bincount(token, minlength=1000).double()
    assert (counts - share * 10_000).abs().max() < 1.01


@pytest.mark.parametrize("quantile", [0.0, 1 - 1e-16])
def test_draw_never_takes_a_token_without_mass(quantile: float) -> None:
    logits = torch.full((1, 700), -math.inf)
    logits[0, 300] = 0.0
    token, logp = draw(
        logits, torch.tensor([quantile], dtype=torch.float64), temperature=1.0, top_p=1.0
    )
    assert (token.item(), logp.item()) == (300, 0.0)


def test_the_nucleus_keeps_the_smallest_set_that_holds_its_mass() -> None:
    """Masses .4 .3 .2 .1 and top_p .6: only the first two remain, at 4/7 and 3/7."""
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log().expand(100, -1).clone()
    quantile = (torch.arange(100, dtype=torch.float64) + 0.5) / 100

    token, logp = draw(logits, quantile, temperature=1.0, top_p=0.6)

    assert torch.bincount(token).tolist() == [57, 43]
    assert logp[0].exp().item() == pytest.approx(0.4)


def test_responses_do_not_depend_on_the_batch(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = requests(tokenizer)
    together = ids(sample(model, asked, sampling(), seed=1, stream=("test", 3)))

    backwards = ids(sample(model, asked[::-1], sampling(), seed=1, stream=("test", 3)))
    alone = [ids(sample(model, [r], sampling(), seed=1, stream=("test", 3)))[0] for r in asked]
    monkeypatch.setattr(decoding, "MAX_ROWS", 4)
    in_small_batches = ids(sample(model, asked, sampling(), seed=1, stream=("test", 3)))

    assert together == backwards[::-1] == alone == in_small_batches


def test_rows_that_go_on_keep_their_tokens_where_others_end(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Rows move to the places of those that have ended: each still sees its own tokens alone."""
    often = sampling(max_new_tokens=20, end_ids=list(range(0, 256, 8)))
    asked = requests(tokenizer, n_samples=8)

    found = sample(model, asked, often, seed=1, stream=("test", 3))

    assert len({len(response.ids) for several in found for response in several}) > 8
    for request, responses in zip(asked, found, strict=True):
        tokens = [Tokens(request.prompt, response.ids) for response in responses]
        batch = collate(tokens, pad_id=2, device=CPU)
        with torch.no_grad():
            logp_N = action_logp(model, batch, temperature=0.7).logp_N
        sampled = [logp for response in responses for logp in response.logp]
        assert sampled == pytest.approx(logp_N.tolist(), abs=1e-4)


def test_the_last_rows_take_the_places_of_those_that_have_ended() -> None:
    assert closed_up([False, True, False, True, False, True, False]) == [0, 6, 2, 4]
    assert closed_up([False, False]) == [0, 1]
    assert closed_up([True, True]) == []


def test_a_sliding_window_holds_tokens_and_no_padding() -> None:
    """Prompts that begin alike and differ in length: each row is sampled by what training sees."""
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    config = MistralConfig(
        vocab_size=120, sliding_window=8, initializer_range=0.3, pad_token_id=2, **sizes, **heads
    )
    torch.manual_seed(0)
    windowed = MistralForCausalLM(config).eval()
    beginning = list(range(10, 16))
    prompts = [[*beginning, 20], [*beginning, *range(30, 40)]]
    asked = [Request(f"p{i}", prompt, 2) for i, prompt in enumerate(prompts)]

    found = sample(windowed, asked, sampling(max_new_tokens=6, end_ids=[]), seed=1, stream=("t", 1))

    for prompt, responses in zip(prompts, found, strict=True):
        for response in responses:
            batch = collate([Tokens(prompt, response.ids)], pad_id=2, device=CPU)
            with torch.no_grad():
                logp_N = action_logp(windowed, batch, temperature=0.7).logp_N
            assert response.logp == pytest.approx(logp_N.tolist(), abs=1e-4)


def test_another_seed_step_or_sample_gives_other_responses(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    asked = requests(tokenizer)
    base = ids(sample(model, asked, sampling(), seed=1, stream=("test", 3)))
    assert base != ids(sample(model, asked, sampling(), seed=2, stream=("test", 3)))
    assert base != ids(sample(model, asked, sampling(), seed=1, stream=("test", 4)))
    assert base[0][0] != base[0][1]


def test_a_response_holds_its_end_token_and_nothing_after_it(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    ends = {2, *range(40, 60)}
    responses = sample(
        model, requests(tokenizer, 8), sampling(end_ids=sorted(ends)), seed=1, stream=("x",)
    )
    flat = [response for several in responses for response in several]

    assert {response.finish_reason for response in flat} == {FinishReason.STOP, FinishReason.LENGTH}
    for response in flat:
        assert not ends & set(response.ids[:-1])
        ended = response.ids[-1] in ends
        assert response.finish_reason is (FinishReason.STOP if ended else FinishReason.LENGTH)
        assert ended or len(response.ids) == 12
        assert len(response.logp) == len(response.ids)


def test_sampling_stops_between_two_tokens(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    calls = []

    def stop_at_the_third() -> None:
        calls.append(None)
        if len(calls) == 3:
            raise StopRequested("stopped on request")

    with pytest.raises(StopRequested):
        sample(
            model,
            requests(tokenizer),
            sampling(end_ids=[]),
            seed=1,
            stream=("x",),
            between_tokens=stop_at_the_third,
        )
    assert len(calls) == 3


def test_greedy_takes_the_likeliest_token_whatever_temperature_and_seed(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    asked = requests(tokenizer, n_samples=1)
    expected = []
    for request in asked:
        ids_T = list(request.prompt)
        while len(ids_T) < len(request.prompt) + 12:
            with torch.no_grad():
                ids_T.append(int(model(torch.tensor([ids_T])).logits[0, -1].argmax()))
            if ids_T[-1] in (2, 40):
                break
        expected.append([ids_T[len(request.prompt) :]])

    for options in ({}, {"temperature": 3.0}, {"top_p": 0.5}):
        how = sampling(greedy=True, **options)
        for seed in (0, 1):
            assert ids(sample(model, asked, how, seed=seed, stream=("greedy",))) == expected


def test_temperature_0_is_greedy_and_its_log_probabilities_are_those_at_1(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
) -> None:
    rollout = Rollout(temperature=0, max_new_tokens=12)
    how = sampling_of(rollout, model, tokenizer)
    (likeliest,) = sample(model, requests(tokenizer, 1)[:1], how, seed=5, stream=("x",))

    assert (how.greedy, how.temperature) == (True, 1.0)
    tokens = Tokens(requests(tokenizer, 1)[0].prompt, likeliest[0].ids)
    with torch.no_grad():
        logits_T_V = model(torch.tensor([tokens.ids])).logits[0, len(tokens.prompt) - 1 : -1]
    assert likeliest[0].ids == logits_T_V.argmax(-1).tolist()
    logp_T = logits_T_V.log_softmax(-1).max(-1).values
    assert likeliest[0].logp == pytest.approx(logp_T.tolist(), abs=1e-4)


def test_equal_logits_are_drawn_greedily_by_the_lowest_id() -> None:
    token_B, logp_B = draw(torch.zeros(2, 5), None, temperature=0.5, top_p=1.0)
    assert token_B.tolist() == [0, 0]
    assert logp_B.tolist() == pytest.approx([-math.log(5)] * 2)
