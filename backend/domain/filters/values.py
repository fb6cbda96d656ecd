"""The terms of a filter: a key, an operator and a value become one condition."""

import re
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from backend.domain.filters.fields import HACKED, HACKED_KINDS, Field, Key, Kind, field_of
from backend.domain.filters.tokens import Token
from backend.domain.filters.tree import (
    Compares,
    Contains,
    During,
    Equals,
    Has,
    Not,
    Or,
    Order,
    Tree,
)
from backend.errors import InvalidFilter
from backend.schemas.numbers import finite
from backend.schemas.vocabulary import Estimator

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,3})?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_ORDERS: dict[str, Order] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
_EQUAL = (":", "=")

# Which operators a kind of value takes, as an error says it.
OPERATORS = {
    Kind.CHOICE: (":", "!="),
    Kind.TEXT: (":", "!=", "~"),
    Kind.ID: (":", "!="),
    Kind.NUMBER: (":", "!=", ">", ">=", "<", "<="),
    Kind.TIME: (":", "!=", ">", ">=", "<", "<="),
    Kind.ANY: (":", "!=", "~", ">", ">=", "<", "<="),
}


def term(key: Key, operator: Token, value: Token) -> Tree:
    """The condition that a key, an operator other than `!=` and one value say.

    Raises InvalidFilter if the operator or the value does not fit the key.
    """
    field = field_of(key)
    if (":" if operator.text == "=" else operator.text) not in OPERATORS[field.kind]:
        _fail(operator, f"`{operator.text}` after `{key}`", _one_of(OPERATORS[field.kind]))
    if operator.text in _EQUAL and value.kind == "word" and value.text in ("none", "any"):
        return Has(key) if value.text == "any" else Not(Has(key))
    if operator.text == "~":
        return Contains(key, value.text.lower())
    match field.kind:
        case Kind.CHOICE:
            return _choice(key, field, value)
        case Kind.TIME:
            return _time(key, operator, value)
        case Kind.TEXT | Kind.ID:
            return Equals(key, value.text.lower())
        case Kind.ANY if operator.text in _EQUAL:
            number = _number(value.text) if value.kind == "word" else None
            return Equals(key, value.text.lower(), number)
        case _:
            return _compared(key, operator, value)


def _choice(key: Key, field: Field, value: Token) -> Tree:
    word = value.text.lower()
    if word not in field.choices:
        _fail(value, f"`{value.text[:50]}`", f"`{key}:` and {_one_of((*field.choices, 'none'))}")
    if key.field == "method" and word in set(Estimator):
        return Equals(Key("config", "estimator"), word)
    if key.field == "verdict" and word == HACKED:
        return Or(tuple(Equals(key, kind) for kind in HACKED_KINDS))
    return Equals(key, word)


def _compared(key: Key, operator: Token, value: Token) -> Tree:
    number = _number(value.text)
    if number is None:
        _fail(value, f"`{value.text[:50]}`", f"a number such as 0.01 or 1e-5 after `{key}`")
    if operator.text in _EQUAL:
        return Equals(key, value.text, number)
    return Compares(key, _ORDERS[operator.text], number)


def _number(text: str) -> float | None:
    if _NUMBER.fullmatch(text) is None:
        return None
    return finite(float(text))


def _time(key: Key, operator: Token, value: Token) -> Tree:
    """A day is compared as a whole, from 0:00 to 24:00 in UTC."""
    start = _moment(value)
    is_day = _DAY.fullmatch(value.text) is not None
    try:
        end = start + (timedelta(days=1) if is_day else timedelta(microseconds=1))
    except OverflowError:
        end = start
    match operator.text:
        case "<":
            return During(key, None, start)
        case "<=":
            return During(key, None, end)
        case ">":
            return During(key, end, None)
        case ">=":
            return During(key, start, None)
        case _:
            return During(key, start, end)


def _moment(value: Token) -> datetime:
    try:
        found = datetime.fromisoformat(value.text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        _fail(value, f"`{value.text[:50]}`", "a day such as 2026-11-01 or 2026-11-01T12:30 (UTC)")


def _one_of(words: tuple[str, ...]) -> str:
    return "one of " + ", ".join(f"`{word}`" for word in words)


def _fail(token: Token, found: str, expected: str) -> NoReturn:
    raise InvalidFilter(found=found, expected=expected, at=token.at, length=token.end - token.at)
