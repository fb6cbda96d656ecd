"""Units of measure behind a number: what they measure and how large they are, exactly.

Up to three words that are no unit, such as red apples, measure themselves. Words that say more of
the number, such as "or more", are none.
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
_PART = re.compile(
    r"(?:(square|sq\.?|cubic|cu\.?)\s+)?(.*?)\s*(?:\^\s*\{?\s*([123])\s*\}?|\s(squared|cubed))?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[a-zA-Z](?![a-zA-Z])")
_WORDS = re.compile(r"[a-zA-Z¢][a-zA-Z¢ '.-]*")
_POWERS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_OTHER_NAMES = {
    "mph": "mi/h",
    "kph": "km/h",
    "kmh": "km/h",
    "kmph": "km/h",
    "'": "ft",
    "''": "in",
    '"': "in",
    "degrees c": "celsius",
    "degrees celsius": "celsius",
    "degrees f": "fahrenheit",
    "degrees fahrenheit": "fahrenheit",
}
MOST_WORDS = 3
# What a number is not, is compared with or is reckoned with.
_SAID_OF_NUMBERS = """
    or and but nor not no none never is isn't are aren't was were be if unless when where while
    maybe perhaps either than more less fewer greater least most above below under over up down as
    by to from with without plus minus squared cubed square-root power factorial root roots sqrt
    log ln sin cos tan mod modulo divided multiplied remainder pi infinity infinities infinite
    percent percentage off wrong incorrect right correct false true negative positive
    approximately about zero one two three four five six seven eight nine ten eleven twelve twenty
    thirty forty fifty hundred hundreds thousand thousands million millions billion billions
    trillion trillions dozen dozens half halves quarter quarters third thirds fourth fourths fifth
    fifths sixth sixths seventh sevenths eighth eighths ninth ninths tenth tenths tens ones
    hundredth hundredths thousandth thousandths
"""
_NO_UNIT = frozenset(_SAID_OF_NUMBERS.split())


@dataclass(frozen=True)
class Unit:
    """A unit: what it measures, with its power (none for a number), and its `factor` in base units.

    `is_letter`: one letter that touches the number, which could be a variable too.
    """

    sizes: tuple[tuple[str, int], ...] = ()
    factor: Fraction = Fraction(1)
    is_letter: bool = False


@lru_cache(4096)
def unit_of(text: str) -> Unit | None:
    """The unit that stands behind a number; None where this is no unit but algebra.

    A single letter that is no unit is a variable.
    """
    words = text.strip()
    if not words:
        return Unit()
    words = _OTHER_NAMES.get(words.lower(), words)
    sizes: dict[str, int] = {}
    factor = Fraction(1)
    for place, part in enumerate(re.split(r"\s*/\s*|\s+per\s+", words)):
        found = _part(part)
        if found is None:
            return None
        kind, size, power = found
        power = power if place == 0 else -power
        sizes[kind] = sizes.get(kind, 0) + power
        factor *= size**power
    is_letter = not text[0].isspace() and _LETTER.match(words) is not None
    return Unit(tuple(sorted(sizes.items())), factor, is_letter)


def _part(text: str) -> tuple[str, Fraction, int] | None:
    found = _PART.fullmatch(text)
    if found is None or _WORDS.fullmatch(found[2]) is None:
        return None
    word = found[2].strip(" .")
    power = _POWERS.get((found[1] or found[4] or "").lower().rstrip("."), 1) * int(found[3] or 1)
    known = _known(word)
    if known is not None:
        return (*known, power)
    if found[4] or not _is_name(word.lower()):
        return None
    return (_singular(word.lower()), Fraction(1), power)


def is_known(text: str) -> bool:
    """Whether the text is a unit with a known size, or the word unit or units."""
    found = _PART.fullmatch(text)
    return found is not None and (_known(found[2]) is not None or found[2] in ("unit", "units"))


def _known(word: str) -> tuple[str, Fraction] | None:
    """The unit of a name or symbol; a capital changes short ones: Mg is not mg, M not m."""
    if word in _NAMES:
        return _NAMES[word]
    if len(word) < 3 and (word.startswith("M") or len(word) == 1) and word != "L":
        return None
    lower = word.lower()
    return _NAMES.get(lower) or _NAMES.get(lower.removesuffix("s"))


def _is_name(words: str) -> bool:
    several = words.replace("-", " ").split()
    if not 0 < len(several) <= MOST_WORDS or any(one in _NO_UNIT for one in several):
        return False
    return all(len(one) > 1 or one == "a" for one in several) and len(words) > 1


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word.removesuffix("ies") + "y"
    return word.removesuffix("es") if word.endswith(("ches", "shes", "xes")) else word.rstrip("s")
