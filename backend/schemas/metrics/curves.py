"""The points of metrics as the API takes and gives them."""

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from backend.schemas.numbers import Measured
from backend.schemas.paging import ApiAnswer, Body, BodyPart, Label, Name
from backend.schemas.run_directory.events import LAST_STEP

# Names of metrics: a path of words; what comes from outside starts with gold/ or outside/.
METRIC_NAME = re.compile(r"[A-Za-z0-9_@.+-]+(/[A-Za-z0-9_@.+-]+){0,4}")
# What SQLite stores in a few hundredths of a second, while everybody else waits.
MOST_OUTSIDE_VALUES = 1000


class OutsidePoint(BodyPart):
    """Values of an evaluation made outside; names start with gold/ or outside/."""

    step: int = Field(0, ge=0, le=LAST_STEP)
    values: dict[Label, Measured] = Field(min_length=1, max_length=1000)


class OutsideMetricsBody(Body):
    """Results of outside evaluations."""

    points: list[OutsidePoint] = Field(min_length=1, max_length=500)
    judge: Name | Literal[""] = Field(
        "",
        description="Who or what judged, such as three annotators or the name and version of a "
        "model. The events of the run tell it.",
    )

    @model_validator(mode="after")
    def _must_be_stored_in_a_moment(self) -> Self:
        values = sum(len(point.values) for point in self.points)
        if values > MOST_OUTSIDE_VALUES:
            raise ValueError(
                f"the points have {values} values; send at most {MOST_OUTSIDE_VALUES} at once"
            )
        return self


class MetricsAccepted(ApiAnswer):
    """How many values were stored."""

    accepted: int


class SeriesValues(ApiAnswer):
    """Columns of a curve's buckets as numbers: value = low + unit x number, null = no value.

    Numbers are whole, from 0 to 8192, and that of a 0 gives 0. They are the values themselves (low
    0, unit 1) with `exact`, where all values are the same, and where floats cannot divide their
    range, which is too narrow or too wide.
    """

    low: float
    unit: float
    min: list[float | None]
    max: list[float | None]
    mean: list[float | None]
    last: list[float | None]


class Series(ApiAnswer):
    """A curve in buckets: x ascending and unique, columns of equal length."""

    run: str
    name: str
    n: int = Field(description="Points the buckets were made of.")
    x: list[float] = Field(description="The greatest x of each bucket, exact.")
    n_points: list[int] = Field(description="Points of each bucket.")
    n_nan: list[int] = Field(description="Points of each bucket whose value is not finite.")
    origin: float = Field(
        description="With x=relative, the seconds since the epoch at which x is 0; else 0."
    )
    first: float | None = Field(description="The first finite value, exact; null = there is none.")
    newest: float | None = Field(description="The newest finite value, exact.")
    y: SeriesValues


class MetricsAnswer(ApiAnswer):
    """The curves asked for; `names` lists every metric these runs have."""

    series: list[Series]
    names: list[str]
