"""Numbers as the sentences of a verdict say them."""

import math

from backend.domain.verdict.evidence import Change, Estimate


def shown(value: float) -> str:
    """A number with three significant digits: 0.437, 12, 1,250, −0.05."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def percent(share: float) -> str:
    """A share in percent: 0.314 is 31 %."""
    return f"{100 * share:.0f} %"


def counted(n: int, what: str) -> str:
    """How many of something: 1 prompt, 1,250 prompts."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def with_span(share: Estimate) -> str:
    """A share in percent with its interval, if it has one: 44 % [22, 69]."""
    span = share.interval
    if span is None:
        return percent(share.value)
    return f"{percent(share.value)} [{100 * span.low:.0f}, {100 * span.high:.0f}]"


def alike(*values: float) -> list[str]:
    """Numbers that stand side by side, with the decimals that the greatest one needs."""
    greatest = max(map(abs, values))
    if not 0.001 <= greatest < 1000:
        return [shown(value) for value in values]
    decimals = max(0, 2 - math.floor(math.log10(greatest)))
    return [f"{value:.{decimals}f}".replace("-", "−") for value in values]


def between(low: float, high: float) -> str:
    """An interval: [0.5, 0.72]."""
    return f"[{shown(low)}, {shown(high)}]"


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


def output_sentence(shipped_step: int | None, what: str = "") -> str:
    """Which weights the run left, and what those measured; empty if it left none."""
    if shipped_step is None:
        return ""
    return f"The output is step {shipped_step:,}{', ' if what else ''}{what}."
