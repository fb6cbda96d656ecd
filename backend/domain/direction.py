"""Which way a metric is better, by what the registry of metrics says of it; pure."""

from backend.schemas.metrics.metric import Direction
from backend.schemas.metrics.registry import measure_of


def direction_of(metric: str) -> Direction:
    """Which way a metric is better; higher where nobody says.

    What is measured outside as gold/NAME is better if it is higher, whatever its name; as
    outside/NAME it is better if it is lower where the name is that of a loss or an error.
    """
    if metric.startswith("gold/"):
        return "higher"
    is_outside = metric.startswith("outside/")
    known = measure_of(metric.removeprefix("outside/"))
    said = None if known is None else known.direction
    return "higher" if said is None or (is_outside and said == "none") else said


def is_lower_better(metric: str) -> bool:
    """Whether less of this metric is better, as of losses and calibration errors."""
    return direction_of(metric) == "lower"
