"""What the form for a run begins with: methods, what may follow each, and presets."""

from typing import Any

from pydantic import Field

from backend.schemas.metrics.metric import Metric
from backend.schemas.paging import ApiAnswer
from backend.schemas.vocabulary import Method, ModelKind, Records


class PresetSource(ApiAnswer):
    """Who gives which settings of a preset: values by dotted path, as in `optim.lr`."""

    source: str
    settings: dict[str, Any]


class Preset(ApiAnswer):
    """A named starting point for the form; `config` lacks the references.

    Every setting of `config` is under exactly one of the `sources`.
    """

    name: str
    description: str
    config: dict[str, Any]
    sources: list[PresetSource]


class NextStepAnswer(ApiAnswer):
    """A button on the page of such a model: it opens the form with the model in `field`."""

    kind: ModelKind
    field: str
    label: str
    is_main: bool


class MethodAnswer(ApiAnswer):
    """A method: its JSON Schema (units, ranges, defaults), presets, results and metrics."""

    method: Method
    title: str
    description: str
    json_schema: dict[str, Any]
    presets: list[Preset]
    # dotted path of each reference -> snapshot kind or model kind it wants
    references: dict[str, str]
    result: ModelKind | Records = Field(description="What a run leaves: such a model or records.")
    next_steps: list[NextStepAnswer]
    headlines: list[str] = Field(
        description="The metrics that stand for a run in a list, the best first: evaluations, then "
        "what it trains on. What was attached as `gold/NAME` goes before them."
    )
    metrics: list[Metric] = Field(
        description="What its runs report, in the order in which charts are shown."
    )


class MethodsAnswer(ApiAnswer):
    """Everything the New run form is made from, and what every metric means."""

    methods: list[MethodAnswer]
    reward_kinds: list[str]
