"""Units of measure behind a number: what they measure and how large they are, exactly.

A word that is no unit, such as apples, measures itself.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

# What a unit measures, then its names with their size in the first of them.
_KINDS: dict[str, dict[str, str]] = {
    "length": {
        "m meter metre": "1",
        "mm millimeter millimetre": "1/1000",
        "cm centimeter centimetre": "1/100",
        "dm decimeter decimetre": "1/10",
        "km kilometer kilometre": "1000",
        "in inch inches": "0.0254",
        "ft foot feet": "0.3048",
        "yd yard": "0.9144",
        "mi mile": "1609.344",
    },
    "mass": {
        "g gram gramme": "1",
        "mg milligram": "1/1000",
        "kg kilogram kilo": "1000",
        "ton tonne": "1000000",
        "lb lbs pound": "453.59237",
        "oz ounce": "28.349523125",
    },
    "time": {
        "s sec second": "1",
        "ms millisecond": "1/1000",
        "min minute": "60",
        "h hr hour": "3600",
        "day": "86400",
        "week": "604800",
    },
    "age": {"month": "1", "year yr": "12"},
    "volume": {
        "l liter litre": "1",
        "ml milliliter millilitre": "1/1000",
        "gal gallon": "3.785411784",
    },
    "angle": {"degree deg": "1"},
    "dollar": {"dollar usd": "1", "cent ¢": "1/100"},
    "euro": {"euro eur": "1"},
    "pound sterling": {"gbp": "1"},
}
_NAMES = {
    name: (kind, Fraction(size))
    for kind, sizes in _KINDS.items()
    for names, size in sizes.items()
    for name in names.split()
}
_PART = re.compile(r"(?:(square|sq|cubic)\s+)?(.*?)\s*(?:\^\s*\{?\s*([123])\s*\}?)?", re.IGNORECASE)
_WORDS = re.compile(r"[a-zA-Z¢][a-zA-Z¢ '.-]*")
_POWERS = {"square": 2, "sq": 2, "cubic": 3}


@dataclass(frozen=True)
class Unit:
    """What it measures, with its power, nothing for a bare number; `factor`: in base units."""

    sizes: tuple[tuple[str, int], ...] = ()
    factor: Fraction = Fraction(1)


@lru_cache(4096)
def unit_of(text: str) -> Unit | None:
    """The unit that stands behind a number; None where this is no unit but algebra.

    A single letter that is no unit is a variable, and so is one that touches its number.
    """
    if not text.strip():
        return Unit()
    sizes: dict[str, int] = {}
    factor = Fraction(1)
    for place, part in enumerate(re.split(r"\s*/\s*|\s+per\s+", text.strip())):
        found = _part(part, touches=place == 0 and not text[0].isspace())
        if found is None:
            return None
        kind, size, power = found
        power = power if place == 0 else -power
        sizes[kind] = sizes.get(kind, 0) + power
        factor *= size**power
    return Unit(tuple(sorted(sizes.items())), factor)


def _part(text: str, *, touches: bool) -> tuple[str, Fraction, int] | None:
    found = _PART.fullmatch(text)
    if found is None or _WORDS.fullmatch(found[2]) is None:
        return None
    word = found[2].strip(" .").lower()
    power = _POWERS.get((found[1] or "").lower(), 1) * int(found[3] or 1)
    if word == "mph":
        return None
    known = _NAMES.get(word) or _NAMES.get(word.removesuffix("s"))
    if len(word) == 1 and (touches or known is None):
        return None
    if known is None:
        return (_singular(word), Fraction(1), power)
    return (*known, power)


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word.removesuffix("ies") + "y"
    return word.removesuffix("es") if word.endswith(("ches", "shes", "xes")) else word.rstrip("s")
