"""The page of the methods says of every setting what its default is, and says what is true."""

import importlib.util
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from backend.schemas.methods import METHODS
from backend.schemas.references import Reference
from backend.schemas.rewards import REWARD_TERMS, RewardTerm
from backend.schemas.sections import Common
from backend.schemas.vocabulary import (
    CRITIC_ESTIMATORS,
    DISCOUNTED_ESTIMATORS,
    GROUPED_ESTIMATORS,
    METHODS_WITHOUT_DROPOUT,
    WHITENED_ESTIMATORS,
    Estimator,
    in_words,
)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
SECTIONS = {
    text.partition("\n")[0]: text.partition("\n")[2] for text in PAGE.split("\n## ") if "\n" in text
}
SHARED = "What all methods share"
# Of these sections a method says that they are as in policy_gradient.
AS_IN_POLICY_GRADIENT = {"generate": ("rollout",), "evaluate": ("rollout", "reward")}


def stated(section: str) -> dict[str, str]:
    """What the paragraphs of a section that begin with `Defaults` say, as text by path."""
    found = {}
    for paragraph in SECTIONS[section].split("\n\n"):
        if paragraph.startswith("Defaults"):
            found.update(re.findall(r"`([a-z_.]+)`\s+([\w.-]*\w)", paragraph))
    return found


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every field with a default that is no reference to data, by dotted path."""
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        inner = [
            part
            for part in (field.annotation, *get_args(field.annotation))
            if isinstance(part, type) and issubclass(part, BaseModel) and part is not Reference
        ]
        may_be_null = not inner or type(None) in get_args(field.annotation)
        if may_be_null and not field.is_required() and name != "method":
            yield path, field
        if len(inner) == 1:
            yield from fields(inner[0], f"{path}.")


def as_text(field: FieldInfo) -> str | None:
    """A default as the page writes it; None for a section that is on."""
    value: Any = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel | list):
        return None
    if value is None:
        # What stands in its place is said by the field itself.
        extra = field.json_schema_extra
        words = str(extra.get("x-default")) if isinstance(extra, dict) else ""
        return words if words.isdecimal() else "none"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) or "empty"


def is_same(said: str, meant: str) -> bool:
    try:
        return float(said) == float(meant)
    except ValueError:
        return said == meant


def owed(method: str) -> dict[str, str]:
    """The defaults that the section of a method must say."""
    shared = dict(fields(Common))
    elsewhere = AS_IN_POLICY_GRADIENT.get(method, ())
    return {
        path: text
        for path, field in fields(METHODS[method].config)
        if path not in shared
        and path.partition(".")[0] not in elsewhere
        and (text := as_text(field)) is not None
    }


@pytest.mark.parametrize("method", METHODS)
def test_the_defaults_of_a_method_are_those_of_its_schema(method: str) -> None:
    said, meant = stated(method), owed(method)
    assert set(said) == set(meant)
    wrong = {path: said[path] for path, text in meant.items() if not is_same(said[path], text)}
    assert wrong == {}


def test_the_shared_defaults_are_those_of_the_schema() -> None:
    said = stated(SHARED)
    meant = {path: as_text(field) for path, field in fields(Common)}
    assert set(said) == set(meant)
    assert [path for path, text in meant.items() if not is_same(said[path], str(text))] == []


def test_every_method_has_its_section_and_every_estimator_its_names_elsewhere() -> None:
    assert set(METHODS) <= set(SECTIONS)
    names = SECTIONS["Names elsewhere"]
    assert [one for one in Estimator if f"\n| `{one}` |" not in names] == []


@pytest.mark.parametrize("estimator", list(Estimator))
def test_every_estimator_has_its_equation_source_differences_and_what_is_healthy(
    estimator: Estimator,
) -> None:
    parts = SECTIONS["policy_gradient"].split("\n### ")
    own = dict(part.partition("\n")[::2] for part in parts)
    text = own[estimator]
    assert "\n    A_t = " in text
    assert re.search(r"arXiv \d{4}\.\d{5}", text)
    assert "\n| differs from | how |\n" in text
    assert "\nHealthy: " in text
    row = re.search(rf"^\| \[`{estimator}`\]\(#{estimator}\) \|.*$", parts[0], re.M)
    assert row is not None
    _, whitened, responses = row[0].strip("| ").rsplit(" | ", 2)
    assert (whitened == "yes") == (estimator in WHITENED_ESTIMATORS)
    assert (responses == "2 or more") == (estimator in GROUPED_ESTIMATORS)


def test_the_page_names_the_methods_and_estimators_that_a_rule_is_true_of() -> None:
    text = " ".join(PAGE.split())
    without = in_words((f"`{one}`" for one in METHODS_WITHOUT_DROPOUT), "and")
    discounted = [f"`{one}`" for one in Estimator if one in DISCOUNTED_ESTIMATORS]
    critics = in_words((f"`{one}`" for one in Estimator if one in CRITIC_ESTIMATORS), "and")

    assert f"**Dropout.** {without} train without any." in text
    assert f"With `gae.gamma` below 1 ({in_words(discounted, 'and')} only)" in text
    assert f"For all of them but {critics}, before whitening," in text


def test_the_table_of_terms_says_which_give_shares_and_which_need_a_reference() -> None:
    found = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \| ([^|]*) \|$", SECTIONS["Rewards"], re.M)

    assert [kind for kind, _, _ in found if kind in REWARD_TERMS] == list(REWARD_TERMS)
    for kind, scores, judges in found:
        term = REWARD_TERMS[kind]
        assert (scores == "0 to 1") == term.is_share, kind
        assert ("by the `reference`" in judges) == term.needs_reference, kind
        assert (judges != "no") == term.may_judge, kind


def test_the_table_of_settings_has_every_setting_of_a_term_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|$", SECTIONS["Rewards"], re.M))

    assert list(rows) == list(REWARD_TERMS)
    for kind, row in rows.items():
        said = dict(re.findall(r"`(\w+)` \"?([\w. ]*\w)", row))
        own = {
            name: field
            for name, field in REWARD_TERMS[kind].model_fields.items()
            if name not in RewardTerm.model_fields and name != "kind"
        }
        assert set(said) == set(own), kind
        for name, field in own.items():
            meant = "required" if field.is_required() else str(as_text(field))
            assert is_same(said[name], meant), (kind, name)


def test_the_names_of_trl_are_those_of_the_trl_that_is_installed() -> None:
    spec = importlib.util.find_spec("trl")
    assert spec is not None
    assert spec.origin is not None
    sources = (Path(spec.origin).parent / "trainer").glob("*.py")
    source = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    rows = [line.split(" | ") for line in SECTIONS["Names elsewhere"].splitlines() if "| `" in line]
    names = [name for row in rows for name in re.findall(r"`([^`]+)`", row[1])]

    assert len(names) > 30
    unknown = [
        name
        for name in names
        if name.removeprefix("eval_").replace("{func}", "{reward_func_name}") not in source
    ]
    # Of the trainer that TRL's are made from, as is the prefix eval_.
    assert unknown == ["grad_norm"]


def test_the_places_to_change_exist() -> None:
    """Each path of the section is one of the repository, from its top or below a folder named."""
    root = Path(__file__).resolve().parents[2]
    folders = [root, *(root / name for name in ("backend/schemas", "worker/trainer"))]
    paths = re.findall(r"`([\w./]+(?:\.(?:py|ts|md)|/))`", SECTIONS["Adding a method or a reward"])

    assert len(paths) > 15
    assert [one for one in paths if not any((folder / one).exists() for folder in folders)] == []
