"""Answer the questions of `pool`, one JSON object a line, each within a limit.

    python child.py [algebra]

This process loads computer algebra, if asked to, and answers nothing: a fork of it does. The kernel
kills the fork that computes for too long on one question, wherever it is, and another takes over.
Knows nothing else of Podium and loads no torch.
"""

import json
import logging
import math
import os
import re
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
# Of the processor, for the module of an operator's function.
LOAD_S = 30.0
# To which two expressions are compared as numbers; what differs later is told by algebra alone.
DIGITS = 50
# Of an expression with more operations the form is not expanded.
MOST_EXPANDED = 60
_DECIMAL = re.compile(r"\^?(?<![\d.])((?:\d{1,3}(?:,\d{3})+|\d+)?)\.(\d+)(?![\d.])")
# The library reads 3(4) and (3)(4) as mixed numbers.
_FACTOR = re.compile(r"(?<![\d.^_}a-zA-Z])(\d+)\s*\((?=\s*-?\d)|(\))\s*\(")
_MIXED = re.compile(r"(?<![\d.^_}])(\d+)\s*(\\frac\s*\{\s*\d+\s*\}\s*\{\s*\d+\s*\})(?!\s*[\^!])")
_ANGLE_OF = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-zA-Z])")
_DEGREES = re.compile(r"(\d+(?:\.\d+)?)\s*degrees")
_CAPITAL = re.compile(r"[A-Z]")


def main() -> None:
    """Fork whoever answers, again and again, until the questions end."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    logging.disable(logging.WARNING)
    # Who wants the trainer to stop means a safe point; the questions end with the trainer.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "algebra" in sys.argv[1:]:
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
        if number == signal.SIGVTALRM:
            return {"fault": "crash", "why": f"loading its module takes more than {LOAD_S:g} s"}
        return {"fault": "crash", "why": f"it was killed by {signal.Signals(number).name}"}
    return None


def serve(answers: TextIO) -> None:
    """Answer every line. An error is the answer to its question alone."""
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if question["ask"] == "call":
                _load(question["arguments"][0])
            signal.setitimer(signal.ITIMER_PROF, question["limit_s"])
            found = {"value": ASKED[question["ask"]](*question["arguments"])}
        except MemoryError:
            found = {"fault": "limit", "why": f"it needs more than {MEMORY_BYTES >> 20} MiB"}
        except Exception as error:  # noqa: BLE001 - whatever a grader raises is told
            traceback.print_exc()
            found = {"fault": "crash", "why": f"{type(error).__name__}: {error}"[:MAX_TEXT]}
        signal.setitimer(signal.ITIMER_PROF, 0)
        say(answers, found)


def say(answers: TextIO, found: dict[str, Any]) -> None:
    """Write an answer as one line of JSON."""
    answers.write(json.dumps(found) + "\n")
    answers.flush()


def equivalent(response: str, reference: str, tolerance: float) -> dict[str, Any] | None:
    """Whether two expressions in LaTeX are `same` by computer algebra, and the `form` of the first.

    None where the reference cannot be read. The form of an expression that differs is canonical:
    x + 1 and 1 + x have one.
    """
    gold, found = _parsed(reference), _parsed(response)
    if gold is None:
        return None
    if found is None:
        return {"same": False, "form": response}
    if _same(gold, found) or _near(gold, found, tolerance):
        return {"same": True, "form": response}
    return {"same": False, "form": _form(found)}


def _same(gold: Any, found: Any) -> bool:
    from math_verify import verify
    from sympy import Expr, Symbol, simplify

    if verify(
        gold, found, numeric_precision=DIGITS, allow_set_relation_comp=True, timeout_seconds=None
    ):
        return True
    # The library compares a symbol with nothing but symbols: x is x / 1.
    both = isinstance(gold, Expr) and isinstance(found, Expr)
    return (
        both
        and isinstance(gold, Symbol) != isinstance(found, Symbol)
        and simplify(gold - found) == 0
    )


def _form(found: Any) -> str:
    from sympy import Expr, expand

    done = found.doit() if isinstance(found, Expr) else found
    is_short = isinstance(done, Expr) and done.count_ops() <= MOST_EXPANDED
    return str(expand(done) if is_short else done)


@lru_cache(4096)
def _parsed(expression: str) -> Any:
    """The expression, None where it cannot be read.

    Decimals are exact, i is imaginary, and X is another name than x.
    """
    from latex2sympy2_extended.latex2sympy2 import (
        ConversionConfig,
        NormalizationConfig,
        latex2sympy,
        normalize_latex,
    )

    normal = NormalizationConfig(malformed_operators=True, boxed="none")
    text = normalize_latex(exact(expression), normal)
    reading = ConversionConfig(interpret_as_mixed_fractions=False, lowercase_symbols=False)
    # Of a chain of equations that cannot be read as such the last side is what it says.
    for part in (text, text.rpartition("=")[2] if "," not in text else ""):
        try:
            read = latex2sympy(
                part, is_real=True, normalization_config=None, conversion_config=reading
            )
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a parser raises whatever it likes
            continue
        return _told_apart(read)
    return None


def exact(expression: str) -> str:
    """LaTeX with decimals as fractions, mixed numbers as sums, and angles in degrees as radians."""
    text = _FACTOR.sub(r"\1\2 * (", _MIXED.sub(r"(\1 + \2)", expression))
    if _ANGLE_OF.search(text):
        text = _DEGREES.sub(r"(\\frac{\1 \\pi}{180})", text)
    return _DECIMAL.sub(_as_fraction, text)


def _as_fraction(found: re.Match[str]) -> str:
    digits = found[1].replace(",", "") + found[2]
    fraction = rf"\frac{{{int(digits)}}}{{{10 ** len(found[2])}}}"
    return f"{found[0][0]}{{{fraction}}}" if found[0][0] == "^" else fraction


def _told_apart(read: Any) -> Any:
    """Make i imaginary, and names with capitals differ from those in small letters."""
    from sympy import Basic, I, MatrixBase, Symbol

    if not isinstance(read, (Basic, MatrixBase)):
        return read
    names: dict[Any, Any] = {I: Symbol("^I", real=True)} if read.has(I) else {}
    for one in read.free_symbols:
        if one.name == "i":
            names[one] = I
        elif one.name == "E" or (len(one.name) > 1 and one.name != one.name.lower()):
            names[one] = Symbol(_CAPITAL.sub(r"^\g<0>", one.name), real=True)
    return read.xreplace(names) if names else read


def _near(reference: Any, response: Any, tolerance: float) -> bool:
    """Whether two numbers differ by at most this share of the reference."""
    try:
        wanted, found = float(reference), float(response)
    except (TypeError, ValueError):
        return False
    return tolerance > 0 and math.isclose(found, wanted, rel_tol=tolerance)


def call(name: str, *arguments: Any) -> Any:
    """Call an operator's function by its name."""
    return _function(name)(*arguments)


def _load(name: str) -> None:
    """Load an operator's function: what its module loads is no part of an answer."""
    signal.setitimer(signal.ITIMER_VIRTUAL, LOAD_S)
    try:
        _function(name)
    except MemoryError as error:
        raise ImportError(f"its module needs more than {MEMORY_BYTES >> 20} MiB") from error
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@cache
def _function(name: str) -> Callable[..., Any]:
    module, _, attribute = name.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), attribute)
    return function


ASKED: dict[str, Callable[..., Any]] = {"equivalent": equivalent, "call": call}

if __name__ == "__main__":
    main()
