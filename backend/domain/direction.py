"""Which way a metric is better; pure."""

_LOWER_IS_BETTER = ("loss", "loss_change", "calibration_error")


def is_lower_better(metric: str) -> bool:
    """Whether less of this metric is better: losses and calibration errors.

    What is measured outside as gold/NAME is better if it is higher, whatever its name.
    """
    if metric.startswith("gold/"):
        return False
    return metric.rpartition("/")[2] in _LOWER_IS_BETTER
