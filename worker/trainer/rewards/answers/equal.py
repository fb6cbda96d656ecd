"""Whether two answers are the same, where that can be seen without computer algebra.

Numbers, words, choices and lists of numbers are decided here; the rest is None.
"""

import re
from collections.abc import Sequence

from worker.trainer.rewards.answers.numbers import Number, number_in, same_number
from worker.trainer.rewards.answers.plain import plain
from worker.trainer.rewards.answers.quantity import have_one_kind

_CHOICE = re.compile(r"\(?([A-Za-z])\)?(?:[.):]\s*\S.*)?", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+(?:(?:\. |[ '-])[^\W\d_]+)*")
_LIST = re.compile(r",(?!\d{3}(?!\d))|,\s+|;|\s+(?:and|or)\s+")
# One that is not between the thousands of a number.
COMMA_BETWEEN = re.compile(r",(?!\d{3}(?!\d))")
_EVERY_COMMA = re.compile(r",\s*|;|\s+(?:and|or)\s+")
_BRACKETS = {("(", ")"), ("[", "]"), ("(", "]"), ("[", ")")}
# A number has none, whatever computer algebra takes for a unit.
_VARIABLE = re.compile(r"[+-]?[\d.]*\s*[a-zA-Z]")
_TIME = re.compile(r"(\d{1,2}:\d\d)(?:\s*([ap])\.?\s?m)?\.?", re.IGNORECASE)
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
    if "..." in found or "..." in wanted:
        return False
    times = _TIME.fullmatch(found), _TIME.fullmatch(wanted)
    if times[0] and times[1] and (times[0][2] or times[1][2]):
        return _same_time(times[0], times[1])
    choice = _choice(found, wanted)
    if choice is not None:
        return choice
    words = _is_word(found), _is_word(wanted)
    if any(words) and all(map(_LETTERS.fullmatch, (found, wanted))):
        return found.casefold() == wanted.casefold()
    for one, other in ((0, 1), (1, 0)):
        is_no_number = words[one] or _VARIABLE.fullmatch((found, wanted)[one])
        if is_no_number and numbers[other] is not None:
            return False
    same = _same_lists(found, wanted, tolerance)
    return False if same is None and not have_one_kind(response, reference) else same


def _canonical(text: str) -> str:
    """Remove spaces, but for the one that tells the list 1, 234 from the number 1,234."""
    return re.sub(r"\s+", "", re.sub(r",\s+(?=\d{3}(?!\d))", ";", text))


def _same_time(found: re.Match[str], wanted: re.Match[str]) -> bool:
    halves = {(one[2] or "").lower() for one in (found, wanted)} - {""}
    return found[1] == wanted[1] and len(halves) == 1


def _choice(found: str, wanted: str) -> bool | None:
    """Decide, for a reference that is one letter from A to J, whether the response chose it.

    None if the reference is no such letter or the response is no choice.
    """
    letter = wanted.strip("()")
    if len(letter) != 1 or not letter.isupper() or letter > "J":
        return None
    chosen = _CHOICE.fullmatch(found)
    return None if chosen is None else chosen[1].upper() == letter


def _is_word(text: str) -> bool:
    if _LETTERS.fullmatch(text) is None:
        return False
    is_name = len(text) == 3 and text.istitle()
    return len(text) >= 4 or is_name or text.casefold() in _SHORT_WORDS or not text.isascii()


def _same_lists(found: str, wanted: str, tolerance: float) -> bool | None:
    """Compare lists of numbers: in order between round or square brackets, else in any order.

    Two names on one side only, as in x = 5, y = 3, are in order, too.
    """
    own, others = _numbers(found), _numbers(wanted)
    if own is None or others is None:
        return None
    (kind, mine), (other, theirs) = own, others
    if kind != other or len(mine) != len(theirs):
        return False
    names = {one.name for one in mine}, {one.name for one in theirs}
    if kind or ({""} in names and max(map(len, names)) > 1):
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
    """The brackets around a list of numbers, empty for a set or none, and the numbers.

    A set holds each once. In brackets without spaces every comma separates, as (1,100) is a pair,
    and so it does beside one that cannot be of thousands.
    """
    kind, is_set = "", False
    if (text[:1], text[-1:]) in _BRACKETS:
        kind, inside = text[0] + text[-1], text[1:-1]
    elif text.startswith("\\{") and text.endswith("\\}"):
        is_set, inside = True, text[2:-2]
    elif text.startswith("{") and text.endswith("}"):
        is_set, inside = True, text[1:-1]
    else:
        inside = text
    is_pair = ", " not in inside and (inside != text or COMMA_BETWEEN.search(inside))
    separator = _EVERY_COMMA if is_pair else _LIST
    numbers = [number_in(part.strip()) for part in separator.split(inside) if part.strip()]
    found = [one for one in numbers if one is not None]
    if not found or len(found) < len(numbers):
        return None
    found = list(dict.fromkeys(found)) if is_set else found
    return ("" if kind == "()" and len(found) == 1 else kind, found)
