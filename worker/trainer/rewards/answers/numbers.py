r"""Exact numbers with units: 1,234.5, -3/4, \frac{1}{2}, 1 1/2, 6.02 * 10^23, 50%, $5, 3 km/h.

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
        (?:\s*[eE](?P<e>[+-]?\d{{1,3}})(?![\d.])|\s*\*\s*10\s*\^\s*\{{?\s*(?P<power>[+-]?\d{{1,3}})\s*\}}?)?
    )
    (?P<unit>.*)
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMED = re.compile(r"([a-zA-Z](?:_\{?\w\}?)?(?:\([a-z]\))?)\s*=\s*(?!=)")
_MONEY = {"$": "dollar", "€": "euro", "£": "pound sterling"}


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
    if len(text) > LONGEST:
        return None
    named = _NAMED.match(text)
    name = named[1] if named is not None else ""
    found = _NUMBER.fullmatch(text[named.end() :] if named is not None else text)
    if found is None or sum(map(str.isdigit, text)) > _MOST_DIGITS:
        return None
    value, rest = _value(found), found["unit"]
    if value is None:
        return None
    if rest.strip().lower() in ("%", "percent", "per cent"):
        return None if found["money"] else Number(value, None, name, is_percent=True)
    if found["money"]:
        rest = f" {_MONEY[found['money']]}{rest}" if not rest.strip() else rest
    unit = unit_of(rest)
    return None if unit is None else Number(value, unit if unit.sizes else None, name)


def same_number(response: Number, reference: Number, tolerance: float) -> bool:
    """Whether two numbers are equal: exactly, or within a share of the reference.

    A unit, a percent sign or a name that only one of them has does not matter, but for the sign:
    50% is 50 and 1/2. Units of one kind are converted.
    """
    if response.name and reference.name and response.name != reference.name:
        return False
    found, wanted = response.value, reference.value
    if response.is_percent != reference.is_percent:
        other = reference if response.is_percent else response
        bare = [found, wanted] if response.is_percent else [wanted, found]
        near = _near(bare[0], bare[1], tolerance) or _near(bare[0] / 100, bare[1], tolerance)
        return other.unit is None and near
    if response.unit is not None and reference.unit is not None:
        if response.unit.sizes != reference.unit.sizes:
            return False
        found, wanted = found * response.unit.factor, wanted * reference.unit.factor
    return _near(found, wanted, tolerance)


def _near(found: Fraction, wanted: Fraction, tolerance: float) -> bool:
    return found == wanted or abs(found - wanted) <= Fraction(tolerance) * abs(wanted)


def _value(found: re.Match[str]) -> Fraction | None:
    """None where a fraction divides by zero, or the sign is said twice."""
    if found["sign"] and found["inner"]:
        return None
    if found["decimal"] is not None:
        exponent = int(found["e"] or found["power"] or 0)
        size = _fraction(found["decimal"]) * Fraction(10) ** exponent
    else:
        upper, lower = found["upper"] or found["over"], found["lower"] or found["under"]
        if _fraction(lower) == 0 or (found["whole"] and "-" in upper + lower):
            return None
        size = int(found["whole"] or 0) + _fraction(upper) / _fraction(lower)
    return -size if "-" in (found["sign"], found["inner"]) else size


def _fraction(digits: str) -> Fraction:
    return Fraction(digits.replace(",", "").replace(" ", "").rstrip("."))
