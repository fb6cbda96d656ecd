"""Every verb that a sentence about a run names is one that the run's state allows."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from backend.domain.failures import Facts, advise, after_crash
from backend.domain.run_state import Verb, allowed_verbs, sentence, state_asked_for
from backend.schemas.vocabulary import FailureCause, Method, RunState, StopReason

ROOT = Path(__file__).resolve().parents[2]
VERB = re.compile(rf"\b({'|'.join(Verb)})\b", re.IGNORECASE)
# What ends a run badly, with its advice as the last argument.
FAILURES = frozenset(
    {"Failure", "_usual", "ConfigError", "DataError", "MissingModel", "OutOfMemory"}
    | {"NonFiniteLoss", "DiskError"}
)
CONFIGS: tuple[Mapping[str, Any], ...] = (
    {"method": "sft", "optim": {"lr": 1e-4, "micro_batch_tokens": 256}, "max_checkpoints": 3},
    {"method": "sft", "lora": {"r": 16}, "optim": {"lr": 1e-4}, "resources": {"timeout_s": 100}},
    {"method": "generate", "resources": {"timeout_s": 100}},
    {"method": "generate", "resources": {"timeout_s": 1}},
)
FACTS = Facts(
    step=25,
    steps=30,
    checkpoint_step=25,
    ran_s=100.0,
    disk_free_bytes=10**8,
    checkpoint_bytes=10**9,
)


def verbs(text: str) -> set[Verb]:
    """The verbs that a text names as words of their own: not `resumes`, which a run does."""
    return {Verb(word.lower()) for word in VERB.findall(text)}


@pytest.mark.parametrize("method", [Method.SFT, Method.GENERATE])
@pytest.mark.parametrize("reason", [None, *StopReason])
@pytest.mark.parametrize("state", list(RunState))
def test_a_state_s_sentence_names_what_may_be_asked_in_it_or_where_it_leads(
    state: RunState, reason: StopReason | None, method: Method
) -> None:
    allowed = set(allowed_verbs(state))
    if state == RunState.STOPPING and reason is not None:
        allowed |= set(allowed_verbs(state_asked_for(reason)))

    for is_tried_again in (True, False):
        text = sentence(state, reason, method=method, is_tried_again=is_tried_again)
        assert verbs(text) <= allowed, text


def test_what_becomes_of_a_crashed_run_names_what_a_crashed_run_allows() -> None:
    given_up = after_crash(3, 40)

    assert verbs(given_up) == {Verb.RETRY}
    for text in (given_up, after_crash(1, 40), after_crash(1, None)):
        assert verbs(text) <= set(allowed_verbs(RunState.CRASHED)), text


def test_advice_in_numbers_names_what_a_failed_and_a_crashed_run_allow() -> None:
    found = [advise(cause, config, FACTS) for cause in FailureCause for config in CONFIGS]
    texts = [advice.text for advice in found if advice is not None]

    assert any(verbs(text) for text in texts)
    for text in texts:
        assert verbs(text) <= after_a_bad_end(), text


def test_advice_of_worker_and_trainer_names_what_a_failed_and_a_crashed_run_allow() -> None:
    texts = list(advice_in_source())

    assert sum(bool(verbs(text)) for _, text in texts) > 5
    for place, text in texts:
        assert verbs(text) <= after_a_bad_end(), f"{place}: {text}"


def after_a_bad_end() -> set[Verb]:
    """What a person may ask of a run whichever way it ended badly."""
    return set(allowed_verbs(RunState.FAILED)) & set(allowed_verbs(RunState.CRASHED))


def advice_in_source() -> Iterator[tuple[str, str]]:
    """Place and text of every advice that the worker and the trainer write down as a literal."""
    for path in sorted((ROOT / "worker").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and called(node.func) in FAILURES and node.args:
                text = "".join(literals(node.args[-1]))
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def called(function: ast.expr) -> str:
    """The last part of the name that is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def literals(value: ast.expr) -> Iterator[str]:
    """The text in an expression that may be put together of several pieces."""
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
