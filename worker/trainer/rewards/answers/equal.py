"""Whether two answers are the same, where that can be seen without computer algebra.

Numbers, words, choices and lists of numbers are decided here; the rest is None.
"""

import re
from collections.abc import Sequence

from worker.trainer.rewards.answers.numbers import Number, number_in, same_number
from worker.trainer.rewards.answers.plain import plain

_CHOICE = re.compile(r"\(?([A-Za-z])\)?(?:[.):]\s*\S.*)?", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")
_LIST = re.compile(r",(?!\d{3}(?!\d))|,\s+|;|\s+(?:and|or)\s+")
_BRACKETS = {("(", ")"), ("[", "]"), ("(", "]"), ("[", ")")}
# A number has none, whatever computer algebra takes for a unit.
_VARIABLE = re.compile(r"[+-]?[\d.]*\s*[a-zA-Z]")
# Answers that are words although they could be products of variables.
_SHORT_WORDS = frozenset({"yes", "no", "true", "false", "none", "both", "odd", "even"})


def equal(response: str, reference: str, tolerance: float = 0.0) -> bool | None:
    """True or False where it can be seen, None where algebra has to decide."""
    found, wanted = plain(response), plain(reference)
    numbers = number_in(found), number_in(wanted)
    if numbers[0] is not None and numbers[1] is not None:
        return same_number(numbers[0], numbers[1], tolerance)
    if _canonical(found) == _canonical(wanted):
        return True
    choice = _choice(found, wanted)
    if choice is not None:
        return choice
    words = _is_word(found), _is_word(wanted)
    if any(words) and all(map(_LETTERS.fullmatch, (found, wanted))):
        return found.casefold() == wanted.casefold()
    if any(map(_VARIABLE.fullmatch, (found, wanted))) and any(one is not None for one in numbers):
        return False
    if (words[0] and numbers[1] is not None) or (words[1] and numbers[0] is not None):
        return False
    return _same_lists(found, wanted, tolerance)


def _canonical(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _choice(found: str, wanted: str) -> bool | None:
    """Of a reference that is one capital letter: whether the response chose it."""
    letter = wanted.strip("()")
    if len(letter) != 1 or not letter.isupper() or letter > "J":
        return None
    chosen = _CHOICE.fullmatch(found)
    return None if chosen is None else chosen[1].upper() == letter


def _is_word(text: str) -> bool:
    if _LETTERS.fullmatch(text) is None:
        return False
    return len(text) >= 4 or text.casefold() in _SHORT_WORDS or not text.isascii()


def _same_lists(found: str, wanted: str, tolerance: float) -> bool | None:
    """Of lists of numbers: in order between round or square brackets, else in any order."""
    own, others = _numbers(found), _numbers(wanted)
    if own is None or others is None:
        return None
    (kind, mine), (other, theirs) = own, others
    if kind != other or len(mine) != len(theirs):
        return False
    if kind:
        return all(same_number(a, b, tolerance) for a, b in zip(mine, theirs, strict=True))
    return _same_in_any_order(mine, theirs, tolerance)


def _same_in_any_order(mine: Sequence[Number], theirs: Sequence[Number], tolerance: float) -> bool:
    left = list(theirs)
    for one in mine:
        partner = next((other for other in left if same_number(one, other, tolerance)), None)
        if partner is None:
            return False
        left.remove(partner)
    return True


def _numbers(text: str) -> tuple[str, list[Number]] | None:
    """The brackets around a list of numbers, empty for a set or none, and the numbers."""
    kind = ""
    if (text[:1], text[-1:]) in _BRACKETS:
        kind, text = text[0] + text[-1], text[1:-1]
    elif text.startswith("\\{") and text.endswith("\\}"):
        text = text[2:-2]
    elif text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    numbers = [number_in(part.strip()) for part in _LIST.split(text) if part.strip()]
    found = [one for one in numbers if one is not None]
    if not found or len(found) < len(numbers):
        return None
    return ("" if kind == "()" and len(found) == 1 else kind, found)
