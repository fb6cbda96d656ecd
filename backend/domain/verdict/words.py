"""Numbers as the sentences of a verdict say them."""

from backend.domain.verdict.evidence import Change, Estimate


def shown(value: float) -> str:
    """A number with three significant digits: 0.437, 12, 1,250, −0.05."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def percent(share: float) -> str:
    """A share in percent: 0.314 is 31 %."""
    return f"{100 * share:.0f} %"


def between(low: float, high: float) -> str:
    """An interval: [0.5, 0.72]."""
    return f"[{shown(low)}, {shown(high)}]"


def with_interval(found: Estimate) -> str:
    """An estimate with its interval, if it has one."""
    span = found.interval
    return (
        shown(found.value)
        if span is None
        else f"{shown(found.value)} {between(span.low, span.high)}"
    )


def difference(found: Change) -> str:
    """The size of a change with its interval, if that is known."""
    sign = "+" if found.size >= 0 else ""
    around = "" if found.interval is None else f" {between(*found.interval)}"
    return f"{sign}{shown(found.size)}{around}"


def output_sentence(shipped_step: int | None) -> str:
    """Which weights the run left; empty if it left none."""
    return "" if shipped_step is None else f"The weights of step {shipped_step:,} are the output."
