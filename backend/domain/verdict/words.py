"""Numbers as the sentences of a verdict say them."""

import math

from backend.domain.verdict.evidence import Change, Estimate
from backend.schemas.metrics.verdicts import Span
from backend.schemas.vocabulary import HELDOUT_FRACTION

# Digits that tell a number from 1, or two numbers from each other; more is noise.
_MOST_DIGITS = 6
# A float of this size need not be whole, even if it says so; from it on, and below the least, a
# power of ten is easier to read.
_EXACT = 2**53
_GREATEST = 1e6
_LEAST = 1e-4
# Of an interval, in units of its last decimal.
_LEAST_WIDTH = 3
_MOST_DECIMALS = 2
_HALF = 0.5
# What to do where nothing was held out, in the words of the dialog that freezes a snapshot.
HOLD_OUT = f"Set {HELDOUT_FRACTION} above 0 when you freeze the snapshot"
# What to do where a run was evaluated too seldom to show a course.
EVALUATE_OFTEN = "Set `eval_every` to evaluate it more often."


def shown(value: float) -> str:
    """A number as every screen writes it: 0.570, 12, 123.4, 1,250, −0.0512.

    Three significant digits, or as many more as tell it from 1; a whole number whole. The
    frontend's `number` writes the same.
    """
    if not math.isfinite(value):
        return "–"
    texts = (_with_digits(value, digits) for digits in range(3, _MOST_DIGITS + 1))
    honest = (text for text in texts if abs(value) >= 1 or abs(_read(text)) != 1)
    return next(honest, _with_digits(value, _MOST_DIGITS))


def as_set(value: float) -> str:
    """A setting or a limit, as somebody wrote it: 0.05, 12, 1e-06, 1,250."""
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def apart(first: float, second: float) -> tuple[str, str]:
    """Two numbers with as many digits, three or more, as tell the one from the other."""
    pairs = (
        (_with_digits(first, digits), _with_digits(second, digits))
        for digits in range(3, _MOST_DIGITS + 1)
    )
    differing = (pair for pair in pairs if _read(pair[0]) != _read(pair[1]))
    return next(differing, (_with_digits(first, 3), _with_digits(second, 3)))


def _read(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def _with_digits(value: float, digits: int) -> str:
    size = abs(value)
    if size < _EXACT and value == int(value):
        text = f"{int(value):,}"
    elif not _LEAST <= size < _GREATEST:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    elif size >= 100:
        decimals = digits - 1 - math.floor(math.log10(size))
        text = f"{value:,.{max(int(size < 1000), decimals)}f}"
    else:
        text = f"{value:#.{digits}g}".removesuffix(".")
    return f"−{text[1:]}" if text.startswith("-") else text


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent: 0.314 is 31 %; 0 % and 100 % are exact, 0.003 is under 1 %."""
    least = 10**-decimals
    if share <= 0 or share >= 1:
        return f"{100 * share:.0f} %"
    text = f"{100 * share:.{decimals}f} %"
    if text == f"{0:.{decimals}f} %":
        return f"under {least:g} %"
    return f"over {100 - least:g} %" if text == f"{100:.{decimals}f} %" else text


def percents(*shares: float) -> list[str]:
    """Shares that stand side by side, such as one and the ends of its interval.

    With as many decimals, up to two, as show how far apart they are, and on which side of a half.
    """
    width = 100 * (max(shares) - min(shares))
    of_width = math.ceil(math.log10(_LEAST_WIDTH / width)) if width > 0 else 0
    decimals = min(max(0, of_width), _MOST_DECIMALS)
    while decimals < _MOST_DECIMALS and any(_hides_its_side(one, decimals) for one in shares):
        decimals += 1
    return [percent(share, decimals) for share in shares]


def _hides_its_side(share: float, decimals: int) -> bool:
    return share != _HALF and percent(share, decimals) == percent(_HALF, decimals)


def share_and_interval(share: float, interval: Span) -> tuple[str, str]:
    """A share in percent, and its interval in words: 95 % interval 70 % to 90 %."""
    text, low, high = percents(share, interval.low, interval.high)
    return text, f"95 % interval {low} to {high}"


def with_span(share: Estimate) -> str:
    """A share in percent with its interval, if it has one: 44 % [22, 69]."""
    span = share.interval
    if span is None:
        return percent(share.value)
    text, *ends = percents(share.value, span.low, span.high)
    low, high = (end.removesuffix(" %") for end in ends)
    return f"{text} [{low}, {high}]"


def alike(*values: float) -> list[str]:
    """Numbers that stand side by side, such as a value and the ends of its interval.

    All have the decimals that the greatest one needs, or as many more, up to six digits, as show
    how far they are apart. The frontend's `between` writes the same.
    """
    greatest = max(map(abs, values))
    if not _LEAST <= greatest < _GREATEST:
        return [shown(value) for value in values]
    size, width = math.floor(math.log10(greatest)), max(values) - min(values)
    of_width = math.ceil(math.log10(_LEAST_WIDTH / width)) if width > 0 else 0
    decimals = max(0, 2 - size, min(of_width, _MOST_DIGITS - 1 - size))
    return [_fixed(value, decimals) for value in values]


def _fixed(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    is_zero = not text.strip("-0.,")
    # A whole 0 would hide the sign of what is none.
    if is_zero and not decimals and value:
        return shown(value)
    return text.removeprefix("-") if is_zero else text.replace("-", "−")


def with_interval(found: Estimate) -> str:
    """An estimate with its interval, if it has one: 0.60 [0.50, 0.72]."""
    span = found.interval
    if span is None:
        return shown(found.value)
    if span.low == span.high:
        return f"{shown(found.value)} (no spread)"
    value, low, high = alike(found.value, span.low, span.high)
    return f"{value} [{low}, {high}]"


def amount(found: Change) -> str:
    """The size of a change with its interval, if that is known."""
    if found.interval is None:
        return shown(found.size)
    size, low, high = alike(found.size, *found.interval)
    return f"{size}, 95 % interval [{low}, {high}]"


def difference(found: Change) -> str:
    """A change that may go either way: its amount with a sign."""
    return f"{'+' if found.size >= 0 else ''}{amount(found)}"


def change_in_short(found: Change) -> str:
    """A change and its interval, as a list has room for them; empty without an interval."""
    if found.interval is None:
        return ""
    size, low, high = alike(found.size, *found.interval)
    return f"{'+' if found.size > 0 else ''}{size} [{low}, {high}]"


def as_sentence(clause: str) -> str:
    """Make a sentence of a clause; nothing of nothing."""
    return f"{clause[0].upper()}{clause[1:]}." if clause else ""


def output_sentence(shipped_step: int | None, what: str = "") -> str:
    """Which weights the run left, and what those measured; empty if it left none."""
    if shipped_step is None:
        return ""
    of = f"of step {shipped_step:,}" if shipped_step else "of step 0, before this run trained it"
    return f"The output is the model {of}{', ' if what else ''}{what}."


def unscored_sentence(share: float) -> str:
    """Say that some responses of the newest evaluation have no reward; empty if all have one."""
    if share <= 0:
        return ""
    if share == 1:
        return "None of the responses last evaluated could be scored."
    return (
        f"The reward leaves out {percent(share)} of the responses last evaluated, which could not "
        "be scored."
    )
