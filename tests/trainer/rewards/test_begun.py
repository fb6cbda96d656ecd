"""Graders that begin with a response while others are still being sampled."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from backend.schemas.records import Message
from backend.schemas.references import Reference
from backend.schemas.rewards import Reward
from tests.trainer.rewards.graded import response
from worker.trainer.data.tokens import render_prompt
from worker.trainer.errors import StopRequested
from worker.trainer.models import loading
from worker.trainer.models.tokenizer import load_tokenizer
from worker.trainer.rewards.function import FunctionScorer
from worker.trainer.rewards.grading.begun import Begun
from worker.trainer.rewards.grading.pool import Pool
from worker.trainer.rewards.sampled_response import SampledResponse
from worker.trainer.rewards.scorer import Scorer, Term
from worker.trainer.sampling.beside import graded_beside
from worker.trainer.sampling.decoding import Request, Response, Sampling, sample
from worker.trainer.sampling.prompts import Prompt, answer

# Every call leaves a file.
FUNCTIONS = """
import os, pathlib, time

def call(text, *known):
    calls = pathlib.Path(os.environ["CALLS"])
    number = len(list(calls.iterdir()))
    (calls / str(time.monotonic_ns())).touch()
    return number

def slowly(text, *known):
    while not pathlib.Path(os.environ["GATE"]).exists():
        time.sleep(0.01)
    return call(text)
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with a file for every call of `counted`."""
    (tmp_path / "counted.py").write_text(FUNCTIONS)
    folder = tmp_path / "calls"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.setenv("CALLS", str(folder))
    monkeypatch.setenv("GATE", str(tmp_path / "gate"))
    return folder


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """The file that `slowly` waits for."""
    return tmp_path / "gate"


@pytest.fixture
def one_process(calls: Path) -> Iterator[Pool]:
    pool = Pool(1)
    yield pool
    pool.close()


def test_each_call_that_was_begun_answers_one_that_is_asked(one_process: Pool) -> None:
    """Three responses of the same text are three calls: a function may draw lots."""
    score = FunctionScorer("counted:call", one_process)
    for text in ("a", "b", "a"):
        score.begin(response(text))

    grades = score([response(text) for text in ("a", "a", "a", "b", "c")])

    # Begun: a 0, b 1, a 2. The third a and c were asked when they were needed.
    assert [grade.score for grade in grades] == [0, 2, 3, 1, 4]


def test_what_is_forgotten_is_not_asked_any_more(
    one_process: Pool, calls: Path, gate: Path
) -> None:
    begun = Begun("call", one_process)
    for number in range(6):
        begun.begin(("counted:slowly", str(number)))

    begun.forget()
    gate.touch()

    assert [found.fault for found in begun.answers([("counted:call", "now")])] == [""]
    # The one that the process was at, and the one that was asked.
    assert len(list(calls.iterdir())) <= 2


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> PreTrainedModel:
    reference = Reference(path=str(tiny_model))
    return loading.load_causal_lm(reference, dtype=torch.float32, device=torch.device("cpu"))


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> PreTrainedTokenizerBase:
    return load_tokenizer(Reference(path=str(tiny_model)))


def _asked(tokenizer: PreTrainedTokenizerBase) -> tuple[list[Prompt], list[Request], Sampling]:
    """Short and long prompts, whose responses end at different places or not at all."""
    messages = [[Message(role="user", content=text)] for text in ("hi", "a longer question")]
    ids = [render_prompt(tokenizer, several, system="") for several in messages]
    prompts = [Prompt(id=f"p{i}", ids=one, text="?", is_heldout=False) for i, one in enumerate(ids)]
    requests = [Request(prompt.id, prompt.ids, 8) for prompt in prompts]
    ends = list(range(0, 256, 8))
    return prompts, requests, Sampling(24, 1.0, 1.0, end_ids=ends, pad_id=2)


def test_a_response_is_graded_while_others_are_being_sampled(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, one_process: Pool, calls: Path
) -> None:
    prompts, requests, sampling = _asked(tokenizer)
    scorer = _scorer(FunctionScorer("counted:call", one_process))
    told: list[tuple[int, Response]] = []

    def wait_for_a_grade() -> None:
        """Between two tokens: with the first response that has ended, the grader must be busy."""
        deadline = time.monotonic() + 60
        while told and not list(calls.iterdir()):
            assert time.monotonic() < deadline, "nothing was graded while sampling waited"
            time.sleep(0.01)

    with graded_beside(scorer, prompts, tokenizer) as begin:

        def on_response(place: int, one: Response) -> None:
            told.append((place, one))
            begin(place, one)

        found = sample(
            *(model, requests, sampling),
            seed=1,
            stream=("test",),
            between_tokens=wait_for_a_grade,
            on_response=on_response,
        )

    ended = [(i, one) for i, several in enumerate(found) for one in several if _ended(one)]
    assert len(told) == len(ended) > 4
    assert all(one in ended for one in told)
    scores = scorer(_answers(prompts, found, tokenizer), learn=False)
    assert sorted(scores.raw) == list(range(16))  # every response was graded once


def test_a_stop_while_sampling_leaves_nothing_to_be_graded(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    one_process: Pool,
    calls: Path,
    gate: Path,
) -> None:
    prompts, requests, sampling = _asked(tokenizer)
    scorer = _scorer(FunctionScorer("counted:slowly", one_process))
    places = iter(range(100))

    def stop() -> None:
        if next(places) == 12:
            raise StopRequested("now")

    with (
        pytest.raises(StopRequested),
        graded_beside(scorer, prompts, tokenizer) as begin,
    ):
        sample(
            *(model, requests, sampling),
            seed=1,
            stream=("test",),
            between_tokens=stop,
            on_response=begin,
        )
    gate.touch()

    assert one_process.ask("call", [("counted:call", "now")])[0].fault == ""
    assert len(list(calls.iterdir())) <= 2


def _scorer(score: FunctionScorer) -> Scorer:
    return Scorer(
        Reward.model_construct(terms=[], normalize="none", clip=None), [Term("f", 1, score)]
    )


def _ended(one: Response) -> bool:
    return one.finish_reason.value == "stop"


def _answers(
    prompts: Sequence[Prompt], found: list[list[Response]], tokenizer: PreTrainedTokenizerBase
) -> list[SampledResponse]:
    return [
        answer(prompt, one, tokenizer)
        for prompt, several in zip(prompts, found, strict=True)
        for one in several
    ]
