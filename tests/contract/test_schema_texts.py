"""Where a text of the schema names some estimators or methods, it names all that it is true of."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from backend.schemas import vocabulary
from backend.schemas.methods import METHODS
from backend.schemas.metrics.registry import metrics_of
from backend.schemas.references import PointsTo
from backend.schemas.training import RunConfig, parse_run_config
from backend.schemas.vocabulary import (
    CRITIC_ESTIMATORS,
    DISCOUNTED_ESTIMATORS,
    GREEDY_ESTIMATORS,
    GROUPED_ESTIMATORS,
    METHODS_WITHOUT_DROPOUT,
    RANKING_METHODS,
    WHITENED_ESTIMATORS,
    Estimator,
    Method,
    SnapshotKind,
    in_words,
)
from tests.least_config import least_config

SETS = (
    CRITIC_ESTIMATORS,
    DISCOUNTED_ESTIMATORS,
    GREEDY_ESTIMATORS,
    GROUPED_ESTIMATORS,
    WHITENED_ESTIMATORS,
)


def of_schema(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every help text of a JSON Schema with where it stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in inner:
        if name in ("description", "x-default") and isinstance(part, str):
            yield f"{path}/{name}", part
        elif isinstance(part, dict | list):
            yield from of_schema(part, f"{path}/{name}")


def of_metrics() -> Iterator[tuple[str, str]]:
    for method in METHODS:
        for metric in metrics_of(Method(method)):
            yield f"{method} {metric.name}", f"{metric.title} {metric.what} {metric.healthy}"


TEXTS = [*of_schema(TypeAdapter(RunConfig).json_schema()), *of_metrics()]


def named(text: str) -> set[str]:
    return set(re.findall(r"\w+", text)) & set(Estimator)


def refused(config: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refusal:
        parse_run_config(config)
    return str(refusal.value.errors()[0]["msg"])


def test_the_sets_of_estimators_are_all_compared() -> None:
    said = {name for name in vars(vocabulary) if name.endswith("_ESTIMATORS")}

    assert {one for name in said for one in [getattr(vocabulary, name)]} == set(SETS)


@pytest.mark.parametrize(("where", "text"), [one for one in TEXTS if named(one[1])])
def test_the_estimators_that_a_text_names_are_a_whole_set(where: str, text: str) -> None:
    assert named(text) in SETS, where


@pytest.mark.parametrize(
    ("section", "fits"),
    [("dynamic_sampling", GROUPED_ESTIMATORS), ("critic", CRITIC_ESTIMATORS)],
)
def test_an_error_offers_every_estimator_that_fits(section: str, fits: frozenset[str]) -> None:
    config = least("policy_gradient") | {"estimator": "reinforce_pp", section: {}}

    assert named(refused(config)) - {"reinforce_pp"} == fits


def test_the_texts_on_rankings_name_the_methods_that_read_preferences() -> None:
    rankings = SnapshotKind.PREFERENCES
    reads = {one for one, spec in METHODS.items() if rankings in spec.config.model_fields}
    text = dict(TEXTS)["/$defs/Optim/properties/batch_size/description"]

    assert set(RANKING_METHODS) == reads
    assert f"rankings for {in_words(RANKING_METHODS, 'and')})" in text


def test_the_text_on_dropout_names_the_methods_that_refuse_it() -> None:
    training = [method for method, spec in METHODS.items() if not spec.is_sampler]
    text = dict(TEXTS)["/$defs/Lora/properties/dropout/description"]

    assert {method for method in training if refuses_dropout(method)} == set(
        METHODS_WITHOUT_DROPOUT
    )
    assert text.endswith(f"must be 0 for {in_words(METHODS_WITHOUT_DROPOUT, 'and')}.")


def test_a_sentence_joins_its_last_name_by_a_word() -> None:
    assert in_words(["a"], "or") == "a"
    assert in_words(["a", "b"], "and") == "a and b"
    assert in_words(["a", "b", "c"], "or") == "a, b or c"


def least(method: str) -> dict[str, Any]:
    def refer(name: str, wants: PointsTo) -> dict[str, str]:
        return {"id": "any_1"}

    return least_config(method, refer)


def refuses_dropout(method: str) -> bool:
    try:
        parse_run_config(least(method) | {"lora": {"dropout": 0.1}})
    except ValidationError:
        return True
    return False
