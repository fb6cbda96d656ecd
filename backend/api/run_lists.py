"""What a list of runs may be asked for: a filter, an order, more columns; no route here."""

from typing import Annotated

from fastapi import Query

from backend.domain.filters.fields import OPEN_FIELDS, Key, key_of
from backend.domain.filters.parser import parsed
from backend.domain.filters.tokens import LONGEST_FILTER
from backend.domain.filters.tree import And, Contains, Equals, Tree
from backend.errors import InvalidInput
from backend.plural import plural
from backend.store.runs.table.pages import NEWEST_FIRST, Sort

MOST_COLUMNS = 20

FilterQuery = Annotated[
    str,
    Query(
        max_length=4 * LONGEST_FILTER,
        description="Which runs, such as `state:succeeded metric.eval/reward>0.5`; "
        "docs/filters.md in Podium's source folder describes the language.",
    ),
]
SortQuery = Annotated[
    str,
    Query(
        max_length=220,
        description="A key of the filter language, such as `name` or `best.eval/reward`; with - "
        "before it the greatest comes first. Runs without a value come last.",
    ),
]
ColumnsQuery = Annotated[
    str,
    Query(
        max_length=4400,
        description="Up to 20 keys such as `config.kl.coef,best.eval/reward`, joined by commas, "
        "whose values are answered.",
    ),
]


def restricted(text: str, *, tag: str | None, name: str | None) -> Tree:
    """What a filter lets through of the runs with this tag and this part of the name."""
    parts: list[Tree] = [parsed(text)]
    if tag is not None:
        parts.append(Equals(Key("tag"), tag.lower()))
    if name:
        parts.append(Contains(Key("name"), name.lower()))
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def order_of(text: str, *, oldest_first: bool) -> Sort:
    """The order that `sort` asks for. Raises InvalidInput for a key that there is not."""
    if not text:
        return NEWEST_FIRST._replace(is_descending=not oldest_first)
    return Sort(_key(text.removeprefix("-")), is_descending=text.startswith("-"))


def columns_of(text: str) -> list[Key]:
    """The keys that `columns` names. Raises InvalidInput for too many and for unknown ones."""
    keys = [_key(one) for one in dict.fromkeys(text.split(",")) if one]
    closed = [str(key) for key in keys if key.field not in OPEN_FIELDS]
    if closed or len(keys) > MOST_COLUMNS:
        beginnings = ", ".join(f"{name}." for name in OPEN_FIELDS)
        raise InvalidInput(
            f"`columns` names {plural(len(keys), 'key')}"
            + (f", one of them `{closed[0]}`" if closed else "")
            + f"; expected at most {MOST_COLUMNS}, each beginning with {beginnings}",
            advice="Name only such keys; the answer has `state`, `name` and the other fields of "
            "each run anyway.",
        )
    return keys


def _key(text: str) -> Key:
    key = key_of(text)
    if key is None:
        raise InvalidInput(
            f"there is no key {text[:50]!r}",
            advice="Use created, name, state, ... or a key such as config.kl.coef or "
            "best.eval/reward; docs/filters.md in Podium's source folder lists them.",
        )
    return key
