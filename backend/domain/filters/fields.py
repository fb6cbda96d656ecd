"""What a filter may ask of a run: the keys, and which values and operators each takes.

The columns that a list of runs shows and is sorted by have the same names.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from backend.schemas.metrics.curves import METRIC_NAME
from backend.schemas.vocabulary import Estimator, Method, RunState, VerdictKind

LONGEST_KEY = 200


class Kind(StrEnum):
    """What values a key has."""

    CHOICE = "choice"  # one of a few words
    TEXT = "text"
    ID = "id"
    NUMBER = "number"
    TIME = "time"
    ANY = "any"  # of a config: a text or a number


class Key(NamedTuple):
    """A key: what stands before its first point, and what stands behind for the open ones."""

    field: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.field}.{self.name}" if self.name else self.field


class Field(NamedTuple):
    """What may be asked of a key, and the sentence that docs and completion show."""

    kind: Kind
    about: str
    choices: tuple[str, ...] = ()


ARCHIVED = Key("archived")
# One word for both ways in which a reward is exploited.
HACKED, HACKED_KINDS = "hacked", (VerdictKind.OVER_OPTIMIZED, VerdictKind.INFLATED)
_VERDICTS = (*VerdictKind, HACKED)
_METHODS = tuple(Method) + tuple(Estimator)

FIELDS: dict[str, Field] = {
    "state": Field(Kind.CHOICE, "its state", tuple(RunState)),
    "method": Field(Kind.CHOICE, "the method, or an estimator of policy_gradient", _METHODS),
    "verdict": Field(Kind.CHOICE, "what its metrics say, once it has ended", _VERDICTS),
    "name": Field(Kind.TEXT, "its name"),
    "tag": Field(Kind.TEXT, "a tag that it has"),
    "experiment": Field(Kind.TEXT, "the name or id of its experiment"),
    "id": Field(Kind.ID, "its id"),
    "parent": Field(Kind.ID, "the id of the run that it was cloned from"),
    "step": Field(Kind.NUMBER, "the step that it has reached"),
    "attempt": Field(Kind.NUMBER, "how often it was started"),
    "created": Field(Kind.TIME, "when it was created"),
    "started": Field(Kind.TIME, "when it first started"),
    "finished": Field(Kind.TIME, "when it ended"),
    "archived": Field(
        Kind.CHOICE,
        "whether it is archived; without this key, archived runs are left out",
        ("yes", "no"),
    ),
}

# Keys with a name behind the point.
OPEN_FIELDS: dict[str, Field] = {
    "config": Field(Kind.ANY, "a value of its config, such as config.kl.coef"),
    "metric": Field(Kind.NUMBER, "the newest value of a metric, such as metric.eval/reward"),
    "best": Field(
        Kind.NUMBER,
        "the least value of a loss or calibration error, the greatest of any other metric",
    ),
    "min": Field(Kind.NUMBER, "the least value of a metric"),
    "max": Field(Kind.NUMBER, "the greatest value of a metric"),
}
METRICS = ("metric", "best", "min", "max")
# What people write for "metric".
_ALIASES = {"last": "metric"}

_CONFIG_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


def field_of(key: Key) -> Field:
    """What may be asked of this key."""
    return OPEN_FIELDS[key.field] if key.name else FIELDS[key.field]


def key_of(text: str) -> Key | None:
    """The key that a text names; None if there is none."""
    field, _, name = text.partition(".")
    field = _ALIASES.get(field, field)
    if not name:
        return Key(field) if field in FIELDS and text in FIELDS else None
    pattern = _CONFIG_NAME if field == "config" else METRIC_NAME
    is_named = pattern.fullmatch(name) is not None and len(text) <= LONGEST_KEY
    return Key(field, name) if field in OPEN_FIELDS and is_named else None
