"""Which evaluation decides: one from elsewhere (`gold/NAME`, higher is better), or else ours."""

from collections.abc import Iterable

from backend.schemas.metrics.registry import metrics_of
from backend.schemas.vocabulary import Method

FIRST = ("gold/reward", "gold/win_rate")
# Without one from elsewhere, the first that all runs have: no training reward, no training loss.
HELD_OUT = ("eval/win_rate", "eval/reward", "eval/accuracy", "eval/loss")


def gold_metrics(names: Iterable[str]) -> list[str]:
    """Keep the metrics that were measured elsewhere, without the ends of their intervals."""
    found = sorted(
        name for name in names if name.startswith("gold/") and not name.endswith(("_low", "_high"))
    )
    return sorted(found, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def headlines(method: Method) -> list[str]:
    """The metrics that stand for a run of a method in a list, best first, after what was attached.

    Evaluations lead: what a run is trained on rises also where it gets worse.
    """
    metrics = metrics_of(method)
    names = {metric.name for metric in metrics}
    trained = (metric.name for metric in metrics if metric.is_training)
    return [*(name for name in HELD_OUT if name in names), *trained]
