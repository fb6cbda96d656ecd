"""What became of each request: a line in the log for those that matter, a number for all.

Called by the edge of the application when an answer begins. Neither has a prompt, a response, a
secret or anything that was typed: operations by their names, people and runs by their ids.
"""

import logging
from functools import cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

log = logging.getLogger("podium.request")

# Whoever waits for longer notices.
SLOW_S = 1.0
_CHANGES = frozenset({"POST", "PATCH", "PUT", "DELETE"})
_REQUEST_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60)
_HOLD_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)


def tell(seen: dict[str, Any], status: int, seconds: float) -> None:
    """Log a request: at level info if it changed something, was refused or was slow, else debug."""
    matters = seen["method"] in _CHANGES or status >= 400 or seconds >= SLOW_S
    level = logging.INFO if matters else logging.DEBUG
    if log.isEnabledFor(level):
        told = {"status": status, "ms": round(seconds * 1000, 1)}
        log.log(level, "request", extra={**seen, **told})


class Numbers:
    """The numbers of one process for Prometheus."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        requests = Counter(
            "podium_http_requests", "Answered requests.", ["operation", "status"],
            registry=self._registry,
        )  # fmt: skip
        seconds = Histogram(
            "podium_http_request_seconds", "From a request's headers to those of its answer.",
            ["operation"], buckets=_REQUEST_BUCKETS_S, registry=self._registry,
        )  # fmt: skip
        holds = Histogram(
            "podium_write_hold_seconds", "From BEGIN to COMMIT of what writes.",
            ["operation"], buckets=_HOLD_BUCKETS_S, registry=self._registry,
        )  # fmt: skip
        # To look a label up takes as long as to count.
        self._requests = cache(requests.labels)
        self._seconds, self._holds = cache(seconds.labels), cache(holds.labels)

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests(operation, status).inc()
        self._seconds(operation).observe(seconds)

    def held(self, operation: str, seconds: float) -> None:
        """Count a writing transaction."""
        self._holds(operation).observe(seconds)

    def text(self, gauges: dict[str, tuple[str, dict[str, float]]]) -> bytes:
        """Everything in Prometheus' text format; `gauges`: what is so now, by name.

        A gauge is a sentence about it and its values by the label `of`.
        """
        now = CollectorRegistry()
        now.register(_Now(gauges))
        return generate_latest(self._registry) + generate_latest(now)


class _Now(Collector):
    def __init__(self, gauges: dict[str, tuple[str, dict[str, float]]]) -> None:
        self._gauges = gauges

    def collect(self) -> list[GaugeMetricFamily]:
        """The gauges."""
        found = []
        for name, (sentence, values) in self._gauges.items():
            family = GaugeMetricFamily(name, sentence, labels=["of"])
            for of, value in values.items():
                family.add_metric([of], value)
            found.append(family)
        return found
