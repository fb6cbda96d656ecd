r"""An expression for computer algebra and the unit behind it, as in 2\sqrt{3} cm.

A bare word behind an expression is a unit if it is known and has two letters or more: computer
algebra would read it as variables, and of one letter nobody can say which it is.
"""

import re

from worker.trainer.rewards.answers.plain import plain
from worker.trainer.rewards.answers.units import Unit, is_known, unit_of

_POWER = r"(?:\s*\^\s*(?:\{\s*[123]\s*\}|[123]))?"
_IN_TEXT = re.compile(
    rf"(?P<rest>.*[^\s*/+^=(,_-])(?:\\[,;: !]|~|\s)*"
    rf"(?P<unit>\\(?:text|textrm|textbf|mathrm|mbox)\s*\{{[^{{}}]+\}}{_POWER})\s*\.?",
    re.DOTALL,
)
_BARE = re.compile(
    rf"(?P<rest>.*[^\s*/+^=(,_-])\s(?P<unit>(?:(?:square|sq\.?|cubic)\s)?[a-zA-Z]{{2,}}{_POWER})"
)
_ANGLE_OF = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-zA-Z])")


def quantity(text: str) -> tuple[str, Unit]:
    """The plain expression and the unit, which is that of a bare number where there is none."""
    bare = text.strip().strip("$").strip()
    found = _IN_TEXT.fullmatch(bare)
    if found is not None:
        words = plain(found["unit"])
        # In text a capital is no variable: N, J.
        is_symbol = len(words) == 1 and words.isupper()
        unit = Unit(((words, 1),)) if is_symbol else unit_of(f" {words}")
        if unit is not None:
            return plain(found["rest"]), unit
    bare = plain(text)
    found = _BARE.fullmatch(bare)
    if found is not None and not _ANGLE_OF.search(bare) and is_known(found["unit"]):
        unit = unit_of(" " + found["unit"])
        if unit is not None:
            return found["rest"].strip(), unit
    return bare, Unit()


def have_one_kind(response: str, reference: str) -> bool:
    """Whether their units, if both have some, measure the same."""
    found, wanted = quantity(response)[1].sizes, quantity(reference)[1].sizes
    return not found or not wanted or found == wanted


def in_one_unit(response: str, reference: str) -> tuple[str, str]:
    """Both expressions; that of the response in the unit of the reference."""
    (found, unit), (wanted, other) = quantity(response), quantity(reference)
    if unit.sizes and other.sizes and unit.factor != other.factor:
        share = unit.factor / other.factor
        found = rf"\frac{{{share.numerator}}}{{{share.denominator}}} * ({found})"
    return found, wanted
