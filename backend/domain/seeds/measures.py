"""Which runs measure the same by a metric, so that a higher number is a better policy; pure."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.seeds.groups import without_seed

Config = Mapping[str, Any]

# What a held-out number is a measure of, and on what.
_MEASURES = ("method", "reward", "prompts", "demonstrations", "preferences", "solutions", "split")
# Those that say how much was written, whatever it is worth.
_WHATEVER_THE_REWARD = re.compile(
    r"eval/(.*/)?(length|truncated_fraction|distinct|distinct_2|text_.*)"
)
# Those that another baseline changes.
_BESIDE_A_BASELINE = re.compile(r"eval/(win_rate|win_rate_lc|gain|pass_gain|text_change)(/.*)?")


def measured_apart(metric: str, configs: Sequence[Config]) -> str | None:
    """The section that differs, so that a metric measures something else in each config.

    Only what runs measure themselves hangs on their configs; `gold/NAME` does not.
    """
    sections = _sections(metric)
    return next(
        (one for one in sections if any(_differ(configs[0], c, one) for c in configs)), None
    )


def most_alike(metric: str, configs: Sequence[Config]) -> list[int]:
    """Places of the configs that measure the same: of most groups of seeds, the first of equals."""
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for place, config in enumerate(configs):
        measured = [config.get(section) for section in _sections(metric)]
        alike[json.dumps(measured, sort_keys=True)].append(place)
    return max(alike.values(), key=lambda places: len({without_seed(configs[i]) for i in places}))


def apart_from_most(metric: str, configs: Sequence[Config]) -> list[str | None]:
    """For each config the section that makes it measure something else than most of them do."""
    first = configs[most_alike(metric, configs)[0]]
    return [measured_apart(metric, [first, config]) for config in configs]


def _sections(metric: str) -> tuple[str, ...]:
    if not metric.startswith("eval/"):
        return ()
    beside = ("baseline_model",) if _BESIDE_A_BASELINE.fullmatch(metric) else ()
    measures = (one for one in _MEASURES if one != "reward" or not _is_unrewarded(metric))
    return (*measures, *beside)


def _is_unrewarded(metric: str) -> bool:
    return _WHATEVER_THE_REWARD.fullmatch(metric) is not None


def _differ(one: Config, other: Config, section: str) -> bool:
    return bool(one.get(section) != other.get(section))
