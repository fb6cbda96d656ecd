"""Answer the questions of `pool`, one JSON object a line, each within a limit.

    python child.py

This process imports what a question needs once and answers nothing: a fork of it does. The kernel
kills the fork that computes for too long on one question, wherever it is, and another takes over.
Knows nothing else of Podium and loads no torch.
"""

import json
import logging
import math
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, TextIO

MEMORY_BYTES = 2 << 30
MAX_TEXT = 500


def main() -> None:
    """Fork whoever answers, again and again, until the questions end."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    logging.disable(logging.WARNING)
    # Who wants the trainer to stop means a safe point; the questions end with the trainer.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm()
    while (fault := _fork(answers)) is not None:
        say(answers, fault)


def warm() -> None:
    """Load the library that takes seconds to load, and what it makes on its first question."""
    equivalent("x+1", "1+x", 0.0)


def _fork(answers: TextIO) -> dict[str, Any] | None:
    """Let a fork answer; how it died, or None where it came to the end of the questions."""
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        serve(answers)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGPROF:
            return {"fault": "limit", "why": "it takes too long"}
        return {"fault": "crash", "why": f"it was killed by {signal.Signals(number).name}"}
    return None


def serve(answers: TextIO) -> None:
    """Answer every line. An error is the answer to its question alone."""
    for line in sys.stdin:
        question = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, question["limit_s"])
        try:
            found = {"value": ASKED[question["ask"]](*question["arguments"])}
        except MemoryError:
            found = {"fault": "limit", "why": f"it needs more than {MEMORY_BYTES >> 20} MiB"}
        except Exception as error:  # noqa: BLE001 - whatever a grader raises is told
            traceback.print_exc()
            found = {"fault": "crash", "why": f"{type(error).__name__}: {error}"[:MAX_TEXT]}
        signal.setitimer(signal.ITIMER_PROF, 0)
        say(answers, found)


def say(answers: TextIO, found: dict[str, Any]) -> None:
    """One line."""
    answers.write(json.dumps(found) + "\n")
    answers.flush()


def equivalent(response: str, reference: str, tolerance: float) -> bool:
    """Whether two expressions in LaTeX mean the same, by computer algebra."""
    from math_verify import verify

    gold, found = _parsed(reference), _parsed(response)
    if not gold or not found:
        return False
    same = verify(
        list(gold),
        list(found),
        float_rounding=12,
        allow_set_relation_comp=True,
        timeout_seconds=None,
    )
    return bool(same) or _near(gold[0], found[0], tolerance)


@lru_cache(4096)
def _parsed(expression: str) -> tuple[Any, ...]:
    from math_verify import LatexExtractionConfig, parse

    return tuple(parse(f"${expression}$", [LatexExtractionConfig()], parsing_timeout=None))


def _near(reference: Any, response: Any, tolerance: float) -> bool:
    """Whether two numbers differ by at most this share of the reference."""
    try:
        wanted, found = float(reference), float(response)
    except (TypeError, ValueError):
        return False
    return tolerance > 0 and math.isclose(found, wanted, rel_tol=tolerance)


def call(name: str, *arguments: Any) -> Any:
    """What an operator's function says."""
    return _function(name)(*arguments)


@cache
def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


ASKED: dict[str, Callable[..., Any]] = {"equivalent": equivalent, "call": call}

if __name__ == "__main__":
    main()
