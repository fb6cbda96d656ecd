r"""Exact numbers with units: 1,234.5, -3/4, \frac{1}{2}, 1 1/2, 6.02 * 10^23, 50%, $5, 3 km/h,
2 million, 5 and a half, 1 hour 30 minutes, 1011_2.

Only what can be read at a glance: no arithmetic, so no expression can take long. Whatever else is
None here, and for somebody else to read.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from worker.trainer.rewards.answers.units import Unit, unit_of

LONGEST = 120
_MOST_DIGITS = 60
_DECIMAL = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+"
_NUMBER = re.compile(
    rf"""
    (?P<sign>[+-]?)\s*(?P<money>[$€£]?)\s*(?P<inner>[+-]?)\s*
    (?:
        (?:(?P<whole>\d{{1,20}})(?:\s+|(?=\\frac)))?
        (?:\\frac\s*\{{\s*(?P<upper>-?\s*(?:{_DECIMAL}))\s*\}}\s*\{{\s*(?P<lower>-?\s*(?:{_DECIMAL}))\s*\}}
         |(?P<over>{_DECIMAL})\s*/\s*(?P<under>{_DECIMAL}))
      | (?P<decimal>{_DECIMAL})
        (?:\s*[eE](?P<e>[+-]?\d{{1,3}})(?![\d.])|\s*\*\s*10\s*\^(?:\s*\{{\s*(?P<braced>[+-]?\d{{1,3}})\s*\}}|\s*(?P<power>[+-]?\d{{1,3}})(?!\d)))?
    )
    (?P<unit>.*)
    """,
    re.VERBOSE | re.DOTALL,
)
_NAME = r"[a-zA-Z](?:_\{?\w\}?)?(?:\([a-z]\))?"
_NAMED = re.compile(rf"({_NAME})\s*=\s*(?!=)")
_NAMED_AFTER = re.compile(rf"([^=]+?)\s*=\s*({_NAME})")
_MONEY = {"$": "dollar", "€": "euro", "£": "pound sterling"}
# The place of a base, as in 1011_2.
_BASE = re.compile(r"_\s*(?:\{\s*(\d{1,2})\s*\}|(\d{1,2}))")
_AND_A_HALF = re.compile(r"\s+and\s+(?:a|one)\s+half(?![\w-])", re.IGNORECASE)
_PERCENT = frozenset({"%", "percent", "per cent"})
_SCALES = {
    "ten": 10,
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_SCALE = re.compile(rf"\s*({'|'.join(_SCALES)})s?(?![\w-])", re.IGNORECASE)
_PARTS = {
    "half": 2,
    "halve": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "hundredth": 100,
    "thousandth": 1000,
}
# Of one part, of several parts: 5 third graders are none.
_PART = re.compile(rf"\s*({'|'.join(_PARTS)})(s?)(?=$|\s+of\b)", re.IGNORECASE)
_THOUSANDS = re.compile(r"[kK](?![a-zA-Z])")
# 5 ft 3 in: where the second number begins.
_SECOND = re.compile(r"(?<=[a-zA-Z'\".])\s*,?\s*(?:and\s+)?(?=\d)")


@dataclass(frozen=True)
class Number:
    """A value, its unit if it has one, and the name before an equals sign, such as the x of x = 5.

    `is_percent`: the value stands before a percent sign.
    """

    value: Fraction
    unit: Unit | None = None
    name: str = ""
    is_percent: bool = False


def number_in(text: str) -> Number | None:
    """The number that a plain answer is, None if it is anything else."""
    if len(text) > LONGEST or sum(map(str.isdigit, text)) > _MOST_DIGITS:
        return None
    named = _NAMED.match(text)
    if named is not None:
        return _number(text[named.end() :], named[1])
    found = _number(text, "")
    if found is None and "=" in text and (after := _NAMED_AFTER.fullmatch(text)) is not None:
        return _number(after[1], after[2])
    return found


def _number(text: str, name: str) -> Number | None:
    found = _NUMBER.fullmatch(text)
    if found is None:
        half = text.lower() in ("half", "a half", "one half", "one-half")
        return Number(Fraction(1, 2), None, name) if half else None
    value, rest = _value(found), found["unit"]
    if value is None:
        return None
    money = found["money"]
    if rest:
        scaled = _scaled(value, rest, is_money=bool(money))
        if scaled is None:
            return None
        value, rest = scaled
    words = rest.strip()
    if words.lower() in _PERCENT:
        return None if money else Number(value, None, name, is_percent=True)
    if base := _BASE.fullmatch(words):
        return Number(value, Unit(((f"base {base[1] or base[2]}", 1),)), name)
    if money:
        rest = f" {_MONEY[money]}{rest}" if not words else rest
    unit = unit_of(rest)
    if unit is None:
        return _compound(text, name)
    return Number(value, unit if unit.sizes else None, name)


def _scaled(value: Fraction, rest: str, *, is_money: bool) -> tuple[Fraction, str] | None:
    """The value with the words of size behind it, and what follows them; None of 2 squared."""
    if half := _AND_A_HALF.match(rest):
        value, rest = value + (Fraction(-1, 2) if value < 0 else Fraction(1, 2)), rest[half.end() :]
    if is_money and (thousands := _THOUSANDS.match(rest)):
        value, rest = value * 1000, rest[thousands.end() :]
    while scale := _SCALE.match(rest):
        value, rest = value * _SCALES[scale[1].lower()], rest[scale.end() :]
    if (part := _PART.match(rest)) and bool(part[2]) == (value != 1):
        value, rest = value / _PARTS[part[1].lower()], rest[part.end() :]
    if rest.strip().lower() in ("squared", "cubed"):
        return (value ** (2 if "sq" in rest.lower() else 3), "") if value >= 0 else None
    return value, rest


def _compound(text: str, name: str) -> Number | None:
    """Two numbers of one kind, as in 5 ft 3 in, in the unit of the second."""
    parts = _SECOND.split(text, maxsplit=1)
    if len(parts) != 2:
        return None
    first, second = _number(parts[0], name), _number(parts[1], name)
    if first is None or second is None or first.unit is None or second.unit is None:
        return None
    if first.unit.sizes != second.unit.sizes or first.unit.factor <= second.unit.factor:
        return None
    value = abs(first.value) * first.unit.factor / second.unit.factor + second.value
    return Number(-value if first.value < 0 else value, second.unit, name)


def same_number(response: Number, reference: Number, tolerance: float) -> bool:
    """Whether two numbers are equal: exactly, or within a share of the reference.

    A unit, a base, a percent sign or a name that only one of them has does not matter, but for the
    sign: 50% is 50 and 1/2. Units of one kind are converted. A letter that could be a variable, as
    in 5m, is a unit only beside another unit.
    """
    if response.name and reference.name and response.name != reference.name:
        return False
    found, wanted = response.value, reference.value
    if response.is_percent != reference.is_percent:
        other = reference if response.is_percent else response
        bare = [found, wanted] if response.is_percent else [wanted, found]
        near = _near(bare[0], bare[1], tolerance) or _near(bare[0] / 100, bare[1], tolerance)
        return other.unit is None and near
    if _is_letter(response) != _is_letter(reference) and None in (response.unit, reference.unit):
        return False
    if response.unit is not None and reference.unit is not None:
        if response.unit.sizes != reference.unit.sizes:
            return False
        found, wanted = found * response.unit.factor, wanted * reference.unit.factor
    return _near(found, wanted, tolerance)


def _is_letter(number: Number) -> bool:
    return number.unit is not None and number.unit.is_letter


def _near(found: Fraction, wanted: Fraction, tolerance: float) -> bool:
    return found == wanted or abs(found - wanted) <= Fraction(tolerance) * abs(wanted)


def _value(found: re.Match[str]) -> Fraction | None:
    """Compute the value; None if a fraction divides by zero or there are two signs."""
    if found["sign"] and found["inner"]:
        return None
    if found["decimal"] is not None:
        exponent = int(found["e"] or found["braced"] or found["power"] or 0)
        size = _fraction(found["decimal"]) * Fraction(10) ** exponent
    else:
        upper, lower = found["upper"] or found["over"], found["lower"] or found["under"]
        if _fraction(lower) == 0 or (found["whole"] and "-" in upper + lower):
            return None
        size = int(found["whole"] or 0) + _fraction(upper) / _fraction(lower)
    return -size if "-" in (found["sign"], found["inner"]) else size


def _fraction(digits: str) -> Fraction:
    return Fraction(digits.replace(",", "").replace(" ", "").rstrip("."))
