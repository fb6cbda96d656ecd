"""Where published solutions have their answers: behind `####`, or in the last `\\boxed`."""

import re

_BOX = re.compile(r"\\(?:boxed|fbox)\s*")
# Python reads no numbers of more than 4,300 digits.
_LONGEST_WHOLE = 1000
_WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?")


class NoAnswer(ValueError):
    """A solution without an answer where one is expected."""


def after_hashes(solution: str) -> str:
    """What stands behind the last `####`, without commas between thousands (GSM8K).

    Raises NoAnswer.
    """
    _, mark, answer = solution.rpartition("####")
    if not mark or not answer.strip():
        raise NoAnswer("the solution has no answer after ####")
    return re.sub(r"(?<=\d),(?=\d{3})", "", answer.strip())


def boxed(solution: str) -> str:
    r"""What the last `\boxed{...}` holds, its braces balanced; `\boxed 5` holds 5 (MATH).

    Raises NoAnswer.
    """
    boxes = list(_BOX.finditer(solution))
    if not boxes:
        raise NoAnswer(r"the solution has no \boxed answer")
    rest = solution[boxes[-1].end() :]
    found = _braced(rest) if rest.startswith("{") else rest.split("$")[0]
    if not found.strip():
        raise NoAnswer(r"the last \boxed of the solution is empty")
    return found.strip()


def _braced(text: str) -> str:
    """Return what is between the `{` that the text begins with and the brace that closes it.

    Braces behind a backslash are signs. Raises NoAnswer if the first is not closed.
    """
    depth = 0
    for found in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if depth == 0:
                return text[1 : found.start()]
    raise NoAnswer(r"the braces of the last \boxed are not closed")


def whole_number(answer: object) -> str:
    """A whole number as it is written: 142 of 142.0, 25 of "025"; other answers as they are."""
    text = str(answer).strip()
    is_whole = len(text) <= _LONGEST_WHOLE and _WHOLE.fullmatch(text)
    return str(int(text.partition(".")[0])) if is_whole else text
